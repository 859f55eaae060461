/* norm.c - statistics and the forward step on the CPU, and the checked entries. */
#include "net/norm.h"

#include <math.h>

#include "net/norm_line.h"

/* On the CPU the scratch holds three sums per plane as (blocks, rows, 3) vectors; on CUDA three per tile, then the slopes of
 * two layers (norm.cu). */
size_t spot_norm_scratch(spot_plane p)
{
    int tiles = spot_norm_tiles((size_t)p.rows * p.size * p.size);

    return (size_t)p.channels * (p.rows > tiles ? p.rows : tiles + 1) * 3 * sizeof(double);
}

FOR_BOTH void stats_of_plane(nd out[3], line y, nf around, int pixels, bool half)
{
    out[0] = out[1] = out[2] = (nd){ 0 };
    for (int start = 0; start < pixels; start += SHORT) {
        nf s0 = zero, s1 = zero, q0 = zero, q1 = zero;
        int end = pixels - start < SHORT ? pixels : start + SHORT, i = start;
        for (; i + 1 < end; i += 2) {
            nf a = get(y, i, half) - around, b = get(y, i + 1, half) - around;
            s0 += a; q0 += a * a;
            s1 += b; q1 += b * b;
        }
        if (i < end) { nf a = get(y, i, half) - around; s0 += a; q0 += a * a; }
        out[0] += __builtin_convertvector(s0 + s1, nd);
        out[1] += __builtin_convertvector(q0 + q1, nd);
    }
}

static void finish_stats(const spot_norm *l, const nd sum[3], nf around, double n, int block)
{
    for (int j = 0; j < B; j++) {
        int ch = block * B + j;
        double off = sum[0][j] / n, var = sum[1][j] / n - off * off, mean = around[j] + off;
        if (var < 0) var = 0;                    /* a constant channel, rounded; NaN stays */
        double invstd = 1 / sqrt(var + 1e-5);
        l->mean[ch] = (float)mean;
        l->invstd[ch] = (float)invstd;
        l->scale[ch] = (float)(l->weight[ch] * invstd);
        l->shift[ch] = (float)(l->bias[ch] - mean * l->weight[ch] * invstd);
        l->running_mean[ch] = (float)(0.9 * l->running_mean[ch] + 0.1 * mean);
        l->running_var[ch] = (float)(0.9 * l->running_var[ch] + 0.1 * var * (n > 1 ? n / (n - 1) : 1));
    }
}

FOR_BOTH void stats(spot_ctx *c, const spot_norm *l, const void *y, spot_plane p, void *scratch, bool half)
{
    int pixels = p.size * p.size, blocks = p.channels / B;

#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.live; row++)
        for (int block = 0; block < blocks; block++)
            stats_of_plane(partial(scratch, &p, block, row), line_of(y, &p, row, block, half),
                           get(line_of(y, &p, 0, block, half), 0, half), pixels, half);
#pragma omp parallel for num_threads(c->threads)
    for (int block = 0; block < blocks; block++) {
        nd sum[3];
        add_up(sum, scratch, &p, block);
        finish_stats(l, sum, get(line_of(y, &p, 0, block, half), 0, half), (double)p.live * pixels, block);
    }
}

static spot_status stats_cpu(spot_ctx *c, const spot_norm *l, const void *y, spot_plane p, void *scratch)
{
    if (p.precision == SPOT_BF16) stats(c, l, y, p, scratch, true);
    else                          stats(c, l, y, p, scratch, false);
    return SPOT_OK;
}

static spot_status fixed_cpu(spot_ctx *c, const spot_norm *l, int channels)
{
    (void)c;
    for (int i = 0; i < channels; i++) {
        double k = l->weight[i] / sqrt(l->running_var[i] + 1e-5);
        l->scale[i] = (float)k;
        l->shift[i] = (float)(l->bias[i] - l->running_mean[i] * k);
    }
    return SPOT_OK;
}

FOR_BOTH void apply_plane(line out, line y, const spot_norm *l, line other, const spot_norm *other_norm, int block, int pixels,
                          bool half)
{
    nf scale = at(l->scale, block), shift = at(l->shift, block);

    if (!other.first) {
        for (int i = 0; i < pixels; i++) put(out, i, relu(get(y, i, half) * scale + shift), half);
    } else if (!other_norm) {
        for (int i = 0; i < pixels; i++) put(out, i, relu(get(y, i, half) * scale + shift + get(other, i, half)), half);
    } else {
        nf scale2 = at(other_norm->scale, block), shift2 = at(other_norm->shift, block);
        for (int i = 0; i < pixels; i++)
            put(out, i, relu(get(y, i, half) * scale + shift + (get(other, i, half) * scale2 + shift2)), half);
    }
}

FOR_BOTH void apply(spot_ctx *c, void *out, const void *y, const spot_norm *l, const void *other, const spot_norm *other_norm,
                    spot_plane p, bool half)
{
    int pixels = p.size * p.size, blocks = p.channels / B;

#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < blocks; block++) {
            line to = line_of(out, &p, row, block, half);
            if (row < p.live)
                apply_plane(to, line_of(y, &p, row, block, half), l, line_of(other, &p, row, block, half), other_norm, block,
                            pixels, half);
            else
                blank(to, pixels, half);
        }
}

