/* counts.h - the paper's tables that count ECs or blindspots: 3 and 14 (COCO's general pool), the successes of appendix B. */
#ifndef SPOTTER_COUNTS_H
#define SPOTTER_COUNTS_H

#include "report/table/factors.h"
#include "report/table/paper.h"

enum { SPOT_COUNT_LINES = 128 };           /* most lines of a table */

/* `count` of `of` in the run, NULL: not measured. The paper's share; its numbers where it prints them, else 0. */
typedef struct {
    char   name[64];
    const spot_results *run;
    int    count, of, paper_count, paper_of;
    double paper;                          /* NaN: not in the paper */
} spot_count_line;

typedef struct {
    int number, lines;
    const char *title, *row, *what;        /* words above the columns: of the rows, of the run's share */
    spot_count_line line[SPOT_COUNT_LINES], beyond;    /* beyond: written where there is no room, ... */
    bool is_full;                          /* ... which makes the table fail */
} spot_count_table;

bool spot_counts_has(int number);

/* "Table 3", "Appendix B". Returns text. */
const char *spot_counts_name(char text[32], int number);

/* Counts n runs. Tables 3 and 14 are of one run; appendix B has a line for each run and way of
 * planting that it has (scene.induce and scene.flip, also of variants). SPOT_USAGE for a run of another experiment. An EC is a
 * success, or retained, if it learned its blindspots, whatever ECs the averages take. ECs without blindspots do not count. */
spot_status spot_counts_make(spot_ctx *c, spot_count_table *t, int number, spot_results *const *run, int n);

spot_status spot_counts_print(spot_ctx *c, FILE *f, const spot_count_table *t, spot_results *const *run, int n,
                              spot_table_format format);

#endif
