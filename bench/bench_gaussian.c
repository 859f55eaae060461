/* bench_gaussian.c - a Gaussian process of 300 points: likelihood with slopes and posterior of 1,000 candidates (peer:
 * bench/peers/gaussian_sklearn.py, on the same numbers); and the searches of examiners with one, on a landscape that costs
 * nothing. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "stats/gaussian_process.h"
#include "sequence.h"
#include "spotter/examiner.h"

typedef struct {
    spot_arena a;
    spot_gp    g;
    spot_gp_kernel kernel;
    int     n, d, asked;
    double *x, *y, *mean, *deviation, value, slope[SPOT_GP_VALUES];
} process;

static spot_status take_process(spot_ctx *c, spot_arena *a, process *s)
{
    spot_gp_shape shape = { s->d, s->d, { 0 } };

    for (int f = 0; f < s->d; f++) shape.scale_of[f] = f;
    SPOT_TRY(spot_gp_take(c, a, &s->g, &shape, SPOT_GP_SCALED, s->n));
    SPOT_TRY(SPOT_TAKE(c, a, s->x, (size_t)(s->n + s->asked) * (size_t)s->d));
    SPOT_TRY(SPOT_TAKE(c, a, s->y, s->n));
    SPOT_TRY(SPOT_TAKE(c, a, s->mean, s->asked));
    return SPOT_TAKE(c, a, s->deviation, s->asked);
}

/* sizes: points, features, candidates */
static spot_status open_process(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    process *s = *out = calloc(1, sizeof *s);
    spot_arena counting = spot_arena_counting();

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->n = size[0], s->d = size[1], s->asked = size[2];
    SPOT_TRY(take_process(c, &counting, s));
    SPOT_TRY(spot_arena_open(c, &s->a, counting.peak));
    SPOT_TRY(take_process(c, &s->a, s));
    for (int i = 0; i < (s->n + s->asked) * s->d; i++) s->x[i] = sequence_uniform(i + 1, 0.6180339887, 0.4142135624);
    for (int i = 0; i < s->n; i++) s->y[i] = sin(3 * s->x[i * s->d]) + s->x[i * s->d + 1] + 0.1 * sequence_normal(1e9 + i);
    s->kernel = (spot_gp_kernel){ .amplitude = 1, .noise = 1e-2 };
    for (int f = 0; f < s->d; f++) s->kernel.length[f] = 1;
    spot_gp_set(&s->g, s->x, s->y, s->n);
    work->items = s->asked;
    return spot_gp_factor(&s->g, &s->kernel) ? SPOT_OK : spot_fail(c, SPOT_NUMERIC, "a matrix is indefinite");
}

static spot_status likelihood(spot_ctx *c, void *p)
{
    process *s = p;

    (void)c;
    s->value = spot_gp_likelihood(&s->g, &s->kernel, s->slope);
    return SPOT_OK;
}

static spot_status posterior(spot_ctx *c, void *p)
{
    process *s = p;

    (void)c;
    spot_gp_posterior(&s->g, s->x + s->n * s->d, s->asked, s->mean, s->deviation);
    return SPOT_OK;
}

static spot_status check_likelihood(spot_ctx *c, void *p)
{
    process *s = p;
    spot_gp_kernel up = s->kernel, down = s->kernel;
    double difference;

    SPOT_TRY(likelihood(c, p));
    up.length[1] *= exp(1e-5), down.length[1] *= exp(-1e-5);
    difference = spot_gp_likelihood(&s->g, &up, NULL) - spot_gp_likelihood(&s->g, &down, NULL);
    return spot_bench_near(c, "slope", 1, s->slope[1], difference / 2e-5, 1e-4 * (1 + fabs(s->slope[1])));
}

/* At the points themselves the mean is y, but for the noise. */
static spot_status check_posterior(spot_ctx *c, void *p)
{
    process *s = p;
    int m = s->asked < s->n ? s->asked : s->n;

    spot_gp_posterior(&s->g, s->x, m, s->mean, s->deviation);
    for (int i = 0; i < m; i++) {
        double off = s->kernel.noise * s->g.weight[i] * s->g.scale;
        SPOT_TRY(spot_bench_near(c, "mean", (size_t)i, s->mean[i], s->y[i] - off, 1e-9));
    }
    return posterior(c, p);
}

