/* evolution.c - the generations of a CMA-ES. Equations and names are Hansen's (evolution.h); he looks for the least value, so
 * the signs of losses differ. */
#include "examine/evolution.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { WORK = 34 };                    /* dsyev's work for each dimension: blocks of 32 */

spot_status spot_evolution_take(spot_ctx *c, spot_arena *a, spot_evolution *e, int dims, int population)
{
    size_t n = (size_t)dims;

    e->dims = dims;
    SPOT_TRY(SPOT_TAKE(c, a, e->mean, n));
    SPOT_TRY(SPOT_TAKE(c, a, e->path, n));
    SPOT_TRY(SPOT_TAKE(c, a, e->sigma_path, n));
    SPOT_TRY(SPOT_TAKE(c, a, e->length, n));
    SPOT_TRY(SPOT_TAKE(c, a, e->covariance, n * n));
    SPOT_TRY(SPOT_TAKE(c, a, e->axis, n * n));
    SPOT_TRY(SPOT_TAKE(c, a, e->scratch, (3 + WORK) * n));
    return SPOT_TAKE(c, a, e->rates.weight, population);
}

/* (sum w)^2 / sum w^2 */
static double effective_number(const double *w, int n)
{
    double sum = 0, squares = 0;

    for (int i = 0; i < n; i++) sum += w[i], squares += w[i] * w[i];
    return n ? sum * sum / squares : 0;
}

/* The positive weights add up to 1; the negative ones to at most what keeps C positive (eqs. 50 to 53). */
static void scale_weights(spot_evolution_rates *r, int parents, double against, double n)
{
    const double by_one = 1 + r->rank_one / r->rank_mu, by_effect = 1 + 2 * against / (r->effective + 2);
    const double by_positive = (1 - r->rank_one - r->rank_mu) / (n * r->rank_mu);
    double up = 0, down = 0;

    for (int i = 0; i < r->population; i++) {
        if (i < parents) up += r->weight[i];
        else down -= r->weight[i];
    }
    for (int i = 0; i < r->population; i++)
        r->weight[i] *= i < parents ? 1 / up : down > 0 ? fmin(by_one, fmin(by_effect, by_positive)) / down : 0;
}

static void set_rates(spot_evolution_rates *r, int dims, int population)
{
    const double n = dims;
    const int parents = population / 2;
    double mu;

    r->population = population;
    for (int i = 0; i < population; i++) r->weight[i] = log((population + 1) / 2.0) - log(i + 1.0);
    r->effective = mu = effective_number(r->weight, parents);
    r->path_rate = (4 + mu / n) / (n + 4 + 2 * mu / n);
    r->rank_one = 2 / ((n + 1.3) * (n + 1.3) + mu);
    r->rank_mu = fmin(1 - r->rank_one, 2 * (0.25 + mu + 1 / mu - 2) / ((n + 2) * (n + 2) + mu));
    r->sigma_rate = (mu + 2) / (n + mu + 5);
    r->damping = 1 + 2 * fmax(0, sqrt((mu - 1) / (n + 1)) - 1) + r->sigma_rate;
    r->expected = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
    scale_weights(r, parents, effective_number(r->weight + parents, population - parents), n);
}

void spot_evolution_begin(spot_evolution *e, const double *mean, double sigma, int population)
{
    const int n = e->dims;

    set_rates(&e->rates, n, population);
    e->generation = 0;
    e->sigma = sigma;
    memcpy(e->mean, mean, (size_t)n * sizeof *mean);
    for (int j = 0; j < n; j++) {
        e->path[j] = e->sigma_path[j] = 0;
        e->length[j] = 1;
        for (int k = 0; k < n; k++) e->covariance[j * n + k] = e->axis[j * n + k] = j == k;
    }
}

void spot_evolution_draw(const spot_evolution *e, double *y, spot_rng *r)
{
    const int n = e->dims;

    for (int k = 0; k < n; k++) y[k] = 0;
    for (int j = 0; j < n; j++) {
        double z = e->length[j] * spot_rng_normal(r);
        for (int k = 0; k < n; k++) y[k] += e->axis[j * n + k] * z;
    }
}

