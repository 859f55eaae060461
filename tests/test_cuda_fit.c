/* test_cuda_fit.c - ops of kernels/fit: overlaps, silhouettes, ridge, support vector machines, k-means and Domino's mixture,
 * spotlights. Information and trees: test_cuda_tree.c; Gaussian mixtures: test_cuda_mixture.c. */
#define _GNU_SOURCE   /* setenv */
#include "check_blas.h"
#include "check_op.h"

#include "blobs.h"
#include "fit/domino_mixture.h"
#include "fit/hinge.h"
#include "fit/kmeans.h"
#include "fit/overlap.h"
#include "fit/ridge.h"
#include "fit/silhouette.h"
#include "fit/spotlight_fit.h"
#include "noise.h"

static int threads_of(const spot_op_run *r) { return r->c->device ? 0 : r->c->threads; }

/* -- overlap ------------------------------------------------------------------------------------------------------------ */

/* words, sets, others, queries: edges of warps; nothing to ask, no words, no sets. */
static const int overlap_sizes[][SPOT_OP_SIZES] = {
    { 1, 1, 1, 1 }, { 13, 10, 4, 50 }, { 31, 64, 9, 33 }, { 33, 3, 1, 8 }, { 65, 2, 2, 9 }, { 4, 2, 2, 0 }, { 0, 2, 2, 5 },
    { 3, 0, 1, 2 },
};

static uint64_t *random_words(spot_rng *r, int count)
{
    uint64_t *word = malloc((size_t)(count + 1) * sizeof *word);

    for (int e = 0; e < count; e++) word[e] = (uint64_t)spot_rng_u32(r) << 32 | spot_rng_u32(r);
    return word;
}

static void make_overlap(spot_op_run *r, void *problem, const int *size)
{
    spot_overlap_problem *p = problem;
    int words = size[0], sets = size[1], others = size[2], queries = size[3];
    spot_rng rng = noise_at(2, r->number);
    spot_overlap_query *query = malloc((size_t)(queries + 1) * sizeof *query);

    *p = (spot_overlap_problem){ .words = words, .sets = sets, .others = others, .queries = queries };
    p->set = spot_op_given(r, random_words(&rng, sets * words), (size_t)(sets * words) * sizeof *p->set);
    p->other = spot_op_given(r, random_words(&rng, others * words), (size_t)(others * words) * sizeof *p->other);
    for (int q = 0; q < queries; q++) {
        query[q].any_of = (uint64_t)spot_rng_u32(&rng) << 32 | spot_rng_u32(&rng);
        if (sets < SPOT_OVERLAP_SETS) query[q].any_of &= ((uint64_t)1 << sets) - 1;
        query[q].with = (int)spot_rng_below(&rng, (uint32_t)others);
    }
    p->query = spot_op_given(r, query, (size_t)queries * sizeof *query);
    p->count = spot_op_out(r, "counts", SPOT_OP_INT, (size_t)queries, 0);
}

static spot_status run_overlap(spot_op_run *r, void *problems, int count)
{
    SPOT_OP(r, spot_overlap_count(r->c, count, problems));
    return SPOT_OK;
}

static const spot_op overlap = { "overlap", sizeof(spot_overlap_problem), make_overlap, run_overlap, NULL, false };

/* -- silhouettes -------------------------------------------------------------------------------------------------------- */

/* points, dimensions, clusters: edges of blocks and of passes, one row, one cluster, clusters without rows. */
static const int silhouette_sizes[][SPOT_OP_SIZES] = {
    { 65, 2, 4 }, { 1, 3, 1 }, { 64, 1, 1 }, { 40, 7, 40 }, { 150, 2, 130 }, { 33, 70, 64 }, { 20, 2, 65 },
};
static const int many_silhouettes[][SPOT_OP_SIZES] = { { 1100, 3, 70 } };       /* more than a block looks at together */

