/* conv_naive.cu - convolution as its definition: what every plan of cuDNN is checked against when it is opened, and what
 * computes on the block emulator, which has no cuDNN. Deterministic; nobody waits for its speed. */
#include "conv.cuh"

enum { CELLS = 16, SHARES = THREADS / CELLS, RUN = 256 };

/* The pixel of x that tap t meets at coordinate p of y; negative outside. */
static __device__ inline int met(const layer *l, int p, int t)
{
    int q = p * l->stride + t - l->k / 2;

    return q < l->size ? q : -1;
}

/* grid (ceil(numbers of y / 256)): a sum of the taps' sums, fp32. bias and relu as conv.h says. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) forward_kernel(T *y, const T *x, const T *w, const float *bias, layer l,
                                                                 bool add, bool relu)
{
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, pixels = (size_t)l.out * l.out;
    int o = at % l.co, p = at / l.co % pixels;
    size_t n = at / l.co / pixels;
    float sum = 0;

    if (n >= (size_t)l.rows) return;
    for (int tap = 0; tap < l.k * l.k; tap++) {
        int row = met(&l, p / l.out, tap / l.k), col = met(&l, p % l.out, tap % l.k);
        float part = 0;
        if (row < 0 || col < 0) continue;
        const T *from = x + ((n * l.size + row) * l.size + col) * l.ci, *by = w + ((size_t)o * l.k * l.k + tap) * l.ci;
        for (int i = 0; i < l.ci; i++) part = fmaf(spot_widen(from[i]), spot_widen(by[i]), part);
        sum += part;
    }
    if (bias) sum += bias[o];
    if (add) sum += spot_widen(y[at]);
    if (relu && sum <= 0) sum = 0;
    spot_round(&y[at], sum);
}

/* grid (ceil(numbers of x / 256)) */
template <typename T>
static __global__ void __launch_bounds__(THREADS) data_kernel(T *dx, const T *dy, const T *w, layer l)
{
    size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x, pixels = (size_t)l.size * l.size;
    int i = at % l.ci, q = at / l.ci % pixels;
    size_t n = at / l.ci / pixels;
    float sum = 0;

    if (n >= (size_t)l.rows) return;
    for (int tap = 0; tap < l.k * l.k; tap++) {
        int row = q / l.size + l.k / 2 - tap / l.k, col = q % l.size + l.k / 2 - tap % l.k;
        float part = 0;
        if (row < 0 || col < 0 || row % l.stride || col % l.stride || row / l.stride >= l.out || col / l.stride >= l.out)
            continue;
        const T *from = dy + ((n * l.out + row / l.stride) * l.out + col / l.stride) * l.co;
        for (int o = 0; o < l.co; o++)
            part = fmaf(spot_widen(from[o]), spot_widen(w[((size_t)o * l.k * l.k + tap) * l.ci + i]), part);
        sum += part;
    }
    spot_round(&dx[at], sum);
}

/* grid (co * k * k, ceil(ci / 16)): a block owns 16 numbers of dw; each of 16 threads a number sums every 16th pixel of
 * the batch, in fp32 over 256 of them and in double above, and one adds the threads' sums in order. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) weights_kernel(float *dw, const T *x, const T *dy, layer l)
{
    SPOT_SHARED(double, shared, THREADS);
    int o = blockIdx.x / (l.k * l.k), tap = blockIdx.x % (l.k * l.k), i = blockIdx.y * CELLS + threadIdx.x % CELLS;
    size_t pixels = (size_t)l.out * l.out, all = l.rows * pixels, p = threadIdx.x / CELLS;
    double sum = 0;

    while (i < l.ci && p < all) {
        float part = 0;
        for (int run = 0; run < RUN && p < all; run++, p += SHARES) {
            int row = met(&l, (int)(p % pixels) / l.out, tap / l.k), col = met(&l, (int)(p % pixels) % l.out, tap % l.k);
            if (row < 0 || col < 0) continue;
            part = fmaf(spot_widen(x[((p / pixels * l.size + row) * l.size + col) * l.ci + i]),
                        spot_widen(dy[p * l.co + o]), part);
        }
        sum += part;
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= CELLS || i >= l.ci) return;
    for (int t = 1; t < SHARES; t++) sum += shared[t * CELLS + threadIdx.x];
    dw[(size_t)blockIdx.x * l.ci + i] = (float)sum;
}

/* x, w, y in the roles of the pass. */
template <typename T>
static void launch_naive(spot_ctx *c, int pass, void *x, void *w, void *y, const float *bias, const layer *l, bool add,
                         bool relu)
{
    cudaStream_t stream = spot_cuda_stream(c);

    if (pass == SPOT_PASS_FORWARD)
        SPOT_LAUNCH(forward_kernel<T>, blocks_for(y_numbers(l)), THREADS, 0, stream, (T *)y, (const T *)x, (const T *)w,
                    bias, *l, add, relu);
    else if (pass == SPOT_PASS_DATA)
        SPOT_LAUNCH(data_kernel<T>, blocks_for(x_numbers(l)), THREADS, 0, stream, (T *)x, (const T *)y, (const T *)w, *l);
    else
        SPOT_LAUNCH(weights_kernel<T>, dim3(l->co * l->k * l->k, (l->ci + CELLS - 1) / CELLS), THREADS, 0, stream,
                    (float *)w, (const T *)x, (const T *)y, *l);
}

