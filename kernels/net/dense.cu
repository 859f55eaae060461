/* dense.cu - the three products of a layer by cuBLASLt (linear_cublas.cuh), the bias in their epilogue. The ReLU is a kernel of
 * ours: the library's might make 0 of a NaN. Products stay with the device for each shape that was met. */
#include "core/lanes.cuh"
#include "net/dense_step.h"
#include "net/linear_cublas.cuh"

enum { THREADS = 256, OWN = 4, ARRAY_ALIGN = 16 };

/* grid (ceil(count / 1024)); y may be x. relu: max(0, x), and a NaN stays */
template <typename T, bool RELU>
static __global__ void __launch_bounds__(THREADS) round_kernel(T *y, const float *x, size_t count)
{
    const size_t first = OWN * ((size_t)blockIdx.x * THREADS + threadIdx.x);
    float v[OWN];

    if (first + OWN <= count) {
        spot_widen_four<float>(v, spot_load_four(x + first));
        for (int j = 0; j < OWN; j++) v[j] = RELU && v[j] <= 0 ? 0.0f : v[j];
        spot_store_four(y + first, v);
    } else {
        for (size_t i = first; i < count; i++) spot_round(y + i, RELU && x[i] <= 0 ? 0.0f : x[i]);
    }
}

/* grid (ceil(out / 256)): dz over dy, and its sum over the rows; db may be NULL. */
static __global__ void __launch_bounds__(THREADS) mask_kernel(float *dy, float *db, const float *y, int rows, int out,
                                                              bool relu)
{
    const int o = (int)(blockIdx.x * THREADS + threadIdx.x);
    double sum = 0;

    if (o >= out) return;
    for (int i = 0; i < rows; i++) {
        const size_t at = (size_t)i * out + o;
        float v = dy[at];
        if (relu && y[at] <= 0) dy[at] = v = 0;
        sum += v;
    }
    if (db) db[o] = (float)sum;
}

/* grid (ceil(count / 1024)) */
static __global__ void __launch_bounds__(THREADS) drop_kernel(float *x, size_t count, uint64_t seed, uint32_t number,
                                                              const int *made, uint32_t below, uint32_t site, float grown)
{
    const size_t block = (size_t)blockIdx.x * THREADS + threadIdx.x;
    uint32_t word[4];

    if (4 * block >= count) return;
    spot_drop_words(word, seed, number, (uint32_t)*made, site, (uint32_t)block);
    for (size_t i = 4 * block; i < 4 * block + 4 && i < count; i++) x[i] = word[i % 4] < below ? 0.0f : x[i] * grown;
}

/* -- products ------------------------------------------------------------------------------------------------- */

static size_t rounded_bytes(const spot_dense_shape *s, int columns)
{
    return s->precision == SPOT_BF16 ? spot_arena_room((size_t)s->rows * columns * sizeof(spot_bf16)) : 0;
}

/* The product's, then x and dz in bf16. */
static size_t scratch_cuda(const spot_dense_shape *s)
{
    return spot_arena_room(spot_product_scratch()) + rounded_bytes(s, s->in) + rounded_bytes(s, s->out);
}

static spot_status round_numbers(spot_ctx *c, void *to, const float *from, size_t count)
{
    SPOT_LAUNCH((round_kernel<spot_bf16, false>), dim3(spot_blocks(count, THREADS * OWN)), THREADS, 0, spot_cuda_stream(c),
                (spot_bf16 *)to, from, count);
    return spot_cuda_launched(c, "dense: %zu numbers to bf16", count);
}

/* *v, or its numbers in bf16 where the products read bf16, in scratch behind that of the product and `behind` bytes. */
static spot_status narrow(spot_ctx *c, const void **v, const spot_dense_shape *s, int columns, void *scratch, size_t behind)
{
    void *to = (char *)scratch + spot_arena_room(spot_product_scratch()) + behind;
    const float *from = (const float *)*v;

    if (s->precision != SPOT_BF16) return SPOT_OK;
    *v = to;
    return round_numbers(c, to, from, (size_t)s->rows * columns);
}

static spot_status check_aligned(spot_ctx *c, const char *call, const spot_cuda_array *array, int n)
{
    SPOT_TRY(spot_cuda_needs_each(c, call, array, n));
    for (int i = 0; i < n; i++)
        if ((uintptr_t)array[i].p % ARRAY_ALIGN)
            return spot_fail(c, SPOT_INVALID, "{dense.unaligned} %s: %s does not begin at a multiple of %d bytes", call,
                             array[i].name, (int)ARRAY_ALIGN);
    return SPOT_OK;
}

