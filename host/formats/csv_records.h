/* csv_records.h - a CSV file as blocks of records (RFC 4180). Line ends outside of quotes separate records. csv_dialect.h says
 * how cells are separated and what a number is in them; the blocks hold the file's own bytes. */
#ifndef SPOTTER_CSV_RECORDS_H
#define SPOTTER_CSV_RECORDS_H

#include "formats/csv_cells.h"
#include "formats/csv_dialect.h"
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
    spot_csv_dialect dialect;  /* of the file, once the first block is there */
} spot_csv_block;

/* Opens at the start, after a byte order mark and after the line "sep=;" that spreadsheets know. Close after success. */
spot_status spot_csv_open (spot_ctx *c, spot_csv_block *b, const spot_blob *in);
void        spot_csv_close(spot_csv_block *b);

/* Reads the next block; records is 0 at the end. */
spot_status spot_csv_next(spot_ctx *c, spot_csv_block *b);

spot_csv_cells spot_csv_record(const spot_csv_block *b, int record);

#endif
