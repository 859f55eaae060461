/* csv_cells.h - the cells of a record of a CSV file. */
#ifndef SPOTTER_CSV_CELLS_H
#define SPOTTER_CSV_CELLS_H

#include <stdbool.h>
#include <stddef.h>

/* A record's cells from left to right. text is the raw text of the file, in which two quotes inside quotes mean one. */
typedef struct { const char *at, *end; char separator; } spot_csv_cells;
typedef struct { const char *text; size_t n; bool quoted; } spot_csv_cell;

/* The cells of a record that begins at `from`; its line end is before `end`. */
spot_csv_cells spot_csv_cells_of(const char *from, const char *end, char separator);

/* 1: a cell; 0: no more; -1: a misplaced quote at cells->at. */
int spot_csv_cell_next(spot_csv_cells *cells, spot_csv_cell *out);

/* Writes the cell's text without doubled quotes to out (cell->n bytes); returns its length. */
size_t spot_csv_unquote(char *out, const spot_csv_cell *cell);

#endif