static void make_silhouette(spot_op_run *r, void *problem, const int *size)
{
    size_t n = (size_t)size[0], d = (size_t)size[1];
    float *x = normals(n * d, 2, r->number);
    uint16_t *label = malloc(n * sizeof *label);
    spot_rng rng = noise_at(3, r->number);

    for (size_t i = 0; i < n * d; i++) if (i / d % 5 == 0) x[i] = 1;         /* some equal points */
    for (size_t i = 0; i < n; i++) label[i] = (uint16_t)spot_rng_below(&rng, (uint32_t)size[2]);
    *(spot_silhouette_job *)problem = (spot_silhouette_job){ size[0], size[1], size[2],
        spot_op_given(r, x, n * d * sizeof *x), spot_op_given(r, label, n * sizeof *label),
        spot_op_out(r, "silhouettes", SPOT_OP_DOUBLE, n, 0) };
}

static spot_status run_silhouette(spot_op_run *r, void *problems, int count)
{
    SPOT_OP(r, spot_silhouette_samples(r->c, problems, count));
    return SPOT_OK;
}

#define SILHOUETTE(name) { name, sizeof(spot_silhouette_job), make_silhouette, run_silhouette, NULL, false }
static const spot_op silhouette = SILHOUETTE("silhouette"), silhouette_of_many = SILHOUETTE("silhouette_of_many_points");

/* -- ridge -------------------------------------------------------------------------------------------------------------- */

/* rows, features, rows that are used, scores: edges of tiles, slabs and blocks, no rows, one row, one column. */
static const int ridge_sizes[][SPOT_OP_SIZES] = {
    { 50, 7, 30, 3 }, { 4, 1, 0, 1 }, { 33, 64, 33, 4 }, { 17, 65, 1, 2 }, { 300, 70, 257, 3 }, { 1, 3, 1, 1 },
    { 90, 257, 16, 2 },
};

typedef struct { spot_ridge_rows gram, moment; spot_ridge_fit fit; } ridge_problem;

static void make_ridge(spot_op_run *r, void *problem, const int *size)
{
    ridge_problem *p = problem;
    int n = size[0], d = size[1], rows = size[2], scores = size[3], *row = malloc((size_t)(rows + 1) * sizeof *row);
    spot_rng rng = noise_at(4, r->number), start = { .seed = 9 };
    float *x = malloc((size_t)n * d * sizeof *x);
    double *centre = normal_doubles(&rng, (size_t)d), *weight = normal_doubles(&rng, (size_t)rows);
    double *w = normal_doubles(&rng, (size_t)scores * (d + 1)), *gram = normal_doubles(&start, (size_t)d * d);

    for (int i = 0; i < n * d; i++) x[i] = (float)(3 + spot_rng_normal(&rng));
    for (int i = 0; i < rows; i++) row[i] = (int)spot_rng_below(&rng, (uint32_t)n);
    p->gram = (spot_ridge_rows){ n, d, rows, spot_op_given(r, x, (size_t)n * d * sizeof *x),
                                 spot_op_given(r, centre, (size_t)d * sizeof *centre),
                                 spot_op_given(r, row, (size_t)rows * sizeof *row), NULL, NULL };
    if (r->number % 3) free(weight);
    else p->gram.weight = spot_op_given(r, weight, (size_t)rows * sizeof *weight);
    p->moment = p->gram;
    p->gram.out = spot_op_both(r, "gram", gram, SPOT_OP_DOUBLE, (size_t)d * d, 0);      /* is added to what is there */
    p->moment.out = spot_op_out(r, "moment", SPOT_OP_DOUBLE, (size_t)d, 0);
    w = spot_op_given(r, w, (size_t)scores * (d + 1) * sizeof *w);
    p->fit = (spot_ridge_fit){ n, d, scores, p->gram.x, p->gram.centre, w, w + (size_t)scores * d,
                               spot_op_out(r, "scores", SPOT_OP_DOUBLE, (size_t)scores * n, 0) };
    free(gram);
}

