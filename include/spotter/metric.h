/* metric.h - hypotheses against truth: BP, BR, DR, FDR (paper, equations 1 to 7) and why a blindspot was missed
 * (appendix F, Table 13); beside them the scores of other benchmarks. Integer counts until the last division: equal on every
 * device. */
#ifndef SPOTTER_METRIC_H
#define SPOTTER_METRIC_H

#include <stdbool.h>

#include "spotter/bdm.h"
#include "spotter/ctx.h"
#include "spotter/model.h"
#include "spotter/scene.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { SPOT_PROFILE_TMLR, SPOT_PROFILE_WORKSHOP } spot_profile;   /* >= lambda, or > lambda */

typedef struct {
    int    profile;            /* spot_profile */
    double lambda_p, lambda_r; /* used as decimals of nine digits, so 8 of 10 images reach 0.8 exactly */
    int    top;                /* the first hypotheses that count */
    int    repair;             /* REPAIR_*; takes a second look, at the negatives */
    int    neighbours;         /* k of the graph of nearest neighbours that coherence is measured on; 0: not measured */
} spot_metric_config;

/* Scores beside DR and FDR, one number for an EC and a method: X(NAME, name, head of the column). NaN where the EC does not
 * define it; averages leave it out.
 *
 * SPREAD        hypotheses that belong to a found blindspot, the mean over the found: DR does not charge for cutting
 * FALSE_SHARE   share of all hypotheses (FDR: of the first u) that belong to no blindspot; NaN where FDR is unknown
 * FALSE_ALARMS  hypotheses where there is no blindspot to find; NaN elsewhere
 * DCBENCH_*     Eyuboglu et al. 2022 (Domino) and dcbench: all rows are ranked by a hypothesis' weight, highest first, or by
 *               its complement, lowest first, ties by row. A blindspot takes the ranking of greatest average precision
 *               (scikit-learn's average_precision_score); P10, P25: share of the blindspot's rows among the first 10, 25
 * GESD_*        precision at k as Apple's GESD counts it: hits among the first k members / min(k, rows of the blindspot), no
 *               complements, the best hypothesis for each number. GESD has no AP: here that of all rows, members first
 * COHERENCE     share of a member's k nearest neighbours that are members, the mean over members, then over hypotheses
 * REPAIR_*      least accuracy over the blindspots, the other positives and the negatives after the last layer was fitted again
 *               on other rows: labels of equal weight (NONE); the positives' weight in equal parts for each blindspot and the
 *               rest (TRUE), for each hypothesis and the rest (FOUND). SHARE: of TRUE's gain over NONE, that FOUND reaches; NaN
 *               where there is no gain
 *
 * DCBENCH and GESD are means over the EC's blindspots, 0 where there are no hypotheses. A hypothesis without weights is a set:
 * its members come first; rows of equal weight or membership are in the order of the rows, as dcbench's ordinal ranks are, so a
 * set or its complement takes no order from the classifier's errors. */
#define SPOT_BESIDE(X)                                  \
    X(SPREAD,       spread,       "slices/blindspot")   \
    X(FALSE_SHARE,  false_share,  "false slices")       \
    X(FALSE_ALARMS, false_alarms, "false alarms")       \
    X(DCBENCH_P10,  dcbench_p10,  "P@10 dcbench")       \
    X(DCBENCH_P25,  dcbench_p25,  "P@25 dcbench")       \
    X(DCBENCH_AP,   dcbench_ap,   "AP dcbench")         \
    X(GESD_P10,     gesd_p10,     "P@10 gesd")          \
    X(GESD_P25,     gesd_p25,     "P@25 gesd")          \
    X(GESD_AP,      gesd_ap,      "AP gesd")            \
    X(COHERENCE,    coherence,    "coherence")          \
    X(REPAIR_NONE,  repair_none,  "worst, no groups")   \
    X(REPAIR_TRUE,  repair_true,  "worst, true")        \
    X(REPAIR_FOUND, repair_found, "worst, found")       \
    X(REPAIR_SHARE, repair_share, "gain reached")

typedef enum {
#define X(NAME, name, head) SPOT_##NAME,
    SPOT_BESIDE(X)
#undef X
    SPOT_BESIDES
} spot_beside;

typedef enum { SPOT_NOT_RETURNED, SPOT_FOUND, SPOT_MERGED, SPOT_IMPURE, SPOT_FAILURES } spot_failure;

/* u is the length of the shortest prefix of the hypotheses whose DR equals that of the whole list; 0 when DR is 0.
 * FDR is the share of those u that belong to no blindspot. Without blindspots dr and fdr are NaN. failure: the shares of a
 * missed blindspot's rows, each row in the first class that fits: NOT_RETURNED, in no hypothesis; FOUND, in one that belongs to
 * the blindspot; MERGED, in one that consists mostly of rows of any blindspots; IMPURE, all other rows. */
typedef struct {
    int    blindspots, hypotheses, u;
    double dr;
    double fdr;                                                   /* NaN when dr is 0, or when it is undefined */
    double beside[SPOT_BESIDES];
    double br[SPOT_MAX_BLINDSPOTS];
    bool   covered[SPOT_MAX_BLINDSPOTS];
    int    size[SPOT_MAX_BLINDSPOTS];                             /* rows of the truth in blindspot m */
    double bp[SPOT_MAX_HYPOTHESES][SPOT_MAX_BLINDSPOTS];
    int    belongs[SPOT_MAX_HYPOTHESES];                          /* the blindspot it belongs to (the largest BP), -1 none */
    double coherence[SPOT_MAX_HYPOTHESES];                        /* of each hypothesis; NaN: not measured */
    double failure[SPOT_MAX_BLINDSPOTS][SPOT_FAILURES];           /* NaN for covered blindspots */
} spot_score;

