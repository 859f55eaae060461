/* norm_back.cu - the backward step: one pass for the sums, one that uses them. */
#include "net/norm_sums.cuh"

/* The arrays of the back kernels: spot_norm_back and the numbers of its two layers. */
template <typename T> struct back_args {
    const T *da, *db, *out;
    T *dz, *y, *y2;
    const float *scale, *shift, *mean, *mean2;
};

/* dy = a*dz + b*(y - mean) + c: slope (3, channels) of one layer (norm.c, slope_of); n pixels. */
static __device__ inline void finish_back(spot_norm l, float *slope, double dz, double dz_y, double n, int channels, int ch)
{
    double a = (double)l.weight[ch] * l.invstd[ch];

    l.dbias[ch] = (float)dz;
    l.dweight[ch] = (float)(dz_y * l.invstd[ch]);
    slope[ch] = (float)a;
    slope[channels + ch] = (float)(-a * l.invstd[ch] * l.dweight[ch] / n);
    slope[2 * channels + ch] = (float)(-a * l.dbias[ch] / n);
}

/* A thread's numbers of N places before they are used, so that the loads are under way together. */
template <typename T, int N> struct back_loads { spot_four<T> da[N], db[N], out[N], y[N], y2[N]; };

/* Sums of dz and of dz * (y - mean) for y and, if DUAL, y2; with JOIN, where out is given, writes dz. Grid: sums_grid. */
template <typename T, bool JOIN, bool DUAL>
static __global__ void __launch_bounds__(THREADS, 3) back_sums_kernel(spot_norm l, spot_norm l2, back_args<T> b, float *slope,
                                                                      tiling k)
{
    constexpr int TURN = JOIN || sizeof(T) == 4 ? 2 : 4, N = DUAL ? 3 : 2;
    SPOT_SHARED(double, total, N * ROWS * COLUMN);
    int ch = sums_channel(), summed = 0;
    size_t end = sums_end(&k);
    float sum[N][OWN] = { { 0 } }, mean[OWN], mean2[OWN], scale[OWN], shift[OWN];
    double all[N];

    clear_sums<N>(total);
    if (ch < k.channels) {
        spot_load_constants<OWN>(mean, b.mean + ch);
        if (DUAL) spot_load_constants<OWN>(mean2, b.mean2 + ch);
        if (!JOIN) spot_load_constants<OWN>(scale, b.scale + ch);
        if (!JOIN) spot_load_constants<OWN>(shift, b.shift + ch);
    }
    for (size_t i = sums_first(&k); ch < k.channels && i < end; i += TURN * ROWS) {
        back_loads<T, TURN> in;
        for (int t = 0; t < TURN; t++) {
            size_t at = (i + t * ROWS < end ? i + t * ROWS : i) * k.channels + ch;     /* its own: dz may be da or db */
            in.da[t] = spot_load_four(b.da + at);
            in.y[t] = spot_load_four(b.y + at);
            if (b.db) in.db[t] = spot_load_four(b.db + at);
            if (JOIN) in.out[t] = spot_load_four(b.out + at);
            if (DUAL) in.y2[t] = spot_load_four(b.y2 + at);
        }
        for (int t = 0; t < TURN && i + t * ROWS < end; t++) {
            float dz[OWN], v[OWN], y[OWN];
            spot_widen_four(dz, in.da[t]);
            if (b.db) spot_widen_four(v, in.db[t]);
            for (int j = 0; b.db && j < OWN; j++) dz[j] += v[j];
            spot_widen_four(y, in.y[t]);
            if (JOIN) spot_widen_four(v, in.out[t]);
            for (int j = 0; j < OWN; j++) {
                dz[j] = keep(dz[j], above_zero(JOIN ? v[j] : y[j] * scale[j] + shift[j]));
                sum[0][j] += dz[j];
                sum[1][j] += dz[j] * (y[j] - mean[j]);
            }
            if (DUAL) spot_widen_four(v, in.y2[t]);
            for (int j = 0; DUAL && j < OWN; j++) sum[N - 1][j] += dz[j] * (v[j] - mean2[j]);
            if (JOIN) spot_store_four(b.dz + (i + t * ROWS) * k.channels + ch, dz);
        }
        summed += TURN;
        if (summed % SHORT == 0) flush_sums<N>(total, sum);
    }
    flush_sums<N>(total, sum);
    if (!column_totals<N>(all, &ch, total, &k)) return;
    finish_back(l, slope, all[0], all[1], (double)k.places, k.channels, ch);
    if (DUAL) finish_back(l2, slope + 3 * k.channels, all[0], all[N - 1], (double)k.places, k.channels, ch);
}

