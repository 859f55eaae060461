/* gaussian_fit.c - the kernel of the greatest likelihood, by NLopt's quasi-Newton method in the logs of the parameters. */
#include <math.h>
#include <nlopt.h>

#include "stats/gaussian_process.h"

typedef struct {
    spot_gp *g;
    const spot_gp_search *s;
    int    count;                          /* parameters: logs of lengths, amplitude, noise */
    double least[SPOT_GP_VALUES], most[SPOT_GP_VALUES];
    double best, at[SPOT_GP_VALUES];       /* the greatest value and where */
} fitting;

static spot_gp_kernel kernel_at(const fitting *f, const double *at)
{
    spot_gp_kernel k;

    for (int s = 0; s < f->count - 2; s++) k.length[s] = exp(at[s]);
    k.amplitude = exp(at[f->count - 2]);
    k.noise = exp(at[f->count - 1]);
    return k;
}

static void limits(fitting *f)
{
    int scales = f->count - 2;

    for (int i = 0; i < f->count; i++) {
        const double *ends = i < scales ? f->s->length : i == scales ? f->s->amplitude : f->s->noise;
        f->least[i] = log(ends[0]);
        f->most[i] = log(ends[1]);
    }
}

/* NLopt asks for value and slope. Where the matrix is indefinite the value is far below any other, so that the step
 * is halved. */
static double objective(unsigned n, const double *at, double *slope, void *user)
{
    fitting *f = user;
    double own[SPOT_GP_VALUES];
    spot_gp_kernel k = kernel_at(f, at);
    double value = spot_gp_likelihood(f->g, &k, slope ? own : NULL);

    for (int i = 0; slope && i < (int)n; i++) slope[i] = isfinite(value) ? own[i] : 0;
    if (!isfinite(value)) return -1e30;
    for (int i = 0; f->s->spread > 0 && i < f->count - 2; i++) {
        double off = (at[i] - log(f->s->center)) / f->s->spread;
        value -= 0.5 * off * off;
        if (slope) slope[i] -= off / f->s->spread;
    }
    if (value > f->best) {
        f->best = value;
        for (int i = 0; i < f->count; i++) f->at[i] = at[i];
    }
    return value;
}

/* The return code is of no interest: the objective keeps the best that it has seen. */
static bool climb(fitting *f, double *at)
{
    nlopt_opt o = nlopt_create(NLOPT_LD_SLSQP, (unsigned)f->count);
    double value;

    if (!o) return false;
    nlopt_set_max_objective(o, objective, f);
    nlopt_set_lower_bounds(o, f->least);
    nlopt_set_upper_bounds(o, f->most);
    nlopt_set_maxeval(o, f->s->evaluations);
    nlopt_set_ftol_abs(o, f->s->tolerance);
    nlopt_optimize(o, at, &value);
    nlopt_destroy(o);
    return true;
}

bool spot_gp_fit(spot_gp *g, const spot_gp_search *s, spot_rng *r)
{
    fitting f = { .g = g, .s = s, .count = g->shape.scales + 2, .best = -INFINITY };
    double at[SPOT_GP_VALUES];
    spot_gp_kernel k;

    if (!g->n) return false;
    limits(&f);
    for (int i = 0; i < f.count - 2; i++) at[i] = log(g->kernel.length[i]);
    at[f.count - 2] = log(g->kernel.amplitude);
    at[f.count - 1] = log(g->kernel.noise);
    for (int start = 0; start <= s->restarts && !(start && s->stop && *s->stop); start++) {
        for (int i = 0; i < f.count; i++) {
            if (start) at[i] = f.least[i] + spot_rng_uniform(r) * (f.most[i] - f.least[i]);
            at[i] = fmin(fmax(at[i], f.least[i]), f.most[i]);
        }
        if (!climb(&f, at)) return false;
    }
    if (!isfinite(f.best)) return false;
    k = kernel_at(&f, f.at);
    return spot_gp_factor(g, &k);
}
