/* columns.h - prints a table cell by cell, as plain text in columns or as Markdown, and the sentences around it. Plain text
 * has at most SPOT_PAGE columns: a wider table comes in parts, and each part begins with the left-aligned columns that name
 * its rows. */
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
    uint64_t left;                 /* bit i: column i is left-aligned; the first column always is */
    uint64_t joined;               /* bit i: column i stays beside column i - 1 */
    int      column, columns, width[SPOT_COLUMNS];
    int      from, to;             /* columns of this part, after the left-aligned ones */
    int      part, page;           /* the part, from 0; columns of a line, 0: SPOT_PAGE */
    bool     numbered;             /* the first column is right-aligned */
} spot_columns;

__attribute__((format(printf, 2, 3)))
void spot_cell(spot_columns *p, const char *fmt, ...);
void spot_cell_average(spot_columns *p, const spot_average *a);     /* "0.500 (0.289)" */
void spot_cell_number(spot_columns *p, double v);                   /* "-" for NaN */
void spot_cell_name(spot_columns *p, int number, const char *name); /* "3 planespot-pca"; 0: no number; plain: shortened */
void spot_cell_join(spot_columns *p);                               /* the next cell stays beside the last */
void spot_end_row(spot_columns *p);

/* Calls rows several times, the first time to measure the widths; its first row is the head. title NULL: none. */
void spot_columns_print(FILE *f, bool markdown, const char *title, void (*rows)(spot_columns *, const void *),
                        const void *user);

/* A sentence below or above tables: an item of a list in Markdown, else broken into lines of SPOT_PAGE columns. */
__attribute__((format(printf, 3, 4)))
void spot_note(FILE *f, bool markdown, const char *fmt, ...);

/* A field of a CSV file, then `end`: a text in quotes; a number, empty for NaN. */
void spot_csv_text  (FILE *f, const char *text, const char *end);
void spot_csv_number(FILE *f, double v, const char *end);

/* Text for Markdown: bars, tags and links of a name do nothing. */
void spot_text_markdown(char *to, size_t size, const char *text);

/* Number of characters in a UTF-8 text. */
int spot_text_width(const char *text);

/* Shortens a name longer than SPOT_LONG_NAME characters to its begin, "…" and its end, where names of a grid differ. */
typedef char spot_short_name[4 * SPOT_LONG_NAME + 8];
const char *spot_shorten(spot_short_name text, const char *name);
const char *spot_shorten_to(spot_short_name text, const char *name, int most);     /* to `most` characters, at most 40 */

#endif
