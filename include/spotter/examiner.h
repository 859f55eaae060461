/* examiner.h - searches for the conditions under which a black box fails (paper 002, section 3, and later ones).
 *
 * An examiner searches P problems at once, each on its own: problem i is an object. It asks for points of the unit cube of a
 * factor space, is told the loss at each, and looks for the greatest loss. In the paper the loss is -p, p the probability of
 * the true class, so the lowest p is looked for; the caller who wants the highest p (strength mode) tells +p.
 *
 *     open; until the budget is spent: ask -> n points of each problem -> (render, classify) -> tell; close
 *
 * An examiner writes no file. A search that was interrupted is continued by asking and telling again what was told before:
 * equal losses give equal points. run_to_run: the same bits for any number of threads. A problem's points depend on the seed,
 * its own number and its own losses, never on the other problems of the call. One file per examiner in host/examine, one row
 * in the table. */
#ifndef SPOTTER_EXAMINER_H
#define SPOTTER_EXAMINER_H

#include <stdint.h>

#include "spotter/ctx.h"
#include "spotter/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/*    examiner   file      name in a config */
#define SPOT_EXAMINER_TABLE(X)              \
    X(RANDOM,    random,   "random")        \
    X(LOCAL,     local,    "local")         \
    X(RL,        rl,       "rl")            \
    X(BO2019,    bo2019,   "bo-2019")       \
    X(BO,        bo,       "bo")            \
    X(CEM,       cem,      "cem")           \
    X(CMA,       cma,      "cma")           \
    X(TURBO,     turbo,    "turbo")

typedef enum {
#define X(NAME, file, name) SPOT_EXAMINER_##NAME,
    SPOT_EXAMINER_TABLE(X)
#undef X
    SPOT_EXAMINERS
} spot_examiner_method;

const char *spot_examiner_name(int method);

/* RANDOM: uniform. */
typedef struct { int batch; } spot_random_config;      /* 32 */

/* LOCAL: a share of the budget uniform, then normal steps around the best points so far. */
typedef struct {
    int    batch;                  /* 32 */
    double uniform;                /* share of the budget, .5 */
    int    best;                   /* 5 */
    double sigma;                  /* of the cube's side, .05 */
} spot_local_config;

/* RL: the paper's policy (section 3.2; facts that it leaves open are settings): each factor has `values` values; an LSTM of
 * `hidden` cells draws one after another; REINFORCE with Adam. */
typedef enum { SPOT_REWARD_LOSS, SPOT_REWARD_RANK } spot_reward;   /* R of eq. 5: the loss; its rank in the batch, +-1/2 */
typedef struct {
    int    values, hidden, batch;  /* 100, 30, 32 */
    double lr;                     /* 1e-3 */
    int    reward;                 /* spot_reward */
    double baseline;               /* decay of a moving average that is subtracted from R; 0: none, as in the paper */
    double entropy;                /* weight of the policy's entropy; 0 */
} spot_rl_config;

/* BO-2019: GP-UCB as the package BayesianOptimization had it when the paper was written: raw units, factors in the order of
 * their names, isotropic Matern 5/2 with one length scale by maximum likelihood. */
typedef enum { SPOT_BO2019_1_0_3, SPOT_BO2019_1_0_1 } spot_bo2019_release;
typedef struct {
    int    first;                  /* uniform points before the first model; 2 */
    double kappa, noise;           /* 2.576, 1e-6 */
    int    release;                /* spot_bo2019_release. 1.0.1: restarts, warm, starts are 25, 100000, 250 whatever they say
                                    * here; 1.0.3 (since August 2019): as they say, and their defaults are its own */
    int    restarts;               /* of the search for the length scale; 5 */
    int    scaled;                 /* 1: losses are divided by their deviation, as scikit-learn does from 0.23 on; 0: 2019 */
    int    warm, starts;           /* uniform tries and local searches of the acquisition; 10000 and 10 */
} spot_bo2019_config;

/* The same with the numbers of its release. */
spot_bo2019_config spot_bo2019_released(const spot_bo2019_config *cfg);

/* BO: GP-UCB on the unit cube, whole turns as (sin, cos), a length scale for each dimension, fitted noise, batches, and a
 * bounded set of points. */
