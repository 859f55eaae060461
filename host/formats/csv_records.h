/* csv_records.h - a CSV file as blocks of records (RFC 4180). Line ends outside of quotes separate records. csv_dialect.h says
 * how cells are separated; decimal commas are points in the blocks. */
#ifndef SPOTTER_CSV_RECORDS_H
#define SPOTTER_CSV_RECORDS_H

#include "formats/formats.h"

/* One block. Record i occupies bytes start[i] .. start[i + 1] - 1, its line end included. */
typedef struct {
    const spot_blob *in;
    uint64_t at, end;          /* next byte to read; end of the last record: line ends after it are no records */
    char    *bytes;
    size_t   have, room, *start;
    int      records, most;    /* records in the block; its capacity */
    uint64_t row, line;        /* records and lines before the block */
    uint64_t lines;            /* lines in the block */
    char     separator;        /* between cells; 0 before the first block */
    bool     comma;            /* numbers have decimal commas in the file */
} spot_csv_block;

/* Opens at the start, after a byte order mark and after the line "sep=;" that spreadsheets know. Close after success. */
spot_status spot_csv_open (spot_ctx *c, spot_csv_block *b, const spot_blob *in);
void        spot_csv_close(spot_csv_block *b);

/* Reads the next block; records is 0 at the end. */
spot_status spot_csv_next(spot_ctx *c, spot_csv_block *b);

/* A record's cells from left to right. text is the raw text of the file, in which two quotes inside quotes mean one. */
typedef struct { const char *at, *end; char separator; } spot_csv_cells;
typedef struct { const char *text; size_t n; bool quoted; } spot_csv_cell;

spot_csv_cells spot_csv_record(const spot_csv_block *b, int record);

/* 1: a cell; 0: no more; -1: a misplaced quote at cells->at. */
int spot_csv_cell_next(spot_csv_cells *cells, spot_csv_cell *out);

/* Writes the cell's text without doubled quotes to out (cell->n bytes); returns its length. */
size_t spot_csv_unquote(char *out, const spot_csv_cell *cell);

#endif