/* out = C^(-1/2) v; returns its squared length. */
static double whiten(const spot_evolution *e, double *out, const double *v)
{
    const int n = e->dims;
    double square = 0;

    for (int k = 0; k < n; k++) out[k] = 0;
    for (int j = 0; j < n; j++) {
        double along = 0;
        for (int k = 0; k < n; k++) along += e->axis[j * n + k] * v[k];
        along /= e->length[j];
        square += along * along;
        for (int k = 0; k < n; k++) out[k] += e->axis[j * n + k] * along;
    }
    return square;
}

/* order: the points from the greatest loss down, of equal losses the earlier first. */
static void sort_points(int *order, const double *loss, int n)
{
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && loss[i] > loss[order[at - 1]]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Moves m, p_sigma, p_c and sigma along the mean step of the parents; 1 where p_c took the step, 0 where p_sigma is too long
 * for it (h_sigma). */
static int move_mean(spot_evolution *e, const double *y, const int *order)
{
    const spot_evolution_rates *r = &e->rates;
    const int n = e->dims;
    double *step = e->scratch, *white = step + n, square = 0, length;
    int takes;

    for (int k = 0; k < n; k++) step[k] = 0;
    for (int i = 0; i < r->population / 2; i++)
        for (int k = 0; k < n; k++) step[k] += r->weight[i] * y[order[i] * n + k];
    whiten(e, white, step);
    for (int k = 0; k < n; k++) {
        double *p = &e->sigma_path[k];
        e->mean[k] += e->sigma * step[k];
        *p = (1 - r->sigma_rate) * *p + sqrt(r->sigma_rate * (2 - r->sigma_rate) * r->effective) * white[k];
        square += *p * *p;
    }
    length = sqrt(square) / r->expected;
    takes = length / sqrt(1 - pow(1 - r->sigma_rate, 2.0 * (e->generation + 1))) < 1.4 + 2.0 / (n + 1);
    for (int k = 0; k < n; k++)
        e->path[k] = (1 - r->path_rate) * e->path[k] + takes * sqrt(r->path_rate * (2 - r->path_rate) * r->effective) * step[k];
    e->sigma *= exp(r->sigma_rate / r->damping * (length - 1));
    return takes;
}

/* C by rank one and rank mu, both with weights (figure 6). A negative weight is scaled by the length of its step in C's own
 * metric: without it a single far step could make C indefinite. takes 0: what p_c did not get is added to the old C instead. */
static void adapt_covariance(spot_evolution *e, const double *y, const int *order, int takes)
{
    const spot_evolution_rates *r = &e->rates;
    const int n = e->dims;
    double sum = 0, old, *white = e->scratch;

    for (int i = 0; i < r->population; i++) sum += r->weight[i];
    old = 1 + r->rank_one * (1 - takes) * r->path_rate * (2 - r->path_rate) - r->rank_one - r->rank_mu * sum;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            e->covariance[j * n + k] = old * e->covariance[j * n + k] + r->rank_one * e->path[j] * e->path[k];
    for (int i = 0; i < r->population; i++) {
        const double *v = y + order[i] * n;
        double square = whiten(e, white, v), w = r->rank_mu * r->weight[i];
        if (w < 0) w *= square > 0 ? n / square : 0;
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) e->covariance[j * n + k] += w * v[j] * v[k];
    }
}

/* C = B D^2 B^T. The condition number of 10^14 is where C's small eigenvalues have no digits left. */
static bool decompose(spot_evolution *e)
{
    const int n = e->dims;
    double *work = e->scratch + 3 * n;

    for (int k = 0; k < n * n; k++)
        if (!isfinite(e->covariance[k])) return false;
    memcpy(e->axis, e->covariance, (size_t)n * (size_t)n * sizeof *e->axis);
    if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', n, e->axis, n, e->length, work, WORK * n)) return false;
    if (!(e->length[0] > 1e-14 * e->length[n - 1])) return false;
    for (int j = 0; j < n; j++) e->length[j] = sqrt(e->length[j]);
    return isfinite(e->sigma) && e->sigma > 0;
}

bool spot_evolution_learn(spot_evolution *e, const double *y, const double *loss, int *order)
{
    int takes;

    sort_points(order, loss, e->rates.population);
    takes = move_mean(e, y, order);
    adapt_covariance(e, y, order, takes);
    e->generation++;
    return decompose(e);
}
