/* chain.h - view -> points -> hypotheses: one method on a batch of problems (ECs of a sweep, classes of a subject).
 *
 * A step recalls a problem's value from the store, computes the missing values in one call and keeps them. If the call fails
 * because of one problem, or because of their number, it is repeated with each half until one problem is left. The study
 * decides about that problem; the others continue. */
#ifndef SPOTTER_CHAIN_H
#define SPOTTER_CHAIN_H

#include "spotter/bdm.h"
#include "store/store.h"

/* The arrays have `count` entries. */
typedef struct {
    spot_ctx        *c;
    spot_arena      *a;                    /* holds the values */
    spot_arena      *on_device;                /* holds the points once more, in the memory of c's device; NULL: it does not */
    const spot_store *store;               /* NULL: nothing is recalled or kept */
    const spot_bdm_config *method;
    const char      *who;                  /* the method's name in the log; may be NULL */
    int              count;
    bool            *skip;                 /* the problem is left out; set by the study and after a failure */
    spot_view       *view;                 /* with the features that the method looks at */
    spot_seed       *seed;
    spot_key        *points_key, *found_key;
    spot_points     *points;               /* spot_chain_points computes those whose `at` is NULL; device_at, unless NULL:
                                              the same points, if the store has them */
    spot_hypotheses *found;
    spot_fit        *fit;                  /* NULL: not asked for. Hypotheses without a fit in the store are then computed.
                                              The study closes the fits */
    void            *study;                /* passed to the two callbacks */

    /* Decides about a problem that failed: SPOT_OK lets the others continue and must forget the failure. */
    spot_status    (*judge)(void *study, int problem, spot_status s);

    /* Called when a value was computed, in `seconds`, and kept; may be NULL. */
    void           (*kept)(void *study, int problem, const char *kind, double seconds);
} spot_chain;

/* Takes the arrays from k->a. The caller sets everything else. */
spot_status spot_chain_open(spot_chain *k, int count, bool fits);

/* The two steps. After a stop request they return once the computed values are kept. They return any failure that does not
 * concern a single problem (disk, device, stop). */
spot_status spot_chain_points(spot_chain *k);
spot_status spot_chain_found (spot_chain *k);

/* Memory for the arrays, and for the two steps of a method on views of n[p] rows of `features` numbers, without the views.
 * `after`: bytes that the study needs beside the hypotheses. */
size_t     spot_chain_bytes(int count, bool fits);
spot_bytes spot_chain_method_needs(const spot_ctx *c, const spot_bdm_config *cfg, int count, const int *n, int features,
                                   size_t after);

/* Whether two methods look at the same points; whether a method before bdm[b] looks at the points of bdm[b].
 * same_features: all methods look at the same features, whatever their representation. */
bool spot_same_points(const spot_bdm_config *a, const spot_bdm_config *b, bool same_features);
bool spot_has_points_before(const spot_bdm_config *bdm, int b, bool same_features);

/* A verdict is a failure that the same settings would meet again: the loss is not finite, a blindspot has no test images. It
 * is a result. */
bool spot_is_verdict(spot_status s);

/* A verdict, or lack of memory or of a kernel: the other problems may still succeed. */
bool spot_concerns_one_problem(spot_status s);

#endif
