/* check.h - the nightly verdict: is a run the baseline's equal, in its bits, in its numbers, and beside the paper?
 *
 * Three layers (none of them a test of speed):
 *  bits    What was promised equal is equal. ECs (definitions, sizes, blindspots) are, on every device, for equal configs and
 *          numbers; whole segments are, where also build and platform are equal. And a run's numbers follow from its own
 *          segments (DR from the blindspots covered, FDR from the hypotheses that belong), so that no number is possible only
 *          on paper. No statistics: one difference is a broken promise.
 *  pairs   For every method DR and FDR, and for the run the share of ECs that learned their blindspots, on the same ECs: the
 *          mean of the differences, its bootstrap interval, and a verdict with a margin that the baseline states in advance.
 *          Where no ECs are the same (another seed), the means of independent ECs; the report says so. An EC in which a method
 *          or the training failed on one side counts there as DR 0 and is named: an average over the rest would get better with
 *          every hard EC on which a method gives up.
 *  paper   Means beside the paper's, for methods with its settings on a config with its settings: equivalence within a margin.
 *          Anything else is "not comparable", with the settings that differ.
 *
 * Of the same code less than one night in a hundred is called worse: WORSE and BETTER ask for a test by randomization, with
 * Holm's correction over all methods and metrics at 0.005 each, and for a difference beyond the margin. SAME asks for the 90 %
 * interval within the margins (two one-sided tests at 5 %). Fewer than 20 ECs show nothing, unless their differences are
 * all 0. */
#ifndef SPOTTER_CHECK_H
#define SPOTTER_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    SPOT_SAME,                 /* equivalent: the difference lies within the margin with 95 % confidence */
    SPOT_BETTER,
    SPOT_WORSE,
    SPOT_INCONCLUSIVE,         /* neither shown: more ECs would tell how it is */
    SPOT_TOO_GOOD,             /* better than can be: a number outside its range, or beyond the paper's and the margin */
    SPOT_BROKEN,               /* bits that were promised equal differ; a method or ECs of the baseline are not there */
    SPOT_NOT_COMPARABLE,
    SPOT_VERDICTS
} spot_verdict;
const char *spot_verdict_name(spot_verdict v);
bool        spot_verdict_fails(spot_verdict v);        /* WORSE, TOO_GOOD, BROKEN */

/* A line whose verdict fails fails the night; one that is in quarantine is shown and fails nothing. */
typedef struct {
    const char *layer;         /* "bits", "pairs", "paper" */
    char   method[80], metric[24];             /* "": of the whole run */
    spot_verdict verdict;
    int    n, left_out;        /* pairs (or ECs of the run) that count, and those that one side has not */
    bool   paired, quarantined;
    double before, now;        /* means of the baseline (or the paper's) and of the run; NaN: none, as all that follow */
    double low, high;          /* 95 % interval of now - before */
    double margin, p;          /* p: after Holm, that it is not worse (or not better) */
    char   why[512];           /* a sentence, where one is needed; of a quarantined line also its reason */
} spot_check_line;

typedef struct {
    bool   failed;
    int    lines, numbers;
    spot_check_line *line;     /* (lines) */
    char   build[64], device[32], config[33];  /* of the run */
    char   baseline[256], run[256];            /* "accepted 2026-11-21; 20 ECs, numbers 4, ...": what was compared */
} spot_check;

/* SPOT_INPUT for a baseline or run that cannot be read. The same verdict for the same two, on any machine: resampling draws
 * from a fixed address. Free with spot_check_free, also after a failure. */
spot_status spot_check_run(spot_ctx *c, spot_check **check, const char *baseline, const char *run);
void        spot_check_free(spot_check *check);

/* For people: the verdict first, then a line a number, at most 100 columns; and one JSON object. */
void        spot_check_print(FILE *f, const spot_check *check, bool color);
spot_status spot_check_print_json(spot_ctx *c, FILE *f, const spot_check *check);

/* Adds a night to a history, a JSON line each: when, which commit (or ""), verdicts, means and intervals. */
spot_status spot_check_remember(spot_ctx *c, const spot_check *check, const char *path, const char *commit);

/* The course of every number over the nights of a history, as one HTML file. Lines that are damaged are counted, and the page
 * and the log say so; SPOT_INPUT where no line is whole. */
spot_status spot_report_trend(spot_ctx *c, const char *path, const char *history);

/* A run becomes the baseline. One that is there keeps its margins and quarantine and is remembered, one line a time, with its
 * reason. SPOT_INPUT for a run that is not whole, or without a reason; SPOT_USAGE for a quarantine of what the run has not. */
enum { SPOT_ACCEPT_WORDS = 64 };
typedef struct {
    const char *reason;
    double margin_dr, margin_fdr, margin_learned;      /* 0: as before, or 0.02, 0.02, 0.02 */
    double margin_paper;                               /* 0: as before, or 0.1 */
    const char *quarantine[SPOT_ACCEPT_WORDS];         /* "METHOD:METRIC=REASON", METRIC dr, fdr, learned or bits; METHOD may */
    const char *release[SPOT_ACCEPT_WORDS];            /* be empty: of the whole run. "METHOD:METRIC" */
    int quarantines, releases;
} spot_accept_options;
spot_status spot_accept(spot_ctx *c, const char *run, const char *baseline, const spot_accept_options *o);

#ifdef __cplusplus
}
#endif
#endif
