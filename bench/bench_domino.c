/* bench_domino.c - Domino from features to hypotheses, PCA to 128 dimensions and 25 slices, for one EC or many at once.
 * Peer: bench/peers/domino_pypi.py, on the same features. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "op_views.h"

enum { GROUPS = 24 };

/* Rectified features of 24 groups of different sizes, and confidences that depend on the group; the peer's script has the same
 * formulas. */
static void fill_view(const spot_view *v, int problem)
{
    for (int row = 0; row < v->n; row++) {
        int i = row + problem * v->n, g = i * 7 % GROUPS % (GROUPS - i % 5);
        for (int j = 0; j < v->d; j++) {
            double fine = 3.46 * (fmod(43758.5453 * (2 + sin(12.9898 * i + 78.233 * j)), 1) - 0.5), slow = 0;
            for (int r = 0; r < 3; r++) slow += sin(0.37 * (g + 1) * (r + 1) + 0.11 * j * (r + 1)) / (r + 1);
            v->feature[(size_t)row * v->d + j] = (float)fmax(slow + 0.5 * fine + 0.4, 0);
            if (!j) v->confidence[row] = (float)(1 / (1 + exp(-(3 - 0.3 * g + fine))));
        }
    }
}

static void make_slices(spot_op_run *r, void *problem, const int *size)
{
    spot_op_views *p = problem;
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_DOMINO);

    cfg.embed.dim = size[2];
    cfg.domino.components = size[3];
    spot_op_make_views(r, p, &cfg, size[0]);
    spot_op_make_features(r, p, size[1]);
    p->points = (spot_points){ .n = size[0], .d = size[2] };
    p->reduced = true;
    if (r->status == SPOT_OK) fill_view(&p->view, r->number);
}

/* Every row occurs once; errors and order agree with the list. */
static spot_status check_rows(spot_ctx *c, const spot_view *v, const spot_hypotheses *found)
{
    int rows = 0;
    double sum = 0;

    for (int k = 0; k < found->len; k++) {
        const spot_hypothesis *h = &found->h[k];
        double error = 0;
        for (int i = 0; i < h->len; i++) {
            error += spot_view_error(v, h->row[i]);
            sum += h->row[i];
        }
        rows += h->len;
        if (!(fabs(error / h->len - h->mean_error) <= 1e-9) || (k && !(h->score <= found->h[k - 1].score)))
            return spot_fail(c, SPOT_CHECK, "hypothesis %d: mean error %.10g and score %.10g; its rows' mean error is %.10g", k,
                             h->mean_error, h->score, error / h->len);
    }
    if (rows != v->n || sum != 0.5 * v->n * (v->n - 1.0))
        return spot_fail(c, SPOT_CHECK, "%d rows in hypotheses, of %d", rows, v->n);
    return SPOT_OK;
}

static spot_status check_slices(spot_op_run *r, void *problem)
{
    const spot_op_views *p = problem;

    return check_rows(r->c, &p->view, &p->found);
}

const spot_op spot_op_domino = { "domino", sizeof(spot_op_views), make_slices, spot_op_run_views, check_slices, false };

/* size: problems, rows of each, features, dimensions, slices. */
static spot_status open_slices(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[0];
    return spot_op_bench_open(c, state, &spot_op_domino, size[0],
                              (int[SPOT_OP_SIZES]){ size[1], size[2], size[3], size[4] });
}

static const spot_bench_kind kind = { open_slices, spot_op_bench_check_all, spot_op_find_views, spot_op_bench_close };

const spot_bench_row spot_bench_domino[] = {
    { "domino", "3,200 x 512, PCA 128, K = 25", "ECs", SPOT_ON_CPU, &kind, { 1, 3200, 512, 128, 25 }, { 1, 90, 12, 6, 5 } },
    { "domino", "8 ECs, 3,200 x 512, PCA 128, K = 25", "ECs", SPOT_ON_CPU, &kind, { 8, 3200, 512, 128, 25 },
      { 2, 70, 9, 20, 6 } },
    { "domino", "100 ECs, 3,200 x 512, PCA 128, K = 25", "ECs", SPOT_ON_CUDA, &kind, { 100, 3200, 512, 128, 25 },
      { 2, 70, 9, 6, 6 } },
    { .op = NULL },
};
