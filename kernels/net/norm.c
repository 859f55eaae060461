/* norm.c - the loops run over planes: one image, one block of channels, all of its pixels, B channels at a time. */
#include "net/norm.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/lanes.h"

enum { B = SPOT_CHANNELS, SHORT = 256 };   /* SHORT: pixels that are summed in fp32 */

typedef float  vf __attribute__((vector_size(B * 4), may_alias));
typedef int    vi __attribute__((vector_size(B * 4), may_alias));
typedef double vd __attribute__((vector_size(B * 8), aligned(B * 4), may_alias));   /* as the arena aligns */

static const vf zero;

/* With bits, not fmax: a NaN is not <= 0 and stays, so that the loss becomes NaN. */
static inline vi above_zero(vf v) { return ~(vi)(v <= zero); }
static inline vf keep(vf v, vi mask) { return (vf)((vi)v & mask); }
static inline vf relu(vf v) { return keep(v, above_zero(v)); }

/* The plane of a tensor that begins at `start`; NULL for NULL. */
static inline vf *vectors(const void *tensor, size_t start)
{
    return tensor ? (vf *)(uintptr_t)tensor + start : NULL;
}

static inline vf at(const float *per_channel, int block) { return ((const vf *)per_channel)[block]; }

static inline size_t plane_start(const spot_plane *p, int row, int block)
{
    return ((size_t)row * (p->channels / B) + block) * p->size * p->size;
}

/* On the CPU the scratch holds three sums per plane as (blocks, rows, 3) vectors; on CUDA three per tile, then the slopes of
 * two layers (norm.cu). */
size_t spot_norm_scratch(spot_plane p)
{
    int tiles = spot_norm_tiles((size_t)p.rows * p.size * p.size);

    return (size_t)p.channels * (p.rows > tiles ? p.rows : tiles + 1) * 3 * sizeof(double);
}

static inline vd *partial(void *scratch, const spot_plane *p, int block, int row)
{
    return (vd *)scratch + ((size_t)block * p->rows + row) * 3;
}

static void add_up(vd sum[3], void *scratch, const spot_plane *p, int block)
{
    memset(sum, 0, 3 * sizeof *sum);
    for (int row = 0; row < p->live; row++)
        for (int k = 0; k < 3; k++) sum[k] += partial(scratch, p, block, row)[k];
}

/* -- forward -------------------------------------------------------------------------------------------------- */

static void stats_of_plane(vd out[3], const vf *y, vf around, int pixels)
{
    out[0] = out[1] = out[2] = (vd){ 0 };
    for (int start = 0; start < pixels; start += SHORT) {
        vf s0 = zero, s1 = zero, q0 = zero, q1 = zero;
        int end = pixels - start < SHORT ? pixels : start + SHORT, i = start;
        for (; i + 1 < end; i += 2) {
            vf a = y[i] - around, b = y[i + 1] - around;
            s0 += a; q0 += a * a;
            s1 += b; q1 += b * b;
        }
        if (i < end) { vf a = y[i] - around; s0 += a; q0 += a * a; }
        out[0] += __builtin_convertvector(s0 + s1, vd);
        out[1] += __builtin_convertvector(q0 + q1, vd);
    }
}

static void finish_stats(const spot_norm *l, const vd sum[3], vf around, double n, int block)
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

static spot_status stats_cpu(spot_ctx *c, const spot_norm *l, const void *y, spot_plane p, void *scratch)
{
    int pixels = p.size * p.size, blocks = p.channels / B;

#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.live; row++)
        for (int block = 0; block < blocks; block++)
            stats_of_plane(partial(scratch, &p, block, row), vectors(y, plane_start(&p, row, block)),
                           ((const vf *)y)[plane_start(&p, 0, block)], pixels);
#pragma omp parallel for num_threads(c->threads)
    for (int block = 0; block < blocks; block++) {
        vd sum[3];
        add_up(sum, scratch, &p, block);
        finish_stats(l, sum, ((const vf *)y)[plane_start(&p, 0, block)], (double)p.live * pixels, block);
    }
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

static spot_status apply_cpu(spot_ctx *c, void *out, const void *y, const spot_norm *l, const void *other,
                             const spot_norm *other_norm, spot_plane p)
{
    int pixels = p.size * p.size, blocks = p.channels / B;

#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < blocks; block++) {
            size_t start = plane_start(&p, row, block);
            vf *o = vectors(out, start), scale = at(l->scale, block), shift = at(l->shift, block);
            const vf *v = vectors(y, start), *r = vectors(other, start);
            if (row >= p.live) {
                memset(o, 0, pixels * sizeof *o);
            } else if (!other) {
                for (int i = 0; i < pixels; i++) o[i] = relu(v[i] * scale + shift);
            } else if (!other_norm) {
                for (int i = 0; i < pixels; i++) o[i] = relu(v[i] * scale + shift + r[i]);
            } else {
                vf scale2 = at(other_norm->scale, block), shift2 = at(other_norm->shift, block);
                for (int i = 0; i < pixels; i++) o[i] = relu(v[i] * scale + shift + (r[i] * scale2 + shift2));
            }
        }
    return SPOT_OK;
}

