/* pooling.cu - a thread has 4 channels of a place: a pixel, or a window of the pool. The gradient's kernel also adds up the
 * bias's (norm_sums.cuh), so that no second one reads what it wrote. */
#include "net/norm_sums.cuh"
#include "net/pooling.h"

enum { N = SPOT_POOL_MEAN };

/* The place and the first channel of this thread of a grid over places and groups of 4 channels; false behind the last. */
static __device__ inline bool own_place(size_t *place, int *ch, size_t places, int channels)
{
    const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, groups = channels / OWN;

    *place = i / groups;
    *ch = (int)(i % groups) * OWN;
    return *place < places;
}

static unsigned blocks_of(size_t places, int channels)
{
    return (unsigned)((places * (channels / OWN) + THREADS - 1) / THREADS);
}

/* grid (ceil(places of out * groups / 256)); 0 from place `live` on, and no winners */
template <typename T>
static __global__ void __launch_bounds__(THREADS) forward_kernel(T *out, unsigned char *which, const T *y, const float *bias,
                                                                 size_t places, size_t live, int channels, int size, bool max)
{
    const int side = spot_pool_side(size, max);
    float best[OWN] = { 0 }, add[OWN] = { 0 };
    int first[OWN] = { 0 }, ch;
    size_t place;

    if (!own_place(&place, &ch, places, channels)) return;
    for (int j = 0; bias && j < OWN; j++) add[j] = bias[ch + j];
    for (int k = 0; place < live && k < (max ? 9 : 1); k++) {
        const size_t row = place / (side * side);
        const int w = place % (side * side), step = max ? 2 : 1;
        const size_t pixel = (row * size + step * (w / side) + k / 3) * size + step * (w % side) + k % 3;
        float v[OWN];
        spot_widen_four(v, spot_load_four(y + pixel * channels + ch));
        for (int j = 0; j < OWN; j++) {
            v[j] = keep(v[j] + add[j], above_zero(v[j] + add[j]));
            if (k && !(v[j] > best[j]) && v[j] == v[j]) continue;          /* a NaN counts as the largest */
            best[j] = v[j];
            first[j] = k;
        }
    }
    spot_store_four(out + place * channels + ch, best);
    for (int j = 0; which && place < live && j < OWN; j++) which[place * channels + ch + j] = (unsigned char)first[j];
}

/* Adds to d the gradients of the windows of a row that pixel (py, px) won; `from`: the row's first window, and the channel. */
template <typename T>
static __device__ inline void add_won(float *d, const T *da, const T *out, const unsigned char *which, size_t from, int py,
                                      int px, int side, int channels)
{
    for (int oy = py < 3 ? 0 : (py - 1) / 2; oy <= py / 2 && oy < side; oy++)
        for (int ox = px < 3 ? 0 : (px - 1) / 2; ox <= px / 2 && ox < side; ox++) {
            const size_t w = from + (size_t)(oy * side + ox) * channels;
            float v[OWN], o[OWN];
            spot_widen_four(v, spot_load_four(da + w));
            spot_widen_four(o, spot_load_four(out + w));
            for (int j = 0; j < OWN; j++)
                d[j] += keep(v[j], which[w + j] == (py - 2 * oy) * 3 + px - 2 * ox && above_zero(o[j]));
        }
}

/* Grid: sums_grid. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) back_kernel(T *y, float *dbias, const T *da, const T *out,
                                                              const unsigned char *which, tiling k, int size, bool max)
{
    SPOT_SHARED(double, total, ROWS * COLUMN);
    const int side = spot_pool_side(size, max);
    const size_t end = sums_end(&k);
    int ch = sums_channel(), summed = 0;
    float sum[1][OWN] = { { 0 } };
    double all[1];

    clear_sums<1>(total);
    for (size_t i = sums_first(&k); ch < k.channels && i < end; i += ROWS) {
        const int pixel = i % (size * size);
        float d[OWN] = { 0 };
        if (max) {
            add_won(d, da, out, which, i / (size * size) * side * side * k.channels + ch, pixel / size, pixel % size, side,
                    k.channels);
        } else {
            float o[OWN];
            spot_widen_four(d, spot_load_four(da + i * k.channels + ch));
            spot_widen_four(o, spot_load_four(out + i * k.channels + ch));
            for (int j = 0; j < OWN; j++) d[j] = keep(d[j], above_zero(o[j]));
        }
        for (int j = 0; j < OWN; j++) sum[0][j] += d[j];
        spot_store_four(y + i * k.channels + ch, d);
        if (++summed % SHORT == 0) flush_sums<1>(total, sum);
    }
    flush_sums<1>(total, sum);
    if (column_totals<1>(all, &ch, total, &k) && dbias) dbias[ch] = (float)all[0];
}

/* grid (ceil(live * 36 * groups / 256)) */
template <typename T>
static __global__ void __launch_bounds__(THREADS) mean_kernel(float *out, const T *x, size_t places, int channels, int size)
{
    double sum[OWN] = { 0 };
    size_t place;
    int ch;

    if (!own_place(&place, &ch, places, channels)) return;
    const int w = place % (N * N), top = spot_pool_first(w / N, size), bottom = spot_pool_end(w / N, size);
    const int left = spot_pool_first(w % N, size), right = spot_pool_end(w % N, size);
    const size_t row = place / (N * N);
    for (int i = top; i < bottom; i++)
        for (int j = left; j < right; j++) {
            float v[OWN];
            spot_widen_four(v, spot_load_four(x + ((row * size + i) * size + j) * channels + ch));
            for (int o = 0; o < OWN; o++) sum[o] += v[o];
        }
    for (int o = 0; o < OWN; o++)
        out[(row * channels + ch + o) * N * N + w] = (float)(sum[o] / ((bottom - top) * (right - left)));
}

