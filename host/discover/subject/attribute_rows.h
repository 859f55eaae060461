/* attribute_rows.h - attributes as features: rows as columns of 0 and 1, one for each item. */
#ifndef SPOTTER_ATTRIBUTE_ROWS_H
#define SPOTTER_ATTRIBUTE_ROWS_H

#include "spotter/discover.h"

/* Whether method b looks at o->attributes; the numbers of a row that it looks at. */
bool spot_by_table(const spot_discover_options *o, int b);
int  spot_method_width(const spot_subject *s, const spot_discover_options *o, int b);

/* v: the rows of `of`, by of->image, with these columns (of->n, items) from a. It borrows the other arrays of `of`. */
spot_status spot_attribute_view(spot_ctx *c, spot_arena *a, spot_view *v, const spot_attributes *t, const spot_view *of);

/* Whether every method has the attributes that it looks at; SPOT_USAGE or SPOT_INPUT says what to give. */
spot_status spot_attribute_check(spot_ctx *c, const spot_subject *s, const spot_discover_options *o);

#endif