static spot_status run_ridge(spot_op_run *r, void *problems, int count)
{
    ridge_problem *p = problems;

    SPOT_OP(r, spot_ridge_gram(r->c, count, SPOT_OP_ALL(r, p, gram, count)));
    SPOT_OP(r, spot_ridge_moment(r->c, count, SPOT_OP_ALL(r, p, moment, count)));
    SPOT_OP(r, spot_ridge_score(r->c, count, SPOT_OP_ALL(r, p, fit, count)));
    return SPOT_OK;
}

static const spot_op ridge = { "ridge", sizeof(ridge_problem), make_ridge, run_ridge, NULL, false };

/* -- support vector machines -------------------------------------------------------------------------------------------- */

/* rows of x, columns, rows, passes, cost in thousandths: one row, one column, edges of warps, more passes than needed,
 * fewer. */
static const int hinge_sizes[][SPOT_OP_SIZES] = {
    { 40, 7, 31, 200, 100 }, { 1, 1, 1, 3, 1000 }, { 33, 32, 33, 2, 1000 }, { 64, 33, 50, 300, 1 }, { 25, 70, 25, 5, 500 },
};

static void make_hinge(spot_op_run *r, void *problem, const int *size)
{
    spot_hinge_problem *p = problem;
    int n = size[0], d = size[1], rows = size[2], *row = malloc((size_t)rows * sizeof *row);
    double *bound = malloc((size_t)rows * sizeof *bound);

    for (int e = 0; e < rows; e++) row[e] = (e * 3) % n, bound[e] = e % 3 ? 1 : -1.5;
    *p = (spot_hinge_problem){ .n = n, .d = d, .rows = rows, .cost = size[4] / 1000.0, .tolerance = 1e-6, .most = size[3],
                               .seed = { 7, (uint32_t)r->number } };
    p->x = spot_op_given(r, normals((size_t)n * d, 2, r->number), (size_t)n * d * sizeof(float));
    p->row = spot_op_given(r, row, (size_t)rows * sizeof *row);
    p->bound = spot_op_given(r, bound, (size_t)rows * sizeof *bound);
    p->w = spot_op_out(r, "weights", SPOT_OP_DOUBLE, (size_t)d + 1, 0);
    p->dual = spot_op_out(r, "multipliers", SPOT_OP_DOUBLE, (size_t)rows, 0);
    p->square = spot_op_room(r, (size_t)rows * sizeof(double));
    p->end = spot_op_out(r, "objectives", SPOT_OP_DOUBLE, sizeof(spot_hinge_end) / sizeof(double), 0);
}

static spot_status run_hinge(spot_op_run *r, void *problems, int count)
{
    spot_arena *a;

    SPOT_TRY(spot_op_scratch(r, &a, spot_hinge_scratch(r->c, r->problems)));
    SPOT_OP(r, spot_hinge_fit(r->c, a, count, problems));
    return SPOT_OK;
}

static const spot_op hinge = { "hinge", sizeof(spot_hinge_problem), make_hinge, run_hinge, NULL, false };

/* -- k-means, the start from the confusion matrix, Domino's mixture ------------------------------------------------------ */

/* rows, columns, slices, classes, full, from labels: edges of blocks and tiles, one row, one column, more columns than
 * threads, as many slices as rows. */
static const int domino_sizes[][SPOT_OP_SIZES] = {
    { 65, 7, 5, 2, 0, 0 }, { 1, 1, 1, 1, 0, 1 }, { 64, 130, 9, 2, 0, 0 }, { 129, 3, 17, 3, 0, 1 }, { 40, 5, 40, 2, 0, 1 },
    { 70, 4, 4, 2, 1, 0 }, { 17, 66, 2, 2, 1, 1 }, { 100, 1, 6, 2, 0, 0 },
};

