/* bench_newer.c - influence, svm, density, dbscan_group, joinspot, ward and kmeans on features, for one EC or a hundred at
 * once; from arrays on the host to hypotheses. On the CPU also the exact neighbours alone, which two of them search. Peer:
 * bench/peers/newer_sklearn.py, on the same numbers. */
#include "bench.h"
#include "map/neighbours.h"
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
static void make_kmeans(spot_op_run *r, void *problem, const int *size)    { make(r, problem, SPOT_KMEANS, size); }

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
static const spot_op spot_op_joinspot = METHOD("joinspot", make_joinspot), spot_op_ward = METHOD("ward", make_ward),
                     spot_op_kmeans = METHOD("kmeans", make_kmeans);

static const spot_op *const ops[] = { &spot_op_influence, &spot_op_svm, &spot_op_density, &spot_op_dbscan_group,
                                     &spot_op_joinspot, &spot_op_ward, &spot_op_kmeans };

/* size: place in ops, problems, rows of each, features. */
static spot_status open_rows(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[1];
    return spot_op_bench_open(c, state, ops[size[0]], size[1], (int[SPOT_OP_SIZES]){ size[2], size[3] });
}

static const spot_bench_kind kind = { open_rows, spot_op_bench_check_all, spot_op_find_views, spot_op_bench_close };

/* ---- the exact neighbours alone ---- */

typedef struct { spot_neighbours s; float *confidence; spot_arena scratch; } search;

static void close_search(spot_ctx *c, void *state)
{
    search *b = state;

    (void)c;
    spot_arena_close(&b->scratch);
    free(b->s.x.v), free(b->s.column), free(b->s.near), free(b->confidence);
    free(b);
}

/* size: rows, features, neighbours. */
static spot_status open_search(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    search *b = *state = calloc(1, sizeof *b);
    size_t n = (size_t)size[0], d = (size_t)size[1], k = (size_t)size[2];
    spot_arena counted = spot_arena_counting();

    if (!b) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    b->s = (spot_neighbours){ { malloc(n * d * sizeof(float)), size[0], size[1] }, size[2], malloc(n * k * sizeof(int)),
                              malloc(n * k * sizeof(float)) };
    b->confidence = malloc(n * sizeof *b->confidence);
    if (!b->s.x.v || !b->s.column || !b->s.near || !b->confidence) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    fill_rows((spot_points){ .at = b->s.x.v, .n = size[0], .d = size[1] }, b->confidence, 0, 4);
    work->items = (double)n;
    work->flops = 2. * (double)n * (double)n * (double)d, work->matrix = true;
    SPOT_TRY(spot_neighbours_find(c, &counted, 1, &b->s));
    return spot_arena_open(c, &b->scratch, counted.peak);
}

static spot_status run_search(spot_ctx *c, void *state)
{
    search *b = state;

    return spot_neighbours_find(c, &b->scratch, 1, &b->s);
}

/* As many rows as were asked for lie at most as far from the last row as its farthest neighbour. */
static spot_status check_search(spot_ctx *c, void *state)
{
    const search *b = state;
    const size_t d = (size_t)b->s.x.cols, last = (size_t)b->s.x.rows - 1, k = (size_t)b->s.k;
    const float *near = b->s.near + last * k, *row = b->s.x.v + last * d;
    double far = 0;
    int within = 0;

    SPOT_TRY(run_search(c, state));
    for (size_t e = 0; e < k; e++) far = fmax(far, near[e]);
    for (size_t i = 0; i < last; i++) {
        double sum = 0;
        for (size_t j = 0; j < d; j++) sum += pow((double)row[j] - b->s.x.v[i * d + j], 2);
        within += sum <= far * (1 + 1e-6);
    }
    return spot_bench_near(c, "rows within the distance of neighbour", k, within, b->s.k, 0);
}

static const spot_bench_kind neighbours = { open_search, check_search, run_search, close_search };

#define BOTH(op, k)                                                                                                 \
    { op, "3,200 x 512", "ECs", SPOT_ON_CPU, &kind, { k, 1, 3200, 512 }, { k, 1, 320, 20 } },                       \
    { op, "100 ECs of 3,200 x 512", "ECs", SPOT_ON_CUDA, &kind, { k, 100, 3200, 512 }, { k, 2, 100, 20 } }

const spot_bench_row spot_bench_newer[] = {
    BOTH("influence", 0), BOTH("svm", 1), BOTH("density", 2), BOTH("dbscan_group", 3), BOTH("joinspot", 4), BOTH("ward", 5),
    BOTH("kmeans", 6),
    { "joinspot", "100,000 x 512", "problems", SPOT_ON_ALL, &kind, { 4, 1, 100000, 512 }, { 4, 1, 640, 20 } },
    { "ward", "20,000 x 64", "problems", SPOT_ON_CPU, &kind, { 5, 1, 20000, 64 }, { 5, 1, 320, 20 } },
    { "neighbours", "3,200 x 512, the ten nearest", "rows", SPOT_ON_CPU, &neighbours, { 3200, 512, 10 }, { 320, 20, 10 } },
    { "neighbours", "20,000 x 512, the ten nearest", "rows", SPOT_ON_CPU, &neighbours, { 20000, 512, 10 }, { 2100, 20, 10 } },
    { "ward", "20,000 x 512", "problems", SPOT_ON_CUDA, &kind, { 5, 1, 20000, 512 }, { 5, 1, 320, 20 } },
    { .op = NULL },
};
