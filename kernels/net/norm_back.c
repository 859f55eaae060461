/* norm_back.c - the backward step on the CPU: one pass over the planes for the sums, one that uses them. */
#include "net/norm_line.h"

/* The gradient of out at pixel i. */
FOR_BOTH nf out_gradient(line da, line db, int i, bool half)
{
    if (!db.first) return get(da, i, half);
    return get(da, i, half) + get(db, i, half);
}

/* A block of channels of the tensors of spot_norm_back. */
typedef struct { line da, db, out, dz, y, y2; } back_lines;

FOR_BOTH back_lines back_lines_of(const spot_norm_back *b, const spot_plane *p, int row, int block, bool half)
{
    return (back_lines){ line_of(b->da, p, row, block, half), line_of(b->db, p, row, block, half),
                         line_of(b->out, p, row, block, half), line_of(b->dz, p, row, block, half),
                         line_of(b->y, p, row, block, half), line_of(b->y2, p, row, block, half) };
}

/* sum[0] = sum of dz, sum[1] and sum[2] = sum of dz * (y - mean) for y and y2. Writes b->dz unless b->out is NULL. */
FOR_BOTH void sums_of_plane(nd sum[3], const spot_norm_back *b, back_lines t, int block, int pixels, bool half)
{
    nf scale = at(b->a->scale, block), shift = at(b->a->shift, block), mean = at(b->a->mean, block);
    nf mean2 = b->b ? at(b->b->mean, block) : zero;

    sum[0] = sum[1] = sum[2] = (nd){ 0 };
    for (int first = 0; first < pixels; first += SHORT) {
        int end = pixels - first < SHORT ? pixels : first + SHORT;
        nf s = zero, q = zero, q2 = zero;
        if (!b->out) {
            for (int i = first; i < end; i++) {
                nf y = get(t.y, i, half), dz = keep(out_gradient(t.da, t.db, i, half), above_zero(y * scale + shift));
                s += dz; q += dz * (y - mean);
            }
        } else {
            for (int i = first; i < end; i++) {
                nf dz = keep(out_gradient(t.da, t.db, i, half), above_zero(get(t.out, i, half)));
                s += dz; q += dz * (get(t.y, i, half) - mean);
                if (b->b) q2 += dz * (get(t.y2, i, half) - mean2);
                put(t.dz, i, dz, half);
            }
        }
        sum[0] += __builtin_convertvector(s, nd);
        sum[1] += __builtin_convertvector(q, nd);
        sum[2] += __builtin_convertvector(q2, nd);
    }
}

/* dy = a*dz + b*(y - mean) + c of one block of channels (Ioffe and Szegedy 2015, the six equations in one). */
typedef struct { nf a, b, c, mean; } slope;

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

static inline nf slide(const slope *k, nf dz, nf y) { return k->a * dz + (k->b * (y - k->mean) + k->c); }

static void finish_sums(const spot_norm *l, nd dz, nd dz_y, int block)
{
    for (int j = 0; j < B; j++) {
        l->dbias[block * B + j] = (float)dz[j];
        l->dweight[block * B + j] = (float)(dz_y[j] * l->invstd[block * B + j]);
    }
}

FOR_BOTH void back_plane(const spot_norm_back *b, back_lines t, int block, int pixels, double n, bool half)
{
    nf scale = at(b->a->scale, block), shift = at(b->a->shift, block);
    slope k = slope_of(b->a, block, n);

    if (!b->out) {
        for (int i = 0; i < pixels; i++) {
            nf y = get(t.y, i, half);
            put(t.y, i, slide(&k, keep(out_gradient(t.da, t.db, i, half), above_zero(y * scale + shift)), y), half);
        }
    } else if (!b->b) {
        for (int i = 0; i < pixels; i++) put(t.y, i, slide(&k, get(t.dz, i, half), get(t.y, i, half)), half);
    } else {
        slope k2 = slope_of(b->b, block, n);
        for (int i = 0; i < pixels; i++) {
            nf dz = get(t.dz, i, half);
            put(t.y, i, slide(&k, dz, get(t.y, i, half)), half);
            put(t.y2, i, slide(&k2, dz, get(t.y2, i, half)), half);
        }
    }
}

FOR_BOTH void blank_back(back_lines t, int pixels, bool half)
{
    blank(t.y, pixels, half);
    if (t.y2.first) blank(t.y2, pixels, half);
    if (t.dz.first) blank(t.dz, pixels, half);
}

FOR_BOTH void back(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch, bool half)
{
    int pixels = p.size * p.size, blocks = p.channels / B;

#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.live; row++)
        for (int block = 0; block < blocks; block++)
            sums_of_plane(partial(scratch, &p, block, row), b, back_lines_of(b, &p, row, block, half), block, pixels, half);
#pragma omp parallel for num_threads(c->threads)
    for (int block = 0; block < blocks; block++) {
        nd sum[3];
        add_up(sum, scratch, &p, block);
        finish_sums(b->a, sum[0], sum[1], block);
        if (b->b) finish_sums(b->b, sum[0], sum[2], block);
    }
#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < blocks; block++) {
            back_lines t = back_lines_of(b, &p, row, block, half);
            if (row < p.live) back_plane(b, t, block, pixels, (double)p.live * pixels, half);
            else              blank_back(t, pixels, half);
        }
}

spot_status spot_norm_back_cpu(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch)
{
    if (p.precision == SPOT_BF16) back(c, b, p, scratch, true);
    else                          back(c, b, p, scratch, false);
    return SPOT_OK;
}

/* The tensors of a block of channels around the pool; the winners of a window are `next` bytes from those of the last. */
typedef struct { line y, da, db, out; const unsigned char *which; size_t next; } pool_lines;

