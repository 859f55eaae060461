/* background_lines.h - the tables of paper 003 (Liao & Chen) line by line, beside the numbers of runs. */
#ifndef SPOTTER_BACKGROUND_LINES_H
#define SPOTTER_BACKGROUND_LINES_H

#include "spotter/verdict.h"

/* Tables 1 to 6 of the paper, and one of ours. Lines: 160 of them, and 2 for each bin of realness of each run. */
enum { SPOT_BACKGROUND_TABLES = 6, SPOT_BACKGROUND_REALNESS = 7, SPOT_BACKGROUND_LINES = 160 + 16 * 130 };

typedef struct { const char *dir; spot_background_results r; spot_verdict_report v; } spot_background_table_run;

/* NaN: not there. run NULL: no run has it. */
typedef struct {
    int    table;
    char   row[64], quantity[64];
    const spot_background_table_run *run;
    double value, sd, low, high, paper, paper_sd;      /* low, high: 95 % */
    int    n;                      /* models, splits or targets behind value; 0: not counted */
} spot_background_line;

typedef struct { int lines; spot_background_line line[SPOT_BACKGROUND_LINES]; } spot_background_lines;

const char *spot_background_table_title(int table);

/* All lines of a table, for `runs` runs; the first is the one that the others vary. */
spot_status spot_background_lines_add(spot_ctx *c, spot_background_lines *l, int table, const spot_background_table_run *run,
                                      int runs);

#endif
