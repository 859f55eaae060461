/* comparison.h - compares a table of the paper with methods of runs that have the same settings. */
#ifndef SPOTTER_COMPARISON_H
#define SPOTTER_COMPARISON_H

#include "report/table/paper.h"
#include "report/table/results.h"

enum { SPOT_COMPARISON_LINES = 256 };      /* largest number of lines in a table */

/* A row of the paper and a method with its settings; run is NULL if there is none. */
typedef struct { const spot_paper_row *paper; const spot_results *run; int method; } spot_comparison_line;

typedef struct {
    const spot_paper_table *paper;
    spot_results **run;
    int  runs, lines;
    spot_comparison_line line[SPOT_COMPARISON_LINES];
} spot_comparison;

int         spot_comparison_quantities(const spot_comparison *t);
bool        spot_comparison_is_failures(const spot_comparison *t);              /* shares of missed blindspots, not rates */
const char *spot_comparison_quantity(const spot_comparison *t, int q);
const char *spot_comparison_method(const spot_comparison_line *l);              /* "" for none */
spot_average spot_comparison_ours(const spot_comparison *t, const spot_comparison_line *l, int q);

/* The difference from the paper's number in units of its standard error, *se. NaN if one of them is missing, or if all values
 * are equal, so that there is no error. */
double spot_comparison_apart(const spot_comparison *t, const spot_comparison_line *l, int q, double *se);

/* The settings of the line's method that differ from the paper's. */
const char *spot_comparison_differs(char text[SPOT_DIFFERS], const spot_comparison_line *l);

void        spot_comparison_print_csv(FILE *f, const spot_comparison *t);
spot_status spot_comparison_print_json(spot_ctx *c, FILE *f, const spot_comparison *t);

#endif