/* As they are, but many points are equal, and of some jobs fewer differ than there are centres: the number that differ. */
static const int equal_sizes[][SPOT_OP_SIZES] = {
    { 40, 3, 9, 0, 0, 0, 3 }, { 65, 2, 40, 0, 0, 0, 20 }, { 33, 5, 4, 0, 0, 0, 4 },
};
/* More points than a block brings together, more centres than a tile has; a centre that has more rows than a block adds up
 * together. */
static const int many_sizes[][SPOT_OP_SIZES] = { { 1500, 3, 6 }, { 1030, 35, 70 }, { 2100, 2, 2 } };
static const int ill_sizes[][SPOT_OP_SIZES] = { { 65, 7, 5, 2, 0, 0 }, { 70, 4, 4, 2, 1, 0 } };

static void make_kmeans(spot_op_run *r, void *problem, const int *size)
{
    spot_kmeans_job *j = problem;
    spot_view v = blobs(size[0], size[1], 4, (uint64_t)r->number);

    for (int e = size[6] * size[1]; size[6] && e < size[0] * size[1]; e++)
        v.feature[e] = v.feature[e % (size[6] * size[1])];
    *j = (spot_kmeans_job){ .n = size[0], .d = size[1], .k = size[2], .seed = { 3, (uint32_t)r->number } };
    j->x = spot_op_given(r, v.feature, (size_t)size[0] * size[1] * sizeof(float));
    j->label = spot_op_out(r, "labels", SPOT_OP_INT, (size_t)size[0], 0);
    j->centre = spot_op_out(r, "centres", SPOT_OP_DOUBLE, (size_t)size[2] * size[1], 0);
    spot_op_told(r, "iterations", &j->iterations, SPOT_OP_INT, 1, 0);
    spot_op_told(r, "inertia", &j->inertia, SPOT_OP_DOUBLE, 1, 0);
}

static spot_status run_kmeans(spot_op_run *r, void *problems, int count)
{
    spot_arena *a;

    SPOT_TRY(spot_op_scratch(r, &a, spot_kmeans_scratch(r->problems, 2100, 130, 70, threads_of(r))));
    SPOT_OP(r, spot_kmeans_fit(r->c, a, count, problems));
    return SPOT_OK;
}

#define KMEANS(name) { name, sizeof(spot_kmeans_job), make_kmeans, run_kmeans, NULL, false }
static const spot_op kmeans = KMEANS("kmeans"), kmeans_of_equals = KMEANS("kmeans_of_equal_points");
static const spot_op kmeans_of_many = KMEANS("kmeans_of_many_points");

/* Classes and probabilities, points with or without a first column that is constant. */
static void make_rows(spot_op_run *r, spot_domino_job *j, const int *size, bool constant)
{
    int n = size[0], d = size[1], classes = size[3];
    spot_view v = blobs(n, d, 4, (uint64_t)r->number);
    float *p = malloc((size_t)n * classes * sizeof *p);
    int *label = malloc((size_t)n * sizeof *label);
    uint8_t *y = malloc((size_t)n);
    spot_rng rng = noise_at(9, r->number);

    for (int i = 0; i < n; i++) {
        double sum = 0, share[3];
        y[i] = (uint8_t)(i % 7 % classes);
        label[i] = i % size[2];
        for (int c = 0; c < classes; c++) sum += share[c] = spot_rng_uniform(&rng) + (c == y[i]);
        for (int c = 0; c < classes; c++) p[i * classes + c] = (float)(share[c] / sum);
        if (constant) v.feature[i * d] = 0;
    }
    *j = (spot_domino_job){ .n = n, .d = d, .k = size[2], .classes = classes, .full = size[4], .gamma = 3, .gamma_hat = 2 };
    j->x = spot_op_given(r, v.feature, (size_t)n * d * sizeof(float));
    j->y = spot_op_given(r, y, (size_t)n);
    j->p = spot_op_given(r, p, (size_t)n * classes * sizeof *p);
    if (size[5]) j->label = spot_op_given(r, label, (size_t)n * sizeof *label);
    else free(label);
    spot_op_told(r, "iterations", &j->iterations, SPOT_OP_INT, 1, 0);
    spot_op_told(r, "converged", &j->converged, SPOT_OP_INT, 1, 0);
    spot_op_told(r, "ill", &j->ill, SPOT_OP_INT, 1, 0);
}

