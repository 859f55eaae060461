/* conv_convert.cu - bf16 to fp32 and back, where cuDNN wants another type than the caller has. */
#include "net/conv.cuh"

/* grid (ceil(count / 256)) */
template <typename To, typename From>
static __global__ void __launch_bounds__(THREADS) convert_kernel(To *to, const From *from, size_t count)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

    if (i < count) spot_round(&to[i], spot_widen(from[i]));
}

spot_status spot_conv_widen(spot_ctx *c, float *to, const void *from, size_t count)
{
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_LAUNCH((convert_kernel<float, spot_bf16>), blocks_for(count), THREADS, 0, stream, to, (const spot_bf16 *)from, count);
    return spot_cuda_launched(c, "conv: widening %zu weight gradients", count);
}

spot_status spot_conv_narrow(spot_ctx *c, void *to, const float *from, size_t count)
{
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_LAUNCH((convert_kernel<spot_bf16, float>), blocks_for(count), THREADS, 0, stream, (spot_bf16 *)to, from, count);
    return spot_cuda_launched(c, "conv: narrowing a bias of %zu", count);
}