/* The slopes (3, channels) and the means of a layer, of the N channels of a thread. */
template <int N> struct slopes { float dz[N], y[N], one[N], mean[N]; };

template <int N>
static __device__ inline void load_slopes(slopes<N> *s, const float *slope, const float *mean, int channels, int ch)
{
    spot_load_constants<N>(s->dz, slope + ch);
    spot_load_constants<N>(s->y, slope + channels + ch);
    spot_load_constants<N>(s->one, slope + 2 * channels + ch);
    spot_load_constants<N>(s->mean, mean + ch);
}

/* A layer's gradient without a * dz. */
template <int N> static __device__ inline float rest(const slopes<N> *s, float y, int j)
{
    return s->y[j] * (y - s->mean[j]) + s->one[j];
}

/* Grid as apply_kernel. slope: first of y, then of y2. JOIN: dz is given. */
template <typename T, bool JOIN, bool DUAL>
static __global__ void __launch_bounds__(THREADS) back_kernel(back_args<T> b, const float *slope, size_t places,
                                                              size_t live, int channels)
{
    constexpr int N = spot_lanes<T>::N;
    int ch = own_channel<T>();
    slopes<N> s, s2;
    float scale[N], shift[N];

    if (ch >= channels) return;
    load_slopes(&s, slope, b.mean, channels, ch);
    if (DUAL) load_slopes(&s2, slope + 3 * channels, b.mean2, channels, ch);
    if (!JOIN) {
        spot_load_constants<N>(scale, b.scale + ch);
        spot_load_constants<N>(shift, b.shift + ch);
    }
    for (int t = 0; t < TURNS; t++) {
        size_t i = ((size_t)blockIdx.x * TURNS + t) * HIGH + threadIdx.x / WIDE, at = i * channels + ch;
        float dz[N] = { 0 }, db[N] = { 0 }, y[N] = { 0 }, y2[N] = { 0 };
        if (i >= places) return;
        if (i < live) {
            spot_load(y, b.y + at);
            spot_load(dz, JOIN ? b.dz + at : b.da + at);
            if (!JOIN && b.db) spot_load(db, b.db + at);
            if (DUAL) spot_load(y2, b.y2 + at);
            for (int j = 0; j < N; j++) {
                if (!JOIN && b.db) dz[j] += db[j];
                if (!JOIN) dz[j] = keep(dz[j], above_zero(y[j] * scale[j] + shift[j]));
                y[j] = s.dz[j] * dz[j] + rest(&s, y[j], j);
                if (DUAL) y2[j] = s2.dz[j] * dz[j] + rest(&s2, y2[j], j);
            }
        } else if (JOIN) {
            spot_store(b.dz + at, dz);
        }
        spot_store(b.y + at, y);
        if (DUAL) spot_store(b.y2 + at, y2);
    }
}

template <int N> static __device__ inline void load_bytes(unsigned char *v, const unsigned char *from)
{
    for (int j = 0; j < N / 4; j++) {
        uint32_t word = ((const uint32_t *)from)[j];
        for (int b = 0; b < 4; b++) v[4 * j + b] = (unsigned char)(word >> 8 * b);
    }
}

/* The gradient of a window's 4 channels at `at`; 0 where the ReLU was 0. */
template <typename T>
static __device__ inline void window_gradient_four(float *dz, const T *da, const T *db, const T *out, size_t at)
{
    float v[OWN];

    spot_widen_four(dz, spot_load_four(da + at));
    if (db) spot_widen_four(v, spot_load_four(db + at));
    for (int j = 0; db && j < OWN; j++) dz[j] += v[j];
    spot_widen_four(v, spot_load_four(out + at));
    for (int j = 0; j < OWN; j++) dz[j] = keep(dz[j], above_zero(v[j]));
}

