/* bo2019.c - GP-UCB as the package BayesianOptimization had it when the paper was written, for comparison with the paper: an
 * isotropic Matern kernel over the factors in their units, in the order of their names (camera_azimuth, camera_distance, ...),
 * where 0.7 of a lamp's energy stands beside 360 degrees; no amplitude, fixed noise; the length scale by maximum likelihood
 * from 1 and from random starts at every step; the bound's maximum by uniform tries and local searches from fresh uniform
 * points. Angles do not wrap. The package takes finite differences where we have slopes.
 *
 * Its releases differ in how long these searches are. 1.0.1 (February 2019), the newest one when the paper was handed in, has
 * 25 starts, 100,000 tries and 250 local searches; 1.0.3 (February 2020) has 5, 10,000 and 10. The paper names no release. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "examine/acquisition.h"

/* A model of more points than this would take seconds for one render. */
enum { MOST_POINTS = 5000, FIT_EVALUATIONS = 100, CLIMB_EVALUATIONS = 200 };

typedef struct {
    spot_surrogate s;
    spot_bo2019_config cfg;
} bo2019_state;

spot_bo2019_config spot_bo2019_released(const spot_bo2019_config *cfg)
{
    spot_bo2019_config as = *cfg;

    if (as.release == SPOT_BO2019_1_0_1) as.restarts = 25, as.warm = 100000, as.starts = 250;
    return as;
}

static spot_surrogate_plan plan_of(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    return (spot_surrogate_plan){ .best = s->budget < MOST_POINTS ? s->budget : MOST_POINTS, .tries = SPOT_GP_ROWS,
                                  .scaling = cfg->bo2019.scaled ? SPOT_GP_SCALED : SPOT_GP_CENTRED,
                                  .features = SPOT_FEATURES_RAW };
}

static size_t bytes(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    spot_surrogate_plan p = plan_of(cfg, s);

    return sizeof(bo2019_state) + spot_surrogate_bytes(&p, s);
}

static void close(void *s)
{
    spot_surrogate_close(&((bo2019_state *)s)->s);
    free(s);
}

static spot_status open(spot_ctx *c, void **out, const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    spot_surrogate_plan p = plan_of(cfg, s);
    spot_status status;
    bo2019_state *b;

    if (s->budget > MOST_POINTS)
        return spot_fail(c, SPOT_USAGE, "{bo_2019.renders} bo-2019 has every point in its model, and %d renders are too many "
                         "(at most %d); bo bounds the model", s->budget, MOST_POINTS);
    b = *out = calloc(1, sizeof *b);
    if (!b) return spot_fail(c, SPOT_NOMEM, "no memory for an examiner");
    b->cfg = spot_bo2019_released(&cfg->bo2019);
    status = spot_surrogate_open(c, &b->s, &p, s);
    if (status) close(b);
    return status;
}

static int wants(const void *s)
{
    const bo2019_state *b = s;

    return b->s.told < b->cfg.first ? b->cfg.first - b->s.told : 1;
}

/* The package's kernel at every step: the last one's length scale is not kept. */
static void fit_kernel(const bo2019_state *b, spot_gp *g, spot_rng *r, const volatile sig_atomic_t *stop)
{
    const spot_gp_search search = { { 1e-5, 1e5 }, { 1, 1 }, { b->cfg.noise, b->cfg.noise }, 1, 0, b->cfg.restarts,
                                    FIT_EVALUATIONS, 1e-7, stop };
    spot_gp_kernel first = { .length = { 1 }, .amplitude = 1, .noise = b->cfg.noise };

    g->kernel = first;
    if (!spot_gp_fit(g, &search, r) && !spot_gp_factor(g, &first)) g->n = 0;
}

/* x (dims) becomes the best of `warm` uniform tries; its bound. */
static double warm_up(const bo2019_state *b, spot_surrogate_desk *d, double *x, spot_rng *r, const volatile sig_atomic_t *stop)
{
    int dims = b->s.search.space->dims;
    double best = -INFINITY;

    for (int done = 0; done < b->cfg.warm && !(stop && *stop); done += SPOT_GP_ROWS) {
        int m = b->cfg.warm - done < SPOT_GP_ROWS ? b->cfg.warm - done : SPOT_GP_ROWS;
        for (int k = 0; k < m * dims; k++) d->pool[k] = spot_rng_uniform(r);
        spot_surrogate_look(&b->s, d, m);
        for (int k = 0; k < m; k++) {
            double bound = d->mean[k] + b->cfg.kappa * d->deviation[k];
            if (bound <= best) continue;
            best = bound;
            memcpy(x, d->pool + (size_t)k * (size_t)dims, (size_t)dims * sizeof *x);
        }
    }
    return best;
}

