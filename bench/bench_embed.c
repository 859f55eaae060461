/* bench_embed.c - the reducers on ten Gaussian blobs, one set of points or a hundred at once. Views and maps are on the host,
 * as between the stages of a sweep: on a GPU the copies are timed, too. Peers: bench/peers/tsne_sklearn.py,
 * bench/peers/scvis_torch.py, bench/peers/umap_peer.py. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "core/ops.h"
#include "spotter/embed.h"
#include "spotter/rng.h"

enum { CENTRES = 10 };

typedef struct {
    int problems;
    spot_view *view;           /* (problems), and so the next two */
    spot_points *points;
    spot_seed *seed;
    spot_embed_config cfg;
    spot_arena arena;
} bench;

static void close_bench(spot_ctx *c, void *state)
{
    bench *b = state;

    (void)c;
    spot_arena_close(&b->arena);
    for (int p = 0; b->view && p < b->problems; p++) free(b->view[p].feature);
    free(b->view), free(b->points), free(b->seed);
    free(b);
}

/* n x d: centres about 6 sqrt(d) apart, unit noise around them. */
static void fill_view(const spot_view *v, int problem)
{
    spot_rng r = spot_rng_at(1, SPOT_RNG_PCA, (uint32_t)(2 * problem), 1);

    for (int i = 0; i < v->n; i++) {
        spot_rng centre = spot_rng_at(1, SPOT_RNG_PCA, (uint32_t)(2 * problem + 1), (uint32_t)(i % CENTRES));
        for (int k = 0; k < v->d; k++)
            v->feature[(size_t)i * v->d + k] = (float)(4 * spot_rng_normal(&centre) + spot_rng_normal(&r));
    }
}

/* size: problems, points of each, features, reducer, iterations. */
static spot_status open_bench(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    bench *b = *state = calloc(1, sizeof *b);
    size_t n = (size_t)size[0];
    int *rows = malloc(n * sizeof *rows);
    spot_status e = SPOT_OK;

    if (b) {
        b->problems = size[0];
        b->view = calloc(n, sizeof *b->view), b->points = calloc(n, sizeof *b->points), b->seed = calloc(n, sizeof *b->seed);
    }
    if (!b || !rows || !b->view || !b->points || !b->seed) e = spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    for (int p = 0; p < size[0] && e == SPOT_OK; p++) {
        rows[p] = size[1];
        b->seed[p] = (spot_seed){ 1, (uint32_t)p };
        b->view[p] = (spot_view){ .n = size[1], .d = size[2],
                                  .feature = malloc((size_t)size[1] * size[2] * sizeof *b->view[p].feature) };
        if (!b->view[p].feature) e = spot_fail(c, SPOT_NOMEM, "no memory for %d x %d features", size[1], size[2]);
    }
    if (e == SPOT_OK) {
#pragma omp parallel for num_threads(c->threads)
        for (int p = 0; p < size[0]; p++) fill_view(&b->view[p], p);
    }
    if (e == SPOT_OK) {
        b->cfg = spot_embed_defaults();
        b->cfg.method = size[3];
        if (size[4]) b->cfg.scvis.iterations = b->cfg.tsne.iterations = b->cfg.umap.epochs = size[4];
        if (size[3] == SPOT_REDUCE_UMAP) b->cfg.umap.neighbours = 10, b->cfg.umap.min_dist = 0;      /* GEORGE's */
        work->items = (double)b->problems * (size[3] == SPOT_REDUCE_SCVIS ? size[4] : 1);
        e = spot_arena_open(c, &b->arena, spot_embed_bytes(b->problems, rows, size[2], &b->cfg, c->threads));
    }
    free(rows);
    return e;
}

static spot_status run(spot_ctx *c, void *state)
{
    bench *b = state;

    b->arena.used = 0;
    return spot_embed_fit(c, &b->arena, b->problems, b->points, b->view, b->seed, &b->cfg);
}

/* A map is right if points are near points of their own blob. PCA to two dimensions may put blobs on each other, and in a tiny
 * map all points are near: these only need finite numbers. */