/* Loops over the nine pixels of the window around (2*oy, 2*ox), clipped. */
#define FOR_WINDOW(k, i, oy, ox, size)                                                        \
    for (int y_ = 2 * (oy) - 1; y_ <= 2 * (oy) + 1; y_++)                                     \
        for (int x_ = 2 * (ox) - 1, k = (y_ - 2 * (oy) + 1) * 3, i = y_ * (size) + x_;        \
             x_ <= 2 * (ox) + 1; x_++, k++, i++)                                              \
            if (y_ >= 0 && y_ < (size) && x_ >= 0 && x_ < (size))

static void pool_plane(vf *out, unsigned char *which, const vf *y, vf scale, vf shift, int size)
{
    for (int oy = 0, w = 0; oy < size / 2; oy++)
        for (int ox = 0; ox < size / 2; ox++, w++) {
            vf best = zero;
            vi first = (vi){ 0 } + 4;                /* none above 0: the centre; backward needs a pixel of the image */
            FOR_WINDOW(k, i, oy, ox, size) {
                vf v = y[i] * scale + shift;
                vi better = (vi)(v > best) | (vi)(v != v);             /* a NaN counts as the largest */
                best = (vf)(((vi)v & better) | ((vi)best & ~better));
                first = (better & k) | (first & ~better);
            }
            out[w] = best;
            if (which) for (int j = 0; j < B; j++) which[w * B + j] = (unsigned char)first[j];
        }
}

static spot_status pool_cpu(spot_ctx *c, void *out, unsigned char *which, const void *y, const spot_norm *l,
                            spot_plane p)
{
    int pixels = p.size * p.size, blocks = p.channels / B;

#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < blocks; block++) {
            size_t start = plane_start(&p, row, block), to = start / 4;
            if (row < p.live)
                pool_plane(vectors(out, to), which ? which + to * B : NULL, vectors(y, start),
                           at(l->scale, block), at(l->shift, block), p.size);
            else
                memset(vectors(out, to), 0, pixels / 4 * sizeof(vf));
        }
    return SPOT_OK;
}

/* -- back ----------------------------------------------------------------------------------------------------- */

/* The gradient of out at pixel i. */
static inline vf out_gradient(const vf *da, const vf *db, int i)
{
    if (!db) return da[i];
    return da[i] + db[i];
}

/* sum[0] = sum of dz, sum[1] and sum[2] = sum of dz * (y - mean) for y and y2. Writes b->dz unless b->out is NULL. */
static void sums_of_plane(vd sum[3], const spot_norm_back *b, size_t start, int block, int pixels)
{
    const vf *da = vectors(b->da, start), *db = vectors(b->db, start);
    const vf *out = vectors(b->out, start), *y = vectors(b->y, start), *y2 = vectors(b->y2, start);
    vf scale = at(b->a->scale, block), shift = at(b->a->shift, block), mean = at(b->a->mean, block);
    vf mean2 = b->b ? at(b->b->mean, block) : zero, *keep_dz = vectors(b->dz, start);

    sum[0] = sum[1] = sum[2] = (vd){ 0 };
    for (int first = 0; first < pixels; first += SHORT) {
        int end = pixels - first < SHORT ? pixels : first + SHORT;
        vf s = zero, q = zero, q2 = zero;
        if (!b->out) {
            for (int i = first; i < end; i++) {
                vf dz = keep(out_gradient(da, db, i), above_zero(y[i] * scale + shift));
                s += dz; q += dz * (y[i] - mean);
            }
        } else {
            for (int i = first; i < end; i++) {
                vf dz = keep(out_gradient(da, db, i), above_zero(out[i]));
                s += dz; q += dz * (y[i] - mean);
                if (b->b) q2 += dz * (y2[i] - mean2);
                keep_dz[i] = dz;
            }
        }
        sum[0] += __builtin_convertvector(s, vd);
        sum[1] += __builtin_convertvector(q, vd);
        sum[2] += __builtin_convertvector(q2, vd);
    }
}