typedef struct {
    int    first, batch;           /* 20, 10 */
    double kappa;                  /* 2 */
    int    best, spread;           /* points of the model: so many of the greatest loss, so many that lie far from each other;
                                    * 10, 60. Beyond, kappa falls as 1 / points */
    int    tries, starts;          /* candidates of a batch; points of it that a local search improves; 100, 2 */
    double refit;                  /* share by which the points grow between two searches for the kernel; .4: at 20, 30, 50, 80,
                                    * 120 points, ... */
} spot_bo_config;

/* CEM: the cross-entropy method with a histogram for each dimension. */
typedef struct {
    int    generation, elite;      /* points of a generation, 10; the best of them, 2 */
    int    bins;                   /* of a histogram, 40 */
    double smooth;                 /* weight of the old histogram, .7 */
    double floor;                  /* probability that is spread over all bins, .02 */
    double spread;                 /* share of an elite point that counts in the two bins beside its own, .1 */
} spot_cem_config;

/* CMA: CMA-ES (Hansen 2016, arXiv 1604.00772) with restarts. */
typedef struct {
    int    population;             /* at least 4, or 0: 4 + floor(3 log dims); 0 */
    double sigma;                  /* first step, .25 */
    int    doubled;                /* 1: a restart has twice the population (IPOP), up to a tenth of the budget; 0: the same */
    double tolerance;              /* a restart begins when steps, or the losses of a generation, differ by no more; 1e-4 */
} spot_cma_config;

/* TURBO: TuRBO-1 (Eriksson et al. 2019): a Gaussian process in a trust region, Thompson sampling. */
typedef struct {
    int    first, batch;           /* 20, 10 */
    double length, least, most;    /* of the trust region: .8, .5^7, 1.6 */
    int    success;                /* 3 */
    int    tries;                  /* candidates; min(100 dims, 5000) for 0, as in the paper; 200 */
    int    best, last;             /* points of the model since the last restart: the greatest losses, the newest; 100, 100 */
} spot_turbo_config;

typedef struct {
    int    method;                 /* spot_examiner_method */
    const char *name;              /* label in tables; "": the method's name */
    int    renders;                /* its own budget in a study (examine.h); 0: the study's. The search itself ignores it */
    const char *points;            /* renders of the points of its curve; "": the study's, or with `renders` shares of these */
    spot_random_config random;
    spot_local_config  local;
    spot_rl_config     rl;
    spot_bo2019_config bo2019;
    spot_bo_config     bo;
    spot_cem_config    cem;
    spot_cma_config    cma;
    spot_turbo_config  turbo;
} spot_examiner_config;

/* A method's defaults: each number once, in its table of settings (host/examine/examiners.h). */
spot_examiner_config spot_examiner_defaults(int method);

typedef struct spot_examiner spot_examiner;

typedef struct {
    const spot_factor_space *space;    /* copied */
    int      problems;                 /* at least 1 */
    int      budget;                   /* points of each problem that will be asked for; at least 1 */
    uint64_t seed;
    const uint32_t *number;            /* (problems): of the object: the address of its random numbers, so that its points are
                                        * the same in every set of problems */
} spot_examiner_search;

/* SPOT_USAGE: a setting out of range, a budget or number of problems below 1. *e is NULL after a failure; close accepts
 * NULL. */
spot_status spot_examiner_open (spot_ctx *c, spot_examiner **e, const spot_examiner_config *cfg, const spot_examiner_search *s);
void        spot_examiner_close(spot_examiner *e);

/* Points that the next ask gives for each problem: at least 1, at most what is left of the budget; 0 when it is spent. A method
 * whose problems want different numbers (a restart) asks for one number for all and keeps what is over for later. */
int spot_examiner_wants(const spot_examiner *e);

/* The share of its work that is done, from 0 to 1: that of its points, or less where later points take longer. */
double spot_examiner_share(const spot_examiner *e);

/* ask: at (problems, wants, dims) result, each from 0 to 1. SPOT_STOPPED by the stop flag: nothing is changed, the same call
 * goes on. tell: loss (problems, wants) at the points of the last ask; SPOT_INVALID if one is not finite. Equal losses are no
 * failure. */
spot_status spot_examiner_ask (spot_ctx *c, spot_examiner *e, double *at);
spot_status spot_examiner_tell(spot_ctx *c, spot_examiner *e, const double *loss);

/* Bytes of an open examiner, with its scratch. */
size_t spot_examiner_bytes(const spot_examiner_config *cfg, const spot_examiner_search *s);

#ifdef __cplusplus
}
#endif
#endif
