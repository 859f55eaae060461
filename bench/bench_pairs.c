/* bench_pairs.c - a GPU's work on all pairs of points of a hundred ECs at once: distances, nearest points, neighbour
 * probabilities, and the covariances for t-SNE's start. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "core/device.h"
#include "op_pairs.h"

#define PERPLEXITY 30.0

static spot_mat out_mat(spot_op_run *r, const char *what, int rows, int cols, double off)
{
    return (spot_mat){ spot_op_out(r, what, SPOT_OP_FLOAT, (size_t)rows * cols, off), rows, cols };
}

static spot_mat noise_mat(spot_op_run *r, int id, int rows, int cols)
{
    return (spot_mat){ spot_op_noise(r, id, (size_t)rows * cols), rows, cols };
}

/* Distances of two sets of points, by the definition in distance.h: the same bits. */
static void make_distances(spot_op_run *r, void *problem, const int *size)
{
    spot_op_distances *p = problem;

    p->d = out_mat(r, "distances", size[0], size[1], 0);
    p->a = noise_mat(r, 2 * r->number, size[0], size[2]);
    p->b = size[3] ? p->a : noise_mat(r, 2 * r->number + 1, size[1], size[2]);
}

static spot_status run_distances(spot_op_run *r, void *problems, int count)
{
    spot_op_distances *p = problems;

    SPOT_OP(r, spot_distance_squared(r->c, count, SPOT_OP_ALL(r, p, d, count), SPOT_OP_ALL(r, p, a, count),
                                     SPOT_OP_ALL(r, p, b, count)));
    return SPOT_OK;
}

static spot_status compare_distances(spot_op_run *r, const spot_op_distances *p, float *a, float *b, float *d)
{
    size_t n = (size_t)p->a.rows, m = (size_t)p->b.rows, k = (size_t)p->a.cols, step = 1 + n * m / 20000;

    SPOT_TRY(spot_op_fetch(r, a, p->a.v, n * k * sizeof *a));
    SPOT_TRY(spot_op_fetch(r, b, p->b.v, m * k * sizeof *b));
    SPOT_TRY(spot_op_fetch(r, d, p->d.v, n * m * sizeof *d));
    for (size_t at = 0; at < n * m; at += step) {
        float sum = 0;
        for (size_t e = 0; e < k; e++) {
            float x = a[at / m * k + e] - b[at % m * k + e];
            sum = fmaf(x, x, sum);
        }
        SPOT_TRY(spot_bench_near(r->c, "distance", at, d[at], sum, 0));
    }
    return SPOT_OK;
}

static spot_status check_distances(spot_op_run *r, void *problem)
{
    const spot_op_distances *p = problem;
    size_t n = (size_t)p->a.rows, m = (size_t)p->b.rows, k = (size_t)p->a.cols;
    float *a = malloc((n * k + m * k + n * m + 1) * sizeof *a);
    spot_status s = a ? compare_distances(r, p, a, a + n * k, a + n * k + m * k)
                      : spot_fail(r->c, SPOT_NOMEM, "no memory to check distances");

    free(a);
    return s;
}

const spot_op spot_op_distance = { "distance", sizeof(spot_op_distances), make_distances, run_distances, check_distances,
                                   false };

/* Covariances, and scores on axes that may be no components. */
static void make_components(spot_op_run *r, void *problem, const int *size)
{
    spot_op_components *p = problem;
    size_t n = (size_t)size[0], d = (size_t)size[1], kept = (size_t)size[2];
    double *axis = malloc((kept * d + 1) * sizeof *axis);

    p->id = r->number;
    p->pca = (spot_pca_problem){ .n = size[0], .d = size[1], .kept = size[2], .x = spot_op_noise(r, p->id, n * d) };
    p->pca.mean = spot_op_out(r, "means", SPOT_OP_DOUBLE, d, 0);
    p->pca.cov = spot_op_out(r, "covariances", SPOT_OP_DOUBLE, d * d, 0);
    for (size_t e = 0; axis && e < kept * d; e++) axis[e] = spot_noise(1000 + p->id, e, SPOT_FP32);
    p->pca.axis = spot_op_given(r, axis, kept * d * sizeof *axis);
    p->pca.score = spot_op_out(r, "scores", SPOT_OP_FLOAT, n * kept, 0);
}

static spot_status run_components(spot_op_run *r, void *problems, int count)
{
    spot_op_components *p = problems;
    const spot_pca_problem *all = SPOT_OP_ALL(r, p, pca, count);

    SPOT_OP(r, spot_pca_covariance(r->c, count, all));
    if (p->pca.kept) SPOT_OP(r, spot_pca_project(r->c, count, all));
    return SPOT_OK;
}