/* dy = a*dz + b*(y - mean) + c of one block of channels (Ioffe and Szegedy 2015, the six equations in one). */
typedef struct { vf a, b, c, mean; } slope;

static slope slope_of(const spot_norm *l, int block, double n)
{
    slope k = { .mean = at(l->mean, block) };

    for (int j = 0; j < B; j++) {
        int ch = block * B + j;
        double a = (double)l->weight[ch] * l->invstd[ch];
        k.a[j] = (float)a;
        k.b[j] = (float)(-a * l->invstd[ch] * l->dweight[ch] / n);
        k.c[j] = (float)(-a * l->dbias[ch] / n);
    }
    return k;
}

static inline vf slide(const slope *k, vf dz, vf y) { return k->a * dz + (k->b * (y - k->mean) + k->c); }

static void finish_sums(const spot_norm *l, vd dz, vd dz_y, int block)
{
    for (int j = 0; j < B; j++) {
        l->dbias[block * B + j] = (float)dz[j];
        l->dweight[block * B + j] = (float)(dz_y[j] * l->invstd[block * B + j]);
    }
}

static void back_plane(const spot_norm_back *b, size_t start, int block, int pixels, double n)
{
    const vf *da = vectors(b->da, start), *db = vectors(b->db, start);
    const vf *dz = vectors(b->dz, start);
    vf *y = vectors(b->y, start), *y2 = vectors(b->y2, start);
    vf scale = at(b->a->scale, block), shift = at(b->a->shift, block);
    slope k = slope_of(b->a, block, n);

    if (!b->out) {
        for (int i = 0; i < pixels; i++)
            y[i] = slide(&k, keep(out_gradient(da, db, i), above_zero(y[i] * scale + shift)), y[i]);
    } else if (!b->b) {
        for (int i = 0; i < pixels; i++) y[i] = slide(&k, dz[i], y[i]);
    } else {
        slope k2 = slope_of(b->b, block, n);
        for (int i = 0; i < pixels; i++) {
            y[i] = slide(&k, dz[i], y[i]);
            y2[i] = slide(&k2, dz[i], y2[i]);
        }
    }
}

static void blank_plane(const spot_norm_back *b, size_t start, int pixels)
{
    memset(vectors(b->y, start), 0, pixels * sizeof(vf));
    if (b->y2) memset(vectors(b->y2, start), 0, pixels * sizeof(vf));
    if (b->dz) memset(vectors(b->dz, start), 0, pixels * sizeof(vf));
}

static spot_status back_cpu(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch)
{
    int pixels = p.size * p.size, blocks = p.channels / B;

#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.live; row++)
        for (int block = 0; block < blocks; block++)
            sums_of_plane(partial(scratch, &p, block, row), b, plane_start(&p, row, block), block, pixels);
#pragma omp parallel for num_threads(c->threads)
    for (int block = 0; block < blocks; block++) {
        vd sum[3];
        add_up(sum, scratch, &p, block);
        finish_sums(b->a, sum[0], sum[1], block);
        if (b->b) finish_sums(b->b, sum[0], sum[2], block);
    }
#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < blocks; block++)
            if (row < p.live)
                back_plane(b, plane_start(&p, row, block), block, pixels, (double)p.live * pixels);
            else
                blank_plane(b, plane_start(&p, row, block), pixels);
    return SPOT_OK;
}

/* The position in the plane, in floats, of the largest value of window w. */
static inline int source(int w, int which, int size, int j)
{
    int oy = w / (size / 2), ox = w % (size / 2);

    return ((2 * oy - 1 + which / 3) * size + 2 * ox - 1 + which % 3) * B + j;
}

