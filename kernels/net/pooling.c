/* pooling.c - see pooling.h. The loops run over planes, as those of batch norm. */
#include "net/pooling.h"

#include "net/norm_line.h"

/* On the CPU the scratch holds a sum per plane and channel; CUDA sums as batch norm does. */
size_t spot_pool_scratch(spot_plane p) { return spot_norm_scratch(p); }

/* which: the first window's winners, or NULL; `next` bytes from window to window. */
FOR_BOTH void max_plane(line out, unsigned char *which, size_t next, line y, nf bias, int size, bool half)
{
    const int side = spot_pool_side(size, true);

    for (int oy = 0, w = 0; oy < side; oy++)
        for (int ox = 0; ox < side; ox++, w++) {
            nf best = relu(get(y, 2 * oy * size + 2 * ox, half) + bias);
            ni first = { 0 };
            for (int k = 1; k < 9; k++) {
                nf v = relu(get(y, (2 * oy + k / 3) * size + 2 * ox + k % 3, half) + bias);
                ni better = (ni)(v > best) | (ni)(v != v);             /* a NaN counts as the largest */
                best = (nf)(((ni)v & better) | ((ni)best & ~better));
                first = (better & k) | (first & ~better);
            }
            put(out, w, best, half);
            if (which) *(nb *)(which + w * next) = __builtin_convertvector(first, nb);
        }
}

FOR_BOTH void forward(spot_ctx *c, void *out, unsigned char *which, const void *y, const float *bias, spot_plane p, bool max,
                      bool half)
{
    const int blocks = p.channels / B;
    const size_t next = half ? p.channels : B;
    spot_plane q = p;

    q.size = spot_pool_side(p.size, max);
#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < blocks; block++) {
            line to = line_of(out, &q, row, block, half), from = line_of(y, &p, row, block, half);
            nf b = bias ? at(bias, block) : zero;
            if (row >= p.live)
                blank(to, q.size * q.size, half);
            else if (max)
                max_plane(to, which ? which + winner_of(&q, row, block, 0, half) : NULL, next, from, b, p.size, half);
            else
                for (int i = 0; i < p.size * p.size; i++) put(to, i, relu(get(from, i, half) + b), half);
        }
}

static spot_status forward_cpu(spot_ctx *c, void *out, unsigned char *which, const void *y, const float *bias, spot_plane p,
                               bool max)
{
    if (p.precision == SPOT_BF16) forward(c, out, which, y, bias, p, max, true);
    else                          forward(c, out, which, y, bias, p, max, false);
    return SPOT_OK;
}

/* The gradient of pixel (py, px): of every window that it won. */
FOR_BOTH nf won(line da, line out, const unsigned char *which, size_t next, int py, int px, int side, bool half)
{
    nf sum = zero;

    for (int oy = py < 3 ? 0 : (py - 1) / 2; oy <= py / 2 && oy < side; oy++)
        for (int ox = px < 3 ? 0 : (px - 1) / 2; ox <= px / 2 && ox < side; ox++) {
            const int w = oy * side + ox, k = (py - 2 * oy) * 3 + px - 2 * ox;
            ni mine = __builtin_convertvector(*(const nb *)(which + w * next), ni) == k;
            sum += keep(get(da, w, half), mine & above_zero(get(out, w, half)));
        }
    return sum;
}

FOR_BOTH void back_plane(line y, nd *all, line da, line out, const unsigned char *which, size_t next, int size, bool max,
                         bool half)
{
    const int side = spot_pool_side(size, max);

    *all = (nd){ 0 };
    for (int py = 0, i = 0; py < size; py++)
        for (int px = 0; px < size; px++, i++) {
            nf d = max ? won(da, out, which, next, py, px, side, half) : keep(get(da, i, half), above_zero(get(out, i, half)));
            *all += __builtin_convertvector(d, nd);
            put(y, i, d, half);
        }
}

FOR_BOTH void back(spot_ctx *c, const spot_pool_gradients *g, spot_plane p, bool max, nd *sum, bool half)
{
    const int blocks = p.channels / B;
    const size_t next = half ? p.channels : B;
    spot_plane q = p;

    q.size = spot_pool_side(p.size, max);
#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < blocks; block++) {
            line to = line_of(g->y, &p, row, block, half);
            if (row < p.live)
                back_plane(to, &sum[(size_t)block * p.rows + row], line_of(g->da, &q, row, block, half),
                           line_of(g->out, &q, row, block, half), max ? g->at + winner_of(&q, row, block, 0, half) : NULL, next,
                           p.size, max, half);
            else
                blank(to, p.size * p.size, half);
        }
    for (int block = 0; g->dbias && block < blocks; block++) {
        nd all = { 0 };
        for (int row = 0; row < p.live; row++) all += sum[(size_t)block * p.rows + row];
        for (int j = 0; j < B; j++) g->dbias[block * B + j] = (float)all[j];
    }
}