enum { ITERATIONS = 10 };      /* more than are done between two looks */

static void make_domino(spot_op_run *r, void *problem, const int *size)
{
    spot_domino_job *j = problem;
    size_t k = (size_t)size[2], values = k * size[1], cells = k * size[3];
    double off = size[4] ? 1e-8 : 0;

    make_rows(r, j, size, false);
    j->r = spot_op_out(r, "r", SPOT_OP_DOUBLE, k * size[0], off);
    j->weight = spot_op_out(r, "weights", SPOT_OP_DOUBLE, k, off);
    j->mean = spot_op_out(r, "means", SPOT_OP_DOUBLE, values, off);
    j->covariance = spot_op_out(r, "covariances", SPOT_OP_DOUBLE, values * (size[4] ? size[1] : 1), off);
    j->of_y = spot_op_out(r, "P", SPOT_OP_DOUBLE, cells, off);
    j->of_p = spot_op_out(r, "Q", SPOT_OP_DOUBLE, cells, off);
    j->bound = spot_op_each(r, "bounds", NULL, SPOT_OP_DOUBLE, ITERATIONS, off, 1e-300);
    spot_op_told(r, "last bound", &j->last_bound, SPOT_OP_DOUBLE, 1, off);
}

/* Nothing but that it was given up. */
static void make_ill(spot_op_run *r, void *problem, const int *size)
{
    spot_domino_job *j = problem;
    size_t k = (size_t)size[2], n = (size_t)size[0], d = (size_t)size[1], classes = (size_t)size[3];

    make_rows(r, j, size, true);
    j->ill = -1;
    j->r = spot_op_room(r, k * n * sizeof(double));
    j->weight = spot_op_room(r, k * sizeof(double)), j->mean = spot_op_room(r, k * d * sizeof(double));
    j->covariance = spot_op_room(r, k * d * d * sizeof(double));
    j->of_y = spot_op_room(r, k * classes * sizeof(double)), j->of_p = spot_op_room(r, k * classes * sizeof(double));
}

static spot_status run_em(spot_op_run *r, spot_domino_job *jobs, int count, double ridge_of_all)
{
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_arena *a;

    cfg.max_iterations = ITERATIONS;
    cfg.ridge = ridge_of_all;
    for (int q = 0; q < count; q++) {
        const spot_domino_job *j = &jobs[q];
        spot_domino_cells cells = { j->n, j->k, j->classes, j->y, j->p, 0.01, { 5, (uint32_t)j->n }, j->r };
        if (!j->label) SPOT_OP(r, spot_domino_confusion(r->c, 1, &cells));
    }
    SPOT_TRY(spot_op_scratch(r, &a, spot_domino_scratch(r->problems, 129, 130, 40, 3, 1, threads_of(r))));
    SPOT_OP(r, spot_domino_em(r->c, a, count, jobs, &cfg));
    return SPOT_OK;
}

static spot_status run_domino(spot_op_run *r, void *problems, int count)
{
    return run_em(r, problems, count, spot_mixture_defaults().ridge);
}

static spot_status run_ill(spot_op_run *r, void *problems, int count) { return run_em(r, problems, count, 0); }

static spot_status check_domino(spot_op_run *r, void *problem)
{
    const spot_domino_job *j = problem;
    double last;

    SPOT_TRY(spot_op_fetch(r, &last, j->bound + j->iterations - 1, sizeof last));
    assert_true(j->ill == 0 && last == j->last_bound);
    return SPOT_OK;
}