static inline ni winners(const pool_lines *t, int w)
{
    return __builtin_convertvector(*(const nb *)(t->which + w * t->next), ni);
}

FOR_BOTH nf window_gradient(const pool_lines *t, int w, bool half)
{
    return keep(out_gradient(t->da, t->db, w, half), above_zero(get(t->out, w, half)));
}

static inline nf choose(ni mask, nf a, nf b) { return (nf)(((ni)a & mask) | ((ni)b & ~mask)); }

/* The largest values of window (oy, ox), from tap (ky, kx) on: the others lie outside of the image. */
FOR_BOTH nf winning(const pool_lines *t, ni which, int oy, int ox, int ky, int kx, int size, bool half)
{
    nf won = zero;

    for (int i = ky; i < 3; i++)
        for (int j = kx; j < 3; j++)
            won = choose((ni)(which == 3 * i + j), get(t->y, (2 * oy + i - 1) * size + 2 * ox + j - 1, half), won);
    return won;
}

/* Only the largest pixel of a window has a gradient, so the sums run over windows. */
FOR_BOTH void pool_sums_of_plane(nd sum[3], const pool_lines *t, nf mean, int size, bool half)
{
    sum[0] = sum[1] = sum[2] = (nd){ 0 };
    for (int oy = 0, w = 0; oy < size / 2; oy++)
        for (int ox = 0; ox < size / 2; ox++, w++) {
            nf dz = window_gradient(t, w, half), won;
            ni which = winners(t, w);
            if (oy && ox) won = winning(t, which, oy, ox, 0, 0, size, half);
            else          won = winning(t, which, oy, ox, !oy, !ox, size, half);
            sum[0] += __builtin_convertvector(dz, nd);
            sum[1] += __builtin_convertvector(dz * (won - mean), nd);
        }
}

/* a*dz of a window, and its winner; a window past the edge has none. */
typedef struct { nf g; ni which; } window;

FOR_BOTH window window_at(const pool_lines *t, const slope *k, int oy, int ox, int size, bool half)
{
    int w = oy * (size / 2) + ox;

    if (oy >= size / 2 || ox >= size / 2) return (window){ zero, (ni){ 0 } - 1 };
    return (window){ k->a * window_gradient(t, w, half), winners(t, w) };
}

static inline nf add_won(nf v, const window *w, int place)
{
    ni mine = (ni)(w->which == place);

    return choose(mine, v + keep(w->g, mine), v);
}

/* dy of a pixel: its part without dz, and a*dz of the windows whose largest it is. Four pixels at a time have no others than
 * window (oy, ox) and its neighbours to the right and below. */
FOR_BOTH void pool_back_plane(const pool_lines *t, const slope *k, int size, bool half)
{
    for (int oy = 0; oy < size / 2; oy++) {
        window here = window_at(t, k, oy, 0, size, half), below = window_at(t, k, oy + 1, 0, size, half);
        for (int ox = 0, i = 2 * oy * size; ox < size / 2; ox++, i += 2) {
            window right = window_at(t, k, oy, ox + 1, size, half), last = window_at(t, k, oy + 1, ox + 1, size, half);
            nf v[4];
            for (int p = 0; p < 4; p++) v[p] = k->b * (get(t->y, i + p / 2 * size + p % 2, half) - k->mean) + k->c;
            v[0] = add_won(v[0], &here, 4);
            v[1] = add_won(add_won(v[1], &here, 5), &right, 3);
            v[2] = add_won(add_won(v[2], &here, 7), &below, 1);
            v[3] = add_won(add_won(add_won(add_won(v[3], &here, 8), &right, 6), &below, 2), &last, 0);
            for (int p = 0; p < 4; p++) put(t->y, i + p / 2 * size + p % 2, v[p], half);
            here = right, below = last;
        }
    }
}

FOR_BOTH pool_lines pool_lines_of(const spot_norm_pooled *b, const spot_plane *p, int row, int block, bool half)
{
    spot_plane q = *p;

    q.size /= 2;
    return (pool_lines){ line_of(b->y, p, row, block, half), line_of(b->da, &q, row, block, half),
                         line_of(b->db, &q, row, block, half), line_of(b->out, &q, row, block, half),
                         b->at + winner_of(&q, row, block, 0, half), half ? p->channels : B };
}

FOR_BOTH void pool_back(spot_ctx *c, const spot_norm_pooled *b, const spot_norm *l, spot_plane p, void *scratch, bool half)
{
    int pixels = p.size * p.size, blocks = p.channels / B;

#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.live; row++)
        for (int block = 0; block < blocks; block++) {
            pool_lines t = pool_lines_of(b, &p, row, block, half);
            pool_sums_of_plane(partial(scratch, &p, block, row), &t, at(l->mean, block), p.size, half);
        }
#pragma omp parallel for num_threads(c->threads)
    for (int block = 0; block < blocks; block++) {
        nd sum[3];
        add_up(sum, scratch, &p, block);
        finish_sums(l, sum[0], sum[1], block);
    }
#pragma omp parallel for collapse(2) num_threads(c->threads)
    for (int row = 0; row < p.rows; row++)
        for (int block = 0; block < blocks; block++) {
            pool_lines t = pool_lines_of(b, &p, row, block, half);
            slope k = slope_of(l, block, (double)p.live * pixels);
            if (row < p.live) pool_back_plane(&t, &k, p.size, half);
            else              blank(t.y, pixels, half);
        }
}

spot_status spot_norm_pool_back_cpu(spot_ctx *c, const spot_norm_pooled *b, const spot_norm *l, spot_plane p, void *scratch)
{
    if (p.precision == SPOT_BF16) pool_back(c, b, l, p, scratch, true);
    else                          pool_back(c, b, l, p, scratch, false);
    return SPOT_OK;
}
