/* evolution.h - one CMA-ES without bounds: a normal distribution that moves towards greater losses (Hansen 2016, arXiv
 * 1604.00772: figure 6 with the default parameters of table 1, weights of both signs).
 *
 *     begin; for each generation: population times draw y, the point is mean + sigma y; learn from the losses
 *
 * The bits depend on nothing but the arguments. */
#ifndef SPOTTER_EVOLUTION_H
#define SPOTTER_EVOLUTION_H

#include <stdbool.h>

#include "spotter/arena.h"
#include "spotter/rng.h"

/* Table 1's names: lambda; mu_eff, c_1, c_mu, c_c, c_sigma, d_sigma; E||N(0, I)||. */
typedef struct {
    int    population;
    double effective, rank_one, rank_mu, path_rate, sigma_rate, damping, expected;
    double *weight;                    /* (population): of the best, the next, ...; half of them are below 0 */
} spot_evolution_rates;

typedef struct {
    int    dims, generation;
    double sigma;
    double *mean, *path, *sigma_path;  /* (dims): m, p_c, p_sigma */
    double *covariance;                /* (dims, dims): C */
    double *axis, *length;             /* (dims, dims), (dims): eigenvectors row by row, roots of the eigenvalues, rising */
    spot_evolution_rates rates;
    double *scratch;                   /* (3 dims + 34 dims) */
} spot_evolution;

spot_status spot_evolution_take(spot_ctx *c, spot_arena *a, spot_evolution *e, int dims, int population);

/* population: at least 2, at most that of take. C is the identity. */
void spot_evolution_begin(spot_evolution *e, const double *mean, double sigma, int population);

/* y (dims) ~ N(0, C) */
void spot_evolution_draw(const spot_evolution *e, double *y, spot_rng *r);

/* y (population, dims), loss (population). order (population): scratch; afterwards the points, the greatest loss first, of
 * equal ones the first. False: C is not positive any more, and the search cannot go on. */
bool spot_evolution_learn(spot_evolution *e, const double *y, const double *loss, int *order);

#endif
