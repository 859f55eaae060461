/* gaussian_process.h - a Gaussian process with the Matern 5/2 kernel: likelihood, fit, posterior, and points that are added.
 *
 *     k(a, b) = amplitude (1 + s + s^2 / 3) exp(-s),   s^2 = 5 sum over features ((a - b) / length)^2
 *     z = (y - mean) / scale ~ N(0, k + noise I)
 *
 * Equations are Rasmussen and Williams' (2006): the kernel is 4.17, posterior and likelihood algorithm 2.1, the likelihood's
 * slope 5.9. The examiners that search with a process are its users, by host/examine/surrogate.h.
 *
 * A process belongs to one thread at a time. All work is double, by OpenBLAS on one thread (spot_ctx_open sees to that), so
 * bits depend on nothing but the input. Functions that may run inside an OpenMP loop return false or a value where others
 * return a status; the caller writes the sentence. */
#ifndef SPOTTER_GAUSSIAN_PROCESS_H
#define SPOTTER_GAUSSIAN_PROCESS_H

#include <signal.h>
#include <stdbool.h>

#include "spotter/arena.h"
#include "spotter/rng.h"

enum { SPOT_GP_FEATURES = 32, SPOT_GP_VALUES = SPOT_GP_FEATURES + 2 };

/* Features that share a length scale: all (isotropic), none (ARD), or the sine and the cosine of one angle. */
typedef struct {
    int features, scales;                  /* 1 <= scales <= features <= SPOT_GP_FEATURES */
    int scale_of[SPOT_GP_FEATURES];        /* (features): from 0 to scales - 1 */
} spot_gp_shape;

typedef struct {
    double length[SPOT_GP_FEATURES];       /* (scales), above 0 */
    double amplitude, noise;               /* variances of z, above 0 */
} spot_gp_kernel;

/* z = y; y - mean; that over its deviation */
typedef enum { SPOT_GP_RAW, SPOT_GP_CENTRED, SPOT_GP_SCALED } spot_gp_scaling;

/* The value of each parameter lies in [least, most]; equal ends keep it. spread: deviation of a normal prior on the log of each
 * length around the log of `center`; 0: none. */
typedef struct {
    double length[2], amplitude[2], noise[2];
    double center, spread;
    int    restarts;                       /* further starts, log-uniform between the ends */
    int    evaluations;                    /* at most so many likelihoods a start */
    double tolerance;                      /* of the log likelihood */
    const volatile sig_atomic_t *stop;     /* non-zero ends the search early; may be NULL */
} spot_gp_search;

typedef struct {
    spot_gp_shape   shape;
    spot_gp_kernel  kernel;
    spot_gp_scaling scaling;
    int     most, n;           /* room for points, which is the length of a row of every matrix, so that points can be added in
                                * place; points */
    double *x, *over;          /* (features, most): a feature's values lie side by side; over: divided by the length scale */
    double *y, *z, *weight;    /* (most): told; scaled; (k + noise I)^-1 z */
    double  mean, scale;       /* of y */
    double *factor;            /* (most, most): rows of the lower Cholesky factor */
    double *inverse, *row;     /* scratch: (most, most), (SPOT_GP_ROWS, most) */
} spot_gp;

enum { SPOT_GP_ROWS = 128 };   /* points of one product */

/* A process of no points, with room for `most`. */
spot_status spot_gp_take(spot_ctx *c, spot_arena *a, spot_gp *g, const spot_gp_shape *shape, spot_gp_scaling scaling, int most);

/* The points become x (n, features) and y (n), n <= most; mean and scale follow. The factor is not made yet. */
void spot_gp_set(spot_gp *g, const double *x, const double *y, int n);

/* Takes a kernel and makes factor and weights: n^3 / 3. Where rounding makes the matrix indefinite (points that repeat, hardly
 * any noise), more noise is added, to at most a hundredth of the amplitude. False: not even then. */
bool spot_gp_factor(spot_gp *g, const spot_gp_kernel *kernel);

/* Adds `count` points to a process with a factor: count n^2. Mean, scale and weights are those of all points. believe: one
 * point whose y is its posterior mean: means stay, deviations shrink (kriging believer, Ginsbourger et al. 2010), so that the
 * next point of a batch lies elsewhere. forget: the first n points stay;
 * after points that were believed it gives back what was before. False: the room is full or the matrix is indefinite; nothing
 * is changed. */
bool spot_gp_append (spot_gp *g, const double *x, const double *y, int count);
bool spot_gp_believe(spot_gp *g, const double *x);
void spot_gp_forget (spot_gp *g, int n);

/* The log marginal likelihood of z under a kernel, and its slope by the logs of lengths, amplitude, noise (scales + 2) unless
 * NULL. The factor becomes that of this kernel. -INFINITY: the matrix is indefinite. */
double spot_gp_likelihood(spot_gp *g, const spot_gp_kernel *kernel, double *slope);

/* The kernel of the greatest likelihood (with the prior): local searches from g->kernel and from log-uniform draws. False: no
 * kernel has a finite one. A stopped search has the best so far. Factor and weights are made. */
bool spot_gp_fit(spot_gp *g, const spot_gp_search *s, spot_rng *r);

/* Posterior of the noiseless function at x (m, features), in units of y. deviation may be NULL. A process without points has
 * mean 0 and the kernel's deviation. */
void spot_gp_posterior(spot_gp *g, const double *x, int m, double *mean, double *deviation);

/* The same for m points whose rows of the solved kernel, solved (m, most), are kept: solved = L^-1 k. After spot_gp_believe
 * `again` brings deviations and rows up to date with n work a point; the means are as before. */
void spot_gp_look (spot_gp *g, const double *x, int m, double *mean, double *deviation, double *solved);
void spot_gp_again(spot_gp *g, const double *x, int m, double *deviation, double *solved);

/* The covariance of the posterior at x (m, features), whose rows spot_gp_look has solved: its lower factor over joint (m, m),
 * so that mean + joint e, e normal, is a sample of the function. over (features, m): scratch. False: the matrix is
 * indefinite. */
bool spot_gp_joint(const spot_gp *g, const double *x, int m, const double *solved, double *joint, double *over);

/* The same at one point, with slopes (features). Where the deviation is 0 its slope is 0. */
void spot_gp_slope(spot_gp *g, const double *x, double *mean, double *deviation, double *mean_slope, double *deviation_slope);

#endif
