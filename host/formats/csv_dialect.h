/* csv_dialect.h - how a CSV file separates its cells and writes its numbers, from its first block.
 *
 * The separator is that of comma, semicolon and tab which gives the header the most cells, two at least, and the first rows as
 * many as the header; of equal ones the comma; the comma where there is none. Numbers have decimal commas where the separator
 * is no comma and cells of the first block are numbers with a comma and none is one with a point; cells in quotes, which may
 * be words, decide only where all cells are in quotes. */
#ifndef SPOTTER_CSV_DIALECT_H
#define SPOTTER_CSV_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

#include "spotter/ctx.h"

typedef struct {
    char separator;            /* between cells; 0: not chosen */
    bool comma;                /* numbers have decimal commas */
} spot_csv_dialect;

/* Chooses the separator, unless it is set, and comma. Record i, the header first, is bytes[start[i]] to bytes[start[i + 1]]
 * with its line end. */
void spot_csv_choose(spot_csv_dialect *d, const char *bytes, const size_t *start, int records);

/* A cell's text as a number: spot_number (formats.h), and with decimal commas where the file has them. */
bool spot_csv_take_number(const spot_csv_dialect *d, double *v, const char *text, size_t n);

/* Says in an info line how a file that is not plain is read. */
void spot_csv_report(spot_ctx *c, const spot_csv_dialect *d, const char *name);

/* Words behind a sentence about a column that is not there: whether the header's only name has other separators in it. */
const char *spot_csv_suspicion(const char *only_name);

#endif
