/* forest_grow.h - what the files of forests share. */
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

/* Room for kept rows, zeroed; what makes them possible. */
spot_status spot_forest_kept_take (spot_ctx *c, spot_forest *f, int rows);
spot_status spot_forest_kept_check(spot_ctx *c, const spot_forest *f, const char *name);
void        spot_forest_kept_free (spot_forest_kept *k);

/* The rows are finite and have the forest's features. */
spot_status spot_forest_check_rows(spot_ctx *c, const spot_forest *f, spot_mat x);

#endif
