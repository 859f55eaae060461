/* layers.h - what the layers of a check share. */
#ifndef SPOTTER_LAYERS_H
#define SPOTTER_LAYERS_H

#include "check/baseline.h"

enum {
    SPOT_CHECK_FEWEST = 20,            /* ECs that can show something */
    SPOT_CHECK_NUMBERS = 2 * SPOT_MAX_BDMS,            /* DR and FDR of every method */
    /* Whole-run lines (bits: ecs, segments, scores, present; pairs: learned; paper: other settings), methods that are gone or
     * new, numbers beside the baseline's, numbers beside the paper's. */
    SPOT_CHECK_LINES = 6 + 2 * SPOT_MAX_BDMS + 2 * SPOT_CHECK_NUMBERS
};
#define SPOT_CHECK_FAMILY 0.005        /* of a wrong "worse" in a night of the same code, and of a wrong "better" */

typedef struct {
    spot_ctx     *c;
    spot_check   *k;
    spot_baseline before, now;
    spot_results *r;
    spot_scores_check scores;
    int    *at;                /* (before.ecs): where the run has the EC, -1 nowhere */
    bool    same_config, paired;
    double *x, *y;             /* values of the number at hand: differences, or now's and before's */
} spot_checking;

void        spot_check_bits (spot_checking *g);
spot_status spot_check_pairs(spot_checking *g);
spot_status spot_check_paper(spot_checking *g);

/* lines.c: a new line; and one more clause of its sentence. */
spot_check_line *spot_check_add(spot_checking *g, const char *layer, const char *method, const char *metric, spot_verdict v);
__attribute__((format(printf, 2, 3)))
void spot_because(spot_check_line *l, const char *fmt, ...);

/* "EC 4, 9, 12" of a list that grows: the first few. */
typedef struct { char text[100]; int n; } spot_names;
void spot_names_add(spot_names *w, int ec);

/* Does the baseline's EC i mean the run's EC at[i]? */
bool spot_check_is_pair(const spot_checking *g, int i);

/* Marks the line where the baseline has the metric of its method in quarantine. */
void spot_check_quarantine(const spot_checking *g, spot_check_line *l, int metric);

#endif