static void ask_one(const bo2019_state *b, spot_surrogate_desk *d, int i, double *at, const volatile sig_atomic_t *stop)
{
    int dims = b->s.search.space->dims;
    spot_rng r = spot_rng_at(b->s.search.seed, SPOT_RNG_EXAMINER, b->s.search.number[i], (uint32_t)b->s.told);
    double best, x[SPOT_FACTORS];

    spot_surrogate_choose(&b->s, d, i, 0);
    spot_gp_set(&d->g, d->x, d->y, d->n);
    fit_kernel(b, &d->g, &r, stop);
    best = warm_up(b, d, at, &r, stop);
    for (int k = 0; k < b->cfg.starts && !(stop && *stop); k++) {
        double value;
        for (int j = 0; j < dims; j++) x[j] = spot_rng_uniform(&r);
        value = spot_acquisition_climb(&b->s, &d->g, b->cfg.kappa, x, NLOPT_LD_SLSQP, CLIMB_EVALUATIONS, 1e-6);
        if (value < best) continue;
        best = value;
        memcpy(at, x, (size_t)dims * sizeof *x);
    }
}

static spot_status ask(spot_ctx *c, void *s, double *at, int n)
{
    const bo2019_state *b = s;
    int problems = b->s.search.problems;
    size_t dims = (size_t)b->s.search.space->dims;

    if (b->s.told < b->cfg.first) {
        spot_surrogate_uniform(&b->s, at, n);
        return SPOT_OK;
    }
#pragma omp parallel for num_threads(spot_surrogate_threads(c, &b->s)) schedule(dynamic)
    for (int i = 0; i < problems; i++)
        if (!(c->stop && *c->stop)) ask_one(b, &b->s.desk[omp_get_thread_num()], i, at + (size_t)i * dims, c->stop);
    return spot_check_stop(c);
}

static spot_status tell(spot_ctx *c, void *s, const double *at, const double *loss, int n)
{
    (void)c;
    spot_surrogate_tell(&((bo2019_state *)s)->s, at, loss, n);
    return SPOT_OK;
}

/* The numbers of release 1.0.1 are its own; a config that changes them is of no release and begins with 1.0.3's. */
static bool may_differ(const void *group)
{
    return ((const spot_examiner_config *)group)->bo2019.release == SPOT_BO2019_1_0_3;
}

static const spot_setting settings[] = {
#define S SPOT_EXAMINER_ROW
#define OWN .when = may_differ, .otherwise = "needs release: 1.0.3, since release 1.0.1 has its own number"
    S("first",    INT,    bo2019.first,    "uniform renders before the first model", SPOT_IN(1, SPOT_EXAMINER_MOST),
      SPOT_DEF(2)),
    S("kappa",    REAL,   bo2019.kappa,    "weight of the deviation in the upper confidence bound", SPOT_IN(0, 100),
      SPOT_DEF(2.576)),
    S("noise",    REAL,   bo2019.noise,    "variance that is added to each point", SPOT_IN(1e-12, 1), SPOT_DEF(1e-6)),
    S("release",  NAME,   bo2019.release,  "release of the Python package bayesian-optimization whose numbers of restarts, "
      "tries and local searches are taken; 1.0.1: 25, 100000, 250; 1.0.3: 5, 10000, 10", SPOT_ONE_OF("1.0.3", "1.0.1"),
      SPOT_DEF(SPOT_BO2019_1_0_3), .newer = SPOT_NEWER),
    S("restarts", INT,    bo2019.restarts, "random starts of the search for the length scale, beside the one from 1",
      SPOT_IN(0, 1000), SPOT_DEF(5), OWN),
    S("scaled",   SWITCH, bo2019.scaled,   "losses over their deviation, as scikit-learn has it from 0.23 on", SPOT_SWITCH,
      SPOT_DEF(0)),
    S("warm",     INT,    bo2019.warm,     "uniform tries of the upper confidence bound", SPOT_IN(1, 10000000),
      SPOT_DEF(10000), OWN),
    S("starts",   INT,    bo2019.starts,   "local searches of the upper confidence bound", SPOT_IN(0, 10000), SPOT_DEF(10),
      OWN),
#undef OWN
#undef S
    SPOT_END
};

const spot_examiner_kind spot_examiner_bo2019 = { .title = "Bayesian optimisation as in 2019", .settings = settings,
                                                  .slows = 2, /* measured from 200 to 300 points */
                                                  .bytes = bytes, .open = open, .close = close, .wants = wants, .ask = ask,
                                                  .tell = tell };