/* The same of the channels of 16 bytes. */
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

/* Only the largest pixel of a window has a gradient, so the sums run over windows; k.places counts them. All nine pixels are
 * read, 4 channels at once, because the largest ones of neighbouring channels lie apart. Grid: sums_grid. */
template <typename T>
static __global__ void __launch_bounds__(THREADS, 3) pool_sums_kernel(spot_norm l, const T *y, const T *da, const T *db,
                                                                      const T *out, const unsigned char *which,
                                                                      float *slope, unsigned size, double pixels, tiling k)
{
    SPOT_SHARED(double, total, 2 * ROWS * COLUMN);
    int ch = sums_channel(), summed = 0;
    unsigned side = size / 2, end = (unsigned)sums_end(&k);
    float sum[2][OWN] = { { 0 } };
    double all[2];

    clear_sums<2>(total);
    for (unsigned w = (unsigned)sums_first(&k); ch < k.channels && w < end; w += ROWS) {
        size_t at = (size_t)w * k.channels + ch;
        unsigned line = w / side, row = line / side, from = *(const unsigned *)(which + at);
        int top = 2 * (line - row * side) - 1, left = 2 * (w - line * side) - 1;
        float dz[OWN], v[OWN], mean[OWN], best[OWN] = { 0 };
        window_gradient_four(dz, da, db, out, at);
        for (int place = 0; place < 9; place++) {
            int py = top + place / 3, px = left + place % 3;
            if (py < 0 || px < 0) continue;          /* `which` never names a pixel outside */
            spot_widen_four(v, spot_load_four(y + ((size_t)(row * size + py) * size + px) * k.channels + ch));
            for (int j = 0; j < OWN; j++) best[j] = (from >> 8 * j & 255) == (unsigned)place ? v[j] : best[j];
        }
        spot_load_constants<OWN>(mean, l.mean + ch);     /* beside ten loads of a window; kept, it would cost a block */
        for (int j = 0; j < OWN; j++) {
            sum[0][j] += dz[j];
            sum[1][j] += dz[j] * (best[j] - mean[j]);
        }
        if (++summed % SHORT == 0) flush_sums<2>(total, sum);
    }
    flush_sums<2>(total, sum);
    if (column_totals<2>(all, &ch, total, &k)) finish_back(l, slope, all[0], all[1], pixels, k.channels, ch);
}

/* A pixel sums over the one to four windows that hold it, in their order. Grid as apply_kernel, over y's pixels. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) pool_back_kernel(T *y, const T *da, const T *db, const T *out,
                                                                   const unsigned char *which, const float *slope,
                                                                   const float *mean, unsigned places, unsigned live,
                                                                   unsigned size, int channels)
{
    constexpr int N = spot_lanes<T>::N;
    int ch = own_channel<T>();
    unsigned side = size / 2;
    slopes<N> s;

    if (ch >= channels) return;
    load_slopes(&s, slope, mean, channels, ch);
    for (int t = 0; t < TURNS; t++) {
        unsigned i = (blockIdx.x * TURNS + t) * HIGH + threadIdx.x / WIDE, line = i / size, row = line / size;
        unsigned py = line - row * size, px = i - line * size;
        size_t own = (size_t)i * channels + ch;
        float v[N] = { 0 }, dz[N];
        unsigned char from[N];
        if (i >= places) return;
        if (i < live) {
            spot_load(v, y + own);
            for (int j = 0; j < N; j++) v[j] = rest(&s, v[j], j);
            for (unsigned oy = py / 2; oy <= (py + 1) / 2 && oy < side; oy++)
                for (unsigned ox = px / 2; ox <= (px + 1) / 2 && ox < side; ox++) {
                    size_t at = ((size_t)(row * side + oy) * side + ox) * channels + ch;
                    unsigned place = (py + 1 - 2 * oy) * 3 + px + 1 - 2 * ox;
                    load_bytes<N>(from, which + at);
                    window_gradient(dz, da, db, out, at);
                    for (int j = 0; j < N; j++)
                        if (from[j] == place) v[j] += s.dz[j] * dz[j];
                }
        }
        spot_store(y + own, v);
    }
}

/* The slopes stand behind the sums of the tiles. */
static inline float *slopes_of(const tiling *k) { return (float *)(k->partial + (size_t)k->count * SUMS * k->channels); }

