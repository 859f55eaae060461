/* linear.cu - products by cuBLASLt, biases in their epilogue. The library's GELU is the approximation by tanh, and it has no
 * quick-GELU, so a kernel of ours ends a layer with an activation: in place, or from fp32 scratch where y is narrow. Without an
 * activation the product writes a narrow y, with a bias that is rounded first. */
#include <stdlib.h>

#include "core/bf16.h"
#include "core/lanes.cuh"
#include "core/vmath.h"
#include "net/linear_cublas.cuh"

/* PIECE: rows whose products wait in scratch for their activation. With 3,072 numbers a row they are 384 tiles of 128 x 256,
 * 2.9 for each multiprocessor of an H200. TRIED: rows on which an algorithm of an unknown kind is tried. */
enum { THREADS = 256, OWN = 4, PIECE = 4096, ALIGN = 64, ARRAY_ALIGN = 16, TRIED = 128 };
static_assert(PIECE * sizeof(spot_bf16) % ARRAY_ALIGN == 0, "a piece of rows must begin where its array might");

struct spot_linear {
    spot_linear_shape s;
    spot_product *product;
};

/* The part of a layer that is the library's. */
static spot_linear_shape product_of(const spot_linear_shape *s)
{
    spot_linear_shape p = *s;

    p.narrow = s->narrow && s->precision == SPOT_BF16 && s->activation == SPOT_ACT_NONE;
    p.activation = SPOT_ACT_NONE;
    return p;
}

/* -- activations ------------------------------------------------------------------------------------------------------ */

static __device__ float activate(float z, spot_activation act)
{
    if (act == SPOT_ACT_QUICK_GELU) return z / (1 + spot_expf(-1.702f * z));
    if (act == SPOT_ACT_GELU) return 0.5f * z * (1 + erff(z * 0.70710678f));
    return z;
}

/* grid (ceil(count / 1024)); y may be z. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) end_kernel(T *y, const float *z, size_t count, spot_activation act)
{
    const size_t first = OWN * ((size_t)blockIdx.x * THREADS + threadIdx.x);
    float v[OWN];

    if (first + OWN <= count) {
        spot_widen_four<float>(v, spot_load_four(z + first));
        for (int j = 0; j < OWN; j++) v[j] = activate(v[j], act);
        spot_store_four(y + first, v);
    } else {
        for (size_t i = first; i < count; i++) spot_round(y + i, activate(z[i], act));
    }
}

/* -- what an algorithm computes ---------------------------------------------------------------------------------------- */

/* Numbers in [-1, 1), hashes of their positions (the last step of MurmurHash3). grid (ceil(count / 256)) */
template <typename T> static __global__ void __launch_bounds__(THREADS) fill_kernel(T *v, size_t count, unsigned array)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    unsigned h = (unsigned)i + (array << 29);

    h = (h ^ h >> 16) * 2246822507u;
    h = (h ^ h >> 13) * 3266489909u;
    h ^= h >> 16;
    if (i < count) spot_round(&v[i], (float)((int)(h >> 8) - (1 << 23)) / (float)(1 << 23));
}

/* seen[0]: the largest difference of y from products in double, seen[1]: the largest of these, as bits, in whose order NaN is
 * the largest; seen[2]: a digest of all bits of y, which was 0 before. grid (ceil(TRIED out / 256)) */
template <typename T, typename Y>
static __global__ void __launch_bounds__(THREADS) compare_kernel(unsigned *seen, const Y *y, const T *x, const T *w,
                                                                 const Y *bias, int in, int out)
{
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x;
    double sum = 0;

    if (e >= (size_t)TRIED * out) return;
    const size_t r = e / out, o = e % out;
    for (int i = 0; i < in; i++) sum = fma((double)spot_widen(x[r * in + i]), (double)spot_widen(w[o * in + i]), sum);
    const float got = spot_widen(y[e]);
    if (bias) sum += spot_widen(bias[o]);
    unsigned h = ((unsigned)__float_as_int(got) + (unsigned)e * 2246822519u) * 2654435761u;
    atomicMax(&seen[0], (unsigned)__float_as_int((float)fabs(got - sum)) & 0x7fffffffu);
    atomicMax(&seen[1], (unsigned)__float_as_int((float)fabs(sum)) & 0x7fffffffu);
    atomicAdd(&seen[2], (h ^ h >> 15) * 3266489917u);
}

