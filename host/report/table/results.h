/* results.h - a run's results from its segments, for tables and figures. */
#ifndef SPOTTER_RESULTS_H
#define SPOTTER_RESULTS_H

#include "spotter/config.h"
#include "spotter/report.h"
#include "spotter/sweep.h"

typedef struct {
    int    index, status, blindspots, specificity[SPOT_MAX_BLINDSPOTS];
    unsigned features[SPOT_MAX_BLINDSPOTS];    /* kinds of features (bits, factors.h) that define a blindspot */
    bool   learned, counted, rendered;         /* counted: part of the averages; rendered: of a scene, with features */
    char   task[64];                           /* of pictures: "animal"; "" for a scene */
    double outside, inside[SPOT_MAX_BLINDSPOTS];
    int    induce, rollable;                   /* 1 + spot_induce, 0: not known; attributes that vary */
    double strength;
    spot_severity severity;                    /* of test positives; without rows where it is not known */
} spot_results_ec;

typedef struct {
    char         name[80];
    spot_rates  *rates;                        /* (ecs) */
    bool        *scored;                       /* (ecs): false where training or the method failed */
    spot_summary sum;
    double      *coherence, *precision;        /* (slices): of each hypothesis of the counted ECs; precision: its best BP */
    int          slices;                       /* without those whose coherence is not measured or whose precision is unknown */
    double       trust;                        /* rank correlation of the two; NaN: too few slices */
    int          failed;                       /* counted ECs without a score, and those that failed to train */
    int          gave_up;                      /* counted ECs with a trained model where the method failed */
    char         why[1100];                    /* "EC 4: ..." of the first of these; "" for none */
} spot_results_method;

typedef struct {
    const char  *dir;
    spot_config  cfg;                          /* DIR/config.yaml: entry b is method b */
    int          planned, not_learned, untrained, bad;   /* bad: segments that are damaged or from another config */
    bool         include_all;
    char         config[33], build[32], device[32];
    int          numbers;
    spot_metric_config metric;
    int          ecs, methods;
    spot_results_ec *ec;                       /* (ecs) */
    spot_results_method method[SPOT_MAX_BDMS];
    spot_rates  *rates;                        /* memory of the methods' rates and flags */
    bool        *flags;
    double      *slices;                       /* memory of their coherences and precisions */
} spot_results;

/* The meaning of "u", for every format. */
#define SPOT_RESULTS_U "u is the length of the shortest prefix of a method's hypotheses whose DR is that of all of them, " \
                       "0 when that is 0; FDR is over those u"

/* Whether the run has FDRs: real pictures may have blindspots that nobody planted, so that a hypothesis without a match is not
 * known to be false. */
static inline bool spot_results_knows_fdr(const spot_results *r) { return !r->cfg.data.coco[0]; }

/* Whether any method has this number beside DR and FDR, or one of them; runs of older builds have none. */
bool spot_results_has_beside    (const spot_results *r, int beside);
bool spot_results_has_any_beside(const spot_results *r);

#define SPOT_RESULTS_RANK   "rank corr.: of a slice's coherence, which needs no labels, with its best BP, over all slices"

/* The name of spot_results_method.trust, for programs. */
#define SPOT_RESULTS_TRUST "coherence_precision_rank_correlation"

/* Warns about bad segments and reads the others. *r is malloc'd; free it with spot_results_free, also after a failure. */
spot_status spot_results_read(spot_ctx *c, spot_results **r, const char *dir, bool include_all);
void        spot_results_free(spot_results *r);

/* SPOT_INPUT if segments are bad. Call it at the end, after all output. */
spot_status spot_results_verdict(spot_ctx *c, const spot_results *r);

/* "19 of 20 ECs counted; left out: 1 did not learn its blindspots"; and the config, build and device. Each returns text. */
const char *spot_results_counted(char *text, size_t size, const spot_results *r);
const char *spot_results_origin(char *text, size_t size, const spot_results *r);

/* "failed in 2 of the 19 ECs counted; EC 4: ..."; "" for a method without failures. Returns text. */
const char *spot_results_failed(char *text, size_t size, const spot_results_method *m);

void spot_table_print_text(FILE *f, const spot_results *t, bool markdown);
void spot_table_print_csv(FILE *f, const spot_results *t);
spot_status spot_table_print_json(spot_ctx *c, FILE *f, const spot_results *t);

#endif
