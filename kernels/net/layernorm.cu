/* layernorm.cu - a row to 16 lanes of a warp, each of which sums one of the row's 16 parts: the CPU's order and bits. A row of
 * up to 1,024 numbers lies in the registers of its lanes for its three passes: all rows that are under way on a multiprocessor
 * do not fit into its nearest cache. y may be x: both sums wait for all lanes of the row, and the last pass reads a number in
 * the lane that then writes it. */
#include "core/lanes.cuh"
#include "core/sums.cuh"
#include "net/layernorm.h"

enum { LANES = SPOT_HALF_WARP, THREADS = 256, ROWS = THREADS / LANES };

/* A lane's part of a row: n numbers, 16 apart from the first on. KEPT: how many v has room for; 0: they are read where they
 * lie. The turns of a loop over a part are then KEPT, some of which find no number: a known count keeps v in registers. */
template <int KEPT> struct part {
    const float *first;
    int n;
    float v[KEPT ? KEPT : 1];

    __device__ float at(int k) const { return KEPT ? v[k] : first[k * LANES]; }
    __device__ int turns() const { return KEPT ? KEPT : n; }
};

/* The sum of x - from, or of its square, in every lane of the half-warp. */
template <bool SQUARES, int KEPT> static __device__ float sum_of(const part<KEPT> &p, float from, unsigned mask)
{
    float sum = 0;

    for (int k = 0; k < p.turns(); k++)
        if (k < p.n) {
            const float d = p.at(k) - from;
            sum = SQUARES ? fmaf(d, d, sum) : sum + d;
        }
    return spot_half_warp_sum(sum, mask);
}

/* grid (ceil(rows / 16)) */
template <typename T, int KEPT>
static __global__ void __launch_bounds__(THREADS) apply_kernel(T *y, const float *x, spot_layernorm l, int rows)
{
    const int lane = threadIdx.x % LANES, r = blockIdx.x * ROWS + threadIdx.x / LANES;
    const unsigned mask = threadIdx.x % SPOT_WARP < LANES ? 0xffffu : 0xffff0000u;
    part<KEPT> p = { x + (size_t)r * l.width + lane, (l.width - lane + LANES - 1) / LANES, {} };

    if (r >= rows) return;             /* the whole half-warp, the lanes of `mask` */
    for (int k = 0; k < KEPT; k++)
        if (k < p.n) p.v[k] = p.first[k * LANES];
    const float mean = sum_of<false>(p, 0, mask) / (float)l.width;
    const float scale = 1 / sqrtf(sum_of<true>(p, mean, mask) / (float)l.width + l.eps);
    y += (size_t)r * l.width + lane, l.weight += lane, l.bias += lane;
    for (int k = 0; k < p.turns(); k++)
        if (k < p.n)
            spot_round(y + k * LANES, fmaf((p.at(k) - mean) * scale, l.weight[k * LANES], l.bias[k * LANES]));
}

/* 48 numbers are ViT-B's width, and leave room for three blocks on a multiprocessor; 64 are ViT-L's. */
template <typename T> static void launch(spot_ctx *c, T *y, const float *x, const spot_layernorm *l, int rows)
{
    const dim3 grid(spot_blocks(rows, ROWS));

    if (l->width <= 48 * LANES)
        SPOT_LAUNCH((apply_kernel<T, 48>), grid, THREADS, 0, spot_cuda_stream(c), y, x, *l, rows);
    else if (l->width <= 64 * LANES)
        SPOT_LAUNCH((apply_kernel<T, 64>), grid, THREADS, 0, spot_cuda_stream(c), y, x, *l, rows);
    else
        SPOT_LAUNCH((apply_kernel<T, 0>), grid, THREADS, 0, spot_cuda_stream(c), y, x, *l, rows);
}

static spot_status apply_cuda(spot_ctx *c, void *y, const float *x, const spot_layernorm *l, int rows, spot_precision precision)
{
    SPOT_TRY(spot_cuda_needs_all(c, "layernorm.apply", { { y, "y" }, { x, "x" }, { l->weight, "weight" },
                                                         { l->bias, "bias" } }));
    if (precision == SPOT_BF16) launch(c, (spot_bf16 *)y, x, l, rows);
    else                        launch(c, (float *)y, x, l, rows);
    return spot_cuda_launched(c, "layernorm.apply of %d rows of %d numbers", rows, l->width);
}

extern const spot_layernorm_ops spot_layernorm_cuda = { apply_cuda };
