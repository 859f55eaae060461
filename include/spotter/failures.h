/* failures.h - where a classifier fails: the failures of an examination (examine.h) as maps, points, pictures and words.
 *
 *     random renders, drawn for the maps and for no search -> maps over the spheres of camera and lamp; the distribution of
 *                                                             failures as a mixture; findings in words, tested
 *     the lowest p of a search -> renders along each factor -> the points at which failure begins
 *     the renders of a search  -> a picture of the usual render and of the five worst ones
 *
 * A search looks for failures, so its renders say nothing about how often conditions fail. Everything that is counted here is
 * counted on random renders, uniform in the factors that the search changes. They count as spent on maps, for no examiner.
 * A failure is a render whose p is below search.fails. In strength mode, which looks for the conditions that a model likes
 * best, maps, mixtures, scans and findings are about renders whose p is above 1 - search.fails in place of failures, and
 * "lowest" is the highest p. Mixtures and findings use valid renders alone.
 *
 *     DIR/maps/000/unit-000012.safetensors          random renders of an object, as a search's file has them; unit: the first
 *                                                   search of the model and the object
 *     DIR/searches/000/unit-000012.png              the pictures, one beside the other
 *     DIR/searches/000/unit-000012.scan.safetensors the renders along the factors
 *     DIR/failures.json                             all numbers of spot_failures, made of these files */
#ifndef SPOTTER_FAILURES_H
#define SPOTTER_FAILURES_H

#include <stdbool.h>
#include <stddef.h>

#include "spotter/examine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. maps ---- */

/* A sphere in cells of equal area: twelve bands from the south pole to the north, a band of 4, 10, 14, 20, 22 or 24 cells. */
enum { SPOT_SPHERE_BANDS = 12, SPOT_SPHERE_CELLS = 188 };

typedef struct { double south, north, from, to; } spot_sphere_cell;        /* degrees: elevations, azimuths from 0 to 360 */

spot_sphere_cell spot_sphere_cell_of(int cell);
int              spot_sphere_find(double azimuth, double elevation);       /* any azimuth; the elevation from -90 to 90 */

typedef enum { SPOT_SPHERE_CAMERA, SPOT_SPHERE_LAMP, SPOT_SPHERES } spot_sphere;

/* Random renders of a cell, or of all cells. spot_share_of(failing, renders) is their share with its interval. */
typedef struct {
    int    renders, valid;
    int    failing, failing_valid;
    double mean, mean_valid;       /* p; NaN: none */
} spot_failure_count;

/* cls -1: all objects of the model; object -1: all of the class. has: azimuth and elevation are both factors of the search. */
typedef struct {
    int    model, cls, object;
    spot_failure_count all;
    bool   has[SPOT_SPHERES];
    spot_failure_count cell[SPOT_SPHERES][SPOT_SPHERE_CELLS];
} spot_failure_map;

/* ---- 2. the distribution of failures ---- */

#define SPOT_MAX_FAILURE_COMPONENTS 8

/* In the factors' units; NaN for factors outside of the search. centre of a whole turn: the mean direction, and spread: the
 * circular standard deviation. */
typedef struct { double weight, centre[SPOT_FACTORS], spread[SPOT_FACTORS]; } spot_failure_component;

/* A Gaussian mixture, its size by BIC, in the unit cube with a whole turn as a circle of diameter 1. */
typedef struct {
    int    model, cls;             /* cls -1: all objects */
    int    failures;               /* renders that it is fitted to; components is 0 where they are too few */
    int    components;
    double bic;
    spot_failure_component component[SPOT_MAX_FAILURE_COMPONENTS];     /* the greatest weight first */
} spot_failure_mixture;

/* ---- 3. along the factors ---- */

enum { SPOT_SCAN_STEPS = 33 };

/* Renders from one end of a factor's range to the other; all other factors are those of the lowest p. */
typedef struct {
    int    factor;
    double at[SPOT_SCAN_STEPS], p[SPOT_SCAN_STEPS];
    int    valid[SPOT_SCAN_STEPS];
    /* The nearest values below and above the lowest one at which p rises through search.fails, linear between two renders. NaN:
     * there is none up to the end of the range, or the lowest p is no failure. A whole turn is followed for half a turn. */
    double below, above;
} spot_failure_axis;

typedef struct {
    int    unit, model, cls, object;
    double p;                      /* the lowest one, valid where there is a valid one */
    int    axes;
    spot_failure_axis axis[SPOT_FACTORS];
} spot_failure_scan;

/* ---- 4. pictures ---- */

