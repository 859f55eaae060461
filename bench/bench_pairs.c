/* bench_pairs.c - a GPU's work on all pairs of points of a hundred ECs at once: distances, the nearest, probabilities of
 * being neighbours, and the covariances that t-SNE starts from. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "core/device.h"
#include "map/affinity.h"
#include "map/distance.h"
#include "map/pca.h"

#define PERPLEXITY 30.0

typedef struct {
    int problems, n, d, k;
    spot_mat *x, *dist, *near, *p;     /* (problems), and so all below */
    spot_affinity_search *search;
    spot_affinity_graph *graph;
    spot_affinity_rule *rule;
    spot_pca_problem *pca;
    uint64_t *keys;
    spot_arena arena;                  /* on c's device: what they point to */
} pairs;

static void close_pairs(spot_ctx *c, void *state)
{
    pairs *s = state;

    (void)c;
    spot_arena_close(&s->arena);
    free(s->x), free(s->dist), free(s->near), free(s->p);
    free(s->search), free(s->graph), free(s->rule), free(s->pca);
    free(s);
}

static spot_status take(spot_ctx *c, spot_arena *a, pairs *s, int q)
{
    size_t n = (size_t)s->n, d = (size_t)s->d, edges = n * (size_t)s->k, room = spot_affinity_room(s->n, s->k);
    spot_affinity_graph g = { .n = s->n, .k = s->k };
    spot_pca_problem pca = { .n = s->n, .d = s->d };
    float *x, *dist, *near, *p;
    int *column;

    SPOT_TRY(SPOT_TAKE(c, a, x, n * d));
    SPOT_TRY(SPOT_TAKE(c, a, dist, n * n));
    SPOT_TRY(SPOT_TAKE(c, a, near, edges));
    SPOT_TRY(SPOT_TAKE(c, a, p, edges));
    SPOT_TRY(SPOT_TAKE(c, a, column, edges));
    SPOT_TRY(SPOT_TAKE(c, a, g.start, n + 1));
    SPOT_TRY(SPOT_TAKE(c, a, g.to, room));
    SPOT_TRY(SPOT_TAKE(c, a, g.joint, room));
    SPOT_TRY(SPOT_TAKE(c, a, g.begin, n + 2));
    SPOT_TRY(SPOT_TAKE(c, a, g.edge, edges));
    SPOT_TRY(SPOT_TAKE(c, a, pca.mean, d));
    SPOT_TRY(SPOT_TAKE(c, a, pca.cov, d * d));
    g.column = column, g.p = p, pca.x = x;
    s->x[q] = (spot_mat){ x, s->n, s->d };
    s->dist[q] = (spot_mat){ dist, s->n, s->n };
    s->near[q] = (spot_mat){ near, s->n, s->k };
    s->p[q] = (spot_mat){ p, s->n, s->k };
    s->search[q] = (spot_affinity_search){ s->dist[q], 0, column, s->near[q] };
    s->rule[q] = (spot_affinity_rule){ log(fmin(PERPLEXITY, s->k / 3.0)), 1e-5, 100 };
    s->graph[q] = g, s->pca[q] = pca;
    return SPOT_OK;
}

static spot_status take_all(spot_ctx *c, spot_arena *a, pairs *s)
{
    for (int q = 0; q < s->problems; q++) SPOT_TRY(take(c, a, s, q));
    return SPOT_TAKE(c, a, s->keys, (size_t)c->threads * s->n);
}

static spot_status distances(spot_ctx *c, void *state)
{
    pairs *s = state;

    return spot_distance_squared(c, s->problems, s->dist, s->x, s->x);
}

static spot_status nearest(spot_ctx *c, void *state)
{
    pairs *s = state;

    return spot_affinity_nearest(c, s->problems, s->search, s->keys);
}

static spot_status graph(spot_ctx *c, void *state)
{
    pairs *s = state;

    SPOT_TRY(spot_affinity_rows(c, s->problems, s->p, s->near, s->rule));
    return spot_affinity_joint(c, s->problems, s->graph);
}

