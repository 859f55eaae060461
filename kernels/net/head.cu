/* head.cu - the layers after the last block (head.h). Little work, by plain kernels whose threads sum in a fixed order. */
#include "core/lanes.cuh"
#include "core/sums.cuh"
#include "net/head.h"

enum { THREADS = 256 };

/* grid (live): a block pools an image, a channel to a thread, and multiplies it with the rows of w. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) forward_kernel(spot_head_answers a, int channels, int pixels, int outputs)
{
    const T *image = (const T *)a.x + (size_t)blockIdx.x * pixels * channels;
    float *f = a.feature + (size_t)blockIdx.x * channels;

    for (int k = threadIdx.x; k < channels; k += THREADS) {
        double sum = 0;
        for (int i = 0; i < pixels; i++) sum += spot_widen(image[(size_t)i * channels + k]);
        f[k] = (float)(sum / pixels);
    }
    for (int o = 0; a.b && o < outputs; o++) {
        double z = 0;
        for (int k = threadIdx.x; k < channels; k += THREADS) z += (double)f[k] * a.w[(size_t)o * channels + k];
        z = spot_block_sum<THREADS>(z);        /* f[k] was written by the thread that read it */
        if (threadIdx.x == 0) a.logit[(size_t)blockIdx.x * outputs + o] = (float)(a.b[o] + z);
    }
}

/* One block: a batch has a few hundred logits. */
static __global__ void __launch_bounds__(THREADS) loss_kernel(double *loss, float *dlogit, const float *logit,
                                                              const float *target, int count)
{
    double sum = 0;

    for (int i = threadIdx.x; i < count; i += THREADS) {
        double z = logit[i], t = target[i];
        sum += (z > 0 ? z : 0) - z * t + log1p(exp(-fabs(z)));     /* z * t keeps a NaN */
        if (dlogit) dlogit[i] = (float)((1 / (1 + exp(-z)) - t) / count);
    }
    sum = spot_block_sum<THREADS>(sum);
    if (threadIdx.x == 0) *loss = sum / count;
}

/* One block, a row to a warp. */
static __global__ void __launch_bounds__(THREADS) softmax_kernel(double *loss, float *dlogit, const float *logit,
                                                                 const float *target, int live, int outputs)
{
    const int lane = threadIdx.x % SPOT_WARP;
    double total = 0;

    for (int n = threadIdx.x / SPOT_WARP; n < live; n += THREADS / SPOT_WARP) {
        const float *z = logit + (size_t)n * outputs, *t = target + (size_t)n * outputs;
        double most = z[0], sum = 0, all = 0, log_sum;
        for (int o = lane; o < outputs; o += SPOT_WARP) most = z[o] > most ? z[o] : most;
        for (int by = SPOT_WARP / 2; by; by /= 2) {
            double other = __shfl_xor_sync(~0u, most, by);
            most = other > most ? other : most;
        }
        for (int o = lane; o < outputs; o += SPOT_WARP) {
            sum += exp(z[o] - most);               /* keeps a NaN */
            all += t[o];
        }
        sum = spot_warp_sum(sum);
        all = spot_warp_sum(all);
        log_sum = most + log(sum);
        for (int o = lane; o < outputs; o += SPOT_WARP) {
            total += t[o] * (log_sum - z[o]);
            if (dlogit) dlogit[(size_t)n * outputs + o] = (float)((all * (exp(z[o] - most) / sum) - t[o]) / live);
        }
    }
    total = spot_block_sum<THREADS>(total);
    if (threadIdx.x == 0) *loss = total / live;
}

/* grid (ceil((channels + 1) / 256), outputs); the thread behind the last channel sums for the bias */
static __global__ void __launch_bounds__(THREADS) weights_kernel(spot_head_gradients g, int live, int channels, int outputs)
{
    int k = blockIdx.x * THREADS + threadIdx.x, o = blockIdx.y;
    double sum = 0;

    if (k > channels) return;
    for (int n = 0; n < live; n++)
        sum += (double)g.dlogit[(size_t)n * outputs + o] * (k < channels ? g.feature[(size_t)n * channels + k] : 1.0f);
    if (k < channels) g.dw[(size_t)o * channels + k] = (float)sum;
    else              g.db[o] = (float)sum;
}

/* grid (ceil(channels / 256), rows) */
template <typename T>
static __global__ void __launch_bounds__(THREADS) data_kernel(spot_head_gradients g, int live, int channels, int pixels,
                                                              int outputs)
{
    int k = blockIdx.x * THREADS + threadIdx.x;
    size_t n = blockIdx.y;
    double sum = 0;

    if (k >= channels) return;
    if (g.dfeature && n < (size_t)live) sum = g.dfeature[n * channels + k];
    for (int o = 0; o < outputs && n < (size_t)live; o++)
        sum += (double)g.dlogit[n * outputs + o] * g.w[(size_t)o * channels + k];
    for (int i = 0; i < pixels; i++) spot_round((T *)g.dx + (n * pixels + i) * channels + k, (float)(sum / pixels));
}

/* The least (sign 1) or the greatest (-1) v of the block, the same in every thread. */
static __device__ inline float extreme_of_block(float v, float sign)
{
    SPOT_SHARED(float, warp, THREADS / SPOT_WARP);
    float found = INFINITY;

    v *= sign;
    for (int by = SPOT_WARP / 2; by; by /= 2) {
        float other = __shfl_xor_sync(~0u, v, by);
        v = other < v ? other : v;
    }
    __syncthreads();                  /* other threads may still read the last call's */
    if (threadIdx.x % SPOT_WARP == 0) warp[threadIdx.x / SPOT_WARP] = v;
    __syncthreads();
    for (int w = 0; w < THREADS / SPOT_WARP; w++) found = warp[w] < found ? warp[w] : found;
    return sign * found;
}

