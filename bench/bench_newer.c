/* bench_newer.c - influence, svm, density, dbscan_group, joinspot and ward on features, for one EC or a hundred at once; from
 * arrays on the host to hypotheses. Peer: bench/peers/newer_sklearn.py, on the same numbers. */
#include "bench.h"
#include "op_views.h"

#include <math.h>
#include <stdlib.h>

enum { GROUPS = 16 };

/* Uniform in (-1/2, 1/2), by a hash that the peer's script has, too. */
static double noise(uint32_t i)
{
    uint32_t h = i * 2654435761u;

    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    return ((h ^ h >> 16) + 0.5) / 4294967296.0 - 0.5;
}

/* Groups around different places; the classifier fails on most of the first two, and here and there. spread 4: they overlap. */
static void fill_rows(spot_points x, float *confidence, int problem, double spread)
{
    for (int i = 0; i < x.n; i++) {
        uint32_t row = (uint32_t)(problem * x.n + i), group = row % GROUPS;
        bool fails = (group < 2) != (noise(500000003u + row) < -0.45);
        for (int j = 0; j < x.d; j++)
            x.at[(size_t)i * x.d + j] = (float)(noise(900000007u + group * 1000 + (uint32_t)j) +
                                                spread * noise(row * (uint32_t)x.d + (uint32_t)j));
        confidence[i] = (float)((fails ? 0.15 : 0.85) + 0.25 * noise(700000001u + row));
    }
}

static void make(spot_op_run *r, spot_op_views *p, int method, const int *size)
{
    const bool apart = method == SPOT_DBSCAN_GROUP || method == SPOT_JOINSPOT;      /* where groups overlap they return none */
    const spot_bdm_config cfg = spot_bdm_defaults(method);

    spot_op_make_views(r, p, &cfg, size[0]);
    spot_op_make_features(r, p, size[1]);
    if (r->status == SPOT_OK) fill_rows(p->points, p->view.confidence, r->number, apart ? 0.7 : 4);
}

static void make_influence(spot_op_run *r, void *problem, const int *size) { make(r, problem, SPOT_INFLUENCE, size); }
static void make_svm(spot_op_run *r, void *problem, const int *size)       { make(r, problem, SPOT_SVM, size); }
static void make_density(spot_op_run *r, void *problem, const int *size)   { make(r, problem, SPOT_DENSITY, size); }
static void make_dbscan(spot_op_run *r, void *problem, const int *size)    { make(r, problem, SPOT_DBSCAN_GROUP, size); }
static void make_joinspot(spot_op_run *r, void *problem, const int *size)  { make(r, problem, SPOT_JOINSPOT, size); }
static void make_ward(spot_op_run *r, void *problem, const int *size)      { make(r, problem, SPOT_WARD, size); }

/* Every hypothesis has rows of the view, rising, and their mean error. tests/test_newer_methods.c compares with the peers. */
static spot_status check(spot_op_run *r, void *problem)
{
    const spot_op_views *p = problem;

    if (!p->found.len) return spot_fail(r->c, SPOT_CHECK, "no hypothesis");
    for (int k = 0; k < p->found.len; k++) {
        const spot_hypothesis *h = &p->found.h[k];
        double error = 0;
        for (int i = 0; i < h->len; i++) {
            if (h->row[i] < (i ? h->row[i - 1] + 1 : 0) || h->row[i] >= p->view.n)
                return spot_fail(r->c, SPOT_CHECK, "row %d of hypothesis %d is %d", i, k, h->row[i]);
            error += spot_view_error(&p->view, h->row[i]) / h->len;
        }
        SPOT_TRY(spot_bench_near(r->c, "mean error of hypothesis", (size_t)k, h->mean_error, error, 1e-9));
    }
    return SPOT_OK;
}

#define METHOD(name, make) { name, sizeof(spot_op_views), make, spot_op_run_views, check, false }
const spot_op spot_op_influence = METHOD("influence", make_influence);
const spot_op spot_op_svm = METHOD("svm", make_svm);
const spot_op spot_op_density = METHOD("density", make_density);
const spot_op spot_op_dbscan_group = METHOD("dbscan_group", make_dbscan);
static const spot_op spot_op_joinspot = METHOD("joinspot", make_joinspot), spot_op_ward = METHOD("ward", make_ward);

static const spot_op *const ops[] = { &spot_op_influence, &spot_op_svm, &spot_op_density, &spot_op_dbscan_group,
                                     &spot_op_joinspot, &spot_op_ward };

/* size: place in ops, problems, rows of each, features. */
static spot_status open_rows(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[1];
    return spot_op_bench_open(c, state, ops[size[0]], size[1], (int[SPOT_OP_SIZES]){ size[2], size[3] });
}

static const spot_bench_kind kind = { open_rows, spot_op_bench_check_all, spot_op_find_views, spot_op_bench_close };

#define BOTH(op, k)                                                                                                 \
    { op, "3,200 x 512", "ECs", SPOT_ON_CPU, &kind, { k, 1, 3200, 512 }, { k, 1, 320, 20 } },                       \
    { op, "100 ECs of 3,200 x 512", "ECs", SPOT_ON_CUDA, &kind, { k, 100, 3200, 512 }, { k, 2, 100, 20 } }

const spot_bench_row spot_bench_newer[] = {
    BOTH("influence", 0), BOTH("svm", 1), BOTH("density", 2), BOTH("dbscan_group", 3), BOTH("joinspot", 4), BOTH("ward", 5),
    { "joinspot", "100,000 x 512", "problems", SPOT_ON_ALL, &kind, { 4, 1, 100000, 512 }, { 4, 1, 640, 20 } },
    { "ward", "20,000 x 512", "problems", SPOT_ON_CUDA, &kind, { 5, 1, 20000, 512 }, { 5, 1, 320, 20 } },
    { .op = NULL },
};
