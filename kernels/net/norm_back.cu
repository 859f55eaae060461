/* norm_back.cu - the backward step: one pass for the sums, one that uses them. */
#include "net/norm.cuh"

/* The arrays of the back kernels: spot_norm_back and the numbers of its two layers. */
template <typename T> struct back_args {
    const T *da, *db, *out;
    T *dz, *y, *y2;
    const float *scale, *shift, *mean, *mean2;
};

/* Sums of dz and of dz * (y - mean) for y and y2; writes dz unless it is NULL. Grid as stats_kernel. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) back_sums_kernel(double *partial, back_args<T> b, tiling k)
{
    constexpr int N = spot_lanes<T>::N;
    SPOT_SHARED(double, shared, HIGH * WIDE * N);
    int ch = own_channel<T>();
    size_t i = blockIdx.x * k.each + threadIdx.x / WIDE, end = min((blockIdx.x + 1) * k.each, k.places);
    double sum[SUMS][N] = { { 0 } };

    while (ch < k.channels && i < end) {
        float s[SUMS][N] = { { 0 } };
        for (int t = 0; t < SHORT && i < end; t++, i += HIGH) {
            size_t at = i * k.channels + ch;
            float dz[N], db[N], y[N], y2[N], out[N];
            spot_load(dz, b.da + at);
            spot_load(y, b.y + at);
            if (b.db) spot_load(db, b.db + at);
            if (b.out) spot_load(out, b.out + at);
            if (b.y2) spot_load(y2, b.y2 + at);
            for (int j = 0; j < N; j++) {
                if (b.db) dz[j] += db[j];
                dz[j] = keep(dz[j], above_zero(b.out ? out[j] : y[j] * b.scale[ch + j] + b.shift[ch + j]));
                s[0][j] += dz[j];
                s[1][j] += dz[j] * (y[j] - b.mean[ch + j]);
                if (b.y2) s[2][j] += dz[j] * (y2[j] - b.mean2[ch + j]);
            }
            if (b.dz) spot_store(b.dz + at, dz);
        }
        for (int n = 0; n < SUMS; n++)
            for (int j = 0; j < N; j++) sum[n][j] += s[n][j];
    }
    for (int n = 0; n < (b.y2 ? 3 : 2); n++) column_sums<T>(shared, partial, sum[n], n, k.channels);
}

/* dy = a*dz + b*(y - mean) + c: slope (3, channels) of one layer (norm.c, slope_of). Grid (channels / 8). */
static __global__ void __launch_bounds__(THREADS) finish_back_kernel(spot_norm l, float *slope, const double *partial,
                                                                     int which, tiling k)
{
    SPOT_SHARED(double, shared, THREADS);
    int ch = blockIdx.x * FINISH + threadIdx.x % FINISH;
    double dz = tile_sums(shared, partial, 0, k.count, k.channels, ch);
    double dz_y = tile_sums(shared, partial, which, k.count, k.channels, ch), n = (double)k.places, a;

    if (threadIdx.x >= FINISH) return;
    l.dbias[ch] = (float)dz;
    l.dweight[ch] = (float)(dz_y * l.invstd[ch]);
    a = (double)l.weight[ch] * l.invstd[ch];
    slope[ch] = (float)a;
    slope[k.channels + ch] = (float)(-a * l.invstd[ch] * l.dweight[ch] / n);
    slope[2 * k.channels + ch] = (float)(-a * l.dbias[ch] / n);
}

/* A layer's gradient without a * dz. */
static __device__ inline float rest(const float *slope, const float *mean, float y, int channels, int ch)
{
    return slope[channels + ch] * (y - mean[ch]) + slope[2 * channels + ch];
}

