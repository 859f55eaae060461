/* attributes_reader.h - a table of attributes while it is read, in two passes: the first finds the kind of each column and the
 * rows of each record, the second keeps values.
 *
 *     attributes_records.c   records: the header, the rows that each is of, a pass over all of them
 *     attributes_read.c      columns: what their cells say, and the items that they become */
#ifndef SPOTTER_ATTRIBUTES_READER_H
#define SPOTTER_ATTRIBUTES_READER_H

#include "base/same_id.h"
#include "discover/subject/attributes.h"
#include "formats/csv_records.h"

typedef enum { SPOT_COLUMN_FLAGS, SPOT_COLUMN_TWO_NUMBERS, SPOT_COLUMN_NUMBERS, SPOT_COLUMN_WORDS,
               SPOT_COLUMN_CONSTANT } spot_column_kind;

typedef struct {
    char   *name;
    bool    no_flag, no_number;        /* a cell is not 0 or 1; not a number */
    int     values;                    /* different values so far: 0, 1, 2, 3 for more */
    char   *value[2];                  /* the first two */
    spot_column_kind kind;
    uint8_t *flag;                     /* (rows) by kind; NULL: another kind */
    double  *number;
    char   **word;
} spot_attributes_column;

typedef struct { int first, end; } spot_record_rows;   /* rows of a record: order[first] .. order[end - 1] */

typedef struct spot_attributes_reader spot_attributes_reader;
struct spot_attributes_reader {
    spot_ctx *c;
    spot_attributes *a;
    /* Takes the cell of column k of the present record, whose text is `cell`. */
    spot_status (*take)(spot_attributes_reader *r, int k, bool second);
    const char *file;
    char *const *id;                   /* (rows): ids of the rows */
    int     rows, columns, id_column;  /* id_column -1: records are in the order of the rows */
    const spot_attributes *like;       /* the items to look for; NULL: those that the table has */
    int    *of;                        /* (like->items): the column of each; -1: none */
    const int *file_row;               /* (rows): as in spot_subject */
    int     file_rows, next;           /* records in the order of the rows; the next of `rows` among them */
    spot_attributes_column *column;
    int    *order;                     /* (rows): rows by id, and (rows) by the plain form of the id once `plain` is open */
    spot_plain_ids plain;
    int     by_form;                   /* records that match a row in another form of the id */
    spot_record_rows *record;          /* (room) */
    int    *record_of;                 /* (rows): the record of each row; -1: none yet */
    int     records, room;
    int     first_pass;                /* records of the first pass */
    char   *cell;                      /* (cell_room) the present cell's text */
    size_t  cell_room;
    uint64_t line;                     /* of the present record */
    spot_csv_dialect dialect;
    const spot_column_cut *cut;        /* NULL: all columns become items */
    uint8_t *in;                       /* (rows): of the cut */
};

/* One pass over all records: each cell goes to r->take. check_rows, after the first: each row has a record. */
spot_status spot_attributes_pass      (spot_attributes_reader *r, const spot_blob *in, bool second, const char *id_column);
spot_status spot_attributes_check_rows(spot_attributes_reader *r);

#endif
