/* surrogate.h - what the examiners with a Gaussian process share: the points so far, a bounded set of them, features, a pool of
 * candidates with their posterior.
 *
 * Each thread has a Gaussian process of its own and gives it the points of one problem after another; between two asks only
 * points and kernels are kept. So a search that is told again what it was told goes on alike. */
#ifndef SPOTTER_SURROGATE_H
#define SPOTTER_SURROGATE_H

#include "examine/examiners.h"
#include "stats/gaussian_process.h"

enum { SPOT_SURROGATE_DESKS = 64 };

/* CIRCLES: the cube, a whole turn as a circle. RAW: the factors in their units, in the order of their names. */
typedef enum { SPOT_FEATURES_CIRCLES, SPOT_FEATURES_RAW } spot_surrogate_kind;

/* The desk of a thread. x (most, features), y (most): the chosen points; which (most): their numbers, the best ones first. pool
 * (tries, dims), over (tries, features), mean, deviation (tries), solved (tries, most); joint (tries,
 * tries) and swap (features, tries): of a plan that samples. */
typedef struct {
    spot_gp g;
    int     n, *which;
    double *x, *y;
    double *pool, *over, *mean, *deviation, *solved, *joint, *swap;
} spot_surrogate_desk;

typedef struct {
    spot_examiner_search search;
    spot_arena memory;
    spot_gp_shape shape;
    spot_surrogate_kind features;
    int     dim[SPOT_FACTORS];         /* (dims): the dimension of each raw feature */
    int     told, best, last, spread, most, tries, desks;
    double *at, *loss;                 /* (problems, budget, dims), (problems, budget) */
    int    *kept;                      /* (problems, most): the points of the model, min(told, most); of a plan with `spread` */
    struct { int *list; double *place, *off, *apart; } choice;     /* scratch of tell: (room), (features, room), (room) twice */
    spot_gp_kernel *kernel, *next;     /* (problems): of the last ask; of the one that is being made */
    spot_surrogate_desk *desk;         /* (desks) */
} spot_surrogate;

typedef struct {
    int best;                          /* points of the model: of the greatest loss */
    int last, spread;                  /* either the newest, or those that lie far from each other */
    int extra;                         /* points of the batch, which are believed */
    int tries;                         /* room of the pool */
    bool joint;                        /* functions are sampled at the pool */
    bool ard;                          /* a length scale for each dimension */
    spot_gp_scaling scaling;
    spot_surrogate_kind features;
} spot_surrogate_plan;

/* bytes: for any number of threads. */
size_t      spot_surrogate_bytes(const spot_surrogate_plan *p, const spot_examiner_search *s);
spot_status spot_surrogate_open (spot_ctx *c, spot_surrogate *s, const spot_surrogate_plan *p,
                                 const spot_examiner_search *search);
void        spot_surrogate_close(spot_surrogate *s);
void        spot_surrogate_tell (spot_surrogate *s, const double *at, const double *loss, int n);

/* Threads of an OpenMP loop over the problems: one desk each. */
static inline int spot_surrogate_threads(const spot_ctx *c, const spot_surrogate *s)
{
    return c->threads < 1 ? 1 : c->threads < s->desks ? c->threads : s->desks;
}

/* The next n uniform points of every problem: at (problems, n, dims). */
void spot_surrogate_uniform(const spot_surrogate *s, double *at, int n);

/* Features of a point of the cube. A whole turn becomes a circle on which half a turn apart is half a side apart. */
void spot_surrogate_features(const spot_surrogate *s, double *feature, const double *x);
/* The slope by x of what has this slope by the features. */
void spot_surrogate_back(const spot_surrogate *s, double *slope, const double *feature_slope, const double *x);

/* The set of problem i; the desk's x, y and which. A plan with `last`: the newest of the points [from, told), and the best of
 * the others. A plan with `spread`, and from = 0: when points are told, the model keeps, of its points and the new ones, the
 * best, and then again and again the point that lies farthest from all kept ones, in length scales of the kernel (Gonzalez
 * 1985, farthest-first). A search crowds where losses are great; a set that is even in time or in loss is as crowded, knows no
 * longer that other places are worse, and explores them again. */
void spot_surrogate_choose(const spot_surrogate *s, spot_surrogate_desk *d, int i, int from);

/* A better kernel than *k, by the likelihood of at most SPOT_SURROGATE_FIT of the chosen points, spread evenly over them: the
 * work grows with the third power. *k stays where none is found. */
enum { SPOT_SURROGATE_FIT = 64 };
void spot_surrogate_fit(const spot_surrogate *s, spot_surrogate_desk *d, const spot_gp_search *search, spot_gp_kernel *k,
                        spot_rng *r);

/* Posterior of the first `tries` points of the pool; after a point was believed, the deviations with it. */
void spot_surrogate_look(const spot_surrogate *s, spot_surrogate_desk *d, int tries);
void spot_surrogate_look_again(const spot_surrogate *s, spot_surrogate_desk *d, int tries);

#endif
