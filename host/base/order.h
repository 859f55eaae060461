/* order.h - sorts plain numbers and texts, ascending. */
#ifndef SPOTTER_ORDER_H
#define SPOTTER_ORDER_H

#include <stddef.h>

void spot_sort_doubles(double *v, size_t n);      /* no NaN among them */
void spot_sort_ints(int *v, size_t n);
void spot_sort_texts(const char **v, size_t n);   /* by bytes */

#endif
