/* conv_finish.cu - a pass by a plan of cuDNN, and the work that the plan leaves: summands and ReLU. */
#include "net/conv.cuh"

/* y = relu(y + bias + other): grid (ceil(groups of channels / 256)). A group's channels lie side by side in the bias, too,
 * because co is a multiple of 16. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) finish_kernel(T *y, const float *bias, const T *other, size_t groups, int co,
                                                                bool relu)
{
    constexpr int N = spot_lanes<T>::N;
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    float v[N], own[N], add[N] = { 0 };

    if (i >= groups) return;
    spot_load_constants<N>(own, bias + i % (co / N) * N);
    spot_load(v, y + i * N);
    if (other) spot_load(add, other + i * N);
    for (int j = 0; j < N; j++) {
        v[j] += own[j] + add[j];
        if (relu && v[j] <= 0) v[j] = 0;
    }
    spot_store(y + i * N, v);
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

spot_status spot_conv_by_plan(spot_ctx *c, int pass, const spot_conv *p, const spot_cudnn_plan *plan, void *x, void *w,
                              void *y, spot_conv_summands plus, void *scratch)
{
    bool finished;

    SPOT_TRY(spot_cudnn_run(c, plan, x, w, y, plus.bias, plus.other, scratch, &finished));
    if (!plus.bias || finished) return SPOT_OK;
    return spot_conv_finish(c, pass, p, y, plus);
}
