/* html_shifts.h - what the two pages of shifts share: pictures of a run, by the rows of the page. */
#ifndef SPOTTER_HTML_SHIFTS_H
#define SPOTTER_HTML_SHIFTS_H

#include "report/page/html.h"
#include "spotter/shifts.h"

/* The pictures of a page: row i is the file of a unit. Their order is their priority. */
typedef struct {
    spot_page *p;
    const spot_shifts_results *r;
    bool trusted;                  /* the reader has said where the pictures are */
    bool *other;                   /* (units): this folder holds other pictures than the run saw, so none is shown */
    int *unit, rows, room;
    char **name;                   /* (rows) malloc'd */
} spot_shift_rows;

/* Adds a picture and returns its row; -1: no memory. */
int spot_shift_row_add(spot_shift_rows *w, int unit, const char *name);

/* Writes the members "names" and "pictures". Call it last. */
spot_status spot_shift_rows_write(spot_shift_rows *w);
void        spot_shift_rows_close(spot_shift_rows *w);

#endif