/* The greatest difference that right products have, relative to the largest sum. fp32 sums of up to 4,608 products are within
 * 1e-5. TF32 drops 13 bits of each factor; a narrow result is rounded to 2^-9 of itself. An algorithm that leaves out one
 * product is wrong by 1e-2 and more. */
static float bound_of(const spot_linear_shape *s) { return s->precision == SPOT_TF32 ? 5e-3f : s->narrow ? 2e-3f : 2e-5f; }

static const char *name_of(spot_precision p) { return p == SPOT_BF16 ? "bf16" : p == SPOT_TF32 ? "tf32" : "fp32"; }

typedef struct { void *y, *bias, *x, *w, *scratch; unsigned *seen; } trial;

static spot_status take_trial(spot_ctx *c, const spot_linear *p, trial *t)
{
    const spot_plugin *memory = spot_cuda_memory(c);
    const size_t in = p->s.in, out = p->s.out, number = spot_precision_bytes(p->s.precision);

    SPOT_TRY(memory->take(c, &t->y, TRIED * out * sizeof(float)));
    SPOT_TRY(memory->take(c, &t->bias, out * sizeof(float)));
    SPOT_TRY(memory->take(c, &t->x, TRIED * in * number));
    SPOT_TRY(memory->take(c, &t->w, out * in * number));
    SPOT_TRY(memory->take(c, &t->scratch, spot_product_scratch(p->product)));
    return memory->take(c, (void **)&t->seen, 3 * sizeof *t->seen);
}

template <typename T> static void fill(spot_ctx *c, void *v, size_t count, unsigned array)
{
    SPOT_LAUNCH(fill_kernel<T>, dim3(spot_blocks(count, THREADS)), THREADS, 0, spot_cuda_stream(c), (T *)v, count, array);
}

/* One product; seen (3) as compare_kernel leaves it. */
template <typename T, typename Y> static spot_status try_once(spot_ctx *c, const spot_linear *p, const trial *t, unsigned *seen)
{
    const size_t in = p->s.in, out = p->s.out;

    fill<T>(c, t->x, TRIED * in, 0);
    fill<T>(c, t->w, out * in, 1);
    fill<Y>(c, t->bias, out, 2);
    SPOT_TRY(spot_cuda_memory(c)->clear(c, t->y, TRIED * out * sizeof(Y)));
    SPOT_TRY(spot_cuda_memory(c)->clear(c, t->seen, 3 * sizeof *t->seen));
    SPOT_TRY(spot_product_run(c, p->product, t->y, t->x, t->w, t->bias, TRIED, t->scratch));
    SPOT_LAUNCH((compare_kernel<T, Y>), dim3(spot_blocks(TRIED * out, THREADS)), THREADS, 0, spot_cuda_stream(c), t->seen,
                (const Y *)t->y, (const T *)t->x, (const T *)t->w, p->s.bias ? (const Y *)t->bias : NULL, p->s.in, p->s.out);
    SPOT_TRY(spot_cuda_launched(c, "linear: trying an algorithm for %d -> %d numbers", p->s.in, p->s.out));
    return spot_cuda_memory(c)->copy(c, seen, t->seen, 3 * sizeof *seen);
}

static spot_status refuse(spot_ctx *c, const spot_linear *p, const char *that)
{
    return spot_fail(c, SPOT_UNSUPPORTED, "{linear.no_algorithm} cuBLASLt has no algorithm for a layer of %d -> %d numbers in "
                     "%s on %s%s; run with --device cpu", p->s.in, p->s.out, name_of(p->s.precision),
                     ((const spot_device *)c->device)->name, that);
}

