/* forest_grow.h - functions that the files of forests share: fitting (forest_fit.c), boosting (forest_boost.c), files with
 * their checks (forest.c, forest_file.c). */
#ifndef SPOTTER_FOREST_GROW_H
#define SPOTTER_FOREST_GROW_H

#include "core/problems.h"
#include "spotter/forest.h"

#define SPOT_FOREST_BATCH ((size_t)256 << 20)      /* bytes of the weights of trees that grow together */

/* Forests being fitted. */
typedef struct {
    spot_forest *out;                  /* (forests) */
    const spot_forest_config *cfg;
    spot_arena  *a;
    spot_trees  *trees;                /* a table for each forest */
} spot_forest_fitting;

/* A forest that is being boosted. */
typedef struct {
    double *weight;            /* (rows): add up to 1 */
    bool    done;
} spot_boosting;

/* Appends a tree; f->trees and f->start count it. */
spot_status spot_forest_add(spot_ctx *c, spot_forest *f, const spot_tree *t);

/* Boosts all forests, one round at a time. */
spot_status spot_forest_boost(spot_ctx *c, const spot_forest_fitting *b, const spot_forest_rows *rows, int forests);

/* The rows that a forest was fitted to (spot_forest_kept). take: room for them, zeroed. check: SPOT_INPUT where rows of a file
 * are not such as a fit leaves. */
spot_status spot_forest_kept_take (spot_ctx *c, spot_forest *f, int rows);
spot_status spot_forest_kept_check(spot_ctx *c, const spot_forest *f, const char *name);
void        spot_forest_kept_free (spot_forest_kept *k);

/* The rows are finite and have the forest's features. */
spot_status spot_forest_check_rows(spot_ctx *c, const spot_forest *f, spot_mat x);

#endif
