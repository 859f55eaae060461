/* fine_cut.c - see fine_cut.h. */
#include "bdm/fine_cut.h"

#include <math.h>
#include <string.h>

spot_status spot_fine_take(spot_ctx *c, spot_arena *a, spot_fine_cut *f, int n, int d)
{
    size_t wide = (size_t)d;
    int m = n < SPOT_FINE_SAMPLE ? n : SPOT_FINE_SAMPLE, most = n <= SPOT_FINE_SAMPLE ? n : SPOT_FINE_MOST;

    *f = (spot_fine_cut){ .n = n, .d = d, .sample = m, .most = most };
    SPOT_TRY(SPOT_TAKE(c, a, f->label, n));
    SPOT_TRY(SPOT_TAKE(c, a, f->centre, (size_t)most * wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->tree, most));
    SPOT_TRY(SPOT_TAKE(c, a, f->row, m));
    SPOT_TRY(SPOT_TAKE(c, a, f->tree_x, (size_t)m * wide));
    SPOT_TRY(SPOT_TAKE(c, a, f->cut, m));
    SPOT_TRY(SPOT_TAKE(c, a, f->size, most));
    SPOT_TRY(SPOT_TAKE(c, a, f->merge, m));
    return SPOT_TAKE(c, a, f->turned, wide * SPOT_FINE_MOST);
}

/* ---- the sample ---- */

/* A systematic sample: a row is in it for each of `sample` evenly spaced points that lie in its part of [0, 1). A row that has
 * several points is in it once, so the sample may become smaller. */
static void draw_sample(spot_fine_cut *f)
{
    spot_rng r = spot_rng_at(f->seed.seed, SPOT_RNG_JOIN, f->seed.ec, 0);
    double errors = 0, up_to = 0, at;
    int len = 0;

    for (int i = 0; i < f->n; i++) errors += f->error[i];
    at = spot_rng_uniform(&r) / f->sample;
    for (int i = 0; i < f->n; i++) {
        double share = errors > 0 ? 0.5 / f->n + 0.5 * f->error[i] / errors : 1.0 / f->n;
        up_to += share;
        if (!(at < up_to) || len == f->sample) continue;
        f->row[len++] = i;
        at += (floor((up_to - at) * f->sample) + 1) / f->sample;
    }
    f->sample = len;
}

static void open_sample(spot_fine_cut *f)
{
    if (f->n > f->sample) draw_sample(f);
    else
        for (int i = 0; i < f->n; i++) f->row[i] = i;
    for (int i = 0; i < f->sample; i++)
        memcpy(f->tree_x + (size_t)i * f->d, f->x + (size_t)f->row[i] * f->d, (size_t)f->d * sizeof *f->x);
}

/* ---- pieces ---- */

/* Means of the rows of each label. */
static void find_centres(spot_fine_cut *f, const float *x, int n, const int *label)
{
    memset(f->centre, 0, (size_t)f->leaves * (size_t)f->d * sizeof *f->centre);
    memset(f->size, 0, (size_t)f->leaves * sizeof *f->size);
    for (int i = 0; i < n; i++) {
        double *to = f->centre + (size_t)label[i] * f->d;
        f->size[label[i]]++;
        for (int j = 0; j < f->d; j++) to[j] += x[(size_t)i * f->d + j];
    }
    for (int k = 0; k < f->leaves; k++)
        for (int j = 0; j < f->d && f->size[k] > 1; j++) f->centre[(size_t)k * f->d + j] /= f->size[k];
}

static void turn_centres(spot_fine_cut *f)
{
    for (int j = 0; j < f->d; j++)
        for (int k = 0; k < f->leaves; k++)
            f->turned[(size_t)j * SPOT_FINE_MOST + k] = (float)f->centre[(size_t)k * f->d + j];
}

/* Squared distances in fp32, one chain in the order of the columns; the first of equals wins. */
static int nearest_of(const float *x, const float *turned, int columns, int pieces)
{
    float far[SPOT_FINE_MOST];
    int best = 0;

    for (int k = 0; k < pieces; k++) far[k] = 0;
    for (int j = 0; j < columns; j++) {
        const float *centre = turned + (size_t)j * SPOT_FINE_MOST, own = x[j];
        for (int k = 0; k < pieces; k++) far[k] += (own - centre[k]) * (own - centre[k]);
    }
    for (int k = 1; k < pieces; k++)
        if (far[k] < far[best]) best = k;
    return best;
}

/* ---- the cut ---- */

/* The last merges of the sample's tree join the pieces. Pieces are numbered in the order of their first rows, as clusters are
 * named, so a cluster's first piece is that of its first row. */
static void cut_pieces(spot_fine_cut *f, int threads)
{
    (void)threads;
    f->leaves = spot_ward_cut(f->cut, f->merge, f->sample, SPOT_FINE_MOST);
    for (int i = 0; i + 1 < f->leaves; i++) {
        const spot_ward_merge *m = &f->merge[f->sample - f->leaves + i];
        f->tree[i] = (spot_ward_merge){ f->cut[m->a], f->cut[m->b], m->height };
    }
    find_centres(f, f->tree_x, f->sample, f->cut);
    turn_centres(f);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < f->n; i++)
        f->label[i] = nearest_of(f->x + (size_t)i * f->d, f->turned, f->d, f->leaves);
    find_centres(f, f->x, f->n, f->label);
}

static void cut_all(spot_fine_cut *f, int threads)
{
    if (f->n > SPOT_FINE_SAMPLE) {
        cut_pieces(f, threads);
        return;
    }
    f->leaves = f->n;
    memcpy(f->label, f->row, (size_t)f->n * sizeof *f->label);
    memcpy(f->tree, f->merge, (size_t)(f->n - 1) * sizeof *f->tree);
    find_centres(f, f->x, f->n, f->label);
}

static spot_status count_trees(spot_ctx *c, spot_arena *a, int count, const spot_fine_cut *f)
{
    spot_ward_job *jobs;
    uint8_t *bytes;
    int n = 1, d = 1;

    SPOT_TRY(SPOT_TAKE(c, a, jobs, count));
    for (int p = 0; p < count; p++) {
        n = f[p].sample > n ? f[p].sample : n;
        d = f[p].d > d ? f[p].d : d;
    }
    return SPOT_TAKE(c, a, bytes, spot_ward_scratch(count, n, d, c->threads) + 64);
}

spot_status spot_fine_cuts(spot_ctx *c, spot_arena *scratch, int count, spot_fine_cut *f)
{
    size_t mark = scratch->used;
    spot_ward_job *jobs;

    if (scratch->counting) {
        SPOT_TRY(count_trees(c, scratch, count, f));
        scratch->used = mark;
        return SPOT_OK;
    }
    SPOT_TRY(SPOT_TAKE(c, scratch, jobs, count));
    for (int p = 0; p < count; p++) {
        open_sample(&f[p]);
        jobs[p] = (spot_ward_job){ .n = f[p].sample, .d = f[p].d, .x = f[p].tree_x, .merge = f[p].merge };
    }
    SPOT_TRY(spot_ward_fit(c, scratch, count, jobs));
    for (int p = 0; p < count; p++) {
        SPOT_TRY(spot_check_stop(c));
        cut_all(&f[p], c->threads);
    }
    scratch->used = mark;
    return SPOT_OK;
}
