/* bo.c - Bayesian optimisation on the unit cube: GP-UCB with whole turns as circles, a length scale for each dimension, fitted
 * noise, and a batch by kriging believer: a point of the batch is believed to have its posterior mean, so means stay,
 * deviations near it shrink, and the next point goes elsewhere. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "examine/acquisition.h"

/* Likelihoods of a search for the kernel, bounds of a local search (by CCSAQ: in so few steps SLSQP takes more time itself
 * than the bounds do, and comes less far); the best points near which half of the candidates lie. */
enum { FIT_EVALUATIONS = 10, CLIMB_EVALUATIONS = 6, BEST_FEW = 5 };

typedef struct {
    spot_surrogate s;
    spot_bo_config cfg;
    int fit_at;                /* points at which the kernels are searched for again */
} bo_state;

static spot_surrogate_plan plan_of(const spot_examiner_config *cfg)
{
    const spot_bo_config *b = &cfg->bo;

    return (spot_surrogate_plan){ .best = b->best, .spread = b->spread, .extra = b->batch, .tries = b->tries, .ard = true,
                                  .scaling = SPOT_GP_SCALED, .features = SPOT_FEATURES_CIRCLES };
}

static size_t bytes(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    spot_surrogate_plan p = plan_of(cfg);

    return sizeof(bo_state) + spot_surrogate_bytes(&p, s);
}

static void close(void *s)
{
    spot_surrogate_close(&((bo_state *)s)->s);
    free(s);
}

static spot_status open(spot_ctx *c, void **out, const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    spot_surrogate_plan p = plan_of(cfg);
    bo_state *b = *out = calloc(1, sizeof *b);
    spot_status status;

    if (!b) return spot_fail(c, SPOT_NOMEM, "no memory for an examiner");
    b->cfg = cfg->bo;
    status = spot_surrogate_open(c, &b->s, &p, s);
    if (status) close(b);
    return status;
}

static int wants(const void *s)
{
    const bo_state *b = s;

    return b->s.told < b->cfg.first ? b->cfg.first - b->s.told : b->cfg.batch;
}

/* Half of the pool is uniform; the others are steps of all sizes, in some dimensions, from the best few points. */
static void fill_pool(const bo_state *b, spot_surrogate_desk *d, int i, spot_rng *r)
{
    const spot_factor_space *space = b->s.search.space;
    int dims = space->dims, few = d->n < BEST_FEW ? d->n : BEST_FEW;
    const double *own = b->s.at + (size_t)i * (size_t)b->s.search.budget * (size_t)dims;

    for (int t = 0; t < b->cfg.tries; t++) {
        double *x = d->pool + (size_t)t * (size_t)dims, sigma = 0.3 * pow(0.05, spot_rng_uniform(r));
        const double *from = own + (size_t)d->which[t % few] * (size_t)dims;
        bool near = t % 2;
        for (int k = 0; k < dims; k++) {
            if (!near) x[k] = spot_rng_uniform(r);
            else if (spot_rng_uniform(r) * dims > 4) x[k] = from[k];
            else x[k] = spot_examiner_fold(from[k] + sigma * spot_rng_normal(r), space->turns[k]);
        }
    }
}

