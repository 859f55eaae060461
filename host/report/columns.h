/* columns.h - a table for eyes, put together cell by cell: plain text in columns as wide as they must be, or Markdown. */
#ifndef SPOTTER_REPORT_COLUMNS_H
#define SPOTTER_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

#include "spotter/metric.h"

enum { SPOT_COLUMNS = 64 };

typedef struct {
    FILE    *f;
    bool     markdown, measuring, head;
    unsigned left;                 /* bit i: column i, as the first always, is aligned to the left */
    int      column, width[SPOT_COLUMNS];
} spot_columns;

__attribute__((format(printf, 2, 3)))
void spot_cell(spot_columns *p, const char *fmt, ...);
void spot_cell_average(spot_columns *p, const spot_average *a);     /* "0.500 (0.289)" */
void spot_cell_number(spot_columns *p, double v);                   /* "-" for NaN, as for an average over none */
void spot_end_row(spot_columns *p);

/* rows is called twice, the first time to learn the widths; its first row is the head. */
void spot_columns_print(FILE *f, bool markdown, const char *title, void (*rows)(spot_columns *, const void *),
                        const void *user);

#endif