/* The last columns against two sweeps over the noise. */
static spot_status check_components(spot_op_run *r, void *problem)
{
    const spot_op_components *p = problem;
    size_t n = (size_t)p->pca.n, d = (size_t)p->pca.d;

    for (size_t e = 0; e < 6 && e < d; e++) {
        size_t k = d - 1 - e, j = k * e / 6;
        double a = 0, b = 0, sum = 0, got;
        for (size_t i = 0; i < n; i++) {
            a += spot_noise(p->id, i * d + j, SPOT_FP32) / (double)n;
            b += spot_noise(p->id, i * d + k, SPOT_FP32) / (double)n;
        }
        for (size_t i = 0; i < n; i++)
            sum += (spot_noise(p->id, i * d + j, SPOT_FP32) - a) * (spot_noise(p->id, i * d + k, SPOT_FP32) - b);
        SPOT_TRY(spot_op_fetch(r, &got, p->pca.cov + j * d + k, sizeof got));
        SPOT_TRY(spot_bench_near(r->c, "covariance", j * d + k, got, sum, 1e-9 * (double)n));
    }
    return SPOT_OK;
}

const spot_op spot_op_pca = { "pca", sizeof(spot_op_components), make_components, run_components, check_components, false };

static void make_pair(spot_op_run *r, void *problem, const int *size)
{
    spot_op_pair *p = problem;
    int n = size[0], k = size[2];
    size_t room = spot_affinity_room(n, k);

    p->x = noise_mat(r, r->number, n, size[1]);
    p->d = out_mat(r, "distances", n, n, 0);
    p->near = out_mat(r, "the nearest distances", n, k, 0);
    p->p = out_mat(r, "conditional P", n, k, 1e-5);
    p->search = (spot_affinity_search){ p->d, 0, spot_op_out(r, "columns", SPOT_OP_INT, (size_t)n * k, 0), p->near };
    p->rule = (spot_affinity_rule){ log(fmin(PERPLEXITY, fmax(1, k / 3.0))), 1e-5, 100 };
    p->graph = (spot_affinity_graph){ .n = n, .k = k, .column = p->search.column, .p = p->p.v };
    p->graph.start = spot_op_out(r, "starts of rows", SPOT_OP_INT, (size_t)n + 1, 0);
    p->graph.to = spot_op_out(r, "columns of the joint P", SPOT_OP_INT, room, 0);
    p->graph.joint = spot_op_out(r, "joint P", SPOT_OP_FLOAT, room, 1e-5);
    p->graph.begin = spot_op_room(r, ((size_t)n + 2) * sizeof(int));
    p->graph.edge = spot_op_room(r, (size_t)n * k * sizeof(int));
}

static spot_status run_nearest(spot_op_run *r, void *problems, int count)
{
    spot_op_pair *p = problems;
    spot_arena *a;
    int most = 1;

    for (int q = 0; q < count; q++) most = p[q].x.rows > most ? p[q].x.rows : most;
    SPOT_TRY(spot_op_scratch(r, &a, (size_t)r->c->threads * (size_t)most * sizeof(uint64_t)));
    SPOT_OP(r, spot_affinity_nearest(r->c, count, SPOT_OP_ALL(r, p, search, count), (void *)a->base));
    return SPOT_OK;
}

static spot_status run_graph(spot_op_run *r, void *problems, int count)
{
    spot_op_pair *p = problems;

    SPOT_OP(r, spot_affinity_rows(r->c, count, SPOT_OP_ALL(r, p, p, count), SPOT_OP_ALL(r, p, near, count),
                                  SPOT_OP_ALL(r, p, rule, count)));
    SPOT_OP(r, spot_affinity_joint(r->c, count, SPOT_OP_ALL(r, p, graph, count)));
    return SPOT_OK;
}

static spot_status run_pairs(spot_op_run *r, void *problems, int count)
{
    spot_op_pair *p = problems;

    SPOT_OP(r, spot_distance_squared(r->c, count, SPOT_OP_ALL(r, p, d, count), SPOT_OP_ALL(r, p, x, count),
                                     SPOT_OP_ALL(r, p, x, count)));
    SPOT_TRY(run_nearest(r, problems, count));
    return run_graph(r, problems, count);
}

/* The k neighbours of the last row are in column order, have the right distances, and no other point is nearer. Its
 * probabilities have the wanted entropy, and the joint P sums to 1. */
