/* conv_pack.cu - weights between torchvision's order and that of a plan, and the arrays beside them, in a device's memory. */
#include "core/stem.h"
#include "net/conv.cuh"

/* (co, ci, taps, taps) and packed (co, k, k, channels); image: blocks of 2 x 2 pixels. */
typedef struct {
    int ci, taps, k, channels, pad;
    bool image;
} weight_order;

static weight_order order_of(const spot_conv *p)
{
    return { p->s.ci, p->s.k, p->l.k, p->l.ci, spot_conv_pad(&p->s), spot_conv_in_blocks(&p->s) };
}

/* The place in torchvision's order of packed number `at`; -1: it has none and is 0. */
static __device__ long long place_of(size_t at, weight_order w)
{
    int channel = at % w.channels, tap = at / w.channels % (w.k * w.k), row = tap / w.k, col = tap % w.k;
    size_t o = at / w.channels / (w.k * w.k);

    if (w.image) {
        int pixel = channel / SPOT_STEM;
        row = spot_image_tap(w.pad, row, pixel / 2), col = spot_image_tap(w.pad, col, pixel % 2), channel %= SPOT_STEM;
    }
    if (channel >= w.ci || row < 0 || row >= w.taps || col < 0 || col >= w.taps) return -1;
    return (long long)(((o * w.ci + channel) * w.taps + row) * w.taps + col);
}

/* grid (ceil(packed numbers / 256)) */
template <typename T>
static __global__ void __launch_bounds__(THREADS) pack_kernel(T *packed, const float *oihw, weight_order w, size_t count)
{
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    long long from;

    if (at >= count) return;
    from = place_of(at, w);
    spot_round(packed + at, from < 0 ? 0.0f : oihw[from]);
}

/* grid (ceil(packed numbers / 256)) */
static __global__ void __launch_bounds__(THREADS) unpack_kernel(float *oihw, const float *packed, weight_order w, size_t count)
{
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    long long to;

    if (at >= count) return;
    to = place_of(at, w);
    if (to >= 0) oihw[to] = packed[at];
}

spot_status spot_conv_pack_cuda(spot_ctx *c, const spot_conv *p, void *packed, const float *oihw)
{
    const size_t count = w_numbers(&p->l);
    const bool half = !p->s.train && p->s.precision == SPOT_BF16;
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_TRY(spot_cuda_needs(c, packed, "conv.pack: packed"));
    SPOT_TRY(spot_cuda_needs(c, oihw, "conv.pack: oihw"));
    if (half)
        SPOT_LAUNCH(pack_kernel<spot_bf16>, blocks_for(count), THREADS, 0, stream, (spot_bf16 *)packed, oihw, order_of(p),
                    count);
    else
        SPOT_LAUNCH(pack_kernel<float>, blocks_for(count), THREADS, 0, stream, (float *)packed, oihw, order_of(p), count);
    return spot_cuda_launched(c, "conv.pack of %zu weights", count);
}

spot_status spot_conv_unpack_cuda(spot_ctx *c, const spot_conv *p, float *oihw, const float *packed)
{
    const size_t count = w_numbers(&p->l);

    SPOT_TRY(spot_cuda_needs(c, packed, "conv.unpack: packed"));
    SPOT_TRY(spot_cuda_needs(c, oihw, "conv.unpack: oihw"));
    SPOT_LAUNCH(unpack_kernel, blocks_for(count), THREADS, 0, spot_cuda_stream(c), oihw, packed, order_of(p), count);
    return spot_cuda_launched(c, "conv.unpack of %zu weights", count);
}

/* -- arrays beside the weights ---------------------------------------------------------------------------------- */

enum { MOST_BLOCKS = 128 };                        /* of a part; the largest, AlexNet's, has 38 million numbers */

typedef spot_batch<spot_conv_part, 160> parts_batch;

/* grid (blocks of the largest part, at most MOST_BLOCKS; parts) */
static __global__ void __launch_bounds__(THREADS) parts_kernel(const __grid_constant__ parts_batch all)
{
    const spot_conv_part *p = &all.of[blockIdx.y];

    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < p->count; i += (size_t)gridDim.x * THREADS)
        p->to[i] = p->from[i];
}

spot_status spot_conv_copy_parts_cuda(spot_ctx *c, const spot_conv_part *part, int count)
{
    for (int i = 0; i < count; i++) {
        SPOT_TRY(spot_cuda_needs(c, part[i].to, "conv.copy_parts: to"));
        SPOT_TRY(spot_cuda_needs(c, part[i].from, "conv.copy_parts: from"));
    }
    return spot_cuda_batches<parts_batch>(count, part, [=](auto &all, int some) {
        size_t most = 0;
        for (int i = 0; i < some; i++) most = max(most, all.of[i].count);
        SPOT_LAUNCH(parts_kernel, dim3(min(blocks_for(most), (unsigned)MOST_BLOCKS), (unsigned)some), THREADS, 0,
                    spot_cuda_stream(c), all);
        return spot_cuda_launched(c, "conv.copy_parts of %d arrays", some);
    });
}
