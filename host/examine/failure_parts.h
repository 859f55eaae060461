/* failure_parts.h - the parts of spot_failures: what a run records while a model is open, and what is made of it later. */
#ifndef SPOTTER_FAILURE_PARTS_H
#define SPOTTER_FAILURE_PARTS_H

#include "examine/examine_search.h"
#include "examine/failure_rules.h"
#include "base/text.h"
#include "spotter/failures.h"

/* ---- recorded by a run ---- */

/* The picture of a unit, fresh renders around its lowest p; and, as the config's maps say, its renders along the factors and
 * the random renders of its object. Fills usual_p, fresh, fresh_valid, scanned and mapped of the result, else complete. */
spot_status spot_failure_record(spot_ctx *c, spot_examine_result *r, spot_examine_group *g, const spot_examine_problem *p);

/* Renders of a unit for its picture, at most, for its fresh renders, its scan and its map. */
typedef struct { double strip, fresh, scan, map; } spot_failure_unit_spent;
spot_failure_unit_spent spot_failure_unit_renders(const spot_examine_config *cfg, const spot_examine_unit *u, int dims);

/* Renders of a run for maps and for scans, and fresh ones. */
typedef struct { double maps, scans, fresh; } spot_failure_spent;
spot_failure_spent spot_failure_renders(const spot_examine_config *cfg, int dims);

/* Paths below a run's directory. */
void spot_failure_map_path  (char *path, size_t size, const char *dir, int unit);
void spot_failure_scan_path (char *path, size_t size, const char *dir, int unit);
void spot_failure_strip_path(char *path, size_t size, const char *dir, int unit);

/* Renders of a search for its picture: at most `most` of the valid ones of lowest p, or of highest in strength mode. Returns
 * their number. */
int spot_failure_worst(int *row, int most, const spot_examine_history *h, const spot_factor_space *s, int mode);

/* ---- made of what is recorded ---- */

/* The renders that a search looks for: p below a value, or above it in strength mode. */
typedef struct { double p; bool above; } spot_failure_cut;

static inline spot_failure_cut spot_failure_cut_of(const spot_examine_search *s)
{
    const bool above = s->mode == SPOT_MODE_STRENGTH;

    return (spot_failure_cut){ above ? 1 - s->fails : s->fails, above };
}

static inline bool spot_failure_is(spot_failure_cut cut, double p) { return cut.above ? p > cut.p : p < cut.p; }

/* A scan's p (axes, SPOT_SCAN_STEPS) becomes axes with their points. from: the conditions of the lowest p, or the highest. */
void spot_failure_axes(spot_failure_scan *scan, const spot_factor_space *s, const double from[SPOT_FACTORS],
                       spot_failure_cut cut, const float *p, const uint8_t *valid);

/* Random renders of some objects of a model, one object behind the other; rules are found on an object's even numbers, and its
 * odd ones test them. */
typedef struct {
    int n;
    spot_conditions *at;           /* (n) */
    float   *p;                    /* (n) */
    uint8_t *valid;                /* (n) */
    int     *number;               /* (n): of the render in its object's file */
} spot_random_renders;

void spot_failure_count_map(spot_failure_map *m, const spot_random_renders *r, const spot_factor_space *s,
                            spot_failure_cut cut);

/* The mixture of the failures; m has model and cls. */
spot_status spot_failure_fit_mixture(spot_ctx *c, spot_failure_mixture *m, const spot_random_renders *r,
                                     const spot_factor_space *s, spot_failure_cut cut);

/* Clusters of rows that a method found. */
enum { SPOT_FAILURE_CLUSTERS = 24 };
typedef struct { char source[24]; uint8_t *member; } spot_failure_cluster;         /* member (n) */
typedef struct { int n; spot_failure_cluster cluster[SPOT_FAILURE_CLUSTERS]; } spot_failure_clusters;

/* The clusters of PlaneSpot and of Barlow on a view whose features are the factors, and one of all rows. Close it also after a
 * failure. */
spot_status spot_failure_clusters_find (spot_ctx *c, spot_failure_clusters *k, const spot_failure_rows *rows, float *p,
                                        const spot_factor_space *s);
void        spot_failure_clusters_close(spot_failure_clusters *k);

/* Rules of one group of objects, tested, not yet corrected, into finding (SPOT_FAILURE_RULES): all but model, cls, confirmed,
 * overlap, learned and objects. *n: their number. */
enum { SPOT_FAILURE_RULES = 5 };
spot_status spot_failure_find_rules(spot_ctx *c, spot_failure_finding *finding, int *n, const spot_random_renders *r,
                                    const spot_factor_space *s, spot_failure_cut cut);

/* The shares of the variance of p into share (dims + 1), the greatest first; *n: their number, 0 where there are too few
 * renders or all have one p. Fills all but model. */
spot_status spot_failure_shares(spot_ctx *c, spot_failure_share *share, int *n, const spot_random_renders *r,
                                const spot_factor_space *s);

/* Corrects the findings of a model and puts them in order. */
spot_status spot_failure_confirm(spot_ctx *c, spot_failure_finding *finding, int n);

/* Volume that a rule and the planted region share / volume of either, on 65,536 random points; what the search does not change
 * has the values fixed (objects), of one object after the other. */
double spot_failure_overlap(const spot_failure_rule *rule, const spot_examine_model *m, const spot_factor_space *s,
                            const spot_conditions *fixed, int objects);

/* Everything about a run whose results are all there. What has no file, because a merge left it out, is missing. */
spot_status spot_failures_collect(spot_ctx *c, spot_failures *f, const spot_examine_results *r, const char *dir);

/* Collects the failures and writes DIR/failures.json. */
spot_status spot_failures_write(spot_ctx *c, spot_failures *f, const spot_examine_results *r, const char *dir, const char *key);

/* The document failures.json, on one line, added to out. */
spot_status spot_failures_document(spot_ctx *c, spot_text *out, const spot_failures *f, const spot_examine_results *r,
                                   const char *key);

#endif
