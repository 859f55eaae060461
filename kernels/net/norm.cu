/* norm.cu - forward: statistics, apply, pool. */
#include "net/norm_sums.cuh"

static __device__ inline void finish_stats(spot_norm l, const double *sum, double around, double n, int ch)
{
    double off = sum[0] / n, var = sum[1] / n - off * off, mean = around + off, invstd;

    if (var < 0) var = 0;                            /* a constant channel, rounded; NaN stays */
    invstd = 1 / sqrt(var + 1e-5);
    l.mean[ch] = (float)mean;
    l.invstd[ch] = (float)invstd;
    l.scale[ch] = (float)(l.weight[ch] * invstd);
    l.shift[ch] = (float)(l.bias[ch] - mean * l.weight[ch] * invstd);
    l.running_mean[ch] = (float)(0.9 * l.running_mean[ch] + 0.1 * mean);
    l.running_var[ch] = (float)(0.9 * l.running_var[ch] + 0.1 * var * (n > 1 ? n / (n - 1) : 1));
}

/* Grid: sums_grid. */
template <typename T>
static __global__ void __launch_bounds__(THREADS, 4) stats_kernel(spot_norm l, const T *y, tiling k)
{
    constexpr int TURN = 4;                          /* places whose loads are under way at once */
    SPOT_SHARED(double, total, 2 * ROWS * COLUMN);
    int ch = sums_channel(), summed = 0;
    size_t end = sums_end(&k);
    float sum[2][OWN] = { { 0 } }, around[OWN];
    double all[2];

    clear_sums<2>(total);
    if (ch < k.channels) spot_widen_four(around, spot_load_four(y + ch));
    for (size_t i = sums_first(&k); ch < k.channels && i < end; i += TURN * ROWS) {
        spot_four<T> four[TURN];
        float v[OWN];
        for (int t = 0; t < TURN; t++) four[t] = spot_load_four(y + min(i + t * ROWS, end - 1) * k.channels + ch);
        for (int t = 0; t < TURN && i + t * ROWS < end; t++) {
            spot_widen_four(v, four[t]);
            for (int j = 0; j < OWN; j++) {
                float a = v[j] - around[j];
                sum[0][j] += a;
                sum[1][j] += a * a;
            }
        }
        summed += TURN;
        if (summed % SHORT == 0) flush_sums<2>(total, sum);
    }
    flush_sums<2>(total, sum);
    if (column_totals<2>(all, &ch, total, &k)) finish_stats(l, all, spot_widen(y[ch]), (double)k.places, ch);
}

/* grid (ceil(channels / 256)) */
static __global__ void __launch_bounds__(THREADS) fixed_kernel(spot_norm l, int channels)
{
    int ch = blockIdx.x * THREADS + threadIdx.x;
    double k;

    if (ch >= channels) return;
    k = l.weight[ch] / sqrt(l.running_var[ch] + 1e-5);
    l.scale[ch] = (float)k;
    l.shift[ch] = (float)(l.bias[ch] - l.running_mean[ch] * k);
}

/* The kinds of what apply_kernel adds to bn(y): nothing, a tensor as it is, or bn of one. */
enum { NOTHING, TENSOR, NORMED };

template <typename T> struct apply_args {
    T *out;
    const T *y, *other;
    const float *scale, *shift, *scale2, *shift2;
};

/* grid (ceil(places / 128), groups / 8); places of all rows; 0 is written from place `live` on */
template <typename T, int ADDED>
static __global__ void __launch_bounds__(THREADS) apply_kernel(apply_args<T> a, size_t places, size_t live, int channels)
{
    constexpr int N = spot_lanes<T>::N;
    int ch = own_channel<T>();
    float scale[N], shift[N], scale2[N], shift2[N];

    if (ch >= channels) return;
    spot_load_constants<N>(scale, a.scale + ch);
    spot_load_constants<N>(shift, a.shift + ch);
    if (ADDED == NORMED) {
        spot_load_constants<N>(scale2, a.scale2 + ch);
        spot_load_constants<N>(shift2, a.shift2 + ch);
    }
    for (int t = 0; t < TURNS; t++) {
        size_t i = ((size_t)blockIdx.x * TURNS + t) * HIGH + threadIdx.x / WIDE, at = i * channels + ch;
        float v[N] = { 0 }, r[N];
        if (i >= places) return;
        if (i < live) {
            spot_load(v, a.y + at);
            if (ADDED != NOTHING) spot_load(r, a.other + at);
            for (int j = 0; j < N; j++) {
                v[j] = v[j] * scale[j] + shift[j];
                if (ADDED != NOTHING) v[j] += ADDED == NORMED ? r[j] * scale2[j] + shift2[j] : r[j];
                v[j] = keep(v[j], above_zero(v[j]));
            }
        }
        spot_store(a.out + at, v);
    }
}

template <int N> static __device__ inline void store_bytes(unsigned char *to, const int *v)
{
    union { uint32_t word[N / 4]; unsigned char byte[N]; } u;

    for (int j = 0; j < N; j++) u.byte[j] = (unsigned char)v[j];
    for (int j = 0; j < N / 4; j++) ((uint32_t *)to)[j] = u.word[j];
}

