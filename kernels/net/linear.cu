/* linear.cu - products by cuBLASLt, biases in their epilogue. The library's GELU is the approximation by tanh, and it has no
 * quick-GELU, so a kernel of ours ends a layer with an activation: in place, or from fp32 scratch where y is narrow. Without an
 * activation the product writes a narrow y, with a bias that is rounded first. */
#include <stdlib.h>

#include "core/bf16.h"
#include "core/lanes.cuh"
#include "core/vmath.h"
#include "net/linear_cublas.cuh"

/* PIECE: rows whose products wait in scratch for their activation. With 3,072 numbers a row they are 384 tiles of 128 x 256,
 * 2.9 for each multiprocessor of an H200; for so many an algorithm is chosen, since a batch of CLIP's has thousands. */
enum { THREADS = 256, OWN = 4, PIECE = 4096, ARRAY_ALIGN = 16 };
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
    const spot_product_shape product = { product_of(s), SPOT_PRODUCT_Y, PIECE };
    spot_linear *p = (spot_linear *)calloc(1, sizeof *p);
    spot_status e;

    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for the plan of a linear layer");
    p->s = *s;
    e = spot_product_find(c, &p->product, &product);
    if (e) close_cuda(p);
    else *plan = p;
    return e;
}

static size_t weights_of(const spot_linear *p) { return (size_t)p->s.in * p->s.out; }

static size_t packed_cuda(const spot_linear *p) { return weights_of(p) * spot_precision_bytes(p->s.precision); }

/* The scratch of the product, then the numbers of a piece, or the rounded bias. */
static size_t scratch_cuda(const spot_linear *p)
{
    const size_t out = p->s.out;

    return spot_arena_room(spot_product_scratch())
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
    float *z = (float *)((char *)scratch + spot_arena_room(spot_product_scratch()));

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
    spot_bf16 *rounded = (spot_bf16 *)((char *)scratch + spot_arena_room(spot_product_scratch()));

    SPOT_TRY(end_rows(c, p, rounded, bias, 1));
    return spot_product_run(c, p->product, y, x, w, rounded, rows, scratch);
}

/* The library's algorithms and end_kernel read 16 bytes at a time. A misaligned read would end the device's work for good. The
 * library's scratch begins as cudaMalloc's memory does. */
static spot_status check_aligned(spot_ctx *c, const void *p, const char *name, int multiple)
{
    if ((uintptr_t)p % multiple == 0) return SPOT_OK;
    return spot_fail(c, SPOT_INVALID, "{linear.unaligned} linear.forward: %s does not begin at a multiple of %d bytes", name,
                     multiple);
}

static spot_status check_arrays(spot_ctx *c, const spot_linear *p, const void *y, const void *x, const void *w,
                                const float *bias, const void *scratch)
{
    const spot_cuda_array array[] = { { y, "y" }, { x, "x" }, { w, "w" }, { scratch, "scratch" }, { bias, "bias" } };

    SPOT_TRY(spot_cuda_needs_each(c, "linear.forward", array, 4 + p->s.bias));
    for (int i = 0; i < 4 + p->s.bias; i++)
        SPOT_TRY(check_aligned(c, array[i].p, array[i].name, array[i].p == scratch ? (int)SPOT_ALIGN : (int)ARRAY_ALIGN));
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
