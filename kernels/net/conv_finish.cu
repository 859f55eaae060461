/* conv_finish.cu - the work that cuDNN's plans leave: summands and ReLU; conversion between bf16 and fp32. */
#include "net/conv.cuh"

/* y = relu(y + bias + other): grid (ceil(groups of channels / 256)). */
template <typename T>
static __global__ void __launch_bounds__(THREADS) finish_kernel(T *y, const float *bias, const T *other, size_t groups, int co,
                                                                bool relu)
{
    constexpr int N = spot_lanes<T>::N;
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    float v[N], add[N] = { 0 };

    if (i >= groups) return;
    spot_load(v, y + i * N);
    if (other) spot_load(add, other + i * N);
    for (int j = 0; j < N; j++) {
        v[j] += bias[(i * N + j) % co] + add[j];
        if (relu && v[j] <= 0) v[j] = 0;
    }
    spot_store(y + i * N, v);
}

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

template <typename T> static void launch_finish(cudaStream_t stream, const spot_conv *p, void *y, spot_conv_summands plus)
{
    size_t groups = y_numbers(&p->l) / spot_lanes<T>::N;

    SPOT_LAUNCH(finish_kernel<T>, blocks_for(groups), THREADS, 0, stream, (T *)y, plus.bias, (const T *)plus.other, groups,
                p->s.co, p->s.relu);
}

spot_status spot_conv_finish(spot_ctx *c, int pass, const spot_conv *p, void *y, spot_conv_summands plus)
{
    (p->s.precision == SPOT_BF16 ? launch_finish<spot_bf16> : launch_finish<float>)(spot_cuda_stream(c), p, y, plus);
    return spot_conv_launched(c, pass, &p->l, p->s.precision);
}
