/* columns.h - a table for eyes, put together cell by cell: plain text in columns as wide as they must be, or Markdown; and
 * the sentences around it. Plain text stays within SPOT_PAGE columns of a terminal: a wider table comes in parts, each
 * beginning with the left-aligned columns that say whose its rows are. */
#ifndef SPOTTER_COLUMNS_H
#define SPOTTER_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "spotter/metric.h"

enum { SPOT_COLUMNS = 64, SPOT_PAGE = 100, SPOT_LONG_NAME = 40 };

typedef struct {
    FILE    *f;
    bool     markdown, measuring, head;
    uint64_t left;                 /* bit i: column i, as the first always, is aligned to the left */
    uint64_t joined;               /* bit i: column i stays beside the one before it */
    int      column, columns, width[SPOT_COLUMNS];
    int      from, to;             /* the columns of this part, behind the left ones */
} spot_columns;

__attribute__((format(printf, 2, 3)))
void spot_cell(spot_columns *p, const char *fmt, ...);
void spot_cell_average(spot_columns *p, const spot_average *a);     /* "0.500 (0.289)" */
void spot_cell_number(spot_columns *p, double v);                   /* "-" for NaN, as for an average over none */
void spot_cell_name(spot_columns *p, int number, const char *name); /* "3 planespot-pca", of 0 without it; plain: shortened */
void spot_cell_join(spot_columns *p);                               /* the next one stays beside the last */
void spot_end_row(spot_columns *p);

/* rows is called several times, the first time to learn the widths; its first row is the head. */
void spot_columns_print(FILE *f, bool markdown, const char *title, void (*rows)(spot_columns *, const void *),
                        const void *user);

/* A sentence below or above tables: an item of a list in Markdown, else broken into lines of SPOT_PAGE columns. */
__attribute__((format(printf, 3, 4)))
void spot_note(FILE *f, bool markdown, const char *fmt, ...);

/* A text of a CSV file, in quotes, and what follows it. */
void spot_csv_text(FILE *f, const char *text, const char *end);

/* How many columns a UTF-8 text takes where each character takes one. */
int spot_text_width(const char *text);

/* A name longer than SPOT_LONG_NAME characters as its beginning and its end with "…" between, where grids differ. */
typedef char spot_short_name[4 * SPOT_LONG_NAME + 8];
const char *spot_shorten(spot_short_name text, const char *name);

#endif