/* Only the largest pixel of a window has a gradient, so the sums run over windows. */
static void pool_sums_of_plane(vd sum[3], const float *y, const vf *da, const vf *db, const vf *out,
                               const unsigned char *which, vf mean, int size)
{
    sum[0] = sum[1] = sum[2] = (vd){ 0 };
    for (int w = 0; w < size * size / 4; w++) {
        vf dz = keep(out_gradient(da, db, w), above_zero(out[w])), won = zero;
        for (int j = 0; j < B; j++) won[j] = y[source(w, which[w * B + j], size, j)];
        sum[0] += __builtin_convertvector(dz, vd);
        sum[1] += __builtin_convertvector(dz * (won - mean), vd);
    }
}

/* Writes the part of dy without dz for every pixel, then adds a*dz at the largest pixels of the windows. */
static void pool_back_plane(float *y, const vf *da, const vf *db, const vf *out, const unsigned char *which,
                            const slope *k, int size)
{
    vf *v = (vf *)y;

    for (int i = 0; i < size * size; i++) v[i] = k->b * (v[i] - k->mean) + k->c;
    for (int w = 0; w < size * size / 4; w++) {
        vf g = k->a * keep(out_gradient(da, db, w), above_zero(out[w]));
        for (int j = 0; j < B; j++) y[source(w, which[w * B + j], size, j)] += g[j];
    }
}

static spot_status pool_back_cpu(spot_ctx *c, void *dy, const void *da, const void *db, const void *out,
                                 const unsigned char *which, const spot_norm *l, spot_plane p, void *scratch)
{
    int pixels = p.size * p.size, blocks = p.channels / B;
    float *y = dy;

#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.live; row++)
        for (int block = 0; block < blocks; block++) {
            size_t start = plane_start(&p, row, block), w = start / 4;
            pool_sums_of_plane(partial(scratch, &p, block, row), y + start * B, vectors(da, w),
                               vectors(db, w), vectors(out, w), which + w * B,
                               at(l->mean, block), p.size);
        }
#pragma omp parallel for num_threads(c->threads)
    for (int block = 0; block < blocks; block++) {
        vd sum[3];
        add_up(sum, scratch, &p, block);
        finish_sums(l, sum[0], sum[1], block);
    }
#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < blocks; block++) {
            size_t start = plane_start(&p, row, block), w = start / 4;
            slope k = slope_of(l, block, (double)p.live * pixels);
            if (row < p.live)
                pool_back_plane(y + start * B, vectors(da, w), vectors(db, w),
                                vectors(out, w), which + w * B, &k, p.size);
            else
                memset(y + start * B, 0, pixels * sizeof(vf));
        }
    return SPOT_OK;
}

const spot_norm_ops spot_norm_cpu = { stats_cpu, fixed_cpu, apply_cpu, pool_cpu, back_cpu, pool_back_cpu };

/* -- checked entries ------------------------------------------------------------------------------------------ */

static spot_status check_plane(spot_ctx *c, const char *op, spot_plane p)
{
    if (p.live < 1 || p.live > p.rows || p.size < 1 || p.channels < 16 || p.channels % 16)
        return spot_fail(c, SPOT_INVALID, "norm.%s: %d of %d rows, %d channels, size %d", op, p.live, p.rows,
                         p.channels, p.size);
    if (p.precision != SPOT_FP32 && !c->device)
        return spot_fail(c, SPOT_UNSUPPORTED, "norm.%s: the CPU computes in fp32 only", op);
    return SPOT_OK;
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
    if (p.size % 2) return spot_fail(c, SPOT_INVALID, "norm.pool: size %d is odd", p.size);
    SPOT_DISPATCH(c, norm, pool, out, which, y, l, p);
}

spot_status spot_norm_backward(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch)
{
    SPOT_TRY(check_plane(c, "back", p));
    if (!b->out != !b->dz || !b->b != !b->y2 || (b->b && !b->out))
        return spot_fail(c, SPOT_INVALID, "norm.back: out and dz, and y2 and its layer, come together");
    SPOT_DISPATCH(c, norm, back, b, p, scratch);
}

spot_status spot_norm_pool_back(spot_ctx *c, void *y, const void *da, const void *db, const void *out,
                                const unsigned char *which, const spot_norm *l, spot_plane p, void *scratch)
{
    SPOT_TRY(check_plane(c, "pool_back", p));
    if (p.size % 2) return spot_fail(c, SPOT_INVALID, "norm.pool_back: size %d is odd", p.size);
    SPOT_DISPATCH(c, norm, pool_back, y, da, db, out, which, l, p, scratch);
}
