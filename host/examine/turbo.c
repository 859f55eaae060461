/* turbo.c - TuRBO-1 (Eriksson et al. 2019): a Gaussian process on the points since the last restart, a trust region around the
 * best of them, and a batch by Thompson sampling: each point is the maximum, over candidates in the region, of one function
 * drawn from the posterior. The candidates are uniform in the box, where the authors' code has a Sobol sequence and perturbs
 * each dimension with probability min(1, 20 / dims), which is 1 here. */
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "examine/surrogate.h"
#include "examine/trust_region.h"

/* The search for the kernel goes on from the last batch's. */
enum { FIT_EVALUATIONS = 4 };

typedef struct {
    spot_surrogate s;
    spot_turbo_config cfg;
    spot_trust_region *region;     /* (problems) */
    int *start;                    /* (problems): the first point since the restart */
} turbo_state;

static int tries_of(const spot_turbo_config *t, const spot_examiner_search *s)
{
    int paper = 100 * s->space->dims < 5000 ? 100 * s->space->dims : 5000, tries = t->tries ? t->tries : paper;

    return tries > t->batch ? tries : t->batch;
}

static spot_surrogate_plan plan_of(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    return (spot_surrogate_plan){ .best = cfg->turbo.best, .last = cfg->turbo.last, .tries = tries_of(&cfg->turbo, s),
                                  .joint = true, .ard = true, .scaling = SPOT_GP_SCALED, .features = SPOT_FEATURES_CIRCLES };
}

static size_t bytes(const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    spot_surrogate_plan p = plan_of(cfg, s);

    return sizeof(turbo_state) + (size_t)s->problems * (sizeof(spot_trust_region) + sizeof(int)) + spot_surrogate_bytes(&p, s);
}

static void close(void *s)
{
    turbo_state *t = s;

    spot_surrogate_close(&t->s);
    free(t->region), free(t->start), free(t);
}

static spot_status open(spot_ctx *c, void **out, const spot_examiner_config *cfg, const spot_examiner_search *s)
{
    spot_surrogate_plan p = plan_of(cfg, s);
    turbo_state *t = *out = calloc(1, sizeof *t);
    spot_status status = SPOT_OK;

    if (!t) return spot_fail(c, SPOT_NOMEM, "no memory for an examiner");
    t->cfg = cfg->turbo;
    t->region = calloc((size_t)s->problems, sizeof *t->region);
    t->start = calloc((size_t)s->problems, sizeof *t->start);
    if (!t->region || !t->start) status = spot_fail(c, SPOT_NOMEM, "no memory for an examiner of %d objects", s->problems);
    else if (t->cfg.least >= t->cfg.length || t->cfg.length > t->cfg.most)
        status = spot_fail(c, SPOT_USAGE, "turbo.length is %g; it lies above turbo.least, %g, and not above turbo.most, %g",
                           t->cfg.length, t->cfg.least, t->cfg.most);
    if (!status) status = spot_surrogate_open(c, &t->s, &p, s);
    if (status) close(t);
    return status;
}

static int wants(const void *s)
{
    const turbo_state *t = s;

    return t->s.told < t->cfg.first ? t->cfg.first - t->s.told : t->cfg.batch;
}

static bool begins(const turbo_state *t, int i) { return t->s.told - t->start[i] < t->cfg.first; }

static void fill_pool(const turbo_state *t, spot_surrogate_desk *d, int i, const spot_gp_kernel *k, spot_rng *r)
{
    const spot_factor_space *space = t->s.search.space;
    size_t dims = (size_t)space->dims, own = (size_t)i * (size_t)t->s.search.budget;
    double low[SPOT_FACTORS], high[SPOT_FACTORS];
    int best = d->which[0];

    for (int j = 1; j < d->n; j++)
        if (t->s.loss[own + (size_t)d->which[j]] > t->s.loss[own + (size_t)best]) best = d->which[j];
    spot_trust_region_box(&t->region[i], space->dims, t->s.at + (own + (size_t)best) * dims, k->length, space->turns, low,
                          high);
    for (int j = 0; j < t->s.tries; j++)
        for (size_t f = 0; f < dims; f++) {
            double x = low[f] + spot_rng_uniform(r) * (high[f] - low[f]);
            d->pool[(size_t)j * dims + f] = spot_examiner_fold(x, space->turns[f]);
        }
}

/* at (n, dims): the maxima of n functions, no candidate twice. d->joint holds the factor; without one the functions are the
 * mean and independent deviations. */
static void sample_maxima(const turbo_state *t, spot_surrogate_desk *d, bool joint, double *at, int n, spot_rng *r)
{
    int dims = t->s.search.space->dims, m = t->s.tries;
    double *value = d->solved;         /* its rows are used up */

    for (int j = 0; j < n; j++, at += dims) {
        int best = -1;
        for (int k = 0; k < m; k++) value[k] = spot_rng_normal(r) * (joint ? 1 : d->deviation[k]);
        if (joint) cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, m, d->joint, m, value, 1);
        for (int k = 0; k < m; k++)
            if (d->mean[k] > -INFINITY && (best < 0 || d->mean[k] + value[k] > d->mean[best] + value[best])) best = k;
        memcpy(at, d->pool + (size_t)best * (size_t)dims, (size_t)dims * sizeof *at);
        d->mean[best] = -INFINITY;
    }
}