/* Grid as apply_kernel. slope: first of y, then of y2. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) back_kernel(back_args<T> b, const float *slope, size_t places,
                                                              size_t live, int channels)
{
    constexpr int N = spot_lanes<T>::N;
    const float *slope2 = slope + 3 * channels;
    int ch = own_channel<T>();

    if (ch >= channels) return;
    for (int t = 0; t < TURNS; t++) {
        size_t i = ((size_t)blockIdx.x * TURNS + t) * HIGH + threadIdx.x / WIDE, at = i * channels + ch;
        float dz[N] = { 0 }, db[N], y[N] = { 0 }, y2[N] = { 0 };
        if (i >= places) return;
        if (i < live) {
            spot_load(y, b.y + at);
            spot_load(dz, b.dz ? b.dz + at : b.da + at);
            if (!b.dz && b.db) spot_load(db, b.db + at);
            if (b.y2) spot_load(y2, b.y2 + at);
            for (int j = 0; j < N; j++) {
                if (!b.dz && b.db) dz[j] += db[j];
                if (!b.dz) dz[j] = keep(dz[j], above_zero(y[j] * b.scale[ch + j] + b.shift[ch + j]));
                y[j] = slope[ch + j] * dz[j] + rest(slope, b.mean, y[j], channels, ch + j);
                if (b.y2) y2[j] = slope2[ch + j] * dz[j] + rest(slope2, b.mean2, y2[j], channels, ch + j);
            }
        } else if (b.dz) {
            spot_store(b.dz + at, dz);
        }
        spot_store(b.y + at, y);
        if (b.y2) spot_store(b.y2 + at, y2);
    }
}

template <int N> static __device__ inline void load_bytes(unsigned char *v, const unsigned char *from)
{
    for (int j = 0; j < N / 4; j++) {
        uint32_t word = ((const uint32_t *)from)[j];
        for (int b = 0; b < 4; b++) v[4 * j + b] = (unsigned char)(word >> 8 * b);
    }
}

/* The gradient of the windows at `at`; 0 where the ReLU was 0. */
template <typename T>
static __device__ inline void window_gradient(float *dz, const T *da, const T *db, const T *out, size_t at)
{
    constexpr int N = spot_lanes<T>::N;
    float v[N];

    spot_load(dz, da + at);
    if (db) {
        spot_load(v, db + at);
        for (int j = 0; j < N; j++) dz[j] += v[j];
    }
    spot_load(v, out + at);
    for (int j = 0; j < N; j++) dz[j] = keep(dz[j], above_zero(v[j]));
}

/* Only the largest pixel of a window has a gradient, so the sums run over windows. Grid (tiles of windows, groups / 8). */
template <typename T>
static __global__ void __launch_bounds__(THREADS) pool_sums_kernel(double *partial, const T *y, const T *da, const T *db,
                                                                   const T *out, const unsigned char *which,
                                                                   const float *mean, int size, tiling k)
{
    constexpr int N = spot_lanes<T>::N;
    SPOT_SHARED(double, shared, HIGH * WIDE * N);
    int ch = own_channel<T>(), side = size / 2;
    size_t w = blockIdx.x * k.each + threadIdx.x / WIDE, end = min((blockIdx.x + 1) * k.each, k.places);
    double sum[2][N] = { { 0 } };

    while (ch < k.channels && w < end) {
        float s[N] = { 0 }, q[N] = { 0 };
        for (int t = 0; t < SHORT && w < end; t++, w += HIGH) {
            size_t at = w * k.channels + ch, row = w / (side * side);
            int oy = w / side % side, ox = w % side;
            unsigned char from[N];
            float dz[N];
            window_gradient(dz, da, db, out, at);
            load_bytes<N>(from, which + at);
            for (int j = 0; j < N; j++) {
                size_t pixel = (row * size + 2 * oy - 1 + from[j] / 3) * size + 2 * ox - 1 + from[j] % 3;
                s[j] += dz[j];
                q[j] += dz[j] * (spot_widen(y[pixel * k.channels + ch + j]) - mean[ch + j]);
            }
        }
        for (int j = 0; j < N; j++) sum[0][j] += s[j], sum[1][j] += q[j];
    }
    for (int n = 0; n < 2; n++) column_sums<T>(shared, partial, sum[n], n, k.channels);
}

