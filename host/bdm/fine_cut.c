/* fine_cut.c - see fine_cut.h. */
#include "bdm/fine_cut.h"

#include <math.h>
#include <string.h>

#include "base/twin.h"
#include "core/device.h"
#include "map/centres.h"
#include "stats/ward_trees.h"

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
            f->turned[(size_t)j * f->leaves + k] = (float)f->centre[(size_t)k * f->d + j];
}

/* Every row joins the nearest centre. A GPU works on copies. A counting work only counts. */
static spot_status join_rows(spot_ctx *c, spot_arena *work, spot_fine_cut *f)
{
    const size_t mark = work->used, rows = (size_t)f->n, wide = (size_t)f->d;
    spot_centres_problem p = { f->n, f->d, f->leaves, f->x, f->turned, f->label };

    if (!c->device) return work->counting ? SPOT_OK : spot_centres_nearest(c, 1, &p);
    SPOT_TRY(spot_numbers_on_device(c, work, &p.x, f->x, NULL, rows * wide));
    SPOT_TRY(spot_numbers_on_device(c, work, &p.centre, f->turned, NULL,
                                    wide * (size_t)(work->counting ? SPOT_FINE_MOST : p.k)));
    SPOT_TRY(SPOT_TAKE(c, work, p.label, rows));
    if (!work->counting) {
        SPOT_TRY(spot_centres_nearest(c, 1, &p));
        SPOT_TRY(spot_device_copy(c, f->label, p.label, rows * sizeof *f->label));
    }
    work->used = mark;
    return SPOT_OK;
}

/* ---- the cut ---- */

/* The last merges of the sample's tree join the pieces. Pieces are numbered in the order of their first rows, as clusters are
 * named, so a cluster's first piece is that of its first row. */
static spot_status cut_pieces(spot_ctx *c, spot_arena *work, spot_fine_cut *f)
{
    f->leaves = spot_ward_cut(f->cut, f->merge, f->sample, SPOT_FINE_MOST);
    for (int i = 0; i + 1 < f->leaves; i++) {
        const spot_ward_merge *m = &f->merge[f->sample - f->leaves + i];
        f->tree[i] = (spot_ward_merge){ f->cut[m->a], f->cut[m->b], m->height };
    }
    find_centres(f, f->tree_x, f->sample, f->cut);
    turn_centres(f);
    SPOT_TRY(join_rows(c, work, f));
    find_centres(f, f->x, f->n, f->label);
    return SPOT_OK;
}

static spot_status cut_one(spot_ctx *c, spot_arena *work, spot_fine_cut *f)
{
    if (f->n > SPOT_FINE_SAMPLE) return work->counting ? join_rows(c, work, f) : cut_pieces(c, work, f);
    if (work->counting) return SPOT_OK;
    f->leaves = f->n;
    memcpy(f->label, f->row, (size_t)f->n * sizeof *f->label);
    memcpy(f->tree, f->merge, (size_t)(f->n - 1) * sizeof *f->tree);
    find_centres(f, f->x, f->n, f->label);
    return SPOT_OK;
}

spot_status spot_fine_cuts(spot_ctx *c, spot_arena *host, spot_arena *work, int count, spot_fine_cut *f)
{
    spot_ward_job jobs[SPOT_BDM_GROUP];

    for (int p = 0; p < count; p++) {
        if (!work->counting) open_sample(&f[p]);
        jobs[p] = (spot_ward_job){ .n = f[p].sample, .d = f[p].d, .x = f[p].tree_x, .merge = f[p].merge };
    }
    SPOT_TRY(spot_ward_trees(c, host, work, count, jobs));
    for (int p = 0; p < count; p++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(cut_one(c, work, &f[p]));
    }
    return SPOT_OK;
}