static void ask_one(const turbo_state *t, spot_surrogate_desk *d, int i, double *at, int n, const volatile sig_atomic_t *stop)
{
    const spot_gp_search search = { { 0.005, 2 }, { 0.05, 20 }, { 5e-4, 0.2 }, 0, 0, 0, FIT_EVALUATIONS, 1e-3, stop };
    spot_rng r = spot_rng_at(t->s.search.seed, SPOT_RNG_EXAMINER, t->s.search.number[i], (uint32_t)t->s.told);
    spot_gp_kernel *k = &t->s.next[i];

    spot_surrogate_choose(&t->s, d, i, t->start[i]);
    *k = t->s.kernel[i];
    spot_surrogate_fit(&t->s, d, &search, k, &r);
    spot_gp_set(&d->g, d->x, d->y, d->n);
    if (!spot_gp_factor(&d->g, k)) spot_gp_set(&d->g, d->x, d->y, 0);
    fill_pool(t, d, i, k, &r);
    spot_surrogate_look(&t->s, d, t->s.tries);
    sample_maxima(t, d, spot_gp_joint(&d->g, d->over, t->s.tries, d->solved, d->joint, d->swap), at, n, &r);
}

static spot_status ask(spot_ctx *c, void *s, double *at, int n)
{
    turbo_state *t = s;
    int problems = t->s.search.problems;
    size_t dims = (size_t)t->s.search.space->dims;

    spot_surrogate_uniform(&t->s, at, n);          /* stays where an object begins anew */
    if (t->s.told < t->cfg.first) return SPOT_OK;
    memcpy(t->s.next, t->s.kernel, (size_t)problems * sizeof *t->s.next);
#pragma omp parallel for num_threads(spot_surrogate_threads(c, &t->s)) schedule(dynamic)
    for (int i = 0; i < problems; i++)
        if (!begins(t, i) && !(c->stop && *c->stop))
            ask_one(t, &t->s.desk[omp_get_thread_num()], i, at + (size_t)i * (size_t)n * dims, n, c->stop);
    SPOT_TRY(spot_check_stop(c));
    memcpy(t->s.kernel, t->s.next, (size_t)problems * sizeof *t->s.next);
    return SPOT_OK;
}

static double greatest_of(const double *loss, int n)
{
    double most = loss[0];

    for (int k = 1; k < n; k++) most = fmax(most, loss[k]);
    return most;
}

/* The paper's failures in a row: as many batches as it takes to see 4 points, or as many points as there are dimensions. */
static spot_trust_region new_region(const turbo_state *t, double best)
{
    int dims = t->s.search.space->dims, points = dims > 4 ? dims : 4;

    return (spot_trust_region){ t->cfg.length, t->cfg.least, t->cfg.most, t->cfg.success,
                                (points + t->cfg.batch - 1) / t->cfg.batch, 0, 0, best };
}

static spot_status tell(spot_ctx *c, void *s, const double *at, const double *loss, int n)
{
    turbo_state *t = s;
    int before = t->s.told;

    (void)c;
    spot_surrogate_tell(&t->s, at, loss, n);
    for (int i = 0; i < t->s.search.problems; i++) {
        const double *own = t->s.loss + (size_t)i * (size_t)t->s.search.budget;
        if (before - t->start[i] < t->cfg.first) {
            if (!begins(t, i)) t->region[i] = new_region(t, greatest_of(own + t->start[i], t->s.told - t->start[i]));
        } else if (!spot_trust_region_move(&t->region[i], greatest_of(own + before, n))) t->start[i] = t->s.told;
    }
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_EXAMINER_ROW
    S("first",   INT,  turbo.first,   "uniform renders before the first model, and after a restart",
      SPOT_IN(1, SPOT_EXAMINER_MOST), SPOT_DEF(20)),
    S("batch",   INT,  turbo.batch,   "renders of an object between two models", SPOT_IN(1, 1000), SPOT_DEF(10)),
    S("length",  REAL, turbo.length,  "first side of the trust region", SPOT_IN(1e-6, 10), SPOT_DEF(0.8)),
    S("least",   REAL, turbo.least,   "side below which the search begins anew", SPOT_IN(1e-9, 10), SPOT_DEF(0.0078125)),
    S("most",    REAL, turbo.most,    "greatest side of the trust region", SPOT_IN(1e-6, 10), SPOT_DEF(1.6)),
    S("success", INT,  turbo.success, "successful batches in a row that double the side", SPOT_IN(1, 1000), SPOT_DEF(3)),
    S("tries",   INT,  turbo.tries,   "candidates of a batch; 0: 100 for each dimension, at most 5000, as in the paper",
      SPOT_IN(0, 5000), SPOT_DEF(200)),
    S("best",    INT,  turbo.best,    "points of the model that have the greatest loss", SPOT_IN(0, 10000), SPOT_DEF(100)),
    S("last",    INT,  turbo.last,    "points of the model that are the newest", SPOT_IN(1, 10000), SPOT_DEF(100)),
#undef S
    SPOT_END
};

const spot_examiner_kind spot_examiner_turbo = { .title = "TuRBO-1", .settings = settings, .bytes = bytes, .open = open,
                                                 .close = close, .wants = wants, .ask = ask, .tell = tell };