/* A pixel sums over the one to four windows that hold it, in their order. Grid as apply_kernel, over y's pixels. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) pool_back_kernel(T *y, const T *da, const T *db, const T *out,
                                                                   const unsigned char *which, const float *slope,
                                                                   const float *mean, size_t places, size_t live, int size,
                                                                   int channels)
{
    constexpr int N = spot_lanes<T>::N;
    int ch = own_channel<T>(), side = size / 2;

    if (ch >= channels) return;
    for (int t = 0; t < TURNS; t++) {
        size_t i = ((size_t)blockIdx.x * TURNS + t) * HIGH + threadIdx.x / WIDE, row = i / (size * size);
        int py = i / size % size, px = i % size;
        float v[N] = { 0 }, dz[N];
        unsigned char from[N];
        if (i >= places) return;
        if (i < live) {
            spot_load(v, y + i * channels + ch);
            for (int j = 0; j < N; j++) v[j] = rest(slope, mean, v[j], channels, ch + j);
            for (int oy = py / 2; oy <= (py + 1) / 2 && oy < side; oy++)
                for (int ox = px / 2; ox <= (px + 1) / 2 && ox < side; ox++) {
                    size_t at = ((row * side + oy) * side + ox) * channels + ch;
                    int place = (py - 2 * oy + 1) * 3 + px - 2 * ox + 1;
                    load_bytes<N>(from, which + at);
                    window_gradient(dz, da, db, out, at);
                    for (int j = 0; j < N; j++)
                        if (from[j] == place) v[j] += slope[ch + j] * dz[j];
                }
        }
        spot_store(y + i * channels + ch, v);
    }
}

template <typename T> static void launch_back(cudaStream_t stream, const spot_norm_back *b, spot_plane p, double *partial)
{
    tiling k = tiles_of(pixels_of(p.live, p), p.channels);
    size_t places = pixels_of(p.rows, p);
    float *slope = (float *)(partial + (size_t)k.count * SUMS * p.channels);
    back_args<T> a = { (const T *)b->da, (const T *)b->db, (const T *)b->out, (T *)b->dz, (T *)b->y, (T *)b->y2,
                       b->a->scale, b->a->shift, b->a->mean, b->b ? b->b->mean : NULL };

    SPOT_LAUNCH(back_sums_kernel<T>, grid_of<T>(k.count, p.channels), THREADS, 0, stream, partial, a, k);
    SPOT_LAUNCH(finish_back_kernel, p.channels / FINISH, THREADS, 0, stream, *b->a, slope, partial, 1, k);
    if (b->b) SPOT_LAUNCH(finish_back_kernel, p.channels / FINISH, THREADS, 0, stream, *b->b, slope + 3 * p.channels,
                          partial, 2, k);
    SPOT_LAUNCH(back_kernel<T>, every_place<T>(places, p.channels), THREADS, 0, stream, a, slope, places, k.places,
                p.channels);
}

spot_status spot_norm_back_cuda(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch)
{
    SPOT_TRY(spot_cuda_needs(c, b->y, "norm.back: y"));
    (p.precision == SPOT_BF16 ? launch_back<spot_bf16> : launch_back<float>)(spot_cuda_stream(c), b, p, (double *)scratch);
    return spot_cuda_launched(c, "norm.back of " SHAPE(p));
}

template <typename T>
static void launch_pool_back(cudaStream_t stream, T *y, const T *da, const T *db, const T *out, const unsigned char *which,
                             const spot_norm *l, spot_plane p, double *partial)
{
    tiling k = tiles_of(pixels_of(p.live, p) / 4, p.channels), all = k;
    float *slope = (float *)(partial + (size_t)k.count * SUMS * p.channels);
    size_t places = pixels_of(p.rows, p);

    all.places = pixels_of(p.live, p);          /* the gradient is a mean over pixels, not over windows */
    SPOT_LAUNCH(pool_sums_kernel<T>, grid_of<T>(k.count, p.channels), THREADS, 0, stream, partial, y, da, db, out, which,
                l->mean, p.size, k);
    SPOT_LAUNCH(finish_back_kernel, p.channels / FINISH, THREADS, 0, stream, *l, slope, partial, 1, all);
    SPOT_LAUNCH(pool_back_kernel<T>, every_place<T>(places, p.channels), THREADS, 0, stream, y, da, db, out, which, slope,
                l->mean, places, all.places, p.size, p.channels);
}

spot_status spot_norm_pool_back_cuda(spot_ctx *c, void *y, const void *da, const void *db, const void *out,
                                     const unsigned char *which, const spot_norm *l, spot_plane p, void *scratch)
{
    SPOT_TRY(spot_cuda_needs(c, y, "norm.pool_back: y"));
    if (p.precision == SPOT_BF16)
        launch_pool_back(spot_cuda_stream(c), (spot_bf16 *)y, (const spot_bf16 *)da, (const spot_bf16 *)db,
                         (const spot_bf16 *)out, which, l, p, (double *)scratch);
    else
        launch_pool_back(spot_cuda_stream(c), (float *)y, (const float *)da, (const float *)db, (const float *)out, which,
                         l, p, (double *)scratch);
    return spot_cuda_launched(c, "norm.pool_back of " SHAPE(p));
}