static spot_status check_ill(spot_op_run *r, void *problem)
{
    const spot_domino_job *j = problem;

    (void)r;
    assert_true(j->ill == j->k && j->iterations == 0);
    return SPOT_OK;
}

static const spot_op domino = { "domino", sizeof(spot_domino_job), make_domino, run_domino, check_domino, true };
static const spot_op domino_ill = { "domino_that_is_ill", sizeof(spot_domino_job), make_ill, run_ill, check_ill, true };

/* -- spotlights ---------------------------------------------------------------------------------------------------------- */

/* rows, features, scale of features: the edges of tiles, blocks and slabs, one row, and rows that are too far off to have any
 * weight. Fewer for full precision, so that the emulator is done soon. */
static const int spherical_sizes[][SPOT_OP_SIZES] = {
    { 130, 32, 1 }, { 257, 96, 1 }, { 1, 32, 1 }, { 40, 320, 1 }, { 60, 64, 10000 }, { 128, 64, 1 },
};
static const int full_sizes[][SPOT_OP_SIZES] = {
    { 130, 32, 1 }, { 131, 64, 1 }, { 1, 32, 1 }, { 40, 64, 1 }, { 60, 64, 10000 }, { 128, 32, 1 },
};

static spot_spotlight_config light(const spot_op_run *r)
{
    bool full = r->op->own_bits;

    return (spot_spotlight_config){ .min_weight = 0.1, .lr = 0.01, .barrier_scale = 1, .barrier_end = 0.05,
                                    .kernel = strstr(r->op->name, "compact") ? SPOT_KERNEL_COMPACT : SPOT_KERNEL_GAUSSIAN,
                                    .precision = full ? SPOT_PRECISION_FULL : SPOT_PRECISION_SPHERICAL,
                                    .steps = full ? 3 : 25 };
}

/* The start: mean off the origin, so that no column is alike. */
static void make_light(spot_op_run *r, void *problem, const int *size)
{
    const spot_spotlight_config cfg = light(r);
    spot_spotlight_problem *p = problem;
    size_t n = (size_t)size[0], d = (size_t)size[1];
    int full = cfg.precision == SPOT_PRECISION_FULL;
    double *start = calloc(d * (d + 2), sizeof *start), *loss = malloc(n * sizeof *loss), off_by = full ? 1e-8 : 0;
    double *trace = calloc(3 * (size_t)cfg.steps, sizeof *trace);
    spot_view v = blobs(size[0], size[1], 4, (uint64_t)r->number);

    for (size_t e = 0; e < n * d; e++) v.feature[e] *= (float)size[2];
    for (size_t j = 0; j < d; j++) start[j] = 0.01 * (double)(j % 7);
    for (size_t j = 0; j < (full ? d : 1); j++) start[d + j] = -9 - 0.1 * (double)(j % 3);
    for (size_t j = 0; full && j < d; j++) start[2 * d + j * (d + 1)] = 1;
    for (size_t i = 0; i < n; i++) loss[i] = i % 4 == 0 ? 3 + 0.01 * (double)(i % 9) : 0.1 * (double)(i % 5);
    *p = (spot_spotlight_problem){ .n = size[0], .d = size[1] };
    p->x = spot_op_given(r, v.feature, n * d * sizeof(float));
    p->loss = spot_op_given(r, loss, n * sizeof *loss);
    p->weight = spot_op_each(r, "weights", NULL, SPOT_OP_DOUBLE, n, off_by, 1e-3);
    p->mean = spot_op_each(r, "parameters", start, SPOT_OP_DOUBLE, full ? d * (d + 2) : d + 1, off_by, 1e-3);
    p->log_precision = p->mean + d;
    p->axes = full ? p->mean + 2 * d : NULL;
    p->trace = spot_op_each(r, "trace", trace, SPOT_OP_DOUBLE, 3 * (size_t)cfg.steps, off_by, 1e-3);
    free(start), free(trace);
}

