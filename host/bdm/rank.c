/* rank.c - see rank.h. */
#include "bdm/rank.h"

#include <stdlib.h>

int spot_rank_order(const void *a, const void *b)
{
    const spot_rank *x = a, *y = b;

    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return x->part != y->part ? x->part - y->part : x->which - y->which;
}

void spot_ranks_sort(spot_rank *ranks, int n) { qsort(ranks, (size_t)n, sizeof *ranks, spot_rank_order); }
