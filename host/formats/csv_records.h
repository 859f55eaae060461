/* csv_records.h - a CSV file as blocks of records (RFC 4180): what lies between line ends that no quotes enclose. */
#ifndef SPOTTER_CSV_RECORDS_H
#define SPOTTER_CSV_RECORDS_H

#include "formats/formats.h"

/* One block at a time; record i lies from start[i] to before start[i + 1], its line end included. */
typedef struct {
    const spot_blob *in;
    uint64_t at, end;          /* next byte to read, and where the last record ends: line ends behind it are no records */
    char    *bytes;
    size_t   have, room, *start;
    int      records, most;    /* in the block; that it may hold */
    uint64_t row, line;        /* of the block's first record: records before it, lines before it */
    uint64_t lines;            /* in this block */
} spot_csv_block;

/* Opens at the start, behind a byte order mark. Close after success. */
spot_status spot_csv_open (spot_ctx *c, spot_csv_block *b, const spot_blob *in);
void        spot_csv_close(spot_csv_block *b);

/* The next block; records 0 at the end. */
spot_status spot_csv_next(spot_ctx *c, spot_csv_block *b);

/* A record's cells from left to right. Between quotes a pair of quotes stands for one: text is as it stands in the file. */
typedef struct { const char *at, *end; } spot_csv_cells;
typedef struct { const char *text; size_t n; bool quoted; } spot_csv_cell;

spot_csv_cells spot_csv_record(const spot_csv_block *b, int record);

/* 1: a cell; 0: no more; -1: quotes where none may be, and cells->at is there. */
int spot_csv_cell_next(spot_csv_cells *cells, spot_csv_cell *out);

/* The cell's text without doubled quotes into out, which has room for cell->n; its length. */
size_t spot_csv_unquote(char *out, const spot_csv_cell *cell);

#endif
