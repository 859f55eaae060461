/* acquisition.c - the upper confidence bound and its local maxima. */
#include "examine/acquisition.h"

#include <math.h>
#include <string.h>

double spot_acquisition_at(const spot_surrogate *s, spot_gp *g, double kappa, const double *x, double *slope)
{
    double feature[SPOT_GP_FEATURES], up[SPOT_GP_FEATURES], wide[SPOT_GP_FEATURES], mean, deviation;

    spot_surrogate_features(s, feature, x);
    if (!slope) {
        spot_gp_posterior(g, feature, 1, &mean, &deviation);
        return mean + kappa * deviation;
    }
    spot_gp_slope(g, feature, &mean, &deviation, up, wide);
    for (int f = 0; f < s->shape.features; f++) up[f] += kappa * wide[f];
    spot_surrogate_back(s, slope, up, x);
    return mean + kappa * deviation;
}

typedef struct { const spot_surrogate *s; spot_gp *g; double kappa, best, at[SPOT_FACTORS]; } climbing;

static double objective(unsigned n, const double *x, double *slope, void *user)
{
    climbing *c = user;
    double value = spot_acquisition_at(c->s, c->g, c->kappa, x, slope);

    if (value > c->best) {
        c->best = value;
        memcpy(c->at, x, n * sizeof *x);
    }
    return value;
}

double spot_acquisition_climb(const spot_surrogate *s, spot_gp *g, double kappa, double *x, nlopt_algorithm how,
                              int evaluations, double tolerance)
{
    int dims = s->search.space->dims;
    bool circles = s->features == SPOT_FEATURES_CIRCLES;
    climbing c = { .s = s, .g = g, .kappa = kappa, .best = -INFINITY };
    nlopt_opt o = nlopt_create(how, (unsigned)dims);
    double least[SPOT_FACTORS], most[SPOT_FACTORS], value;

    if (!o) return spot_acquisition_at(s, g, kappa, x, NULL);
    for (int d = 0; d < dims; d++) {
        bool free = circles && s->search.space->turns[d];
        least[d] = free ? x[d] - 0.5 : 0;
        most[d] = free ? x[d] + 0.5 : 1;
    }
    memcpy(c.at, x, (size_t)dims * sizeof *x);
    nlopt_set_max_objective(o, objective, &c);
    nlopt_set_lower_bounds(o, least);
    nlopt_set_upper_bounds(o, most);
    nlopt_set_maxeval(o, evaluations);
    nlopt_set_xtol_abs1(o, tolerance);
    nlopt_optimize(o, x, &value);          /* its return code is of no interest: the best point that was seen is kept */
    nlopt_destroy(o);
    for (int d = 0; d < dims; d++) x[d] = fmin(fmax(c.at[d] - (least[d] < 0 || most[d] > 1 ? floor(c.at[d]) : 0), 0), 1);
    return c.best;
}