static spot_status covariance(spot_ctx *c, void *state)
{
    pairs *s = state;

    return spot_pca_covariance(c, s->problems, s->pca);
}

/* size: problems, points of each, features, neighbours. What comes before a row is done. */
static spot_status open_pairs(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    spot_arena count = spot_arena_counting();
    pairs *s = *state = calloc(1, sizeof *s);
    size_t n = (size_t)size[0];

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->problems = size[0], s->n = size[1], s->d = size[2], s->k = size[3];
    work->items = s->problems;
    s->x = calloc(n, sizeof *s->x), s->dist = calloc(n, sizeof *s->dist), s->near = calloc(n, sizeof *s->near);
    s->p = calloc(n, sizeof *s->p), s->search = calloc(n, sizeof *s->search), s->graph = calloc(n, sizeof *s->graph);
    s->rule = calloc(n, sizeof *s->rule), s->pca = calloc(n, sizeof *s->pca);
    if (!s->x || !s->dist || !s->near || !s->p || !s->search || !s->graph || !s->rule || !s->pca)
        return spot_fail(c, SPOT_NOMEM, "no memory for the pairs of a bench");
    SPOT_TRY(take_all(c, &count, s));
    SPOT_TRY(spot_arena_open_device(c, &s->arena, count.peak));
    SPOT_TRY(take_all(c, &s->arena, s));
    for (int q = 0; q < s->problems; q++) SPOT_TRY(spot_noise_fill(c, s->x[q].v, q, (size_t)s->n * s->d, SPOT_FP32));
    SPOT_TRY(distances(c, s));
    return nearest(c, s);
}

/* Subtract, multiply, add. */
static spot_status open_distances(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->flops = 3.0 * size[0] * size[1] * size[1] * size[2];
    return open_pairs(c, state, size, work);
}

/* Every distance is read once; what is kept is small. */
static spot_status open_nearest(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->bytes = (double)sizeof(float) * size[0] * size[1] * (size[1] + 2.0 * size[3]);
    return open_pairs(c, state, size, work);
}

/* Half of the products, in fp64. */
static spot_status open_covariance(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->flops = 1.0 * size[0] * size[1] * size[2] * (size[2] + 1);
    return open_pairs(c, state, size, work);
}

static double feature(const pairs *s, int q, int i, int j) { return spot_noise(q, (size_t)i * s->d + j, SPOT_FP32); }

static double distance(const pairs *s, int q, int i, int j)
{
    double sum = 0;

    for (int k = 0; k < s->d; k++) sum += pow(feature(s, q, i, k) - feature(s, q, j, k), 2);
    return sum;
}

static spot_status check_distances(spot_ctx *c, void *state)
{
    pairs *s = state;

    SPOT_TRY(distances(c, state));
    for (int e = 0; e < 24; e++) {
        int q = s->problems - 1 - e % s->problems, i = s->n - 1 - e * 131 % s->n, j = e * 257 % s->n;
        size_t at = (size_t)i * s->n + j;
        double want = distance(s, q, i, j), got;
        SPOT_TRY(spot_number_at(c, &got, s->dist[q].v, at, SPOT_FP32));
        SPOT_TRY(spot_bench_near(c, "distance", at, got, want, 1e-4 * want));
    }
    return SPOT_OK;
}

/* The k of a row are in order of column, at the distances that they claim, and nobody else is nearer. */
static spot_status check_nearest(spot_ctx *c, void *state)
{
    pairs *s = state;
    int q = s->problems - 1, i = s->n - 1, nearer = 0, *column = malloc((size_t)s->k * sizeof *column);
    double most = 0, got;
    spot_status e = column ? nearest(c, state) : spot_fail(c, SPOT_NOMEM, "no memory to check neighbours");

    if (!e) e = spot_device_copy(c, column, s->search[q].column + (size_t)i * s->k, (size_t)s->k * sizeof *column);
    for (int k = 0; k < s->k && !e; k++) {
        double want = distance(s, q, i, column[k] < 0 || column[k] >= s->n ? i : column[k]);
        e = spot_number_at(c, &got, s->near[q].v, (size_t)i * s->k + k, SPOT_FP32);
        if (!e) e = spot_bench_near(c, "neighbour", (size_t)k, got, want, 1e-4 * want);
        if (!e && (want <= 0 || (k && column[k] <= column[k - 1])))
            e = spot_fail(c, SPOT_CHECK, "neighbour %d of the last row is point %d", k, column[k]);
        most = fmax(most, want);
    }
    for (int j = 0; j < s->n - 1 && !e; j++) nearer += distance(s, q, i, j) < most * (1 - 1e-4);
    free(column);
    if (!e && nearer >= s->k) e = spot_fail(c, SPOT_CHECK, "%d points are nearer than the %d kept", nearer, s->k);
    return e;
}

