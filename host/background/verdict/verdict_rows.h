/* verdict_rows.h - the labelled models of a table, and the forest that Spotter was built with. */
#ifndef SPOTTER_VERDICT_ROWS_H
#define SPOTTER_VERDICT_ROWS_H

#include "spotter/verdict.h"

typedef struct {
    int      n;
    float   *x;                /* (n, features) */
    uint8_t *y;                /* (n): labels */
    int     *model;            /* (n): rows of the table */
    float   *accuracy;         /* (n) */
    int     *group;            /* (n): 0..groups - 1: the run, or, of few runs, a tenth of the models */
    int      groups;
} spot_verdict_rows;

/* SPOT_INPUT where they are too few, or of one label. Free r also after a failure. */
spot_status spot_verdict_rows_take(spot_ctx *c, spot_verdict_rows *r, const spot_verdict_table *t,
                                   const spot_verdict_labels *l);
void        spot_verdict_rows_free(spot_verdict_rows *r);

/* A file made by tools/default_forest, built in by default_forest.cmake; size 0: this build has none. */
extern const unsigned char spot_default_forest[];
extern const size_t spot_default_forest_size;

#endif
