/* test_cuda_tsne.c - t-SNE's forces and descents on CUDA against the CPU; whole maps: test_cuda_embed.c. ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include <signal.h>

#include "map/affinity.h"
#include "map/tsne.h"
#include "noise.h"

enum { MOST_ENTRIES = 9 * 260 };

/* t first: a run of problems is an array of them alone where spot_tsne_fit wants one. */
typedef struct { spot_tsne_problem t; spot_tsne_config cfg; double gradient[MOST_ENTRIES], kl; } one;

/* The P of a random graph: n points that name k others. */
static spot_affinity_graph graph_of(int n, int k)
{
    size_t room = spot_affinity_room(n, k), edges = (size_t)n * k;
    int *column = malloc(edges * sizeof *column);
    float *p = malloc(edges * sizeof *p);
    spot_affinity_graph g = { .n = n, .k = k, .column = column, .p = p, .start = malloc((size_t)(n + 1) * sizeof(int)),
                              .to = malloc(room * sizeof(int)), .joint = malloc(room * sizeof(float)),
                              .begin = malloc((size_t)(n + 2) * sizeof(int)), .edge = malloc(edges * sizeof(int)) };
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            column[i * k + j] = i > k ? i - k + j : j + (j >= i);
            p[i * k + j] = 1.0f / (float)k;
        }
    CHECK_OK(&c, spot_affinity_joint(&c, 1, &g));
    free(column), free(p), free(g.begin), free(g.edge);
    return g;
}

/* size: points, dimensions, neighbours, extent in 1e-4, iterations (0: a gradient), by FFT. The map as it begins. */
static float *place_points(spot_op_run *r, one *o, const int *size)
{
    int n = size[0], dim = size[1], stride = spot_tsne_stride(n);
    spot_affinity_graph g = graph_of(n, size[2]);
    size_t entries = (size_t)g.start[n];
    float *y = malloc((size_t)dim * stride * sizeof *y);
    spot_rng rng = noise_at(6, n * 16 + dim);

    for (int e = 0; e < dim * stride; e++) y[e] = (float)(1e-4 * size[3] * spot_rng_normal(&rng));
    o->cfg = (spot_tsne_config){ .perplexity = 5, .exaggeration = size[4] ? 12 : 4, .iterations = size[4],
                                 .repulsion = size[5] ? SPOT_TSNE_BY_FFT : spot_embed_defaults().tsne.repulsion };
    o->t = (spot_tsne_problem){ .n = n, .dim = dim, .stride = stride };
    o->t.to = spot_op_given(r, g.to, entries * sizeof(int));
    o->t.p = spot_op_given(r, g.joint, entries * sizeof(float));
    o->t.start = spot_op_given(r, g.start, (size_t)(n + 1) * sizeof(int));
    return y;
}

static spot_status scratch_of(spot_op_run *r, spot_arena **a)
{
    const one *o = r->problem;
    size_t least = (size_t)(o->cfg.repulsion != SPOT_TSNE_BY_FFT ? 1 : o->cfg.iterations ? 160 : 80) << 20;

    return spot_op_scratch(r, a, r->c->device ? least : 12 * least);
}

/* -- forces -------------------------------------------------------------------------------------------------------------- */

static const int force_sizes[][SPOT_OP_SIZES] = {
    { 2, 2, 1, 10000 },    { 31, 1, 5, 30000 }, { 33, 3, 32, 10000 },   { 255, 2, 17, 200000 },
    { 257, 2, 3, 1 },      { 40, 5, 7, 20000 }, { 260, 9, 7, 20000 },  { 35, 19, 5, 20000 }, { 33, 8, 5, 20000 },
    { 1061, 2, 4, 100000 }, { 64, 2, 8, 0 },
};

/* Interpolated: sparse over two sizes of the grid; then dense, to a line, points that are all one. */
static const int sparse_sizes[][SPOT_OP_SIZES] = { { 300, 2, 5, 250000, 0, 1 } };
static const int grid_sizes[][SPOT_OP_SIZES] = { { 257, 2, 5, 10, 0, 1 }, { 500, 1, 5, 600000, 0, 1 }, { 33, 2, 5, 0, 0, 1 } };

static void make_forces(spot_op_run *r, void *problem, const int *size)
{
    one *o = problem;

    o->t.y = NULL;
    float *y = place_points(r, o, size);
    o->t.y = spot_op_given(r, y, (size_t)size[1] * o->t.stride * sizeof *y);
    spot_op_told(r, "gradient", o->gradient, SPOT_OP_DOUBLE, (size_t)size[0] * size[1], 1e-5);
    spot_op_told(r, "divergence", &o->kl, SPOT_OP_DOUBLE, 1, 1e-6);
}

