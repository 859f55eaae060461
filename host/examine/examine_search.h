/* examine_search.h - the objects of one model, examiner and seed, searched together. */
#ifndef SPOTTER_EXAMINE_SEARCH_H
#define SPOTTER_EXAMINE_SEARCH_H

#include "examine/examine_look.h"
#include "examine/examine_result.h"
#include "spotter/work.h"

/* One object: the caller fills the first block, the search the second. */
typedef struct {
    int unit, entry;
    uint32_t number;               /* spot_examine_number */
    char key[33];                  /* of everything that the renders depend on */

    spot_conditions fixed;         /* NaN for the factors of the space */
    spot_examine_history history;
    spot_examine_progress progress;
    int known, kept_points;        /* renders that an interrupted search has left, and points of its curve */
    spot_examine_point point[SPOT_MAX_EXAMINE_POINTS];
    int lowest;                    /* the render of the last lowest_valid, or of lowest */
} spot_examine_problem;

typedef struct {
    const spot_examine_config *cfg;
    const spot_factor_space *space;
    const spot_conditions *fixed;  /* of all objects: NaN for those that are drawn and for those of the space */
    spot_examine_looker *look;
    const spot_examine_model *model;
    const spot_examiner_config *examiner;
    uint64_t seed;
    const char *dir;
    const spot_work *work;         /* for the progress, and the units that are done */
    int problems;
    spot_examine_problem *problem;
    double spent;                  /* renders of the problems that have no result yet */
} spot_examine_group;

/* Renders before the first search of an object; of a unit in all, by which its work is measured (examine_progress.c). dims: of
 * the space. */
double spot_examine_renders_before(const spot_examine_config *cfg, int unit);
double spot_examine_renders_of    (const spot_examine_config *cfg, int dims, int unit);

/* So many renders more of the group are done: tells the progress. */
void   spot_examine_spend(spot_ctx *c, spot_examine_group *g, double renders);

/* Factors that are fixed: for all objects, or drawn once for this one. */
spot_conditions spot_examine_fixed(const spot_examine_config *cfg, const spot_factor_space *space, const spot_conditions *fixed,
                                   uint32_t number);

/* Searches and writes the history of each object. After any failure the files hold the rounds so far, and the same call goes on
 * from there to the same numbers. spot_examine_problem_free: of each problem, also after a failure. */
spot_status spot_examine_search_objects(spot_ctx *c, spot_examine_group *g);
void        spot_examine_problem_free(spot_examine_problem *p);

/* A point near `from` (dims): a normal step in each dimension, of the standard deviation `deviation`. A turn goes on, another
 * range reflects. */
void spot_examine_near(double *x, const spot_factor_space *s, const double *from, double deviation, spot_rng *r);

/* Renders by the examiner at point k. */
int spot_examine_asked(const spot_examine_search *s, int k);

#endif