template <typename T> static void launch_back(cudaStream_t stream, const spot_norm_back *b, spot_plane p, tiling k)
{
    const size_t places = pixels_of(p.rows, p);
    const dim3 sums = sums_grid(&k), grid = every_place<T>(places, p.channels);
    const spot_norm l = *b->a, l2 = b->b ? *b->b : l;
    float *slope = slopes_of(&k);
    back_args<T> a = { (const T *)b->da, (const T *)b->db, (const T *)b->out, (T *)b->dz, (T *)b->y, (T *)b->y2,
                       l.scale, l.shift, l.mean, l2.mean };

    if (b->b) {
        SPOT_LAUNCH((back_sums_kernel<T, true, true>), sums, THREADS, 0, stream, l, l2, a, slope, k);
        SPOT_LAUNCH((back_kernel<T, true, true>), grid, THREADS, 0, stream, a, slope, places, k.places, p.channels);
    } else if (b->out) {
        SPOT_LAUNCH((back_sums_kernel<T, true, false>), sums, THREADS, 0, stream, l, l2, a, slope, k);
        SPOT_LAUNCH((back_kernel<T, true, false>), grid, THREADS, 0, stream, a, slope, places, k.places, p.channels);
    } else {
        SPOT_LAUNCH((back_sums_kernel<T, false, false>), sums, THREADS, 0, stream, l, l2, a, slope, k);
        SPOT_LAUNCH((back_kernel<T, false, false>), grid, THREADS, 0, stream, a, slope, places, k.places, p.channels);
    }
}

spot_status spot_norm_back_cuda(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch)
{
    tiling k = tiles_of(c, pixels_of(p.live, p), p.channels, scratch);

    SPOT_TRY(spot_cuda_needs(c, b->y, "norm.back: y"));
    (p.precision == SPOT_BF16 ? launch_back<spot_bf16> : launch_back<float>)(spot_cuda_stream(c), b, p, k);
    return spot_cuda_launched(c, "norm.back of " SHAPE(p));
}

/* The gradient is a mean over pixels, not over windows. */
template <typename T>
static void launch_pool_back(cudaStream_t stream, const spot_norm_pooled *b, const spot_norm *l, spot_plane p, tiling k)
{
    float *slope = slopes_of(&k);
    unsigned places = (unsigned)pixels_of(p.rows, p), live = (unsigned)pixels_of(p.live, p);
    const T *da = (const T *)b->da, *db = (const T *)b->db, *out = (const T *)b->out;
    T *y = (T *)b->y;

    SPOT_LAUNCH(pool_sums_kernel<T>, sums_grid(&k), THREADS, 0, stream, *l, y, da, db, out, b->at, slope, p.size,
                (double)live, k);
    SPOT_LAUNCH(pool_back_kernel<T>, every_place<T>(places, p.channels), THREADS, 0, stream, y, da, db, out, b->at, slope,
                l->mean, places, live, p.size, p.channels);
}

spot_status spot_norm_pool_back_cuda(spot_ctx *c, const spot_norm_pooled *b, const spot_norm *l, spot_plane p, void *scratch)
{
    tiling k = tiles_of(c, pixels_of(p.live, p) / 4, p.channels, scratch);

    SPOT_TRY(spot_cuda_needs(c, b->y, "norm.pool_back: y"));
    (p.precision == SPOT_BF16 ? launch_pool_back<spot_bf16> : launch_pool_back<float>)(spot_cuda_stream(c), b, l, p, k);
    return spot_cuda_launched(c, "norm.pool_back of " SHAPE(p));
}
