/* csv_rows.h - rows of a CSV file with named columns, one after another: people's labels, pictures of claims, votes. A file may
 * be larger than memory; spot_csv_read (formats.h) is for arrays. */
#ifndef SPOTTER_CSV_ROWS_H
#define SPOTTER_CSV_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/ctx.h"

enum { SPOT_ROW_CELLS = 16, SPOT_ROW_CELL = 1100 };

typedef struct spot_rows spot_rows;

/* Columns of the file may have any order, and there may be more; two of one name are refused. A row that repeats the
 * header is passed over, so that files of several raters may be joined. next: *more false at the end; cells are valid until the
 * next row. SPOT_INPUT names file and line. */
spot_status spot_rows_open (spot_ctx *c, spot_rows **t, const char *path, const char *const *column, int columns);
/* open_some: only the first `need` columns must be there. The cells of one that is not, see spot_rows_has, are empty. */
spot_status spot_rows_open_some(spot_ctx *c, spot_rows **t, const char *path, const char *const *column, int columns, int need);
bool        spot_rows_has  (const spot_rows *t, int column);
spot_status spot_rows_next (spot_ctx *c, spot_rows *t, bool *more);
const char *spot_rows_cell (const spot_rows *t, int column);
bool        spot_rows_number(const spot_rows *t, int column, double *v);      /* whether the cell is a number */
uint64_t    spot_rows_line (const spot_rows *t);
void        spot_rows_close(spot_rows *t);

#endif
