/* trees.h - the tables that trees are grown from, as tree_tables.c makes and tree_grow.c uses them. */
#ifndef SPOTTER_TREES_H
#define SPOTTER_TREES_H

#include "fit/tree_split.h"

/* Columns that a node of d looks at. */
static inline int spot_tree_tries(int d, const spot_tree_config *cfg)
{
    return cfg->columns && cfg->columns < d ? cfg->columns : d;
}

/* Does a tree of this config keep one list of rows (tree_split.h)? */
static inline int spot_tree_has_list(const spot_ctx *c, int d, const spot_tree_config *cfg)
{
    return !c->device && spot_tree_tries(d, cfg) < d;
}

struct spot_trees {
    spot_tree_config cfg;
    int tables;
    const spot_tree_table *table;      /* (tables): the caller's */
    spot_tree_problem     *op;         /* (tables): the members that the trees of a table share */
    spot_arena on_device;                  /* the device's memory; unused on the CPU */
};

#endif
