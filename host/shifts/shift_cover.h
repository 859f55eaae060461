/* shift_cover.h - how much of the real pictures the pictures of a folder cover, class by class, in the encoder's features
 * (stats/cover.h). A generated picture covers real ones of its own class alone. Features have length 1, so that near ones are
 * those that the filter calls similar. */
#ifndef SPOTTER_SHIFT_COVER_H
#define SPOTTER_SHIFT_COVER_H

#include "spotter/shifts.h"

/* Pictures in the order of their classes. */
typedef struct { const float *feature; const int *cls; int n; } spot_shift_featured;

/* Makes each row's length 1; none is zero. */
void spot_shift_unit_rows(float *feature, int n, int dim);

/* all: the pictures i of `made` with in[i], of all classes that have enough of both kinds. of_class (classes): of each class;
 * NULL: not wanted. */
spot_status spot_shift_cover_of(spot_ctx *c, spot_shift_cover *all, spot_shift_cover *of_class, int classes, int dim,
                                const spot_shift_featured *real, const spot_shift_featured *made, const uint8_t *in);

/* Bytes of a call, when no class has more than so many pictures. */
size_t spot_shift_cover_bytes(const spot_ctx *c, int classes, int dim, int real, int made);

#endif
