/* tokens.cu - plain kernels, a row to a block: no number needs a division of 64 bits to find its row. */
#include "core/lanes.cuh"
#include "core/sums.cuh"
#include "net/tokens.h"

enum { THREADS = 256, ROWS = THREADS / SPOT_WARP };

/* grid (patches of all pictures): a patch to a block, so that only the picture and the place of the patch need large numbers */
template <typename T>
static __global__ void __launch_bounds__(THREADS) patches_kernel(T *row, const uint8_t *rgb, spot_patches p)
{
    const unsigned across = p.side / p.patch, each = across * across, area = p.patch * p.patch;
    const unsigned picture = blockIdx.x / each, at = blockIdx.x % each;
    const unsigned top = at / across * p.patch, left = at % across * p.patch;

    row += (size_t)blockIdx.x * 3 * area, rgb += ((size_t)picture * p.side + top) * p.side * 3;
    for (unsigned k = threadIdx.x; k < 3 * area; k += THREADS) {
        const unsigned channel = k / area, in = k % area, y = in / p.patch, x = left + in % p.patch;
        spot_round(row + k, p.value[256 * channel + rgb[(y * p.side + x) * 3 + channel]]);
    }
}

/* grid (n (count + 1)): a row to a block, here and in the next two */
static __global__ void __launch_bounds__(THREADS) join_kernel(float *x, const float *patch, const float *first,
                                                              const float *position, int count, int width)
{
    const int picture = blockIdx.x / (count + 1), t = blockIdx.x % (count + 1);
    const float *from = t ? patch + ((size_t)picture * count + t - 1) * width : first;

    x += (size_t)blockIdx.x * width, position += (size_t)t * width;
    for (int i = threadIdx.x; i < width; i += THREADS) x[i] = from[i] + position[i];
}

/* grid (rows) */
static __global__ void __launch_bounds__(THREADS) words_kernel(float *x, const int *id, const int *place, const float *table,
                                                               const float *position, int width)
{
    x += (size_t)blockIdx.x * width, table += (size_t)id[blockIdx.x] * width, position += (size_t)place[blockIdx.x] * width;
    for (int i = threadIdx.x; i < width; i += THREADS) x[i] = table[i] + position[i];
}

/* grid (n) */
static __global__ void __launch_bounds__(THREADS) pick_kernel(float *y, const float *x, const int *row, int width)
{
    y += (size_t)blockIdx.x * width, x += (size_t)row[blockIdx.x] * width;
    for (int i = threadIdx.x; i < width; i += THREADS) y[i] = x[i];
}

/* grid (ceil(n / 8)): a row to a warp */
static __global__ void __launch_bounds__(THREADS) unit_kernel(float *x, int n, int width)
{
    const int lane = threadIdx.x % SPOT_WARP, r = blockIdx.x * ROWS + threadIdx.x / SPOT_WARP;
    float *row = x + (size_t)r * width;
    double sum = 0;

    if (r >= n) return;
    for (int i = lane; i < width; i += SPOT_WARP) sum += (double)row[i] * row[i];
    const float scale = (float)(1 / sqrt(spot_warp_sum(sum)));
    for (int i = lane; i < width; i += SPOT_WARP) row[i] *= scale;
}

/* grid (n pieces): 256 columns of a picture to a block, a column to a thread, whose sum goes by tokens, as the CPU's */
template <typename T>
static __global__ void __launch_bounds__(THREADS) mean_kernel(T *y, const float *x, spot_token_mean m, int pieces)
{
    const int picture = blockIdx.x / pieces, i = blockIdx.x % pieces * THREADS + threadIdx.x;
    const float *at = x + ((size_t)picture * m.each + m.first) * m.width + i;
    double sum = 0;

    if (i >= m.width) return;
    for (int t = m.first; t < m.last; t++, at += m.width) sum += (double)*at;
    spot_round(y + (size_t)picture * m.pitch + i, (float)(sum / (m.last - m.first)));
}

/* -- launchers -------------------------------------------------------------------------------------------------------- */

