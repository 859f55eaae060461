/* metric.h - hypotheses against truth: BP, BR, DR, FDR (paper, equations 1 to 7) and why a blindspot was missed
 * (appendix F, Table 13). Integer counts until the last division: equal on every device. */
#ifndef SPOTTER_METRIC_H
#define SPOTTER_METRIC_H

#include <stdbool.h>

#include "spotter/bdm.h"
#include "spotter/ctx.h"
#include "spotter/scene.h"
#include "spotter/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { SPOT_PROFILE_TMLR, SPOT_PROFILE_WORKSHOP } spot_profile;   /* >= lambda, or > lambda */

typedef struct {
    int    profile;            /* spot_profile */
    double lambda_p, lambda_r; /* 0.8, 0.8; read as decimals of nine digits, so 8 of 10 images reach 0.8 exactly */
    int    top;                /* hypotheses looked at: 10 */
} spot_metric_config;

typedef enum { SPOT_NOT_RETURNED, SPOT_FOUND, SPOT_MERGED, SPOT_IMPURE, SPOT_FAILURES } spot_failure;

/* u is the length of the shortest prefix of the hypotheses whose DR equals that of the whole list, 0 when that is 0;
 * FDR is the share of those u that belong to no blindspot. Failures: each row of a missed blindspot is in the first
 * that holds of: in no hypothesis; in one that belongs to the blindspot; in one that is mostly blindspots, of whatever
 * kind; in none of these. */
typedef struct {
    int    blindspots, hypotheses, u;
    double dr;
    double fdr;                                                   /* NaN when dr is 0 or nobody knows: left out of averages */
    double br[SPOT_MAX_BLINDSPOTS];
    bool   covered[SPOT_MAX_BLINDSPOTS];
    int    size[SPOT_MAX_BLINDSPOTS];                             /* rows of the truth in blindspot m */
    double bp[SPOT_MAX_HYPOTHESES][SPOT_MAX_BLINDSPOTS];
    int    belongs[SPOT_MAX_HYPOTHESES];                          /* the blindspot it belongs to (the largest BP), -1 none */
    double failure[SPOT_MAX_BLINDSPOTS][SPOT_FAILURES];           /* of blindspots not covered; NaN of the others */
} spot_score;

/* The part of a score that averages need: a tenth of its bytes, for runs of many ECs. */
typedef struct {
    int    u;
    double dr, fdr, failure[SPOT_FAILURES];                       /* the mean over the blindspots that are not covered */
    bool   covered[SPOT_MAX_BLINDSPOTS];
} spot_rates;

spot_rates spot_metric_rates(const spot_score *score);

/* A mean over n ECs with its standard error (sd with n - 1, over sqrt n): NaN where n is too small for it.
 * left_out: learned ECs that this average excludes by its own rule. */
typedef struct { double mean, se; int n, left_out; } spot_average;

typedef struct {
    spot_average dr, fdr;                  /* fdr leaves out dr = 0, and what nobody knows, which left_out does not count */
    spot_average failure[SPOT_FAILURES];   /* of an EC's missed blindspots; leaves out dr = 1 */
    int not_learned;                       /* ECs that no average holds */
} spot_summary;

spot_metric_config spot_metric_defaults(void);

/* Names as they stand in segments and tables: "tmlr", "not_returned". */
const char *spot_profile_name(int profile);
const char *spot_failure_name(int failure);

/* Hypotheses may overlap. SPOT_INVALID for rows outside the truth or not ascending; a blindspot without rows is
 * SPOT_INPUT. A hypothesis without rows belongs to none. */
spot_status spot_metric_score(spot_ctx *c, spot_score *score, const spot_hypotheses *found, const spot_truth *truth,
                              const spot_metric_config *cfg);

/* Averages over n ECs; use[i] false leaves EC i out (not learned) and counts it. use NULL takes all. */
void spot_metric_summarise(spot_summary *s, const spot_rates *rates, const bool *use, int n);

#ifdef __cplusplus
}
#endif
#endif
