/* slice_table.h - the slices of a search as a table for people. */
#ifndef SPOTTER_SLICE_TABLE_H
#define SPOTTER_SLICE_TABLE_H

#include "spotter/discover.h"

/* Prints the first `top` slices by number (spot_slice_order) with their descriptions, and the classes that were left out, to
 * stdout. */
spot_status cli_slice_table(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_discover_options *d,
                            int top);

/* The slice that has this number, from 1, in that table. *s is NULL where there is none; *slices: their number. */
spot_status cli_slice_of_table(spot_ctx *c, const spot_finding **g, const spot_slice **s, int *slices, const spot_findings *f,
                               int number);

#endif