static spot_status product_of(spot_ctx *c, spot_product **p, spot_product_kind kind, const spot_dense_shape *s)
{
    const spot_linear_shape layer = { .in = s->in, .out = s->out, .bias = kind == SPOT_PRODUCT_Y, .precision = s->precision };
    const spot_product_shape shape = { layer, kind, s->rows };

    *p = spot_product_kept(c, &shape);
    if (*p) return SPOT_OK;
    SPOT_TRY(spot_product_find(c, p, &shape));
    spot_product_keep(c, *p);
    return SPOT_OK;
}

static spot_status pack_cuda(spot_ctx *c, void *packed, const float *w, const spot_dense_shape *s)
{
    const size_t count = (size_t)s->in * s->out;

    SPOT_TRY(spot_cuda_needs_all(c, "dense.pack", { { packed, "packed" }, { w, "w" } }));
    if (s->precision == SPOT_BF16) return round_numbers(c, packed, w, count);
    return spot_cuda_memory(c)->copy(c, packed, w, count * sizeof *w);
}

static spot_status forward_cuda(spot_ctx *c, float *y, const float *x, const void *w, const float *b,
                                const spot_dense_shape *s, void *scratch)
{
    const spot_cuda_array array[] = { { y, "y" }, { x, "x" }, { w, "w" }, { b, "b" }, { scratch, "scratch" } };
    const size_t count = (size_t)s->rows * s->out;
    const void *from = x;
    spot_product *p;

    SPOT_TRY(check_aligned(c, "dense.forward", array, 5));
    SPOT_TRY(product_of(c, &p, SPOT_PRODUCT_Y, s));
    SPOT_TRY(narrow(c, &from, s, s->in, scratch, 0));
    SPOT_TRY(spot_product_run(c, p, y, from, w, b, s->rows, scratch));
    if (!s->relu) return SPOT_OK;
    SPOT_LAUNCH((round_kernel<float, true>), dim3(spot_blocks(count, THREADS * OWN)), THREADS, 0, spot_cuda_stream(c), y, y,
                count);
    return spot_cuda_launched(c, "dense.forward of %d rows, (%d, %d)", s->rows, s->out, s->in);
}

static spot_status weights_back(spot_ctx *c, const spot_dense_gradients *g, const void *dz, const spot_dense_shape *s,
                                void *scratch)
{
    const void *x = g->x;
    spot_product *p;

    SPOT_TRY(product_of(c, &p, SPOT_PRODUCT_DW, s));
    SPOT_TRY(narrow(c, &x, s, s->in, scratch, rounded_bytes(s, s->out)));
    return spot_product_run(c, p, g->dw, dz, x, NULL, s->rows, scratch);
}

static spot_status back_cuda(spot_ctx *c, const spot_dense_gradients *g, const spot_dense_shape *s, void *scratch)
{
    const spot_cuda_array array[] = { { g->dy, "dy" }, { g->y, "y" }, { g->x, "x" }, { g->w, "w" }, { scratch, "scratch" },
                                      { g->dx, "dx", !g->dx }, { g->dw, "dw", !g->dw } };
    const void *dz = g->dy;
    spot_product *p;

    SPOT_TRY(check_aligned(c, "dense.back", array, 7));
    SPOT_LAUNCH(mask_kernel, dim3(spot_blocks(s->out, THREADS)), THREADS, 0, spot_cuda_stream(c), g->dy, g->db, g->y, s->rows,
                s->out, s->relu);
    SPOT_TRY(spot_cuda_launched(c, "dense.back of %d rows, (%d, %d)", s->rows, s->out, s->in));
    SPOT_TRY(narrow(c, &dz, s, s->out, scratch, 0));
    if (g->dw) SPOT_TRY(weights_back(c, g, dz, s, scratch));
    if (!g->dx) return SPOT_OK;
    SPOT_TRY(product_of(c, &p, SPOT_PRODUCT_DX, s));
    return spot_product_run(c, p, g->dx, dz, g->w, NULL, s->rows, scratch);
}

static spot_status drop_cuda(spot_ctx *c, float *x, size_t count, const spot_drop_rule *rule, uint32_t below, int site)
{
    SPOT_TRY(spot_cuda_needs(c, x, "dense.drop: x"));
    SPOT_LAUNCH(drop_kernel, dim3(spot_blocks(count, 4 * THREADS)), THREADS, 0, spot_cuda_stream(c), x, count, rule->seed,
                rule->number, rule->made, below, (uint32_t)site, (float)(1 / (1 - rule->p)));
    return spot_cuda_launched(c, "dense.drop of %zu numbers", count);
}

extern const spot_dense_ops spot_dense_cuda = { scratch_cuda, pack_cuda, forward_cuda, back_cuda, drop_cuda };
