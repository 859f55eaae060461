/* examine_choose.h - which objects of a model are examined. */
#ifndef SPOTTER_EXAMINE_CHOOSE_H
#define SPOTTER_EXAMINE_CHOOSE_H

#include "examine/examine_look.h"
#include "store/store.h"

/* Who looks, and under which conditions. */
typedef struct {
    spot_examine_looker *look;
    const spot_factor_space *space;
    const spot_conditions *fixed;
} spot_examine_viewer;

/* entry (objects of a model): class by class, per_class of each. BEST looks at all held-out objects and remembers in the
 * store's cache how well the model knows each. hash: the model's. */
spot_status spot_examine_choose(spot_ctx *c, int *entry, const spot_examine_viewer *v, const spot_examine_model *m,
                                const char *hash, const spot_store *store);

/* The first n random renders of an object: the same ones for every examiner. mean: of p; usual: the one whose p is nearest to
 * it; answer (n) as in spot_examine_result, or NULL. */
typedef struct { double mean; int usual; int *answer; } spot_examine_first_look;
spot_status spot_examine_start(spot_ctx *c, spot_examine_first_look *first, const spot_examine_viewer *v, int entry, int n);

#endif
