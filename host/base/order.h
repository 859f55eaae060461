/* order.h - sorts plain numbers, ascending. */
#ifndef SPOTTER_ORDER_H
#define SPOTTER_ORDER_H

#include <stddef.h>

void spot_sort_doubles(double *v, size_t n);      /* no NaN among them */
void spot_sort_ints(int *v, size_t n);

#endif
