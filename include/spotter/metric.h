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
    double lambda_p, lambda_r; /* used as decimals of nine digits, so 8 of 10 images reach 0.8 exactly */
    int    top;                /* the first hypotheses that count */
} spot_metric_config;

typedef enum { SPOT_NOT_RETURNED, SPOT_FOUND, SPOT_MERGED, SPOT_IMPURE, SPOT_FAILURES } spot_failure;

/* u is the length of the shortest prefix of the hypotheses whose DR equals that of the whole list; 0 when DR is 0.
 * FDR is the share of those u that belong to no blindspot. failure: the shares of a missed blindspot's rows, each row in the
 * first class that fits: NOT_RETURNED, in no hypothesis; FOUND, in one that belongs to the blindspot; MERGED, in one that
 * consists mostly of rows of any blindspots; IMPURE, all other rows. */
typedef struct {
    int    blindspots, hypotheses, u;
    double dr;
    double fdr;                                                   /* NaN when dr is 0, or when it is undefined */
    double br[SPOT_MAX_BLINDSPOTS];
    bool   covered[SPOT_MAX_BLINDSPOTS];
    int    size[SPOT_MAX_BLINDSPOTS];                             /* rows of the truth in blindspot m */
    double bp[SPOT_MAX_HYPOTHESES][SPOT_MAX_BLINDSPOTS];
    int    belongs[SPOT_MAX_HYPOTHESES];                          /* the blindspot it belongs to (the largest BP), -1 none */
    double failure[SPOT_MAX_BLINDSPOTS][SPOT_FAILURES];           /* NaN for covered blindspots */
} spot_score;

/* The part of a score that averages need. It has a tenth of the bytes, for runs of many ECs. */
typedef struct {
    int    u;
    double dr, fdr, failure[SPOT_FAILURES];                       /* failure: the mean over the missed blindspots */
    bool   covered[SPOT_MAX_BLINDSPOTS];
} spot_rates;

spot_rates spot_metric_rates(const spot_score *score);

/* A mean over n ECs and its standard error (sd with n - 1, divided by sqrt n); NaN where n is too small.
 * left_out: learned ECs that this average excludes by its own rule. */
typedef struct { double mean, se; int n, left_out; } spot_average;

typedef struct {
    spot_average dr, fdr;                  /* fdr excludes ECs with dr 0 (in left_out) and with an undefined FDR (not in it) */
    spot_average failure[SPOT_FAILURES];   /* spot_rates.failure; excludes ECs with dr 1 */
    int not_learned;                       /* ECs excluded from all averages */
} spot_summary;

spot_metric_config spot_metric_defaults(void);

/* Names in segments and tables: "tmlr", "not_returned". */
const char *spot_profile_name(int profile);
const char *spot_failure_name(int failure);

/* Hypotheses may overlap. SPOT_INVALID for rows outside the truth or not ascending; a blindspot without rows is
 * SPOT_INPUT. A hypothesis without rows belongs to none. */
spot_status spot_metric_score(spot_ctx *c, spot_score *score, const spot_hypotheses *found, const spot_truth *truth,
                              const spot_metric_config *cfg);

/* Averages over n ECs. Where use[i] is false, EC i (not learned) is left out and counted. use NULL: all ECs. */
void spot_metric_summarise(spot_summary *s, const spot_rates *rates, const bool *use, int n);

#ifdef __cplusplus
}
#endif
#endif