static spot_status check_map(spot_ctx *c, const bench *b, int problem)
{
    const float *y = b->points[problem].at;
    int right = 0, n = b->view[problem].n;

    for (int i = 0; i < n; i++) {
        int best = -1;
        float least = INFINITY;
        for (int j = 0; j < n; j++) {
            float u = y[2 * i] - y[2 * j], v = y[2 * i + 1] - y[2 * j + 1];
            if (j != i && u * u + v * v < least) least = u * u + v * v, best = j;
        }
        right += best >= 0 && best % CENTRES == i % CENTRES;
    }
    for (int i = 0; i < 2 * n; i++)
        if (!isfinite(y[i])) return spot_fail(c, SPOT_CHECK, "problem %d: point %d is not finite", problem, i / 2);
    if (n >= 1000 && right < (b->cfg.method == SPOT_REDUCE_PCA ? 0.5 : 0.98) * n)
        return spot_fail(c, SPOT_CHECK, "problem %d: %d of %d points lie beside one of their own blob", problem, right, n);
    return SPOT_OK;
}

static spot_status check_points(spot_ctx *c, const spot_points *got, const spot_points *want)
{
    double most = 0;

    for (int e = 0; e < want->n * want->d; e++) most = fmax(most, fabs(want->at[e]));
    for (int e = 0; e < want->n * want->d; e++)
        SPOT_TRY(spot_bench_near(c, "the first map's coordinate", (size_t)e, got->at[e], want->at[e], 1e-3 * most));
    return SPOT_OK;
}

/* A GPU's first map is as good as the CPU's: the objective is within 5 %. UMAP does not sum its objective; its map is the same
 * to a thousandth of its size. */
static spot_status check_first(spot_ctx *c, const bench *b)
{
    spot_ctx cpu = { .ops = &spot_ops_cpu, .threads = c->threads };
    spot_points points;
    spot_arena a;
    spot_status e;

    SPOT_TRY(spot_arena_open(c, &a, spot_embed_bytes(1, &b->view->n, b->view->d, &b->cfg, cpu.threads)));
    e = spot_embed_fit(&cpu, &a, 1, &points, b->view, b->seed, &b->cfg);
    e = e ? spot_fail(c, e, "%s", spot_message(&cpu, e))
        : b->cfg.method == SPOT_REDUCE_UMAP ? check_points(c, b->points, &points)
        : spot_bench_near(c, "the objective of problem", 0, b->points->objective, points.objective,
                          0.05 * fabs(points.objective));
    spot_arena_close(&a);
    return e;
}

static spot_status check(spot_ctx *c, void *state)
{
    bench *b = state;

    SPOT_TRY(run(c, state));
    SPOT_TRY(check_map(c, b, 0));
    SPOT_TRY(check_map(c, b, b->problems - 1));
    return c->device ? check_first(c, b) : SPOT_OK;
}

static const spot_bench_kind kind = { open_bench, check, run, close_bench };

const spot_bench_row spot_bench_embed[] = {
    { "tsne", "3000x512, 1000 iterations", "maps", SPOT_ON_CPU, &kind, { 1, 3000, 512, SPOT_REDUCE_TSNE, 1000 },
      { 1, 300, 20, SPOT_REDUCE_TSNE, 250 } },
    { "scvis", "1600x512, batch 512", "iterations", SPOT_ON_CPU, &kind, { 1, 1600, 512, SPOT_REDUCE_SCVIS, 300 },
      { 1, 200, 20, SPOT_REDUCE_SCVIS, 50 } },
    { "umap", "3200x512, 10 neighbours, 500 epochs", "maps", SPOT_ON_CPU, &kind, { 1, 3200, 512, SPOT_REDUCE_UMAP, 500 },
      { 1, 200, 20, SPOT_REDUCE_UMAP, 50 } },
    { "pca", "3000x512 to 2", "maps", SPOT_ON_CPU, &kind, { 1, 3000, 512, SPOT_REDUCE_PCA, 0 },
      { 1, 200, 20, SPOT_REDUCE_PCA, 0 } },
    { "tsne", "100 x 3200x512, 1000 iterations", "maps", SPOT_ON_CUDA, &kind, { 100, 3200, 512, SPOT_REDUCE_TSNE, 1000 },
      { 2, 70, 12, SPOT_REDUCE_TSNE, 60 } },
    { "scvis", "100 x 3200x512, batch 512, 300 iterations", "iterations", SPOT_ON_CUDA, &kind,
      { 100, 3200, 512, SPOT_REDUCE_SCVIS, 300 }, { 2, 64, 12, SPOT_REDUCE_SCVIS, 6 } },
    { "umap", "100 x 3200x512, 10 neighbours, 500 epochs", "maps", SPOT_ON_CUDA, &kind,
      { 100, 3200, 512, SPOT_REDUCE_UMAP, 500 }, { 2, 70, 12, SPOT_REDUCE_UMAP, 20 } },
    { 0 },
};
