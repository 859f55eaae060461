/* search_times.h - the time of a method's search at a few sizes, and what it lets expect at another. */
#ifndef SPOTTER_SEARCH_TIMES_H
#define SPOTTER_SEARCH_TIMES_H

#include "spotter/ctx.h"

enum { SPOT_SEARCH_SIZES = 4 };

/* The sizes ascend. square: rows from which on time grows with the rows, and no longer with their square; 0: never. */
typedef struct {
    int        count, slices[SPOT_SEARCH_SIZES];
    double     rows[SPOT_SEARCH_SIZES], seconds[SPOT_SEARCH_SIZES], square;
    spot_spent spent;                  /* by all of its trials */
} spot_search_times;

/* Seconds of a search of as many rows. Some methods take time with the rows, others with their square, and some change from one
 * to the other. count is 1 at least. */
double spot_search_seconds(const spot_search_times *t, double rows);

#endif
