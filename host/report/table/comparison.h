/* comparison.h - a table of the paper beside the methods of runs that have its rows' settings. */
#ifndef SPOTTER_COMPARISON_H
#define SPOTTER_COMPARISON_H

#include "report/table/paper.h"
#include "report/table/results.h"

enum { SPOT_COMPARISON_LINES = 256 };      /* of a table, at most */

/* A row of the table: the method of a run that has the row's settings, or none. */
typedef struct { const spot_paper_row *paper; const spot_results *run; int method; } spot_comparison_line;

typedef struct {
    const spot_paper_table *paper;
    spot_results **run;
    int  runs, lines;
    spot_comparison_line line[SPOT_COMPARISON_LINES];
} spot_comparison;

int         spot_comparison_quantities(const spot_comparison *t);
const char *spot_comparison_quantity(const spot_comparison *t, int q);
const char *spot_comparison_method(const spot_comparison_line *l);              /* "": none */
spot_average spot_comparison_ours(const spot_comparison *t, const spot_comparison_line *l, int q);

/* The difference from the paper's number in units of its standard error, which is *se; NaN where there is nothing to
 * compare, or where all values are equal, so that no error is known. */
double spot_comparison_apart(const spot_comparison *t, const spot_comparison_line *l, int q, double *se);

/* The settings in which the line's method is not the paper's. */
const char *spot_comparison_differs(char text[SPOT_DIFFERS], const spot_comparison_line *l);

spot_status spot_comparison_print_csv(spot_ctx *c, FILE *f, const spot_comparison *t);
spot_status spot_comparison_print_json(spot_ctx *c, FILE *f, const spot_comparison *t);

#endif
