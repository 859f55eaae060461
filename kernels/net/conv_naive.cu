/* conv_naive.cu - convolution by its definition. Every plan of cuDNN is checked against it; the block emulator, which has no
 * cuDNN, computes with it. Deterministic and not tuned. */
#include "net/conv.cuh"

enum { CELLS = 16, MOST_SHARES = THREADS / CELLS, LEAST_SHARE = 32, RUN = 256 };

/* The coordinate in x of tap t at coordinate p of y; negative outside. */
static __device__ inline int tap_at(const layer *l, int p, int t)
{
    int q = p * l->stride + t - l->before;

    return q < l->size ? q : -1;
}

/* grid (ceil(numbers of y / 256)): a sum of the taps' sums, fp32. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) forward_kernel(T *y, const T *x, const T *w, const float *bias,
                                                                 const T *other, layer l, bool relu)
{
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, pixels = (size_t)l.out * l.out;
    int o = at % l.co, p = at / l.co % pixels;
    size_t n = at / l.co / pixels;
    float sum = 0;

    if (n >= (size_t)l.rows) return;
    for (int tap = 0; tap < l.k * l.k; tap++) {
        int row = tap_at(&l, p / l.out, tap / l.k), col = tap_at(&l, p % l.out, tap % l.k);
        float part = 0;
        if (row < 0 || col < 0) continue;
        const T *from = x + ((n * l.size + row) * l.size + col) * l.ci, *by = w + ((size_t)o * l.k * l.k + tap) * l.ci;
        for (int i = 0; i < l.ci; i++) part = fmaf(spot_widen(from[i]), spot_widen(by[i]), part);
        sum += part;
    }
    if (bias) sum += bias[o];
    if (other) sum += spot_widen(other[at]);
    if (relu && sum <= 0) sum = 0;
    spot_round(&y[at], sum);
}

/* grid (ceil(numbers of x / 256)) */
template <typename T>
static __global__ void __launch_bounds__(THREADS) data_kernel(T *dx, const T *dy, const T *w, layer l, bool add)
{
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, pixels = (size_t)l.size * l.size;
    int i = at % l.ci, q = at / l.ci % pixels;
    size_t n = at / l.ci / pixels;
    float sum = 0;

    if (n >= (size_t)l.rows) return;
    for (int tap = 0; tap < l.k * l.k; tap++) {
        int row = q / l.size + l.before - tap / l.k, col = q % l.size + l.before - tap % l.k;
        float part = 0;
        if (row < 0 || col < 0 || row % l.stride || col % l.stride || row / l.stride >= l.out || col / l.stride >= l.out)
            continue;
        const T *from = dy + ((n * l.out + row / l.stride) * l.out + col / l.stride) * l.co;
        for (int o = 0; o < l.co; o++)
            part = fmaf(spot_widen(from[o]), spot_widen(w[((size_t)o * l.k * l.k + tap) * l.ci + i]), part);
        sum += part;
    }
    if (add) sum += spot_widen(dx[at]);
    spot_round(&dx[at], sum);
}

/* grid (co * k * k, ceil(ci / 16)): a block owns 16 numbers of dw; each of up to 16 threads a number sums every 16th pixel
 * of the batch, in fp32 over 256 of them and in double above, and one adds the threads' sums in order. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) weights_kernel(float *dw, const T *x, const T *dy, layer l)
{
    SPOT_SHARED(double, shared, THREADS);
    int o = blockIdx.x / (l.k * l.k), tap = blockIdx.x % (l.k * l.k), i = blockIdx.y * CELLS + threadIdx.x % CELLS;
    const int shares = blockDim.x / CELLS;
    size_t pixels = (size_t)l.out * l.out, all = l.rows * pixels, p = threadIdx.x / CELLS;
    double sum = 0;

    while (i < l.ci && p < all) {
        float part = 0;
        for (int run = 0; run < RUN && p < all; run++, p += shares) {
            int q = (int)(p % pixels), row = tap_at(&l, q / l.out, tap / l.k), col = tap_at(&l, q % l.out, tap % l.k);
            if (row < 0 || col < 0) continue;
            part = fmaf(spot_widen(x[((p / pixels * l.size + row) * l.size + col) * l.ci + i]),
                        spot_widen(dy[p * l.co + o]), part);
        }
        sum += part;
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= CELLS || i >= l.ci) return;
    for (int t = 1; t < shares; t++) sum += shared[t * CELLS + threadIdx.x];
    dw[(size_t)blockIdx.x * l.ci + i] = (float)sum;
}

/* Threads a number: few pixels are not worth many. */
static int shares_of(size_t pixels) { return (int)max((size_t)1, min((size_t)MOST_SHARES, pixels / LEAST_SHARE)); }

/* x, w, y in the roles of the pass. */
template <typename T>
static void launch_naive(spot_ctx *c, int pass, void *x, void *w, void *y, spot_conv_summands plus, const layer *l,
                         const spot_conv_shape *s)
{
    cudaStream_t stream = spot_cuda_stream(c);

    if (pass == SPOT_PASS_FORWARD)
        SPOT_LAUNCH(forward_kernel<T>, blocks_for(y_numbers(l)), THREADS, 0, stream, (T *)y, (const T *)x, (const T *)w,
                    plus.bias, (const T *)plus.other, *l, s->relu);
    else if (pass == SPOT_PASS_DATA)
        SPOT_LAUNCH(data_kernel<T>, blocks_for(x_numbers(l)), THREADS, 0, stream, (T *)x, (const T *)y, (const T *)w, *l,
                    s->add);
    else
        SPOT_LAUNCH(weights_kernel<T>, dim3(l->co * l->k * l->k, (l->ci + CELLS - 1) / CELLS),
                    CELLS * shares_of(y_numbers(l) / l->co), 0, stream,
                    (float *)w, (const T *)x, (const T *)y, *l);
}

spot_status spot_conv_launched(spot_ctx *c, int pass, const layer *l, spot_precision precision)
{
    static const char *const name[] = { "forward", "backward_data", "backward_weights" };

    return spot_cuda_launched(c, "conv.%s of (%d,%d,%d,%d) by (%d,%d,%d,%d), stride %d, %s", name[pass], l->rows, l->ci,
                              l->size, l->size, l->co, l->ci, l->k, l->k, l->stride,
                              precision == SPOT_BF16 ? "bf16" : "fp32");
}

spot_status spot_conv_naive(spot_ctx *c, int pass, const spot_conv *p, void *x, void *w, void *y, spot_conv_summands plus,
                            int rows)
{
    layer l = p->l;

    l.rows = rows;
    (p->s.precision == SPOT_BF16 ? launch_naive<spot_bf16> : launch_naive<float>)(c, pass, x, w, y, plus, &l, &p->s);
    return spot_conv_launched(c, pass, &l, p->s.precision);
}