/* grid (live): an image to a block. Few channels have several threads each, which share the pixels; where the channels do not
 * divide the block the threads left over (share == shares) only wait with the others. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) channels_kernel(float *activity, int stride, const T *x, int channels,
                                                                  int pixels, bool relu)
{
    SPOT_SHARED(double, part, THREADS);
    const T *image = x + (size_t)blockIdx.x * pixels * channels;
    const int wide = channels < THREADS ? channels : THREADS, shares = THREADS / wide, share = threadIdx.x / wide;
    const float floor = relu ? 0 : -INFINITY;
    float *mine = activity + (size_t)blockIdx.x * stride, least = INFINITY, most = -INFINITY;

    for (int first = 0; first < channels; first += wide) {
        const int k = first + threadIdx.x % wide;
        double sum = 0;
        for (int i = share; share < shares && k < channels && i < pixels; i += shares) {
            float v = spot_widen(image[(size_t)i * channels + k]);
            v = v < floor ? floor : v;
            sum += v;
            least = v < least ? v : least;
            most = v > most ? v : most;
        }
        __syncthreads();              /* the sums of the channels before these are read */
        part[threadIdx.x] = sum;
        __syncthreads();
        if (share || k >= channels) continue;
        for (int i = 1; i < shares; i++) sum += part[i * wide + threadIdx.x];
        mine[k] = (float)(sum / pixels);
    }
    least = extreme_of_block(least, 1);
    most = extreme_of_block(most, -1);
    for (int k = threadIdx.x; k < channels; k += wide)     /* each by the thread that wrote it */
        if (!share) mine[k] = spot_head_scaled(mine[k], least, most);
}

template <typename T>
static void launch_forward(spot_ctx *c, const spot_head_answers *a, spot_plane p, int outputs)
{
    SPOT_LAUNCH(forward_kernel<T>, p.live, THREADS, 0, spot_cuda_stream(c), *a, p.channels, p.size * p.size, outputs);
}

static spot_status forward_cuda(spot_ctx *c, const spot_head_answers *a, spot_plane p, int outputs)
{
    SPOT_TRY(spot_cuda_needs(c, a->x, "head.forward: x"));
    (p.precision == SPOT_BF16 ? launch_forward<spot_bf16> : launch_forward<float>)(c, a, p, outputs);
    return spot_cuda_launched(c, "head.forward of %d images, %d channels, size %d, %d outputs", p.live, p.channels, p.size,
                              outputs);
}

static spot_status loss_cuda(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int count)
{
    SPOT_TRY(spot_cuda_needs(c, loss, "head.loss: loss"));
    SPOT_LAUNCH(loss_kernel, 1, THREADS, 0, spot_cuda_stream(c), loss, dlogit, logit, target, count);
    return spot_cuda_launched(c, "head.loss of %d logits", count);
}

static spot_status softmax_cuda(spot_ctx *c, double *loss, float *dlogit, const float *logit, const float *target, int live,
                                int outputs)
{
    SPOT_TRY(spot_cuda_needs(c, loss, "head.softmax: loss"));
    SPOT_LAUNCH(softmax_kernel, 1, THREADS, 0, spot_cuda_stream(c), loss, dlogit, logit, target, live, outputs);
    return spot_cuda_launched(c, "head.softmax of %d rows of %d logits", live, outputs);
}

template <typename T>
static void launch_channels(spot_ctx *c, float *activity, int stride, const void *x, spot_plane p, bool relu)
{
    SPOT_LAUNCH(channels_kernel<T>, p.live, THREADS, 0, spot_cuda_stream(c), activity, stride, (const T *)x, p.channels,
                p.size * p.size, relu);
}

static spot_status channels_cuda(spot_ctx *c, float *activity, int stride, const void *x, spot_plane p, bool relu)
{
    SPOT_TRY(spot_cuda_needs(c, x, "head.channels: x"));
    (p.precision == SPOT_BF16 ? launch_channels<spot_bf16> : launch_channels<float>)(c, activity, stride, x, p, relu);
    return spot_cuda_launched(c, "head.channels of %d images, %d channels, size %d", p.live, p.channels, p.size);
}

template <typename T>
static void launch_data(spot_ctx *c, const spot_head_gradients *g, spot_plane p, int outputs)
{
    SPOT_LAUNCH(data_kernel<T>, dim3((p.channels + THREADS - 1) / THREADS, p.rows), THREADS, 0, spot_cuda_stream(c), *g, p.live,
                p.channels, p.size * p.size, outputs);
}

static spot_status back_cuda(spot_ctx *c, const spot_head_gradients *g, spot_plane p, int outputs)
{
    SPOT_TRY(spot_cuda_needs(c, g->dx, "head.back: dx"));
    if (p.rows > 65535 || outputs > 65535)
        return spot_fail(c, SPOT_UNSUPPORTED, "head.back: %d rows, %d outputs; CUDA takes 65535", p.rows, outputs);
    SPOT_LAUNCH(weights_kernel, dim3(p.channels / THREADS + 1, outputs), THREADS, 0, spot_cuda_stream(c), *g, p.live,
                p.channels, outputs);
    (p.precision == SPOT_BF16 ? launch_data<spot_bf16> : launch_data<float>)(c, g, p, outputs);
    return spot_cuda_launched(c, "head.back of %d images, %d channels, size %d, %d outputs", p.live, p.channels, p.size,
                              outputs);
}

extern const spot_head_ops spot_head_cuda = { .forward = forward_cuda, .loss = loss_cuda, .softmax = softmax_cuda,
                                               .back = back_cuda, .channels = channels_cuda };
