/* bench_barlow.c - the whole of Barlow, for one EC or many at once: information of every feature, a tree over 128 of them, its
 * leaves. Peer: bench/peers/barlow_sklearn.py, on the same rows. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "op_views.h"
#include "sequence.h"

/* Rectified features, a quarter of them 0; about one row in ten fails, by some features and by chance, so that a tree
 * continues to split. */
static void fill_view(const spot_view *v, int problem)
{
    for (int i = 0; i < v->n; i++) {
        double row = i + (double)problem * v->n, reason = 1.2 * sequence_normal(1e9 + row);
        float *x = v->feature + (size_t)i * v->d;
        for (int j = 0; j < v->d; j++) x[j] = (float)fmax(0, sequence_normal(row * v->d + j) + 0.7);
        for (int j = 0; j < 4; j++) reason += (j % 2 ? -1 : 1) * x[j * v->d / 4];
        v->confidence[i] = reason > 2.7 ? 0.2f : 0.9f;
    }
}

static void make_barlow(spot_op_run *r, void *problem, const int *size)
{
    spot_op_views *p = problem;
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_BARLOW);

    cfg.barlow.depth = size[2];
    spot_op_make_views(r, p, &cfg, size[0]);
    spot_op_make_features(r, p, size[1]);
    if (r->status == SPOT_OK) fill_view(&p->view, r->number);
}

/* Each leaf's score follows from its rows; no row twice; best first; at least one leaf, better than chance. */
static spot_status check_leaves(spot_ctx *c, const spot_view *v, const spot_hypotheses *found)
{
    int failures = 0, rows = 0, last = -1;
    double before = INFINITY;

    for (int i = 0; i < v->n; i++) failures += v->confidence[i] < 0.5f;
    for (int k = 0; k < found->len; k++) {
        const spot_hypothesis *h = &found->h[k];
        double t = 0;
        for (int i = 0; i < h->len; i++) t += v->confidence[h->row[i]] < 0.5f;
        rows += h->len;
        for (int i = 1; i < h->len; i++) if (h->row[i] <= h->row[i - 1]) last = h->row[i];
        SPOT_TRY(spot_bench_near(c, "score of leaf", (size_t)k, h->score, t / h->len * t / failures, 1e-12));
        if (!(h->score <= before)) last = k;
        before = h->score;
    }
    if (last >= 0 || !found->len || rows > v->n || !(found->h[0].score > (double)failures / v->n))
        return spot_fail(c, SPOT_CHECK, "barlow: %d leaves with %d rows, the best of score %g", found->len, rows,
                         found->len ? found->h[0].score : 0);
    return SPOT_OK;
}

static spot_status check_barlow(spot_op_run *r, void *problem)
{
    const spot_op_views *p = problem;

    return check_leaves(r->c, &p->view, &p->found);
}

const spot_op spot_op_barlow = { "barlow", sizeof(spot_op_views), make_barlow, spot_op_run_views, check_barlow, false };

/* size: problems, rows, features, depth. */
static spot_status open_barlow(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[0];
    return spot_op_bench_open(c, state, &spot_op_barlow, size[0], (int[SPOT_OP_SIZES]){ size[1], size[2], size[3] });
}

static const spot_bench_kind kind = { open_barlow, spot_op_bench_check_all, spot_op_find_views, spot_op_bench_close };

const spot_bench_row spot_bench_barlow[] = {
    { "barlow", "3,200 x 512, depth 11", "views", SPOT_ON_CPU, &kind, { 1, 3200, 512, 11 }, { 1, 200, 140, 4 } },
    { "barlow", "100 ECs of 3,200 x 512, depth 11", "views", SPOT_ON_CUDA, &kind, { 100, 3200, 512, 11 }, { 2, 60, 8, 3 } },
    { .op = NULL },
};
