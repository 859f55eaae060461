/* shift_pairs.h - a run of shifts beside its baseline: what both have. */
#ifndef SPOTTER_SHIFT_PAIRS_H
#define SPOTTER_SHIFT_PAIRS_H

#include "check/layers.h"

typedef struct {
    spot_checking *g;
    const spot_shift_counts *a, *b;            /* baseline, run */
    int *class_a, *class_b, classes;           /* (classes): the common ones' indices on both sides */
    int *model_a, *model_b, models;
    spot_check_number *number;
    int  numbers;
} spot_shift_comparison;

/* Finds the common classes and models; g->paired. Free v->class_a. */
spot_status spot_shift_pair(spot_shift_comparison *v);

/* The folder of this name; NULL: there is none. */
const spot_shift_folder *spot_shift_folder_find(const spot_shift_counts *s, const char *name);

/* The layer of bits. */
void spot_check_shift_bits(spot_shift_comparison *v);

#endif
