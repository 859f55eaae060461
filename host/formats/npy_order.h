/* npy_order.h - values of a .npy in the order of C and of this machine. */
#ifndef SPOTTER_NPY_ORDER_H
#define SPOTTER_NPY_ORDER_H

#include "formats/formats.h"

/* Bytes beside the values that spot_npy_take_columns needs for a's rows of values of `size` bytes. */
size_t spot_npy_column_bytes(const spot_array *a, size_t size);

/* Reads the values of a (its rank, dim and count), of `size` bytes each, which lie column after column (Fortran order), into
 * out in the order of C. Some columns are read at a time. */
spot_status spot_npy_take_columns(spot_ctx *c, void *out, const spot_array *a, size_t size, spot_stream *in);

/* Exchanges the bytes of n numbers of 2, 4 or 8 bytes. */
void spot_npy_swap(void *values, size_t n, size_t size);

#endif