/* A row's probabilities have the wanted entropy; all of a joint P sum to 1. */
static spot_status check_graph(spot_ctx *c, void *state)
{
    pairs *s = state;
    int q = s->problems - 1, entries;
    double entropy = 0, sum = 0, v;
    float *joint;
    spot_status e = graph(c, state);

    for (int k = 0; k < s->k && !e; k++) {
        e = spot_number_at(c, &v, s->p[q].v, (size_t)(s->n - 1) * s->k + k, SPOT_FP32);
        entropy -= v > 0 ? v * log(v) : v < 0 ? NAN : 0;
    }
    if (!e) e = spot_bench_near(c, "the entropy of row", (size_t)s->n - 1, entropy, s->rule[q].entropy, 1e-3);
    if (!e) e = spot_device_copy(c, &entries, s->graph[q].start + s->n, sizeof entries);
    joint = malloc(spot_affinity_room(s->n, s->k) * sizeof *joint);
    if (!e && !joint) e = spot_fail(c, SPOT_NOMEM, "no memory to check P");
    if (!e) e = spot_device_copy(c, joint, s->graph[q].joint, (size_t)entries * sizeof *joint);
    for (int i = 0; i < entries && !e; i++) sum += joint[i];
    free(joint);
    return e ? e : spot_bench_near(c, "the sum of P of problem", (size_t)q, sum, 1, 1e-4);
}

static spot_status check_covariance(spot_ctx *c, void *state)
{
    pairs *s = state;
    int q = s->problems - 1;

    SPOT_TRY(covariance(c, state));
    for (int e = 0; e < 6; e++) {
        int k = s->d - 1 - e, j = k * e / 6;
        double a = 0, b = 0, sum = 0, got;
        for (int i = 0; i < s->n; i++) a += feature(s, q, i, j) / s->n, b += feature(s, q, i, k) / s->n;
        for (int i = 0; i < s->n; i++) sum += (feature(s, q, i, j) - a) * (feature(s, q, i, k) - b);
        SPOT_TRY(spot_device_copy(c, &got, s->pca[q].cov + (size_t)j * s->d + k, sizeof got));
        SPOT_TRY(spot_bench_near(c, "covariance", (size_t)j * s->d + k, got, sum, 1e-9 * s->n));
    }
    return SPOT_OK;
}

static const spot_bench_kind all_distances = { open_distances, check_distances, distances, close_pairs };
static const spot_bench_kind all_nearest = { open_nearest, check_nearest, nearest, close_pairs };
static const spot_bench_kind all_graphs = { open_pairs, check_graph, graph, close_pairs };
static const spot_bench_kind all_covariances = { open_covariance, check_covariance, covariance, close_pairs };

#define ROW(op, kind, text) \
    { op, text, "problems", SPOT_ON_CUDA, &kind, { 100, 3200, 512, 90 }, { 2, 70, 9, 15 } }

const spot_bench_row spot_bench_pairs[] = {
    ROW("distance", all_distances,   "100 x 3200x3200 of 512"),
    ROW("affinity", all_nearest,     "100 x 3200, the 90 nearest"),
    ROW("affinity", all_graphs,      "100 x 3200, perplexity and joint P"),
    ROW("pca",      all_covariances, "100 covariances of 3200x512, fp64"),
    { 0 },
};
