/* spotlight_step.h - the part of a step that the CPU and CUDA share: from the sums over rows to the factors of the gradient,
 * Adam, and the plateau rule. */
#ifndef SPOTTER_SPOTLIGHT_STEP_H
#define SPOTTER_SPOTLIGHT_STEP_H

#include <math.h>

#include "core/hd.h"
#include "core/problems.h"
#include "fit/spotlight_fit.h"

enum { SPOTLIGHT_TILE = 128 };   /* rows of one chain */

/* Sums over rows of k, k l, u, u l, u D, u l D, with u = -dk/dD; padded to a whole vector. */
enum { SUM_K, SUM_KL, SUM_U, SUM_UL, SUM_UD, SUM_ULD, SPOTLIGHT_SUMS = 8 };

typedef struct {
    double lr, best, least, scale, barrier, ratio;   /* plateau rule; then the barrier: b, and its factor a step */
    double beta1, beta2;                             /* 0.9^t, 0.999^t of the next step */
    int    bad, patience, compat;
} spot_spotlight_state;

/* D from |x - mean|^2, which rounding may make negative. Beyond 1e300 every weight is 0, and 0 times D must not be NaN. */
static SPOT_HD inline double spot_spotlight_distance(double square, double precision)
{
    double far = square < 0 ? 0 : square * precision;

    return far > 1e300 ? 1e300 : far;
}

/* dJ/dk_i = by_loss (l_i - mean_loss) + push */
typedef struct { double mean_loss, by_loss, push, objective; int lost; } spot_spotlight_pull;

static SPOT_HD inline spot_spotlight_pull spot_spotlight_pulled(const spot_spotlight_state *s, double k, double kl)
{
    double short_of = k - (s->least + s->barrier), b2 = s->barrier * s->barrier;
    spot_spotlight_pull g = { .mean_loss = kl / k, .by_loss = 1 / k, .push = 0, .objective = kl / k, .lost = !(k > 0) };

    if (short_of < 0) {
        g.objective -= s->scale * (short_of * short_of) / b2;
        g.push = -2 * s->scale * short_of / b2;
    }
    return g;
}

/* One step of Adam on -J from dJ/dp: m, v its moments. */
static SPOT_HD inline double spot_spotlight_adam(const spot_spotlight_state *s, double p, double rise, double *m, double *v)
{
    *m = 0.9 * *m + (1 - 0.9) * -rise;
    *v = 0.999 * *v + (1 - 0.999) * rise * rise;
    return p - s->lr / (1 - s->beta1) * (*m / (sqrt(*v) / sqrt(1 - s->beta2) + 1e-8));
}

/* Learning rate and barrier of the next step. */
static SPOT_HD inline void spot_spotlight_end_step(spot_spotlight_state *s, double objective)
{
    double now = -objective;
    int better = s->compat ? now < s->best * (1 - 1e-4) : !(s->best < INFINITY) || now < s->best - 1e-4 * fabs(s->best);

    if (better) s->best = now;
    s->bad = better ? 0 : s->bad + 1;
    if (s->bad > s->patience) {
        if (s->lr - 0.5 * s->lr > 1e-8) s->lr *= 0.5;
        s->best = INFINITY;
        s->bad = 0;
    }
    s->barrier *= s->ratio;
    s->beta1 *= 0.9;
    s->beta2 *= 0.999;
}

/* The most rows and columns of any problem. */
static inline void spot_spotlight_sizes(int *n, int *d, int problems, const spot_spotlight_problem *p)
{
    *n = SPOT_MOST(problems, p, n);
    *d = SPOT_MOST(problems, p, d);
}

/* The state before the first step. */
static inline spot_spotlight_state spot_spotlight_begin(int n, const spot_spotlight_config *cfg, int compat)
{
    double least = cfg->min_weight * n, widest = n - least;
    spot_spotlight_state s = { .lr = cfg->lr, .best = INFINITY, .least = least, .scale = cfg->barrier_scale };

    s.barrier = widest;
    s.ratio = pow(cfg->barrier_end * least / widest, 1.0 / (cfg->steps - 1));
    s.beta1 = 0.9;
    s.beta2 = 0.999;
    s.patience = cfg->patience;
    s.compat = compat;
    return s;
}

/* The number of steps: cfg->steps, or less in compat mode. */
static inline int spot_spotlight_steps(const spot_spotlight_config *cfg, int compat)
{
    enum { LOOK = 20 };      /* upstream's print_every */

    return compat && cfg->steps >= LOOK ? cfg->steps / LOOK * LOOK : cfg->steps;
}

#endif