static spot_status patches_cuda(spot_ctx *c, void *row, const uint8_t *rgb, const spot_patches *p)
{
    const size_t across = p->side / p->patch;
    const dim3 grid((unsigned)(p->n * across * across));

    SPOT_TRY(spot_cuda_needs_all(c, "tokens.patches", { { row, "row" }, { rgb, "rgb" }, { p->value, "value" } }));
    if (p->precision == SPOT_BF16)
        SPOT_LAUNCH(patches_kernel<spot_bf16>, grid, THREADS, 0, spot_cuda_stream(c), (spot_bf16 *)row, rgb, *p);
    else
        SPOT_LAUNCH(patches_kernel<float>, grid, THREADS, 0, spot_cuda_stream(c), (float *)row, rgb, *p);
    return spot_cuda_launched(c, "tokens.patches of %d pictures of %d pixels", p->n, p->side);
}

static spot_status join_cuda(spot_ctx *c, float *x, const spot_picture_tokens *t)
{
    SPOT_TRY(spot_cuda_needs_all(c, "tokens.join", { { x, "x" }, { t->patch, "patch" }, { t->first, "first" },
                                                     { t->position, "position" } }));
    SPOT_LAUNCH(join_kernel, dim3((unsigned)t->n * (t->count + 1)), THREADS, 0, spot_cuda_stream(c), x, t->patch, t->first,
                t->position, t->count, t->width);
    return spot_cuda_launched(c, "tokens.join of %d pictures of %d patches", t->n, t->count);
}

static spot_status words_cuda(spot_ctx *c, float *x, const spot_word_tokens *t)
{
    SPOT_TRY(spot_cuda_needs_all(c, "tokens.words", { { x, "x" }, { t->id, "id" }, { t->place, "place" }, { t->table, "table" },
                                                      { t->position, "position" } }));
    SPOT_LAUNCH(words_kernel, dim3(t->rows), THREADS, 0, spot_cuda_stream(c), x, t->id, t->place, t->table, t->position,
                t->width);
    return spot_cuda_launched(c, "tokens.words of %d rows", t->rows);
}

static spot_status pick_cuda(spot_ctx *c, float *y, const float *x, const int *row, int n, int width)
{
    SPOT_TRY(spot_cuda_needs_all(c, "tokens.pick", { { y, "y" }, { x, "x" }, { row, "row" } }));
    SPOT_LAUNCH(pick_kernel, dim3(n), THREADS, 0, spot_cuda_stream(c), y, x, row, width);
    return spot_cuda_launched(c, "tokens.pick of %d rows", n);
}

static spot_status unit_cuda(spot_ctx *c, float *x, int n, int width)
{
    SPOT_TRY(spot_cuda_needs(c, x, "tokens.unit: x"));
    SPOT_LAUNCH(unit_kernel, dim3(spot_blocks(n, ROWS)), THREADS, 0, spot_cuda_stream(c), x, n, width);
    return spot_cuda_launched(c, "tokens.unit of %d rows", n);
}

static spot_status mean_cuda(spot_ctx *c, void *y, const float *x, const spot_token_mean *m)
{
    const int pieces = spot_blocks(m->width, THREADS);
    const dim3 grid((unsigned)m->n * pieces);

    SPOT_TRY(spot_cuda_needs_all(c, "tokens.mean", { { y, "y" }, { x, "x" } }));
    if (m->precision == SPOT_BF16)
        SPOT_LAUNCH(mean_kernel<spot_bf16>, grid, THREADS, 0, spot_cuda_stream(c), (spot_bf16 *)y, x, *m, pieces);
    else
        SPOT_LAUNCH(mean_kernel<float>, grid, THREADS, 0, spot_cuda_stream(c), (float *)y, x, *m, pieces);
    return spot_cuda_launched(c, "tokens.mean of %d pictures of %d tokens", m->n, m->each);
}

extern const spot_tokens_ops spot_tokens_cuda = { patches_cuda, join_cuda, words_cuda, pick_cuda, unit_cuda, mean_cuda };
