/* layernorm.cu - a row to 16 lanes of a warp, each of which sums one of the row's 16 parts: the CPU's order and bits. The row
 * stays in the nearest cache for its three passes. y may be x: both sums wait for all lanes of the row, and the last pass reads
 * a number in the lane that then writes it. */
#include "core/lanes.cuh"
#include "core/sums.cuh"
#include "net/layernorm.h"

enum { THREADS = 256, ROWS = THREADS / SPOT_HALF_WARP };

/* The sum of x - from, or of its square, in every lane of the half-warp. */
template <bool SQUARES> static __device__ float sum_of(const float *x, int n, float from, int lane, unsigned mask)
{
    float part = 0;

    for (int i = lane; i < n; i += SPOT_HALF_WARP) {
        const float d = x[i] - from;
        part = SQUARES ? fmaf(d, d, part) : part + d;
    }
    return spot_half_warp_sum(part, mask);
}

/* grid (ceil(rows / 16)) */
template <typename T>
static __global__ void __launch_bounds__(THREADS) apply_kernel(T *y, const float *x, spot_layernorm l, int rows)
{
    const int lane = threadIdx.x % SPOT_HALF_WARP, r = blockIdx.x * ROWS + threadIdx.x / SPOT_HALF_WARP;
    const unsigned mask = threadIdx.x % SPOT_WARP < SPOT_HALF_WARP ? 0xffffu : 0xffff0000u;
    const float *in = x + (size_t)r * l.width;

    if (r >= rows) return;             /* the whole half-warp, the lanes of `mask` */
    const float mean = sum_of<false>(in, l.width, 0, lane, mask) / (float)l.width;
    const float scale = 1 / sqrtf(sum_of<true>(in, l.width, mean, lane, mask) / (float)l.width + l.eps);
    for (int i = lane; i < l.width; i += SPOT_HALF_WARP)
        spot_round(y + (size_t)r * l.width + i, fmaf((in[i] - mean) * scale, l.weight[i], l.bias[i]));
}

static spot_status apply_cuda(spot_ctx *c, void *y, const float *x, const spot_layernorm *l, int rows, spot_precision precision)
{
    const int blocks = spot_blocks(rows, ROWS);

    SPOT_TRY(spot_cuda_needs_all(c, "layernorm.apply", { { y, "y" }, { x, "x" }, { l->weight, "weight" },
                                                         { l->bias, "bias" } }));
    if (precision == SPOT_BF16)
        SPOT_LAUNCH(apply_kernel<spot_bf16>, dim3(blocks), THREADS, 0, spot_cuda_stream(c), (spot_bf16 *)y, x, *l, rows);
    else
        SPOT_LAUNCH(apply_kernel<float>, dim3(blocks), THREADS, 0, spot_cuda_stream(c), (float *)y, x, *l, rows);
    return spot_cuda_launched(c, "layernorm.apply of %d rows of %d numbers", rows, l->width);
}

extern const spot_layernorm_ops spot_layernorm_cuda = { apply_cuda };