spot_status spot_conv_launched(spot_ctx *c, int pass, const layer *l, spot_precision precision)
{
    static const char *const name[] = { "forward", "backward_data", "backward_weights" };

    return spot_cuda_launched(c, "conv.%s of (%d,%d,%d,%d) by (%d,%d,%d,%d), stride %d, %s", name[pass], l->rows, l->ci,
                              l->size, l->size, l->co, l->ci, l->k, l->k, l->stride,
                              precision == SPOT_BF16 ? "bf16" : "fp32");
}

spot_status spot_conv_naive(spot_ctx *c, int pass, const spot_conv *p, void *x, void *w, void *y, const float *bias,
                            int rows)
{
    layer l = p->l;

    l.rows = rows;
    (p->s.precision == SPOT_BF16 ? launch_naive<spot_bf16> : launch_naive<float>)(c, pass, x, w, y, bias, &l, p->s.add,
                                                                                 p->s.relu);
    return spot_conv_launched(c, pass, &l, p->s.precision);
}

/* -- is a plan of cuDNN right? ------------------------------------------------------------------------------------- */

/* Numbers of (-1, 1) with eight bits, which bf16 holds: a hash of where they stand. Grid (ceil(count / 256)). */
template <typename T> static __global__ void __launch_bounds__(THREADS) fill_kernel(T *v, size_t count, unsigned seed)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    unsigned h = ((unsigned)i + seed) * 2654435761u;

    h = (h ^ h >> 15) * 2246822519u;
    if (i < count) spot_round(&v[i], (float)((int)(h >> 24) - 128) / 128.0f + 1.0f / 256.0f);
}

/* most[0]: the largest difference, most[1]: the largest number wanted; as bits, in whose order NaN is the largest.
 * Grid (ceil(count / 65536)). */
template <typename T>
static __global__ void __launch_bounds__(THREADS) compare_kernel(unsigned *most, const T *got, const T *want, size_t count)
{
    size_t i = (size_t)blockIdx.x * RUN * THREADS + threadIdx.x;
    unsigned off = 0, largest = 0;

    for (int run = 0; run < RUN && i < count; run++, i += THREADS) {
        float a = spot_widen(got[i]), b = spot_widen(want[i]);
        off = max(off, (unsigned)__float_as_int(fabsf(a - b)) & 0x7fffffffu);
        largest = max(largest, (unsigned)__float_as_int(fabsf(b)) & 0x7fffffffu);
    }
    atomicMax(&most[0], off);
    atomicMax(&most[1], largest);
}

/* What the three arrays of a pass hold, by role: x, w, y; `written` is the one that the pass writes. */
typedef struct {
    void *at[3], *want, *scratch;
    unsigned *most;
    size_t count[3], bytes[3];
    int written;
} trial;

enum { ROLE_X, ROLE_W, ROLE_Y };