/* grid (ceil(windows / 128), groups / 8); windows of all rows. The nine pixels are in norm.c's order. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) pool_kernel(T *out, unsigned char *which, const T *y, const float *scales,
                                                              const float *shifts, unsigned windows, unsigned live,
                                                              unsigned size, int channels)
{
    constexpr int N = spot_lanes<T>::N;
    int ch = own_channel<T>();
    unsigned side = size / 2;
    float scale[N], shift[N];

    if (ch >= channels) return;
    spot_load_constants<N>(scale, scales + ch);
    spot_load_constants<N>(shift, shifts + ch);
    for (int t = 0; t < TURNS; t++) {
        unsigned w = (blockIdx.x * TURNS + t) * HIGH + threadIdx.x / WIDE, line = w / side, row = line / side;
        int oy = line - row * side, ox = w - line * side, first[N];
        float best[N] = { 0 }, v[N];
        if (w >= windows) return;
        for (int j = 0; j < N; j++) first[j] = 4;                /* none above 0: the centre */
        for (int k = 0; k < 9 && w < live; k++) {
            int py = 2 * oy - 1 + k / 3, px = 2 * ox - 1 + k % 3;
            if (py < 0 || py >= (int)size || px < 0 || px >= (int)size) continue;
            spot_load(v, y + ((size_t)(row * size + py) * size + px) * channels + ch);
            for (int j = 0; j < N; j++) {
                float z = v[j] * scale[j] + shift[j];
                bool better = z > best[j] || z != z;             /* a NaN counts as the largest */
                best[j] = better ? z : best[j];
                first[j] = better ? k : first[j];
            }
        }
        spot_store(out + (size_t)w * channels + ch, best);
        if (which && w < live) store_bytes<N>(which + (size_t)w * channels + ch, first);
    }
}

template <typename T>
static void launch_stats(cudaStream_t stream, const spot_norm *l, const T *y, tiling k)
{
    SPOT_LAUNCH(stats_kernel<T>, sums_grid(&k), THREADS, 0, stream, *l, y, k);
}

static spot_status stats_cuda(spot_ctx *c, const spot_norm *l, const void *y, spot_plane p, void *scratch)
{
    tiling k = tiles_of(c, pixels_of(p.live, p), p.channels, scratch);

    SPOT_TRY(spot_cuda_needs(c, y, "norm.stats: y"));
    if (p.precision == SPOT_BF16) launch_stats(spot_cuda_stream(c), l, (const spot_bf16 *)y, k);
    else                          launch_stats(spot_cuda_stream(c), l, (const float *)y, k);
    return spot_cuda_launched(c, "norm.stats of " SHAPE(p));
}

static spot_status fixed_cuda(spot_ctx *c, const spot_norm *l, int channels)
{
    SPOT_TRY(spot_cuda_needs(c, l->scale, "norm.fixed: scale"));
    SPOT_LAUNCH(fixed_kernel, (channels + THREADS - 1) / THREADS, THREADS, 0, spot_cuda_stream(c), *l, channels);
    return spot_cuda_launched(c, "norm.fixed of %d channels", channels);
}

template <typename T>
static void launch_apply(cudaStream_t stream, T *out, const T *y, const spot_norm *l, const T *other, const spot_norm *l2,
                         spot_plane p)
{
    const size_t places = pixels_of(p.rows, p), live = pixels_of(p.live, p);
    const dim3 grid = every_place<T>(places, p.channels);
    const apply_args<T> a = { out, y, other, l->scale, l->shift, l2 ? l2->scale : NULL, l2 ? l2->shift : NULL };

    if (!other)  SPOT_LAUNCH((apply_kernel<T, NOTHING>), grid, THREADS, 0, stream, a, places, live, p.channels);
    else if (l2) SPOT_LAUNCH((apply_kernel<T, NORMED>), grid, THREADS, 0, stream, a, places, live, p.channels);
    else         SPOT_LAUNCH((apply_kernel<T, TENSOR>), grid, THREADS, 0, stream, a, places, live, p.channels);
}

static spot_status apply_cuda(spot_ctx *c, void *out, const void *y, const spot_norm *l, const void *other,
                              const spot_norm *l2, spot_plane p)
{
    cudaStream_t stream = spot_cuda_stream(c);

    SPOT_TRY(spot_cuda_needs(c, out, "norm.apply: out"));
    if (p.precision == SPOT_BF16)
        launch_apply(stream, (spot_bf16 *)out, (const spot_bf16 *)y, l, (const spot_bf16 *)other, l2, p);
    else
        launch_apply(stream, (float *)out, (const float *)y, l, (const float *)other, l2, p);
    return spot_cuda_launched(c, "norm.apply of " SHAPE(p));
}

template <typename T>
static void launch_pool(cudaStream_t stream, T *out, unsigned char *which, const T *y, const spot_norm *l, spot_plane p)
{
    size_t windows = pixels_of(p.rows, p) / 4;

    SPOT_LAUNCH(pool_kernel<T>, every_place<T>(windows, p.channels), THREADS, 0, stream, out, which, y, l->scale, l->shift,
                windows, pixels_of(p.live, p) / 4, p.size, p.channels);
}

static spot_status pool_cuda(spot_ctx *c, void *out, unsigned char *which, const void *y, const spot_norm *l, spot_plane p)
{
    SPOT_TRY(spot_cuda_needs(c, out, "norm.pool: out"));
    if (p.precision == SPOT_BF16)
        launch_pool(spot_cuda_stream(c), (spot_bf16 *)out, which, (const spot_bf16 *)y, l, p);
    else
        launch_pool(spot_cuda_stream(c), (float *)out, which, (const float *)y, l, p);
    return spot_cuda_launched(c, "norm.pool of " SHAPE(p));
}

extern const spot_norm_ops spot_norm_cuda = {
    .stats = stats_cuda, .fixed = fixed_cuda, .apply = apply_cuda, .pool = pool_cuda, .back = spot_norm_back_cuda,
    .pool_back = spot_norm_pool_back_cuda, .fold = spot_norm_fold_cuda,
};