static spot_status run_forces(spot_op_run *r, void *problems, int count)
{
    one *o = problems;
    spot_arena *a;

    for (int q = 0; q < count; q++) {
        SPOT_TRY(scratch_of(r, &a));
        SPOT_OP(r, spot_tsne_gradient(r->c, a, &o[q].t, &o[q].cfg, o[q].gradient, &o[q].kl));
    }
    return SPOT_OK;
}

/* -- descents ------------------------------------------------------------------------------------------------------------ */

/* Past a look at 50; a few points through both phases; a grid that grows with the map from step to step. */
static const int look_sizes[][SPOT_OP_SIZES] = { { 2, 2, 1, 1, 55 }, { 257, 2, 5, 1, 55 }, { 33, 2, 8, 1, 55 } };
static const int few_sizes[][SPOT_OP_SIZES] = { { 4, 2, 1, 1, 301 }, { 3, 2, 2, 1, 301 }, { 5, 2, 2, 1, 301 } };
static const int growing_sizes[][SPOT_OP_SIZES] = { { 90, 2, 5, 100, 3, 1 }, { 290, 2, 5, 100, 3, 1 } };

/* A GPU's map of a long descent need not be the CPU's. */
static void make_descent(spot_op_run *r, void *problem, const int *size)
{
    one *o = problem;
    float *y = place_points(r, o, size);

    o->t.y = spot_op_given(r, y, (size_t)size[1] * o->t.stride * sizeof *y);      /* what lies beyond n is the op's */
    for (int k = 0; k < size[1]; k++)
        spot_op_part(r, "map", o->t.y + k * o->t.stride, SPOT_OP_FLOAT, (size_t)size[0], size[5] ? 1e-3 : INFINITY);
    spot_op_told(r, "divergence", &o->t.kl, SPOT_OP_DOUBLE, 1, size[5] ? INFINITY : 0.01);
    spot_op_told(r, "steps", &o->t.steps, SPOT_OP_INT, 1, INFINITY);
}

static spot_status fit(spot_op_run *r, one *o, int count, const spot_tsne_config *cfg)
{
    spot_tsne_problem all[3];
    spot_arena *a;

    for (int q = 0; q < count; q++) all[q] = o[q].t;
    SPOT_TRY(scratch_of(r, &a));
    SPOT_OP(r, spot_tsne_fit(r->c, a, count, all, cfg));
    for (int q = 0; q < count; q++) o[q].t = all[q];
    return SPOT_OK;
}

static spot_status run_descent(spot_op_run *r, void *problems, int count)
{
    one *o = problems;

    return fit(r, o, count, &o->cfg);
}

#define FORCES(name) { name, sizeof(one), make_forces, run_forces, NULL, false }
#define DESCENT(name) { name, sizeof(one), make_descent, run_descent, NULL, false }
static const spot_op forces = FORCES("forces"), sparse_forces = FORCES("sparse_grid_forces"),
                     grid_forces = FORCES("grid_forces"), long_descent = DESCENT("descent"),
                     few_points = DESCENT("descent_of_few_points"), growing_grid = DESCENT("descent_of_a_growing_grid");

static op_row rows[] = {
    OP_ROW(forces, force_sizes, .alone_step = -1),
    OP_ROW(sparse_forces, sparse_sizes, .alone_step = -1),
    OP_ROW(grid_forces, grid_sizes, .step = 3, .alone_step = -1),
    OP_ROW(long_descent, look_sizes, .alone_step = SANITIZED ? 0 : 2),
    OP_ROW(few_points, few_sizes, .alone_step = SANITIZED ? 0 : 2),
    OP_ROW(growing_grid, growing_sizes, .step = LEN(schedules)),
};

TEST_ON_CUDA(failures_are_told)
{
    static const int sizes[][SPOT_OP_SIZES] = { { 20, 2, 3, 1, 100 }, { 20, 9, 3, 10000, 100 } };
    op_row row = OP_ROW(long_descent, sizes, .step = 1);
    volatile sig_atomic_t stop = 1;
    spot_tsne_config cfg;
    spot_op_run *r;
    one *o;
    spot_ctx c;

    open_cuda(&c, 0);
    r = open_run(&c, &row, false);
    o = r->problem;
    cfg = o->cfg;
    cfg.lr = 1e30;
    CHECK_FAILS(&c, fit(r, o, 1, &cfg), SPOT_NUMERIC, "tsne.diverged");
    CHECK_FAILS(&c, fit(r, o, 2, &o->cfg), SPOT_UNSUPPORTED, "tsne.mixed: 9 | 2");
    spot_op_close(r);
    r = open_run(&c, &row, false);
    c.stop = &stop;
    CHECK_FAILS(&c, run_descent(r, r->problem, 1), SPOT_STOPPED, "run.stopped");
    spot_op_close(r);
    spot_device_close(&c);
}

int main(void)
{
    return run_ops(rows, LEN(rows));
}
