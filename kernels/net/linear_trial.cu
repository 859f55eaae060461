/* linear_trial.cu - an algorithm of cuBLASLt's of a numerical kind that we do not know, tried before it is taken: whether it is
 * as precise as asked for, and gives the same bits each time. */
#include "core/lanes.cuh"
#include "net/linear_cublas.cuh"

/* TRIED: most rows of a trial. */
enum { THREADS = 256, TRIED = 128 };

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
 * the largest; seen[2]: a digest of all bits of y, which was 0 before. grid (ceil(m n / 256)) */
template <typename T, typename Y>
static __global__ void __launch_bounds__(THREADS) compare_kernel(unsigned *seen, const Y *y, const T *a, const T *b,
                                                                 const Y *bias, spot_product_sums p)
{
    const size_t e = (size_t)blockIdx.x * THREADS + threadIdx.x;
    double sum = 0;

    if (e >= (size_t)p.m * p.n) return;
    const size_t i = e / p.n, j = e % p.n;
    for (int k = 0; k < p.depth; k++)
        sum = fma((double)spot_widen(a[i * p.a.row + k * p.a.step]), (double)spot_widen(b[j * p.b.row + k * p.b.step]), sum);
    const float got = spot_widen(y[e]);
    if (bias) sum += spot_widen(bias[j]);
    unsigned h = ((unsigned)__float_as_int(got) + (unsigned)e * 2246822519u) * 2654435761u;
    atomicMax(&seen[0], (unsigned)__float_as_int((float)fabs(got - sum)) & 0x7fffffffu);
    atomicMax(&seen[1], (unsigned)__float_as_int((float)fabs(sum)) & 0x7fffffffu);
    atomicAdd(&seen[2], (h ^ h >> 15) * 3266489917u);
}

/* The greatest difference that right products have, relative to the largest sum. fp32 sums of up to 9,216 products are within
 * 2e-5. TF32 drops 13 bits of each factor; a narrow result is rounded to 2^-9 of itself. An algorithm that leaves out one
 * product is wrong by 5e-3 and more. */
static float bound_of(const spot_linear_shape *s) { return s->precision == SPOT_TF32 ? 5e-3f : s->narrow ? 2e-3f : 2e-5f; }

static const char *name_of(spot_precision p) { return p == SPOT_BF16 ? "bf16" : p == SPOT_TF32 ? "tf32" : "fp32"; }

typedef struct {
    spot_product *product;
    const spot_product_shape *shape;
    spot_product_sums sums;            /* of `rows` rows */
    int rows;
    void *y, *bias, *a, *b, *scratch;
    unsigned *seen;
} trial;

static spot_status take_trial(spot_ctx *c, trial *t)
{
    const spot_plugin *memory = spot_cuda_memory(c);
    const size_t m = t->sums.m, n = t->sums.n, depth = t->sums.depth;

    SPOT_TRY(memory->take(c, &t->y, m * n * sizeof(float)));
    SPOT_TRY(memory->take(c, &t->bias, n * sizeof(float)));
    SPOT_TRY(memory->take(c, &t->a, m * depth * sizeof(float)));
    SPOT_TRY(memory->take(c, &t->b, n * depth * sizeof(float)));
    SPOT_TRY(memory->take(c, &t->scratch, spot_product_scratch()));
    return memory->take(c, (void **)&t->seen, 3 * sizeof *t->seen);
}

template <typename T> static void fill(spot_ctx *c, void *v, size_t count, unsigned array)
{
    SPOT_LAUNCH(fill_kernel<T>, dim3(spot_blocks(count, THREADS)), THREADS, 0, spot_cuda_stream(c), (T *)v, count, array);
}

/* One product; seen (3) as compare_kernel leaves it. */
template <typename T, typename Y> static spot_status try_once(spot_ctx *c, const trial *t, unsigned *seen)
{
    const size_t m = t->sums.m, n = t->sums.n, depth = t->sums.depth;

    fill<T>(c, t->a, m * depth, 0);
    fill<T>(c, t->b, n * depth, 1);
    fill<Y>(c, t->bias, n, 2);
    SPOT_TRY(spot_cuda_memory(c)->clear(c, t->y, m * n * sizeof(Y)));
    SPOT_TRY(spot_cuda_memory(c)->clear(c, t->seen, 3 * sizeof *t->seen));
    SPOT_TRY(spot_product_run(c, t->product, t->y, t->a, t->b, t->bias, t->rows, t->scratch));
    SPOT_LAUNCH((compare_kernel<T, Y>), dim3(spot_blocks(m * n, THREADS)), THREADS, 0, spot_cuda_stream(c), t->seen,
                (const Y *)t->y, (const T *)t->a, (const T *)t->b, t->shape->s.bias ? (const Y *)t->bias : NULL, t->sums);
    SPOT_TRY(spot_cuda_launched(c, "linear: trying an algorithm for %d -> %d numbers", t->shape->s.in, t->shape->s.out));
    return spot_cuda_memory(c)->copy(c, seen, t->seen, 3 * sizeof *seen);
}

static spot_status refuse(spot_ctx *c, const spot_linear_shape *s, const char *that)
{
    return spot_fail(c, SPOT_UNSUPPORTED, "{linear.no_algorithm} cuBLASLt has no algorithm for a layer of %d -> %d numbers in "
                     "%s on %s%s; run with --device cpu", s->in, s->out, name_of(s->precision),
                     ((const spot_device *)c->device)->name, that);
}

static spot_status judge(spot_ctx *c, const trial *t)
{
    const spot_linear_shape *s = &t->shape->s;
    auto *const try_it = s->precision != SPOT_BF16 ? try_once<float, float>
                       : s->narrow ? try_once<spot_bf16, spot_bf16> : try_once<spot_bf16, float>;
    union { unsigned bits; float number; } seen[2][3];

    for (int i = 0; i < 2; i++) SPOT_TRY(try_it(c, t, &seen[i][0].bits));
    const bool right = seen[0][0].number <= bound_of(s) * seen[0][1].number;
    if (right && seen[0][2].bits == seen[1][2].bits) return SPOT_OK;
    return refuse(c, s, right ? " that gives the same bits each time" : " that is as precise");
}

static spot_status try_product(spot_ctx *c, spot_product *p, const spot_product_shape *s)
{
    const int rows = min(s->rows, (int)TRIED);
    trial t = { p, s, spot_product_sums_of(s, rows), rows, NULL, NULL, NULL, NULL, NULL, NULL };
    spot_status e = take_trial(c, &t);

    if (!e) e = judge(c, &t);
    void *const all[] = { t.y, t.bias, t.a, t.b, t.scratch, t.seen };
    for (void *one : all)
        if (one) spot_cuda_memory(c)->give(c, one);
    return e;
}

/* The library names its kinds otherwise in a new version, or has none of these on a new GPU. */
spot_status spot_product_find(spot_ctx *c, spot_product **out, const spot_product_shape *s)
{
    spot_status e = spot_product_open(c, out, s, true);

    if (e != SPOT_UNSUPPORTED) return e;
    spot_forget(c);
    e = spot_product_open(c, out, s, false);
    if (e == SPOT_UNSUPPORTED) {
        spot_forget(c);
        return refuse(c, &s->s, "");
    }
    if (!e) e = try_product(c, *out, s);
    if (e) {
        spot_product_close(*out);
        *out = NULL;
    }
    return e;
}
