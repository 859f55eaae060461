/* tokens.cu - plain kernels, a number to a thread; they take a hundredth of a tower's time. */
#include "core/lanes.cuh"
#include "core/sums.cuh"
#include "net/tokens.h"

enum { THREADS = 256, ROWS = THREADS / SPOT_WARP };

/* The number that a thread owns. */
static __device__ size_t own() { return (size_t)blockIdx.x * THREADS + threadIdx.x; }

/* grid (ceil(numbers / 256)): numbers of all patches */
template <typename T>
static __global__ void __launch_bounds__(THREADS) patches_kernel(T *row, const uint8_t *rgb, spot_patches p, size_t numbers)
{
    const int across = p.side / p.patch, each = across * across, area = p.patch * p.patch;
    const size_t e = own(), patch = e / (3 * area);
    const int k = (int)(e % (3 * area)), channel = k / area, in = k % area, at = (int)(patch % each);
    const int y = at / across * p.patch + in / p.patch, x = at % across * p.patch + in % p.patch;

    if (e >= numbers) return;
    spot_round(row + e, p.value[256 * channel + rgb[((patch / each * p.side + y) * p.side + x) * 3 + channel]]);
}

/* grid (ceil(n (count + 1) width / 256)) */
static __global__ void __launch_bounds__(THREADS) join_kernel(float *x, const float *patch, const float *first,
                                                              const float *position, int count, int width, size_t numbers)
{
    const size_t e = own(), r = e / width;
    const int i = (int)(e % width), t = (int)(r % (count + 1));

    if (e >= numbers) return;
    x[e] = (t ? patch[(r / (count + 1) * count + t - 1) * width + i] : first[i]) + position[(size_t)t * width + i];
}

/* grid (ceil(rows width / 256)) */
static __global__ void __launch_bounds__(THREADS) words_kernel(float *x, const int *id, const int *place, const float *table,
                                                               const float *position, int width, size_t numbers)
{
    const size_t e = own(), r = e / width, i = e % width;

    if (e < numbers) x[e] = table[(size_t)id[r] * width + i] + position[(size_t)place[r] * width + i];
}

/* grid (ceil(n width / 256)) */
static __global__ void __launch_bounds__(THREADS) pick_kernel(float *y, const float *x, const int *row, int width,
                                                              size_t numbers)
{
    const size_t e = own();

    if (e < numbers) y[e] = x[(size_t)row[e / width] * width + e % width];
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

/* grid (ceil(n width / 256)): a column of a picture to a thread, whose sum goes by tokens, as the CPU's */
template <typename T>
static __global__ void __launch_bounds__(THREADS) mean_kernel(T *y, const float *x, spot_token_mean m, size_t numbers)
{
    const size_t e = own();
    const float *at = x + (e / m.width * m.each + m.first) * m.width + e % m.width;
    double sum = 0;

    if (e >= numbers) return;
    for (int t = m.first; t < m.last; t++, at += m.width) sum += (double)*at;
    spot_round(y + e / m.width * m.pitch + e % m.width, (float)(sum / (m.last - m.first)));
}

/* -- launchers -------------------------------------------------------------------------------------------------------- */

static spot_status patches_cuda(spot_ctx *c, void *row, const uint8_t *rgb, const spot_patches *p)
{
    const size_t across = p->side / p->patch, numbers = p->n * across * across * 3 * p->patch * p->patch;
    const dim3 grid(spot_blocks(numbers, THREADS));

    SPOT_TRY(spot_cuda_needs_all(c, "tokens.patches", { { row, "row" }, { rgb, "rgb" }, { p->value, "value" } }));
    if (p->precision == SPOT_BF16)
        SPOT_LAUNCH(patches_kernel<spot_bf16>, grid, THREADS, 0, spot_cuda_stream(c), (spot_bf16 *)row, rgb, *p, numbers);
    else
        SPOT_LAUNCH(patches_kernel<float>, grid, THREADS, 0, spot_cuda_stream(c), (float *)row, rgb, *p, numbers);
    return spot_cuda_launched(c, "tokens.patches of %d pictures of %d pixels", p->n, p->side);
}

static spot_status join_cuda(spot_ctx *c, float *x, const spot_picture_tokens *t)
{
    const size_t numbers = (size_t)t->n * (t->count + 1) * t->width;

    SPOT_TRY(spot_cuda_needs_all(c, "tokens.join", { { x, "x" }, { t->patch, "patch" }, { t->first, "first" },
                                                     { t->position, "position" } }));
    SPOT_LAUNCH(join_kernel, dim3(spot_blocks(numbers, THREADS)), THREADS, 0, spot_cuda_stream(c), x, t->patch, t->first,
                t->position, t->count, t->width, numbers);
    return spot_cuda_launched(c, "tokens.join of %d pictures of %d patches", t->n, t->count);
}

static spot_status words_cuda(spot_ctx *c, float *x, const spot_word_tokens *t)
{
    const size_t numbers = (size_t)t->rows * t->width;

    SPOT_TRY(spot_cuda_needs_all(c, "tokens.words", { { x, "x" }, { t->id, "id" }, { t->place, "place" }, { t->table, "table" },
                                                      { t->position, "position" } }));
    SPOT_LAUNCH(words_kernel, dim3(spot_blocks(numbers, THREADS)), THREADS, 0, spot_cuda_stream(c), x, t->id, t->place,
                t->table, t->position, t->width, numbers);
    return spot_cuda_launched(c, "tokens.words of %d rows", t->rows);
}

static spot_status pick_cuda(spot_ctx *c, float *y, const float *x, const int *row, int n, int width)
{
    const size_t numbers = (size_t)n * width;

    SPOT_TRY(spot_cuda_needs_all(c, "tokens.pick", { { y, "y" }, { x, "x" }, { row, "row" } }));
    SPOT_LAUNCH(pick_kernel, dim3(spot_blocks(numbers, THREADS)), THREADS, 0, spot_cuda_stream(c), y, x, row, width, numbers);
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
    const size_t numbers = (size_t)m->n * m->width;
    const dim3 grid(spot_blocks(numbers, THREADS));

    SPOT_TRY(spot_cuda_needs_all(c, "tokens.mean", { { y, "y" }, { x, "x" } }));
    if (m->precision == SPOT_BF16)
        SPOT_LAUNCH(mean_kernel<spot_bf16>, grid, THREADS, 0, spot_cuda_stream(c), (spot_bf16 *)y, x, *m, numbers);
    else
        SPOT_LAUNCH(mean_kernel<float>, grid, THREADS, 0, spot_cuda_stream(c), (float *)y, x, *m, numbers);
    return spot_cuda_launched(c, "tokens.mean of %d pictures of %d tokens", m->n, m->each);
}

extern const spot_tokens_ops spot_tokens_cuda = { patches_cuda, join_cuda, words_cuda, pick_cuda, unit_cuda, mean_cuda };