static spot_status compare_pairs(spot_op_run *r, const spot_op_pair *p, float *value, int *column)
{
    size_t n = (size_t)p->x.rows, k = (size_t)p->p.cols, last = n - 1;
    float *d = value, *near = value + n, *part = near + k, *joint = part + k, most = 0;
    double entropy = 0, sum = 0;
    int entries, nearer = 0;

    SPOT_TRY(spot_op_fetch(r, d, p->d.v + last * n, n * sizeof *d));
    SPOT_TRY(spot_op_fetch(r, near, p->near.v + last * k, k * sizeof *near));
    SPOT_TRY(spot_op_fetch(r, part, p->p.v + last * k, k * sizeof *part));
    SPOT_TRY(spot_op_fetch(r, column, p->search.column + last * k, k * sizeof *column));
    SPOT_TRY(spot_op_fetch(r, &entries, p->graph.start + n, sizeof entries));
    SPOT_TRY(spot_op_fetch(r, joint, p->graph.joint, (size_t)entries * sizeof *joint));
    for (size_t e = 0; e < k; e++) {
        if (column[e] < 0 || column[e] >= (int)last || (e && column[e] <= column[e - 1]))
            return spot_fail(r->c, SPOT_CHECK, "neighbour %zu of the last row is point %d", e, column[e]);
        SPOT_TRY(spot_bench_near(r->c, "neighbour", e, near[e], d[column[e]], 0));
        most = fmaxf(most, near[e]);
        entropy -= part[e] > 0 ? part[e] * log(part[e]) : part[e] < 0 ? NAN : 0;
    }
    for (size_t j = 0; j < last; j++) nearer += d[j] < most;
    if (nearer >= (int)k) return spot_fail(r->c, SPOT_CHECK, "%d points are nearer than the %zu kept", nearer, k);
    for (int i = 0; i < entries; i++) sum += joint[i];
    SPOT_TRY(spot_bench_near(r->c, "the entropy of row", last, entropy, fmin(p->rule.entropy, log((double)k)), 1e-3));
    return spot_bench_near(r->c, "the sum of P of problem", (size_t)r->number, sum, 1, 1e-4);
}

static spot_status check_pairs(spot_op_run *r, void *problem)
{
    const spot_op_pair *p = problem;
    size_t n = (size_t)p->x.rows, k = (size_t)p->p.cols, values = n + 2 * k + spot_affinity_room((int)n, (int)k);
    float *value = malloc(values * sizeof *value);
    int *column = malloc(k * sizeof *column);
    spot_status s = value && column ? compare_pairs(r, p, value, column)
                                    : spot_fail(r->c, SPOT_NOMEM, "no memory to check neighbours");

    free(value), free(column);
    return s;
}

const spot_op spot_op_pairs = { "pairs", sizeof(spot_op_pair), make_pair, run_pairs, check_pairs, false };

/* size: problems, points of each, features, neighbours. */
static spot_status open_op(spot_ctx *c, void **state, const spot_op *op, int problems, const int *size, spot_bench_work *work)
{
    work->items = problems;
    return spot_op_bench_open(c, state, op, problems, size);
}

/* Subtract, multiply, add. */
static spot_status open_distances(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->flops = 3.0 * size[0] * size[1] * size[1] * size[2];
    return open_op(c, state, &spot_op_distance, size[0], (int[SPOT_OP_SIZES]){ size[1], size[1], size[2], 1 }, work);
}

/* Half of the products, in fp64. */
static spot_status open_covariance(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->flops = 1.0 * size[0] * size[1] * size[2] * (size[2] + 1);
    return open_op(c, state, &spot_op_pca, size[0], (int[SPOT_OP_SIZES]){ size[1], size[2] }, work);
}

static spot_status open_graph(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    return open_op(c, state, &spot_op_pairs, size[0], (int[SPOT_OP_SIZES]){ size[1], size[2], size[3] }, work);
}

/* Every distance is read once; the results are small. */
static spot_status open_nearest(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->bytes = (double)sizeof(float) * size[0] * size[1] * (size[1] + 2.0 * size[3]);
    return open_graph(c, state, size, work);
}

static spot_status only_nearest(spot_ctx *c, void *state)
{
    spot_op_run *r = state;

    (void)c;
    return run_nearest(r, r->problem, r->problems);
}

static spot_status only_graph(spot_ctx *c, void *state)
{
    spot_op_run *r = state;

    (void)c;
    return run_graph(r, r->problem, r->problems);
}

#define KIND(open, run) { open, spot_op_bench_check, run, spot_op_bench_close }
static const spot_bench_kind all_distances = KIND(open_distances, spot_op_bench_run);
static const spot_bench_kind all_nearest = KIND(open_nearest, only_nearest);
static const spot_bench_kind all_graphs = KIND(open_graph, only_graph);
static const spot_bench_kind all_covariances = KIND(open_covariance, spot_op_bench_run);

#define ROW(op, kind, text) \
    { op, text, "problems", SPOT_ON_CUDA, &kind, { 100, 3200, 512, 90 }, { 2, 70, 9, 15 } }

const spot_bench_row spot_bench_pairs[] = {
    ROW("distance", all_distances,   "100 x 3200x3200 of 512"),
    ROW("affinity", all_nearest,     "100 x 3200, the 90 nearest"),
    ROW("affinity", all_graphs,      "100 x 3200, perplexity and joint P"),
    ROW("pca",      all_covariances, "100 covariances of 3200x512, fp64"),
    { 0 },
};
