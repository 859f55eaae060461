/* background_lines.h - the tables of paper 003 (Liao & Chen) line by line, beside the numbers of runs. */
#ifndef SPOTTER_BACKGROUND_LINES_H
#define SPOTTER_BACKGROUND_LINES_H

#include "spotter/verdict.h"

enum { SPOT_BACKGROUND_TABLES = 6, SPOT_BACKGROUND_LINES = 160 };

typedef struct { const char *dir; spot_background_results r; spot_verdict_report v; } spot_background_table_run;

/* NaN: not there. run NULL: no run has it. */
typedef struct {
    int    table;
    char   row[64], quantity[64];
    const spot_background_table_run *run;
    double value, sd, paper, paper_sd;
    int    n;                      /* models, splits or targets behind value; 0: not counted */
} spot_background_line;

typedef struct { int lines; spot_background_line line[SPOT_BACKGROUND_LINES]; } spot_background_lines;

const char *spot_background_table_title(int table);

/* All lines of a table, for `runs` runs; the first is the one that the others vary. */
spot_status spot_background_lines_add(spot_ctx *c, spot_background_lines *l, int table, const spot_background_table_run *run,
                                      int runs);

#endif
