/* slice_describe.h - the numbers of a slice, each described once, for slices.json and the terminal (spotter/discover.h has what
 * the page takes). */
#ifndef SPOTTER_SLICE_DESCRIBE_H
#define SPOTTER_SLICE_DESCRIBE_H

#include "result/result.h"
#include "spotter/discover.h"

extern const spot_quantity spot_slice_in_file[];                   /* members of slices.json, of a spot_slice_row */
/* Parts of a spot_slice: its rows, wrong ones, their rate; further numbers; its share of errors. */
extern const spot_quantity spot_slice_errors[], spot_slice_more[], spot_slice_share[];

#endif