/* SPOT_UNSUPPORTED where an algorithm of an unknown kind is not as precise as asked for, or gives other bits each time. */
static spot_status judge(spot_ctx *c, const spot_linear *p, const trial *t)
{
    const spot_linear_shape s = product_of(&p->s);
    auto *const try_it = s.narrow ? try_once<spot_bf16, spot_bf16> : s.precision == SPOT_BF16 ? try_once<spot_bf16, float>
                                                                                              : try_once<float, float>;
    union { unsigned bits; float number; } seen[2][3];

    for (int i = 0; i < 2; i++) SPOT_TRY(try_it(c, p, t, &seen[i][0].bits));
    const bool right = seen[0][0].number <= bound_of(&s) * seen[0][1].number;
    if (right && seen[0][2].bits == seen[1][2].bits) return SPOT_OK;
    return refuse(c, p, right ? " that gives the same bits each time" : " that is as precise");
}

/* Where the library proposes no algorithm of a known kind: any that is right. It names its kinds otherwise in a new version, or
 * has none of these on a new GPU. */
static spot_status open_unknown(spot_ctx *c, spot_linear *p)
{
    trial t = { NULL, NULL, NULL, NULL, NULL, NULL };
    const spot_linear_shape product = product_of(&p->s);
    spot_status e = spot_product_open(c, &p->product, &product, false);

    if (e == SPOT_UNSUPPORTED) {
        spot_forget(c);
        return refuse(c, p, "");
    }
    if (!e) e = take_trial(c, p, &t);
    if (!e) e = judge(c, p, &t);
    void *const all[] = { t.y, t.bias, t.x, t.w, t.scratch, t.seen };
    for (void *one : all)
        if (one) spot_cuda_memory(c)->give(c, one);
    return e;
}

/* -- plans ------------------------------------------------------------------------------------------------------------ */

/* A narrow y is written by a kernel of ours, from a product in fp32. */
static bool ends_narrow(const spot_linear *p)
{
    return p->s.narrow && p->s.precision == SPOT_BF16 && p->s.activation != SPOT_ACT_NONE;
}

static void close_cuda(spot_linear *p)
{
    if (!p) return;
    spot_product_close(p->product);
    free(p);
}

static spot_status open_cuda(spot_ctx *c, spot_linear **plan, const spot_linear_shape *s)
{
    const spot_linear_shape product = product_of(s);
    spot_linear *p = (spot_linear *)calloc(1, sizeof *p);
    spot_status e;

    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for the plan of a linear layer");
    p->s = *s;
    e = spot_product_open(c, &p->product, &product, true);
    if (e == SPOT_UNSUPPORTED) {
        spot_forget(c);
        e = open_unknown(c, p);
    }
    if (e) close_cuda(p);
    else *plan = p;
    return e;
}

static size_t weights_of(const spot_linear *p) { return (size_t)p->s.in * p->s.out; }