enum { SPOT_STRIP_PICTURES = 6 };

/* render: its number in the search's file; of the usual one, the first picture, in the random renders of the start. */
typedef struct { int render; double p, at[SPOT_FACTORS]; } spot_failure_picture;

/* The usual render, whose p is nearest to the mean of the start; then valid renders of the lowest p, in strength mode of the
 * highest, any two of which differ by at least 5 % of a range in a factor. */
typedef struct {
    int  unit, pictures;
    char path[64];                 /* below DIR */
    spot_failure_picture picture[SPOT_STRIP_PICTURES];
} spot_failure_strip;

/* ---- 5. findings in words ---- */

#define SPOT_MAX_RULE_LIMITS 3

/* Conditions within all limits. least above most: from least over the full turn on to most. */
typedef struct { int limits; spot_examine_limit limit[SPOT_MAX_RULE_LIMITS]; } spot_failure_rule;

bool   spot_failure_rule_holds (const spot_failure_rule *r, const spot_conditions *at);
double spot_failure_rule_volume(const spot_failure_rule *r, const spot_factor_space *s);   /* its share of the cube */

/* "|camera elevation| above 60 degrees, camera distance below 2.5 diagonals" */
void   spot_failure_rule_words(char *words, size_t size, const spot_failure_rule *r, const spot_factor_space *s);

/* A rule is found on every second random render. The others test it: whether renders fail more often inside than outside, by
 * Fisher's exact test, one-sided, with Holm's correction over all rules of the model. The first rule of some objects, of rank
 * 0, is tested on all their renders of that half, the next ones on those that no rule of a lower rank has. */
typedef struct {
    int    model, cls, rank;       /* cls -1: all objects */
    spot_failure_rule rule;
    char   words[256];
    char   source[24];             /* whose cluster became the rule: planespot, barlow; or all failures */
    double volume;
    int    renders;                /* of the test: inside; outside */
    int    renders_outside;
    double mean_inside, mean_outside;      /* p */
    spot_interval inside, outside; /* shares that fail */
    double covered;                /* share of all failures that the test has in the rule, and in none before; NaN: none */
    double p, adjusted;
    bool   confirmed;              /* adjusted is below .05. Only such a rule is a finding */
    double overlap;                /* with the planted region: volume of both / volume of either; NaN: none is planted */
    int    learned, objects;       /* objects of the class, or all: those that learned the planted region; -1: none */
} spot_failure_finding;

/* ---- 6. the variance of p ---- */

/* Share of the variance of p, over the valid random renders of all objects of a model, that a factor explains alone: its
 * first-order Sobol index, S = Var(E[p | factor]) / Var(p). It is estimated from the renders as they are (Plischke, Borgonovo
 * and Smith 2013, "Global sensitivity measures from given data"): a factor's range is cut into bins of equal width, and
 *     S = (B - (bins - 1) W / (n - bins)) / (B + W)
 * with B and W the sums of squares between the bins' means and within the bins. The second term is what B has by chance, so S
 * may be a little below 0. The shares need not add up to 1: the rest belongs to factors together. The interval is a jackknife
 * over objects with their suns; NaN for one object. */
#define SPOT_SHARE_OF_OBJECT (-1)  /* in place of a factor: which object it is, with its sun */
typedef struct { int model, factor; spot_interval share; } spot_failure_share;

/* ---- all ---- */

typedef struct spot_failures {
    double fails;                  /* search.fails; in strength mode 1 - search.fails */
    int    spent_maps, spent_scans;        /* renders of all models */
    int    maps, mixtures, scans, strips, findings, shares;
    spot_failure_map     *map;     /* of a model: all, then its classes, then its objects */
    spot_failure_mixture *mixture; /* of a model: all, then its classes */
    spot_failure_scan    *scan;
    spot_failure_strip   *strip;
    spot_failure_share   *share;   /* of a model: those of its factors, the greatest first; none where no p varies */
    spot_failure_finding *finding; /* of a model: confirmed ones first; then by failures beyond the share outside */
} spot_failures;

/* Reads DIR/failures.json, which the run that ends last writes. SPOT_IO where it is not there yet. Close it also after a
 * failure. */
spot_status spot_failures_read (spot_ctx *c, spot_failures *f, const char *dir);
void        spot_failures_close(spot_failures *f);

/* The document failures.json, on one line; the caller frees it. */
spot_status spot_failures_json(spot_ctx *c, char **json, size_t *n, const spot_failures *f, const spot_examine_results *r);

#ifdef __cplusplus
}
#endif
#endif