static spot_status apply_cpu(spot_ctx *c, void *out, const void *y, const spot_norm *l, const void *other,
                             const spot_norm *other_norm, spot_plane p)
{
    if (p.precision == SPOT_BF16) apply(c, out, y, l, other, other_norm, p, true);
    else                          apply(c, out, y, l, other, other_norm, p, false);
    return SPOT_OK;
}

/* which: the first window's winners, or NULL; `next` bytes from window to window. */
FOR_BOTH void pool_plane(line out, unsigned char *which, size_t next, line y, nf scale, nf shift, int size, bool half)
{
    for (int oy = 0, w = 0; oy < size / 2; oy++)
        for (int ox = 0; ox < size / 2; ox++, w++) {
            nf best = zero;
            ni first = (ni){ 0 } + 4;                /* none above 0: the centre; backward needs a pixel of the image */
            FOR_WINDOW(k, i, oy, ox, size) {
                nf v = get(y, i, half) * scale + shift;
                ni better = (ni)(v > best) | (ni)(v != v);             /* a NaN counts as the largest */
                best = (nf)(((ni)v & better) | ((ni)best & ~better));
                first = (better & k) | (first & ~better);
            }
            put(out, w, best, half);
            if (which) *(nb *)(which + w * next) = __builtin_convertvector(first, nb);
        }
}

FOR_BOTH void pool(spot_ctx *c, void *out, unsigned char *which, const void *y, const spot_norm *l, spot_plane p, bool half)
{
    int blocks = p.channels / B;
    size_t next = half ? p.channels : B;
    spot_plane q = p;

    q.size /= 2;
#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < blocks; block++) {
            line to = line_of(out, &q, row, block, half);
            if (row < p.live)
                pool_plane(to, which ? which + winner_of(&q, row, block, 0, half) : NULL, next,
                           line_of(y, &p, row, block, half), at(l->scale, block), at(l->shift, block), p.size, half);
            else
                blank(to, q.size * q.size, half);
        }
}

static spot_status pool_cpu(spot_ctx *c, void *out, unsigned char *which, const void *y, const spot_norm *l, spot_plane p)
{
    if (p.precision == SPOT_BF16) pool(c, out, which, y, l, p, true);
    else                          pool(c, out, which, y, l, p, false);
    return SPOT_OK;
}

const spot_norm_ops spot_norm_cpu = { stats_cpu, fixed_cpu, apply_cpu, pool_cpu, spot_norm_back_cpu, spot_norm_pool_back_cpu,
                                      spot_norm_fold_cpu };

/* -- checked entries ------------------------------------------------------------------------------------------ */

static spot_status check_plane(spot_ctx *c, const char *op, spot_plane p)
{
    if (p.live < 1 || p.live > p.rows || p.size < 1 || p.channels < 16 || p.channels % 16)
        return spot_fail(c, SPOT_INVALID, "{norm.sizes} norm.%s: %d of %d rows, %d channels, size %d", op, p.live, p.rows,
                         p.channels, p.size);
    return spot_conv_able(c, p.precision);
}

spot_status spot_norm_stats(spot_ctx *c, const spot_norm *l, const void *y, spot_plane p, void *scratch)
{
    SPOT_TRY(check_plane(c, "stats", p));
    SPOT_DISPATCH(c, norm, stats, l, y, p, scratch);
}

spot_status spot_norm_fixed(spot_ctx *c, const spot_norm *l, int channels)
{
    SPOT_DISPATCH(c, norm, fixed, l, channels);
}

spot_status spot_norm_apply(spot_ctx *c, void *out, const void *y, const spot_norm *l, const void *other,
                            const spot_norm *other_norm, spot_plane p)
{
    SPOT_TRY(check_plane(c, "apply", p));
    if (other_norm && !other) return spot_fail(c, SPOT_INVALID, "norm.apply: a second layer without its tensor");
    SPOT_DISPATCH(c, norm, apply, out, y, l, other, other_norm, p);
}

spot_status spot_norm_pool(spot_ctx *c, void *out, unsigned char *which, const void *y, const spot_norm *l,
                           spot_plane p)
{
    SPOT_TRY(check_plane(c, "pool", p));
    if (p.size % 2) return spot_fail(c, SPOT_INVALID, "{norm.pool_size} norm.pool: size %d is odd", p.size);
    SPOT_DISPATCH(c, norm, pool, out, which, y, l, p);
}

spot_status spot_norm_backward(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch)
{
    SPOT_TRY(check_plane(c, "back", p));
    if (!b->out != !b->dz || !b->b != !b->y2 || (b->b && !b->out))
        return spot_fail(c, SPOT_INVALID, "norm.back: out and dz, and y2 and its layer, come together");
    SPOT_DISPATCH(c, norm, back, b, p, scratch);
}

spot_status spot_norm_pool_back(spot_ctx *c, const spot_norm_pooled *b, const spot_norm *l, spot_plane p, void *scratch)
{
    SPOT_TRY(check_plane(c, "pool_back", p));
    if (p.size % 2) return spot_fail(c, SPOT_INVALID, "norm.pool_back: size %d is odd", p.size);
    SPOT_DISPATCH(c, norm, pool_back, b, l, p, scratch);
}