static void ask_one(const bo_state *b, spot_surrogate_desk *d, int i, double *at, int n, const volatile sig_atomic_t *stop)
{
    int dims = b->s.search.space->dims;
    spot_rng r = spot_rng_at(b->s.search.seed, SPOT_RNG_EXAMINER, b->s.search.number[i], (uint32_t)b->s.told);
    const spot_gp_search search = { { 0.05, 20 }, { 0.05, 20 }, { 1e-4, 0.5 }, 1, 1, 0, FIT_EVALUATIONS, 1e-3, stop };
    spot_gp_kernel *k = &b->s.next[i];
    double feature[SPOT_GP_FEATURES];
    bool believed = false;
    /* where points were left out the deviation is too great, and the search would explore the same places again */
    double kappa = b->cfg.kappa * fmin(1, (double)b->s.most / b->s.told);

    spot_surrogate_choose(&b->s, d, i, 0);
    *k = b->s.kernel[i];
    if (b->s.told >= b->fit_at) spot_surrogate_fit(&b->s, d, &search, k, &r);
    spot_gp_set(&d->g, d->x, d->y, d->n);
    if (!spot_gp_factor(&d->g, k)) spot_gp_set(&d->g, d->x, d->y, 0);
    fill_pool(b, d, i, &r);
    spot_surrogate_look(&b->s, d, b->cfg.tries);
    for (int j = 0; j < n; j++, at += dims) {
        int best = 0;
        if (believed) spot_surrogate_look_again(&b->s, d, b->cfg.tries);
        for (int t = 1; t < b->cfg.tries; t++)
            if (d->mean[t] + kappa * d->deviation[t] > d->mean[best] + kappa * d->deviation[best]) best = t;
        memcpy(at, d->pool + (size_t)best * (size_t)dims, (size_t)dims * sizeof *at);
        if (j < b->cfg.starts) spot_acquisition_climb(&b->s, &d->g, kappa, at, NLOPT_LD_CCSAQ, CLIMB_EVALUATIONS, 1e-3);
        spot_surrogate_features(&b->s, feature, at);
        d->mean[best] = -INFINITY;                 /* not again, even where nothing can be believed */
        if (j + 1 < n) believed = spot_gp_believe(&d->g, feature);
    }
}

static spot_status ask(spot_ctx *c, void *s, double *at, int n)
{
    bo_state *b = s;
    int problems = b->s.search.problems;
    size_t dims = (size_t)b->s.search.space->dims;

    if (b->s.told < b->cfg.first) {
        spot_surrogate_uniform(&b->s, at, n);
        return SPOT_OK;
    }
#pragma omp parallel for num_threads(spot_surrogate_threads(c, &b->s)) schedule(dynamic)
    for (int i = 0; i < problems; i++)
        if (!(c->stop && *c->stop))
            ask_one(b, &b->s.desk[omp_get_thread_num()], i, at + (size_t)i * (size_t)n * dims, n, c->stop);
    SPOT_TRY(spot_check_stop(c));
    memcpy(b->s.kernel, b->s.next, (size_t)problems * sizeof *b->s.next);
    if (b->s.told >= b->fit_at) b->fit_at = (int)fmin(b->s.told * (1 + b->cfg.refit), 1e9) + 1;
    return SPOT_OK;
}

static spot_status tell(spot_ctx *c, void *s, const double *at, const double *loss, int n)
{
    (void)c;
    spot_surrogate_tell(&((bo_state *)s)->s, at, loss, n);
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_EXAMINER_ROW
    S("first",  INT,  bo.first,  "uniform renders before the first model", SPOT_IN(1, SPOT_EXAMINER_MOST), SPOT_DEF(20)),
    S("batch",  INT,  bo.batch,  "renders of an object between two models", SPOT_IN(1, 1000), SPOT_DEF(10)),
    S("kappa",  REAL, bo.kappa,  "weight of the deviation in the upper confidence bound", SPOT_IN(0, 100), SPOT_DEF(2)),
    S("best",   INT,  bo.best,   "points of the model that have the greatest loss", SPOT_IN(0, 10000), SPOT_DEF(10)),
    S("spread", INT,  bo.spread, "points of the model that lie far from each other", SPOT_IN(1, 10000), SPOT_DEF(60)),
    S("tries",  INT,  bo.tries,  "candidates of a batch", SPOT_IN(2, 100000), SPOT_DEF(100)),
    S("starts", INT,  bo.starts, "points of a batch that a local search improves", SPOT_IN(0, 1000), SPOT_DEF(2)),
    S("refit",  REAL, bo.refit,  "share by which the points grow between two searches for the kernel; 0: every batch",
      SPOT_IN(0, 100), SPOT_DEF(0.4)),
#undef S
    SPOT_END
};

const spot_examiner_kind spot_examiner_bo = { .title = "Bayesian optimisation, batches on the unit cube", .settings = settings,
                                              .bytes = bytes, .open = open, .close = close, .wants = wants, .ask = ask,
                                              .tell = tell };
