/* layers.h - types and functions that the three layers of a check share. */
#ifndef SPOTTER_LAYERS_H
#define SPOTTER_LAYERS_H

#include "check/baseline.h"
#include "result/result.h"
#include "stats/statistics.h"

enum {
    SPOT_CHECK_FEWEST = 20,            /* with fewer ECs every difference is inconclusive ... */
    SPOT_CHECK_FEWEST_CLASSES = 10,    /* ... and with fewer classes, or for a slope models */
    SPOT_CHECK_NUMBERS = 2 * SPOT_MAX_BDMS,            /* DR and FDR of every method */
    /* Whole-run lines (bits: ecs, segments, scores, present; pairs: learned; paper: other settings), methods that are gone or
     * new, numbers beside the baseline's, numbers beside the paper's. */
    SPOT_CHECK_LINES = 6 + 2 * SPOT_MAX_BDMS + 2 * SPOT_CHECK_NUMBERS
};
#define SPOT_CHECK_FAMILY 0.005        /* probability of a wrong "worse" in a night of the same code; likewise of "better" */

typedef struct {
    spot_ctx     *c;
    spot_check   *k;
    spot_baseline before, now;
    spot_results *r;
    spot_scores_check scores;
    int    *at;                /* (before.ecs) index of the EC in `now`; -1: the run does not have it */
    bool    same_config, paired;
    double *x, *y;             /* values of the current number: x differences if paired, else x of now and y of before */
} spot_checking;

void        spot_check_bits (spot_checking *g);
spot_status spot_check_pairs(spot_checking *g);
spot_status spot_check_paper(spot_checking *g);
spot_status spot_check_shifts(spot_checking *g);       /* bits and pairs of a run of shifts */

/* A number without its verdict, which needs the p of all numbers. */
typedef struct {
    spot_check_line *l;
    spot_difference  d;
    int         least, fewest, metric;         /* values of the smaller side; how many it needs */
    const char *units;                         /* "ECs" */
} spot_check_number;

/* lines.c: 1: a higher value of the metric is better, -1: a lower one, as it is described; 0: neither, and no change of it is
 * worse or better. */
int spot_check_direction(int metric);

/* The numbers of a spot_check_line, for tables and reports. */
extern const spot_quantity spot_check_values[];

/* layer_pairs.c: the verdicts of all numbers, as one family. */
spot_status spot_check_judge(spot_checking *g, spot_check_number *w, int n);

/* layer_bits.c: why equal bits are not promised; "": they are. */
const char *spot_check_no_promise(char *text, size_t size, const spot_baseline *a, const spot_baseline *b);

/* lines.c. add: a new line. because: appends a clause to its sentence. */
spot_check_line *spot_check_add(spot_checking *g, const char *layer, const char *method, const char *metric, spot_verdict v);
__attribute__((format(printf, 2, 3)))
void spot_because(spot_check_line *l, const char *fmt, ...);

/* "EC 4, 9, 12, ...": the first few of a list of ECs. */
typedef struct { char text[100]; int n; } spot_names;
void spot_names_add(spot_names *w, int ec);

/* Whether the baseline's EC i and the run's EC at[i] have the same definition. */
bool spot_check_is_pair(const spot_checking *g, int i);

/* Marks the line if the baseline has this method and metric in quarantine. */
void spot_check_quarantine(const spot_checking *g, spot_check_line *l, int metric);

#endif