static void close_process(spot_ctx *c, void *p)
{
    process *s = p;
    (void)c;

    if (s) spot_arena_close(&s->a);
    free(s);
}

typedef struct { int method, problems, budget; double lowest; } searching;

/* sizes: method, objects, renders of each */
static spot_status open_search(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    searching *s = *out = calloc(1, sizeof *s);

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    *s = (searching){ size[0], size[1], size[2], 0 };
    work->items = (double)size[1] * size[2];
    return SPOT_OK;
}

/* p is .03 where the camera is above 60 degrees, or below -60, and near. */
static double made_p(const double *x) { return fabs(x[7] - 0.5) > 1. / 3 && x[5] < 0.375 ? 0.03 : 0.9 - 0.1 * x[1] * x[5]; }

enum { OBJECTS = 4, BATCH = 64, DIMS = 9 };

static spot_status search_all(spot_ctx *c, searching *s, spot_examiner *e)
{
    static double at[OBJECTS * BATCH * DIMS], loss[OBJECTS * BATCH];

    for (int n; (n = spot_examiner_wants(e));) {
        if (n > BATCH) return spot_fail(c, SPOT_INVALID, "a batch of %d", n);
        SPOT_TRY(spot_examiner_ask(c, e, at));
        for (int i = 0; i < s->problems * n; i++) {
            loss[i] = -made_p(at + i * DIMS);
            s->lowest = fmin(s->lowest, -loss[i]);
        }
        SPOT_TRY(spot_examiner_tell(c, e, loss));
    }
    return SPOT_OK;
}

static spot_status search(spot_ctx *c, void *p)
{
    static const uint32_t number[OBJECTS] = { 0, 1, 2, 3 };
    searching *s = p;
    spot_factor_space space = spot_factor_space_paper();
    spot_examiner_config cfg = spot_examiner_defaults(s->method);
    spot_examiner_search what = { &space, s->problems, s->budget, 1, number };
    spot_examiner *e;
    spot_status status;

    s->lowest = 1;
    SPOT_TRY(spot_examiner_open(c, &e, &cfg, &what));
    status = search_all(c, s, e);
    spot_examiner_close(e);
    return status;
}

static spot_status check_search(spot_ctx *c, void *p)
{
    searching *s = p;

    SPOT_TRY(search(c, p));
    if (s->lowest > 0.9) return spot_fail(c, SPOT_CHECK, "the lowest p is %g", s->lowest);
    return SPOT_OK;
}

static void close_search(spot_ctx *c, void *p)
{
    (void)c;
    free(p);
}

static const spot_bench_kind gp_likelihood = { open_process, check_likelihood, likelihood, close_process };
static const spot_bench_kind gp_posterior = { open_process, check_posterior, posterior, close_process };
static const spot_bench_kind examiner = { open_search, check_search, search, close_search };

#define SEARCH(NAME, name, budget) \
    { "gaussian", "search by " name ", 4 objects, " #budget " renders each", "renders", SPOT_ON_CPU, &examiner, \
      { SPOT_EXAMINER_##NAME, 4, budget }, { SPOT_EXAMINER_##NAME, 2, 24 } }

const spot_bench_row spot_bench_gaussian[] = {
    { "gaussian", "likelihood and slopes, 300 points, 9 lengths", "likelihoods", SPOT_ON_CPU, &gp_likelihood,
      { 300, 9, 1 }, { 40, 3, 1 } },
    { "gaussian", "posterior of 1,000, 300 points", "points", SPOT_ON_CPU, &gp_posterior, { 300, 9, 1000 }, { 40, 3, 50 } },
    SEARCH(CEM, "cem", 200),
    SEARCH(CMA, "cma", 200),
    SEARCH(BO, "bo", 200),
    SEARCH(BO, "bo", 1000),
    SEARCH(TURBO, "turbo", 200),
    SEARCH(BO2019, "bo-2019", 60),
    { .op = NULL },
};