static spot_status back_cpu(spot_ctx *c, const spot_pool_gradients *g, spot_plane p, bool max, void *scratch)
{
    if (p.precision == SPOT_BF16) back(c, g, p, max, scratch, true);
    else                          back(c, g, p, max, scratch, false);
    return SPOT_OK;
}

FOR_BOTH void mean(spot_ctx *c, float *out, const void *x, spot_plane p, bool half)
{
    enum { N = SPOT_POOL_MEAN };

#pragma omp parallel for num_threads(c->threads)
    for (int row = 0; row < p.live; row++)
        for (int block = 0; block < p.channels / B; block++)
            for (int w = 0; w < N * N; w++) {
                const int top = spot_pool_first(w / N, p.size), bottom = spot_pool_end(w / N, p.size);
                const int left = spot_pool_first(w % N, p.size), right = spot_pool_end(w % N, p.size);
                const line from = line_of(x, &p, row, block, half);
                float *to = out + ((size_t)row * p.channels + block * B) * N * N + w;
                nd sum = { 0 };
                for (int i = top; i < bottom; i++)
                    for (int j = left; j < right; j++) sum += __builtin_convertvector(get(from, i * p.size + j, half), nd);
                for (int j = 0; j < B; j++) to[j * N * N] = (float)(sum[j] / ((bottom - top) * (right - left)));
            }
}

static spot_status mean_cpu(spot_ctx *c, float *out, const void *x, spot_plane p)
{
    if (p.precision == SPOT_BF16) mean(c, out, x, p, true);
    else                          mean(c, out, x, p, false);
    return SPOT_OK;
}

/* Pixel (py, px) of B channels whose gradients begin at d. */
FOR_BOTH nf pixel_back(const float *d, int py, int px, int size)
{
    enum { N = SPOT_POOL_MEAN };
    nd sum = { 0 };
    nf v;

    for (int w = 0; w < N * N; w++) {
        const int top = spot_pool_first(w / N, size), bottom = spot_pool_end(w / N, size);
        const int left = spot_pool_first(w % N, size), right = spot_pool_end(w % N, size);
        if (py < top || py >= bottom || px < left || px >= right) continue;
        for (int j = 0; j < B; j++) sum[j] += (double)d[j * N * N + w] / ((bottom - top) * (right - left));
    }
    for (int j = 0; j < B; j++) v[j] = (float)sum[j];
    return v;
}

FOR_BOTH void mean_back(spot_ctx *c, void *dx, const float *dout, spot_plane p, bool half)
{
#pragma omp parallel for num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < p.channels / B; block++) {
            const line to = line_of(dx, &p, row, block, half);
            const float *d = dout + ((size_t)row * p.channels + block * B) * SPOT_POOL_MEAN * SPOT_POOL_MEAN;
            for (int i = 0; i < p.size * p.size; i++)
                put(to, i, row < p.live ? pixel_back(d, i / p.size, i % p.size, p.size) : zero, half);
        }
}

static spot_status mean_back_cpu(spot_ctx *c, void *dx, const float *dout, spot_plane p)
{
    if (p.precision == SPOT_BF16) mean_back(c, dx, dout, p, true);
    else                          mean_back(c, dx, dout, p, false);
    return SPOT_OK;
}

const spot_pooling_ops spot_pooling_cpu = { forward_cpu, back_cpu, mean_cpu, mean_back_cpu };

/* -- checked entries ------------------------------------------------------------------------------------------ */

static spot_status check_plane(spot_ctx *c, const char *op, spot_plane p, int least)
{
    if (p.live < 1 || p.live > p.rows || p.size < least || p.channels < 16 || p.channels % 16)
        return spot_fail(c, SPOT_INVALID, "pooling.%s: %d of %d rows, %d channels, size %d", op, p.live, p.rows, p.channels,
                         p.size);
    return spot_conv_able(c, p.precision);
}

spot_status spot_pool_forward(spot_ctx *c, void *out, unsigned char *which, const void *y, const float *bias, spot_plane p,
                              bool max)
{
    SPOT_TRY(check_plane(c, "forward", p, max ? 3 : 1));
    SPOT_DISPATCH(c, pooling, forward, out, which, y, bias, p, max);
}

spot_status spot_pool_back(spot_ctx *c, const spot_pool_gradients *g, spot_plane p, bool max, void *scratch)
{
    SPOT_TRY(check_plane(c, "back", p, max ? 3 : 1));
    if (max && !g->at) return spot_fail(c, SPOT_INVALID, "pooling.back: no places of the largest");
    SPOT_DISPATCH(c, pooling, back, g, p, max, scratch);
}

spot_status spot_pool_mean(spot_ctx *c, float *out, const void *x, spot_plane p)
{
    SPOT_TRY(check_plane(c, "mean", p, 1));
    SPOT_DISPATCH(c, pooling, mean, out, x, p);
}

spot_status spot_pool_mean_back(spot_ctx *c, void *dx, const float *dout, spot_plane p)
{
    SPOT_TRY(check_plane(c, "mean_back", p, 1));
    SPOT_DISPATCH(c, pooling, mean_back, dx, dout, p);
}
