/* csv_dialect.h - how a CSV file separates its cells and writes its numbers, from its first block.
 *
 * The separator is that of comma, semicolon and tab which gives the header the most cells, two at least, and the first rows as
 * many as the header; of equal ones the comma; the comma where there is none. Numbers have decimal commas where the separator
 * is no comma and cells of the first block are numbers with a comma and none is one with a point. */
#ifndef SPOTTER_CSV_DIALECT_H
#define SPOTTER_CSV_DIALECT_H

#include "formats/csv_records.h"

/* Chooses b->separator, unless it is set, and b->comma from the records of the first block. */
void spot_csv_choose(spot_csv_block *b);

/* Makes points of the decimal commas in the records of b; the header stays. */
void spot_csv_decimal_points(spot_csv_block *b);

/* Says in an info line how a file that is not plain is read. After the first block. */
void spot_csv_report(spot_ctx *c, const spot_csv_block *b);

/* Words behind a sentence about a column that is not there: whether the header's only name has other separators in it. */
const char *spot_csv_suspicion(const char *only_name);

#endif