static void fill(cudaStream_t stream, void *v, size_t count, size_t bytes, unsigned seed)
{
    if (bytes == 2) SPOT_LAUNCH(fill_kernel<spot_bf16>, blocks_for(count), THREADS, 0, stream, (spot_bf16 *)v, count, seed);
    else            SPOT_LAUNCH(fill_kernel<float>, blocks_for(count), THREADS, 0, stream, (float *)v, count, seed);
}

static spot_status take_trial(spot_ctx *c, trial *t, const spot_conv *p, int pass, const spot_cudnn_plan *plan)
{
    static const int written[SPOT_PASSES] = { ROLE_Y, ROLE_X, ROLE_W };
    const size_t count[3] = { x_numbers(&p->l), w_numbers(&p->l), y_numbers(&p->l) };

    t->written = written[pass];
    for (int r = 0; r < 3; r++) {
        t->count[r] = count[r];
        t->bytes[r] = r == ROLE_W && pass == SPOT_PASS_WEIGHTS ? 4 : spot_precision_bytes(p->s.precision);
        SPOT_TRY(spot_cuda_memory(c)->take(c, &t->at[r], count[r] * t->bytes[r]));
        fill(spot_cuda_stream(c), t->at[r], count[r], t->bytes[r], 77 * r);
    }
    SPOT_TRY(spot_cuda_memory(c)->take(c, &t->want, t->count[t->written] * t->bytes[t->written]));
    fill(spot_cuda_stream(c), t->want, t->count[t->written], t->bytes[t->written], 77 * t->written);
    SPOT_TRY(spot_cuda_memory(c)->take(c, (void **)&t->most, 2 * sizeof *t->most));
    SPOT_TRY(spot_cuda_memory(c)->clear(c, t->most, 2 * sizeof *t->most));
    return spot_cuda_memory(c)->take(c, &t->scratch, spot_cudnn_plan_scratch(plan));
}

static spot_status run_trial(spot_ctx *c, const trial *t, const spot_conv *p, int pass, const spot_cudnn_plan *plan,
                             float most[2])
{
    void *role[3] = { t->at[0], t->at[1], t->at[2] };
    size_t count = t->count[t->written];
    cudaStream_t stream = spot_cuda_stream(c);
    spot_conv plain = *p;

    SPOT_TRY(spot_cudnn_run(c, plan, role[0], role[1], role[2], t->scratch));
    role[t->written] = t->want;
    plain.s.relu = false;
    SPOT_TRY(spot_conv_naive(c, pass, &plain, role[0], role[1], role[2], NULL, p->l.rows));
    if (t->bytes[t->written] == 2)
        SPOT_LAUNCH(compare_kernel<spot_bf16>, blocks_for((count + RUN - 1) / RUN), THREADS, 0, stream, t->most,
                    (const spot_bf16 *)t->at[t->written], (const spot_bf16 *)t->want, count);
    else
        SPOT_LAUNCH(compare_kernel<float>, blocks_for((count + RUN - 1) / RUN), THREADS, 0, stream, t->most,
                    (const float *)t->at[t->written], (const float *)t->want, count);
    SPOT_TRY(spot_conv_launched(c, pass, &p->l, p->s.precision));
    return spot_cuda_memory(c)->copy(c, most, t->most, 2 * sizeof *most);
}

/* Wrong is far off: a border, a channel, a row. These bounds leave room for another order of an fp32 sum (of up to three
 * million terms for weights) and for one rounding to the type that is written. */
spot_status spot_conv_is_right(spot_ctx *c, void *user, const spot_cudnn_plan *plan, bool *right)
{
    const spot_conv_question *q = (const spot_conv_question *)user;
    float most[2] = { 0 }, bound = q->p->s.precision == SPOT_BF16 ? 1e-2f : q->p->s.precision == SPOT_TF32 ? 5e-3f : 1e-4f;
    trial t = { { NULL } };
    spot_status s = take_trial(c, &t, q->p, q->pass, plan);

    if (!s) s = run_trial(c, &t, q->p, q->pass, plan, most);
    for (int r = 0; r < 3; r++) spot_cuda_memory(c)->give(c, t.at[r]);
    spot_cuda_memory(c)->give(c, t.want);
    spot_cuda_memory(c)->give(c, t.most);
    spot_cuda_memory(c)->give(c, t.scratch);
    *right = most[0] <= bound * most[1];
    return s;
}