/* The part of a score that averages need. It has a tenth of the bytes, for runs of many ECs. */
typedef struct {
    int    u;
    double dr, fdr, failure[SPOT_FAILURES];                       /* failure: the mean over the missed blindspots */
    double beside[SPOT_BESIDES];
    bool   covered[SPOT_MAX_BLINDSPOTS];
} spot_rates;

spot_rates spot_metric_rates(const spot_score *score);

/* A mean over n ECs and its standard error (sd with n - 1, divided by sqrt n); NaN where n is too small.
 * left_out: learned ECs that this average excludes by its own rule. */
typedef struct { double mean, se; int n, left_out; } spot_average;

typedef struct {
    spot_average dr;                       /* excludes ECs without blindspots */
    spot_average fdr;                      /* excludes ECs with dr 0 (in left_out) and with an undefined FDR (not in it) */
    spot_average failure[SPOT_FAILURES];   /* spot_rates.failure; excludes ECs with dr 1 and without blindspots */
    spot_average beside[SPOT_BESIDES];     /* excludes NaN */
    int not_learned;                       /* ECs excluded from all averages */
} spot_summary;

spot_metric_config spot_metric_defaults(void);

/* Names in segments and tables: "tmlr", "not_returned", "dcbench_p10". */
const char *spot_profile_name(int profile);
const char *spot_failure_name(int failure);
const char *spot_beside_name(int beside);

/* Hypotheses may overlap. SPOT_INVALID for rows outside the truth or not ascending; a blindspot without rows is
 * SPOT_INPUT. A hypothesis without rows belongs to none. Sets SPREAD, FALSE_SHARE and FALSE_ALARMS; all others of `beside` and
 * `coherence` are NaN. */
spot_status spot_metric_score(spot_ctx *c, spot_score *score, const spot_hypotheses *found, const spot_truth *truth,
                              const spot_metric_config *cfg);

/* Sets DCBENCH_* and GESD_* of a score that spot_metric_score has made of the same hypotheses and truth; view is for
 * the number of rows. On the host on every device. SPOT_INVALID for sizes that differ and for weights that are not finite. */
spot_status spot_metric_rank(spot_ctx *c, spot_score *score, const spot_hypotheses *found, const spot_view *view,
                             const spot_truth *truth);

/* column (n, k): the exact k nearest rows of each row of `view` by its features (Euclidean; of equals the lower rows), on the
 * host on every device; the same on all of them. k is lowered to n - 1; *used receives it. needs: memory beside the result. */
spot_status spot_metric_graph(spot_ctx *c, int *column, int *used, const spot_view *view, int k);
spot_bytes  spot_metric_graph_needs(const spot_ctx *c, int n, int d, int k);

/* Sets COHERENCE and the coherence of each hypothesis: with q_ij = 1 where j is among the k nearest rows of i, the sum of q
 * over a hypothesis' pairs / (its rows * k). It is the manifold compactness of Yu et al. (arXiv 2501.19032) divided by k. */
spot_status spot_metric_coherence(spot_ctx *c, spot_score *score, const spot_hypotheses *found, const int *column, int n,
                                  int k);

/* Sets REPAIR_*: fits on rows 0, 2, ... of both views and measures on rows 1, 3, ... Features are standardised, the penalty is
 * scikit-learn's (C = 1), by Newton's method on the host; run_to_run. `same`: zeroed before the first method of an EC, then
 * keeps what all methods share. Nothing is set without blindspots or without two rows of each label. bytes: the memory. */
typedef struct { bool known; double none, truth; } spot_repair;

spot_status spot_metric_repair(spot_ctx *c, spot_score *score, spot_repair *same, const spot_hypotheses *found,
                               const spot_view *positives, const spot_truth *truth, const spot_view *negatives);
size_t      spot_metric_repair_bytes(int positives, int negatives, int d);

/* Averages over n ECs. Where use[i] is false, EC i (not learned) is left out and counted. use NULL: all ECs. */
void spot_metric_summarise(spot_summary *s, const spot_rates *rates, const bool *use, int n);

/* ---- severity ---- */

/* How much worse a classifier is inside each blindspot than outside, measured on test positives, and whether a
 * blindspot of a wanted severity was learned.
 *
 * Planting with a strength (scene.h) does not say how severe a blindspot becomes: a network may learn half of the flipped
 * labels, or none. So the severity of a blindspot is the error that was measured. Counts are exact on every device. */

#define SPOT_SEVERITY_LEVEL 0.01       /* of the test below, for all blindspots of an EC together */

/* Rows of a view, and those with a confidence of at most 0.5: wrong, since all rows are positives. */
typedef struct { int rows, wrong; } spot_errors;

typedef struct {
    int         blindspots;
    spot_errors outside;                       /* in no blindspot */
    spot_errors inside[SPOT_MAX_BLINDSPOTS];
} spot_severity;

void   spot_severity_of(spot_severity *s, const spot_view *view, const spot_truth *truth);
double spot_error_rate(spot_errors e);         /* NaN without rows */

/* With cfg->learned_band [lo, hi], hi above 0, and at least one blindspot, sets the lesson's accuracies to those on the test
 * positives, and `learned`: every blindspot's error lies in the band and is significantly above the error outside (Fisher's
 * exact test, one-sided, Holm's correction over the EC's blindspots, SPOT_SEVERITY_LEVEL). Otherwise changes nothing. */
void spot_learning_by_band(spot_learning *lesson, const spot_severity *s, const spot_model_config *cfg);

#ifdef __cplusplus
}
#endif
#endif
