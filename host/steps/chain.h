/* chain.h - view -> points -> hypotheses: one method on a batch of problems (ECs of a sweep, classes of a subject).
 *
 * A step recalls a problem's value from the store, computes the missing values in one call and keeps them. Where the call
 * fails because of one problem, or because of their number, it is repeated with each half, until the failure stands alone
 * with its problem. The study says what becomes of that problem; the others go on. */
#ifndef SPOTTER_CHAIN_H
#define SPOTTER_CHAIN_H

#include "spotter/bdm.h"
#include "spotter/store.h"

/* The arrays have `count` entries. The methods work on them as they are. */
typedef struct {
    spot_ctx        *c;
    spot_arena      *a;                    /* values are made in it */
    const spot_store *store;               /* NULL: nothing is recalled or kept */
    const spot_bdm_config *method;
    const char      *who;                  /* the method in lines of the log; may be NULL */
    int              count;
    bool            *skip;                 /* the problem takes no part any more; set by the study and after a failure */
    spot_view       *view;                 /* with the features that the method looks at */
    spot_seed       *seed;
    spot_key        *points_key, *found_key;
    spot_points     *points;               /* spot_chain_points makes those whose `at` is NULL */
    spot_hypotheses *found;
    spot_fit        *fit;                  /* NULL: not asked for. The store does not hold fits, so that with them
                                              hypotheses are not recalled. The study closes them */
    void            *study;                /* handed to the two callbacks */

    /* Says what becomes of a problem that failed: SPOT_OK lets the others go on and must forget the failure. */
    spot_status    (*judge)(void *study, int problem, spot_status s);

    /* Hears of a value that was computed and kept, in `seconds`; may be NULL. */
    void           (*kept)(void *study, int problem, const char *kind, double seconds);
} spot_chain;

/* Takes the arrays from k->a. All else is the caller's to set. */
spot_status spot_chain_open(spot_chain *k, int count, bool fits);

/* The two steps. A stop request is obeyed when what was computed is kept. A failure that is not one problem's own (disk,
 * device, stop) is the call's. */
spot_status spot_chain_points(spot_chain *k);
spot_status spot_chain_found (spot_chain *k);

/* Memory for views of n[p] rows of `features` numbers, beside the views: the arrays and a method's two steps. `after`: bytes
 * that the study takes beside the hypotheses. */
size_t     spot_chain_bytes(int count, bool fits);
spot_bytes spot_chain_method_needs(const spot_ctx *c, const spot_bdm_config *cfg, int count, const int *n, int features,
                                   size_t after);

/* Whether two methods look at the same points; whether an earlier method of the list looks at those of method b.
 * same_features: all look at the same features, whatever their representation. */
bool spot_same_points(const spot_bdm_config *a, const spot_bdm_config *b, bool same_features);
bool spot_has_points_before(const spot_bdm_config *bdm, int b, bool same_features);

/* A verdict is a failure that the same settings would meet again: the loss left the finite numbers, a blindspot has no test
 * images. It is a result. */
bool spot_is_verdict(spot_status s);

/* A verdict, or lack of memory or of a kernel: no reason to leave the other problems alone. */
bool spot_is_one_problems(spot_status s);

#endif
