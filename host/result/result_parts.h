/* result_parts.h - what JSON and tables both ask of a quantity. */
#ifndef SPOTTER_RESULT_PARTS_H
#define SPOTTER_RESULT_PARTS_H

#include "result/result.h"

/* The struct that an OBJECT describes. */
const void *spot_quantity_part(const spot_quantity *q, const void *row);

uint64_t spot_quantity_seed(const spot_quantity *q, const void *row);      /* a double does not hold it */

bool spot_quantity_is_text(const spot_quantity *q);
bool spot_quantity_has(const spot_quantity *q, const spot_quantity_value *v);

#endif
