/* dense.cu - products in fp32 by tiles of 64 x 64 (core/tile.cuh). A number is the sum of dense.h's chains, so it has the
 * CPU's bits. Batches have few rows: the time is that of reading the weights. */
#include "core/tile.cuh"
#include "net/dense_step.h"

enum { THREADS = 256, TILE = SPOT_TILE, SLAB = SPOT_TILE_SLAB, PITCH = TILE + 1 };

struct fused { static __device__ inline float step(float sum, float a, float b) { return fmaf(a, b, sum); } };

/* A factor: number (i, k) lies at v[i * row + k * deep]; one of the two steps is 1. */
typedef struct { const float *v; size_t row, deep; int rows; } factor;

/* Rows [first, first + 64) by numbers [k, k + 16) of f -> slab (16, PITCH), 0 outside. */
static __device__ inline void load_slab(float *slab, factor f, int first, int k, int depth)
{
    for (int t = (int)(threadIdx.y * blockDim.x + threadIdx.x); t < TILE * SLAB; t += THREADS) {
        const int i = f.row == 1 ? t % TILE : t / SLAB, d = f.row == 1 ? t / TILE : t % SLAB;
        const bool inside = first + i < f.rows && k + d < depth;
        slab[d * PITCH + i] = inside ? f.v[(first + i) * f.row + (k + d) * f.deep] : 0.0f;
    }
}

static __device__ inline void end_chains(float all[SPOT_TILE_OWN][SPOT_TILE_OWN], float sum[SPOT_TILE_OWN][SPOT_TILE_OWN])
{
    for (int i = 0; i < SPOT_TILE_OWN; i++)
        for (int j = 0; j < SPOT_TILE_OWN; j++) {
            all[i][j] += sum[i][j];
            sum[i][j] = 0;
        }
}

/* grid (ceil(b.rows / 64), ceil(a.rows / 64)), block (16, 16): c (a.rows, b.rows) = start + a b', then ReLU. */
static __global__ void __launch_bounds__(THREADS) product_kernel(float *c, factor a, factor b, int depth, const float *start,
                                                                 bool relu)
{
    SPOT_SHARED(float, left, SLAB * PITCH);
    SPOT_SHARED(float, right, SLAB * PITCH);
    const int top = (int)blockIdx.y * TILE, side = (int)blockIdx.x * TILE;
    float all[SPOT_TILE_OWN][SPOT_TILE_OWN], sum[SPOT_TILE_OWN][SPOT_TILE_OWN] = {};

    for (int i = 0; i < SPOT_TILE_OWN; i++)
        for (int j = 0; j < SPOT_TILE_OWN; j++) {
            const int column = side + j * SPOT_TILE_SIDE + (int)threadIdx.x;
            all[i][j] = start && column < b.rows ? start[column] : 0.0f;
        }
    for (int k = 0; k < depth; k += SLAB) {
        load_slab(left, a, top, k, depth);
        load_slab(right, b, side, k, depth);
        __syncthreads();
        spot_tile_add<fused, PITCH>(sum, left, right, min((int)SLAB, depth - k));
        __syncthreads();
        if ((k + SLAB) % SPOT_DENSE_CHAIN == 0 || k + SLAB >= depth) end_chains(all, sum);
    }
    for (int i = 0; i < SPOT_TILE_OWN; i++)
        for (int j = 0; j < SPOT_TILE_OWN; j++) {
            const int row = top + i * SPOT_TILE_SIDE + (int)threadIdx.y, column = side + j * SPOT_TILE_SIDE + (int)threadIdx.x;
            if (row < a.rows && column < b.rows)
                c[(size_t)row * b.rows + column] = relu && all[i][j] <= 0 ? 0.0f : all[i][j];
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

static spot_status multiply(spot_ctx *c, float *to, factor a, factor b, int depth, const float *start, bool relu)
{
    const unsigned down = spot_blocks(a.rows, SPOT_TILE), across = spot_blocks(b.rows, SPOT_TILE);

    if (down > 65535) return spot_fail(c, SPOT_UNSUPPORTED, "dense: %d rows of a product; CUDA takes 4194240", a.rows);
    SPOT_LAUNCH(product_kernel, dim3(across, down), dim3(SPOT_TILE_SIDE, SPOT_TILE_SIDE), 0, spot_cuda_stream(c), to, a, b,
                depth, start, relu);
    return spot_cuda_launched(c, "dense: (%d, %d) by (%d, %d)", a.rows, depth, b.rows, depth);
}

static spot_status forward_cuda(spot_ctx *c, float *y, const float *x, const float *w, const float *b,
                                const spot_dense_shape *s, void *)
{
    const size_t in = s->in;

    SPOT_TRY(spot_cuda_needs(c, y, "dense.forward: y"));
    return multiply(c, y, factor{ x, in, 1, s->rows }, factor{ w, in, 1, s->out }, s->in, b, s->relu);
}

static spot_status back_cuda(spot_ctx *c, const spot_dense_gradients *g, const spot_dense_shape *s, void *)
{
    const size_t in = s->in, out = s->out;

    SPOT_TRY(spot_cuda_needs(c, g->dy, "dense.back: dy"));
    SPOT_LAUNCH(mask_kernel, dim3(spot_blocks(out, THREADS)), THREADS, 0, spot_cuda_stream(c), g->dy, g->db, g->y, s->rows,
                s->out, s->relu);
    SPOT_TRY(spot_cuda_launched(c, "dense.back of %d rows, (%d, %d)", s->rows, s->out, s->in));
    if (g->dw)
        SPOT_TRY(multiply(c, g->dw, factor{ g->dy, 1, out, s->out }, factor{ g->x, 1, in, s->in }, s->rows, NULL, false));
    if (!g->dx) return SPOT_OK;
    return multiply(c, g->dx, factor{ g->dy, out, 1, s->rows }, factor{ g->w, 1, in, s->in }, s->out, NULL, false);
}

static spot_status drop_cuda(spot_ctx *c, float *x, size_t count, const spot_drop_rule *rule, uint32_t below, int site)
{
    SPOT_TRY(spot_cuda_needs(c, x, "dense.drop: x"));
    SPOT_LAUNCH(drop_kernel, dim3(spot_blocks(count, 4 * THREADS)), THREADS, 0, spot_cuda_stream(c), x, count, rule->seed,
                rule->number, rule->made, below, (uint32_t)site, (float)(1 / (1 - rule->p)));
    return spot_cuda_launched(c, "dense.drop of %zu numbers", count);
}

extern const spot_dense_ops spot_dense_cuda = { forward_cuda, back_cuda, drop_cuda };
