/* fit_rules.h - rules of attributes in the fit of a finding, and which new rows have their items. */
#ifndef SPOTTER_FIT_RULES_H
#define SPOTTER_FIT_RULES_H

#include "discover/subject/fits.h"

/* rule (slices): of each slice; without items where it is none. */
spot_status spot_fit_rules_put(spot_ctx *c, spot_fit *f, const spot_attributes *a, const spot_rule *rule, int slices);

/* a: the items of all rules of the findings, one after another, of the rows s: by the table at `where` (spot_attributes_read;
 * NULL: none), and those of pictures by the rows' pictures, where s has some. An item that is not in the table holds for
 * no row; without a table it is not known. A warning names such. */
spot_status spot_fit_rules_read(spot_ctx *c, spot_attributes *a, const spot_fits *f, const char *where, const spot_subject *s);

/* member (rows->n, slices) of finding i: those of its slices that are rules of known items, in place of what the vote said. */
spot_status spot_fit_rules_assign(spot_ctx *c, uint8_t *member, const spot_view *rows, const spot_fits *f, int i,
                                  const spot_attributes *a);

#endif
