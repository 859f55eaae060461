/* csv_lists.h - lists of numbers as text, as data frames with a column of lists are written: "[0.1, -2]". */
#ifndef SPOTTER_CSV_LISTS_H
#define SPOTTER_CSV_LISTS_H

#include "formats/formats.h"

/* Makes (rows, n) numbers (F64) of a column of words, each of which is n numbers between brackets, with commas, blanks or line
 * ends between them. Another array stays as it is, and so do words of which one does not begin as such a list and is not
 * missing, and any with how->text. SPOT_INPUT names the row of a list of another length, or with something else in it. A row
 * without a list, or with an empty one, is SPOT_INPUT, too; with how->holes such a row, and one of another length, is NaN, and
 * so is a number that is missing. */
spot_status spot_lists_read(spot_ctx *c, spot_array *a, const spot_array_how *how);

#endif
