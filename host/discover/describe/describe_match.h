/* describe_match.h - the figures of a conjunction of items on some rows of a class. */
#ifndef SPOTTER_DESCRIBE_MATCH_H
#define SPOTTER_DESCRIBE_MATCH_H

#include "spotter/describe.h"

static inline bool spot_item_holds(const spot_attributes *a, int item, int row)
{
    return a->bit[(size_t)item * a->words + (size_t)row / 64] >> (row % 64) & 1;
}

/* row (rows): rows of the class by index; NULL: all. member (p->n): 1 for a row of the group. */
spot_match spot_match_on(const spot_conjunctions_problem *p, const int *item, int items, const uint8_t *member, const int *row,
                         int rows);

#endif
