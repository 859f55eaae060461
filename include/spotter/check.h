/* check.h - the nightly verdict: compares a run with a baseline in bits and in numbers, and with the paper. A baseline is
 * a JSON file that spot_accept makes of an earlier run (host/check/baseline.h); it is small, to be reviewed with the code.
 *
 * Three layers; none of them tests speed:
 *  bits    Values that must be equal are equal. ECs (definitions, sizes, blindspots) must be, on every device, for equal
 *          configs and numbers. Whole segments must be, where build and platform are equal, too. The numbers of a run must
 *          follow from its own segments: DR from the covered blindspots, FDR from the hypotheses that belong to one. No
 *          statistics: one difference is a failure.
 *  pairs   DR and FDR of every method, and the run's share of ECs that learned their blindspots, on the same ECs: the mean of
 *          the differences, its bootstrap interval, and a verdict with a margin that the baseline states in advance. Where no
 *          ECs are the same (another seed), the means of independent ECs; the report names this case. An EC in which a method
 *          or the training failed on one side counts there as DR 0 and is named. Without it an average would improve with
 *          every hard EC on which a method fails.
 *  paper   Means compared with the paper's, for methods and configs with the paper's settings: equivalence within a margin.
 *          Other methods are "not comparable", with the settings that differ.
 *
 * A run of shifts is compared in two layers: bits (folders with the same inputs have the same counts; no source, shift, model
 * or class is gone) and pairs, which are classes: impact, slope, pass rate and the share of classes that count, of every source
 * and shift. A greater impact is worse, so are a smaller slope, fewer pictures that pass, and fewer classes.
 *
 * Equal code is called worse in fewer than one night in a hundred. WORSE and BETTER need a randomization test, with Holm's
 * correction over all methods and metrics of a night at 0.005 for WORSE and 0.005 for BETTER, and a difference beyond the
 * margin. SAME needs the 90 % interval within the margins (two one-sided tests at 5 %). Fewer than 20 ECs (or 10 classes, and
 * 10 models for a slope) show nothing, unless all their differences are 0. */
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
    SPOT_INCONCLUSIVE,         /* none of these is shown; more ECs would decide */
    SPOT_TOO_GOOD,             /* a number outside its range, or better than the paper's by more than the margin: it fails,
                                * since a mistake in the measurement is likelier than such a gain */
    SPOT_BROKEN,               /* bits that must be equal differ; or a method or ECs of the baseline are missing */
    SPOT_NOT_COMPARABLE,
    SPOT_VERDICTS
} spot_verdict;
const char *spot_verdict_name(spot_verdict v);
bool        spot_verdict_fails(spot_verdict v);        /* WORSE, TOO_GOOD, BROKEN */

enum { SPOT_CHECK_NAME = 160 };                        /* bytes of a method's name, or of a source's and a shift's */

/* One line of the verdict. A line whose verdict fails makes the check fail; in quarantine it is only shown. */
typedef struct {
    const char *layer;         /* "bits", "pairs", "paper" */
    char   method[SPOT_CHECK_NAME], metric[24];        /* method, or source and shift; "": the whole run */
    spot_verdict verdict;
    int    n, left_out;        /* pairs (or ECs, classes of the run) that count; those that one side lacks */
    bool   paired, quarantined;
    double before, now;        /* means of the baseline (or the paper) and of the run; NaN, also in the next four: none */
    double low, high;          /* 95 % interval of now - before */
    double margin, p;          /* p: after Holm, for the hypothesis that it is not worse (or not better) */
    char   why[512];           /* a sentence where one is needed; for a quarantined line also its reason */
} spot_check_line;

typedef struct {
    bool   failed, of_shifts;
    int    lines, numbers;     /* numbers: SPOT_NUMBERS of the program that made the run */
    spot_check_line *line;     /* (lines) */
    char   build[64], device[32], config[33];  /* of the run */
    char   baseline[256], run[256];            /* descriptions: "accepted 2026-11-21; 20 ECs, numbers 4, ..." */
} spot_check;

/* SPOT_INPUT for a baseline or run that cannot be read. Equal inputs give an equal verdict on any machine: resampling uses
 * fixed random addresses. Free with spot_check_free, also after a failure. */
spot_status spot_check_run(spot_ctx *c, spot_check **check, const char *baseline, const char *run);
void        spot_check_free(spot_check *check);

/* Prints the verdict, then one line per number, at most 100 columns wide; or all of it as one JSON object. */
void        spot_check_print(FILE *f, const spot_check *check, bool color);
spot_status spot_check_print_json(spot_ctx *c, FILE *f, const spot_check *check);

/* Appends a night to a history as one JSON line: time, commit (may be ""), verdicts, means and intervals. */
spot_status spot_check_remember(spot_ctx *c, const spot_check *check, const char *path, const char *commit);

/* Plots every number over the nights of a history in one HTML file. The page and the log give the number of damaged lines;
 * SPOT_INPUT where no line is whole. */
spot_status spot_report_trend(spot_ctx *c, const char *path, const char *history);

/* Makes a run the baseline. An existing baseline passes on its margins and quarantine, and its history gets a line with the
 * reason. SPOT_INPUT for an incomplete run, or without a reason; SPOT_USAGE to quarantine a method that the run lacks. */
enum { SPOT_ACCEPT_WORDS = 64 };
typedef struct {
    const char *reason;
    double margin_dr, margin_fdr, margin_learned;      /* 0: as before, or 0.02, 0.02, 0.02 */
    double margin_paper;                               /* 0: as before, or 0.1 */
    double margin_impact, margin_slope, margin_passed, margin_classes;     /* of shifts; 0: as before, or 0.02, 0.05, ... */
    /* "METHOD:METRIC=REASON": METRIC dr, fdr, learned or bits; of shifts impact, slope, passed, classes or bits, with "SOURCE,
     * SHIFT" for METHOD. An empty METHOD: the whole run. release: "METHOD:METRIC". */
    const char *quarantine[SPOT_ACCEPT_WORDS], *release[SPOT_ACCEPT_WORDS];
    int quarantines, releases;
} spot_accept_options;
spot_status spot_accept(spot_ctx *c, const char *run, const char *baseline, const spot_accept_options *o);

#ifdef __cplusplus
}
#endif
#endif
