/* order.c - see order.h. */
#include "base/order.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int compare_integers(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

void spot_sort_doubles(double *v, size_t n) { qsort(v, n, sizeof *v, compare_doubles); }
void spot_sort_ints(int *v, size_t n) { qsort(v, n, sizeof *v, compare_integers); }