static size_t rounded_up(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

static size_t packed_cuda(const spot_linear *p) { return rounded_up(weights_of(p) * spot_precision_bytes(p->s.precision)); }

/* The scratch of the product, then the numbers of a piece, or the rounded bias. */
static size_t scratch_cuda(const spot_linear *p)
{
    const size_t out = p->s.out;

    return rounded_up(spot_product_scratch(p->product))
         + (ends_narrow(p) ? PIECE * out * sizeof(float) : product_of(&p->s).narrow ? out * sizeof(spot_bf16) : 0);
}

static spot_status pack_cuda(spot_ctx *c, const spot_linear *p, void *packed, const float *w)
{
    const spot_plugin *memory = spot_cuda_memory(c);
    size_t n = weights_of(p);
    uint16_t *half;
    spot_status e;

    if (p->s.precision != SPOT_BF16) return memory->copy(c, packed, w, n * sizeof *w);
    half = (uint16_t *)malloc(n * sizeof *half);
    if (!half) return spot_fail(c, SPOT_NOMEM, "no memory to round %zu weights", n);
    for (size_t i = 0; i < n; i++) half[i] = spot_bf16_bits(w[i]);
    e = memory->copy(c, packed, half, n * sizeof *half);
    free(half);
    return e;
}

/* -- a layer ---------------------------------------------------------------------------------------------------------- */

template <typename T>
static spot_status end_rows(spot_ctx *c, const spot_linear *p, T *y, const float *z, int rows)
{
    size_t count = (size_t)rows * p->s.out;

    SPOT_LAUNCH(end_kernel<T>, dim3(spot_blocks(count, THREADS * OWN)), THREADS, 0, spot_cuda_stream(c), y, z, count,
                p->s.activation);
    return spot_cuda_launched(c, "linear.forward: the activation of %d rows of %d numbers", rows, p->s.out);
}

/* Products in fp32 scratch, a piece of rows at a time, then rounded to y. */
static spot_status forward_narrow(spot_ctx *c, const spot_linear *p, spot_bf16 *y, const char *x, const void *w,
                                  const float *bias, int rows, void *scratch)
{
    float *z = (float *)((char *)scratch + rounded_up(spot_product_scratch(p->product)));

    for (int first = 0; first < rows; first += PIECE) {
        int n = rows - first < PIECE ? rows - first : PIECE;
        const char *from = x + (size_t)first * p->s.in * spot_precision_bytes(p->s.precision);
        SPOT_TRY(spot_product_run(c, p->product, z, from, w, bias, n, scratch));
        SPOT_TRY(end_rows(c, p, y + (size_t)first * p->s.out, z, n));
    }
    return SPOT_OK;
}

/* A product that writes bf16, with a bias in bf16. */
static spot_status forward_rounded(spot_ctx *c, const spot_linear *p, void *y, const void *x, const void *w, const float *bias,
                                   int rows, void *scratch)
{
    spot_bf16 *rounded = (spot_bf16 *)((char *)scratch + rounded_up(spot_product_scratch(p->product)));

    SPOT_TRY(end_rows(c, p, rounded, bias, 1));
    return spot_product_run(c, p->product, y, x, w, rounded, rows, scratch);
}

/* The library's algorithms and end_kernel read 16 bytes at a time. A misaligned read would end the device's work for good. */
static spot_status check_aligned(spot_ctx *c, const void *p, const char *name)
{
    if ((uintptr_t)p % ARRAY_ALIGN == 0) return SPOT_OK;
    return spot_fail(c, SPOT_INVALID, "{linear.unaligned} linear.forward: %s does not begin at a multiple of %d bytes", name,
                     (int)ARRAY_ALIGN);
}

static spot_status check_arrays(spot_ctx *c, const spot_linear *p, const void *y, const void *x, const void *w,
                                const float *bias, const void *scratch)
{
    const spot_cuda_array array[] = { { y, "y" }, { x, "x" }, { w, "w" }, { scratch, "scratch" }, { bias, "bias" } };

    SPOT_TRY(spot_cuda_needs_each(c, "linear.forward", array, 4 + p->s.bias));
    for (int i = 0; i < 4 + p->s.bias; i++) SPOT_TRY(check_aligned(c, array[i].p, array[i].name));
    return SPOT_OK;
}

static spot_status forward_cuda(spot_ctx *c, const spot_linear *p, void *y, const void *x, const void *w, const float *bias,
                                int rows, void *scratch)
{
    SPOT_TRY(check_arrays(c, p, y, x, w, bias, scratch));
    if (ends_narrow(p)) return forward_narrow(c, p, (spot_bf16 *)y, (const char *)x, w, bias, rows, scratch);
    if (p->s.bias && product_of(&p->s).narrow) return forward_rounded(c, p, y, x, w, bias, rows, scratch);
    SPOT_TRY(spot_product_run(c, p->product, y, x, w, bias, rows, scratch));
    return p->s.activation == SPOT_ACT_NONE ? SPOT_OK : end_rows(c, p, (float *)y, (const float *)y, rows);
}

extern const spot_linear_ops spot_linear_cuda = { open_cuda, close_cuda, packed_cuda, scratch_cuda, pack_cuda, forward_cuda };