static spot_status run_light(spot_op_run *r, void *problems, int count)
{
    const spot_spotlight_config cfg = light(r);
    spot_arena *a;

    SPOT_TRY(spot_op_scratch(r, &a, 64 + spot_spotlight_scratch(r->problems, 257, 320, &cfg, threads_of(r))));
    SPOT_OP(r, spot_spotlight_fit(r->c, a, count, problems, &cfg, 0));
    return SPOT_OK;
}

static spot_status check_light(spot_op_run *r, void *problem)
{
    const spot_spotlight_config cfg = light(r);
    const spot_spotlight_problem *p = problem;
    double weight, rate;

    SPOT_TRY(spot_op_fetch(r, &weight, p->weight, sizeof weight));
    SPOT_TRY(spot_op_fetch(r, &rate, p->trace + 3 * cfg.steps - 1, sizeof rate));
    if (r->number == 4) assert_true(weight == 0);
    if (r->number == 0) assert_true(weight > 0);
    if (r->number == 2) assert_true(rate < cfg.lr);
    return SPOT_OK;
}

#define LIGHT(name, full) { name, sizeof(spot_spotlight_problem), make_light, run_light, check_light, full }
static const spot_op gaussian = LIGHT("gaussian_spotlight", false), full_gaussian = LIGHT("full_gaussian_spotlight", true);
static const spot_op compact = LIGHT("compact_spotlight", false), full_compact = LIGHT("full_compact_spotlight", true);

/* ------------------------------------------------------------------------------------------------------------------------ */

TEST(what_breaks_a_contract_is_refused)
{
    spot_overlap_problem sets = { .words = 1, .sets = 65, .others = 1, .queries = 1 };
    spot_domino_job many = { .n = 65, .d = 7, .k = 66, .classes = 2 };
    spot_domino_cells cells = { .n = 65, .k = 3, .classes = 2 };
    spot_mixture_config cfg = spot_mixture_defaults();
    spot_ctx c = check_ctx(1);
    spot_arena a = { 0 };

    CHECK_FAILS(&c, spot_overlap_count(&c, 1, &sets), SPOT_INVALID, "overlap.sizes: 65");
    CHECK_FAILS(&c, spot_domino_em(&c, &a, 1, &many, &cfg), SPOT_INVALID, "domino_mixture.sizes: 66 | 65 | 7");
    CHECK_FAILS(&c, spot_domino_confusion(&c, 1, &cells), SPOT_INVALID, "domino_start.sizes: 3 | 65");
}

int main(void)
{
    static op_row rows[] = {      /* problems: more than go into one launch, the large ones once */
        OP_ROW(overlap, overlap_sizes, .problems = 70),
        OP_ROW(silhouette, silhouette_sizes, .problems = 90),
        OP_ROW(silhouette_of_many, many_silhouettes, .step = 3, .alone_step = -1),
        OP_ROW(ridge, ridge_sizes, .problems = 70, .again = 2),
        OP_ROW(hinge, hinge_sizes, .problems = 40, .step = 2),
        OP_ROW(kmeans, domino_sizes, .step = 2),
        OP_ROW(kmeans_of_equals, equal_sizes, .step = 2),
        OP_ROW(kmeans_of_many, many_sizes, .step = 3, .alone_step = -1),
        OP_ROW(domino, domino_sizes, .step = 2),
        OP_ROW(domino_ill, ill_sizes, .step = 2),
        OP_ROW(gaussian, spherical_sizes, .step = 1),
        OP_ROW(compact, spherical_sizes, .step = 1),
        OP_ROW(full_gaussian, full_sizes, .step = 3),
        OP_ROW(full_compact, full_sizes, .step = 3),
    };

    return run_ops(rows, LEN(rows));
}