/* grid (ceil(places * groups / 256)); 0 from place `live` on */
template <typename T>
static __global__ void __launch_bounds__(THREADS) mean_back_kernel(T *dx, const float *dout, size_t places, size_t live,
                                                                   int channels, int size)
{
    double sum[OWN] = { 0 };
    float v[OWN];
    size_t place;
    int ch;

    if (!own_place(&place, &ch, places, channels)) return;
    for (int w = 0; place < live && w < N * N; w++) {
        const int top = spot_pool_first(w / N, size), bottom = spot_pool_end(w / N, size), pixel = place % (size * size);
        const int left = spot_pool_first(w % N, size), right = spot_pool_end(w % N, size);
        const size_t row = place / (size * size);
        if (pixel / size < top || pixel / size >= bottom || pixel % size < left || pixel % size >= right) continue;
        for (int o = 0; o < OWN; o++)
            sum[o] += (double)dout[(row * channels + ch + o) * N * N + w] / ((bottom - top) * (right - left));
    }
    for (int o = 0; o < OWN; o++) v[o] = (float)sum[o];
    spot_store_four(dx + place * channels + ch, v);
}

/* -- entries ---------------------------------------------------------------------------------------------------------- */

template <typename T>
static void launch_forward(spot_ctx *c, void *out, unsigned char *which, const void *y, const float *bias, spot_plane p,
                           bool max)
{
    spot_plane q = p;

    q.size = spot_pool_side(p.size, max);
    SPOT_LAUNCH(forward_kernel<T>, blocks_of(pixels_of(q.rows, q), p.channels), THREADS, 0, spot_cuda_stream(c), (T *)out,
                which, (const T *)y, bias, pixels_of(q.rows, q), pixels_of(q.live, q), p.channels, p.size, max);
}

static spot_status forward_cuda(spot_ctx *c, void *out, unsigned char *which, const void *y, const float *bias, spot_plane p,
                                bool max)
{
    SPOT_TRY(spot_cuda_needs(c, out, "pooling.forward: out"));
    (p.precision == SPOT_BF16 ? launch_forward<spot_bf16> : launch_forward<float>)(c, out, which, y, bias, p, max);
    return spot_cuda_launched(c, "pooling.forward of " SHAPE(p));
}

template <typename T>
static void launch_back(spot_ctx *c, const spot_pool_gradients *g, spot_plane p, bool max, tiling k)
{
    SPOT_LAUNCH(back_kernel<T>, sums_grid(&k), THREADS, 0, spot_cuda_stream(c), (T *)g->y, g->dbias, (const T *)g->da,
                (const T *)g->out, g->at, k, p.size, max);
}

static spot_status back_cuda(spot_ctx *c, const spot_pool_gradients *g, spot_plane p, bool max, void *scratch)
{
    const size_t live = pixels_of(p.live, p), row = p.channels * spot_precision_bytes(p.precision);
    const tiling k = tiles_of(c, live, p.channels, scratch);

    SPOT_TRY(spot_cuda_needs(c, g->y, "pooling.back: y"));
    (p.precision == SPOT_BF16 ? launch_back<spot_bf16> : launch_back<float>)(c, g, p, max, k);
    SPOT_TRY(spot_cuda_launched(c, "pooling.back of " SHAPE(p)));
    if (p.rows == p.live) return SPOT_OK;
    return spot_cuda_memory(c)->clear(c, (char *)g->y + live * row, (pixels_of(p.rows, p) - live) * row);
}

template <typename T> static void launch_mean(spot_ctx *c, float *out, const void *x, spot_plane p)
{
    const size_t places = (size_t)p.live * N * N;

    SPOT_LAUNCH(mean_kernel<T>, blocks_of(places, p.channels), THREADS, 0, spot_cuda_stream(c), out, (const T *)x, places,
                p.channels, p.size);
}

static spot_status mean_cuda(spot_ctx *c, float *out, const void *x, spot_plane p)
{
    SPOT_TRY(spot_cuda_needs(c, x, "pooling.mean: x"));
    (p.precision == SPOT_BF16 ? launch_mean<spot_bf16> : launch_mean<float>)(c, out, x, p);
    return spot_cuda_launched(c, "pooling.mean of " SHAPE(p));
}

template <typename T> static void launch_mean_back(spot_ctx *c, void *dx, const float *dout, spot_plane p)
{
    SPOT_LAUNCH(mean_back_kernel<T>, blocks_of(pixels_of(p.rows, p), p.channels), THREADS, 0, spot_cuda_stream(c), (T *)dx,
                dout, pixels_of(p.rows, p), pixels_of(p.live, p), p.channels, p.size);
}

static spot_status mean_back_cuda(spot_ctx *c, void *dx, const float *dout, spot_plane p)
{
    SPOT_TRY(spot_cuda_needs(c, dx, "pooling.mean_back: dx"));
    (p.precision == SPOT_BF16 ? launch_mean_back<spot_bf16> : launch_mean_back<float>)(c, dx, dout, p);
    return spot_cuda_launched(c, "pooling.mean_back of " SHAPE(p));
}

extern const spot_pooling_ops spot_pooling_cuda = { forward_cuda, back_cuda, mean_cuda, mean_back_cuda };
