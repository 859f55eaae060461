/* baseline.h - the summary of a run that a check compares: its ECs, the counts of each method, hashes of everything else. It
 * is gathered from a run's segments, or read from a baseline's file, which adds margins, quarantine and a history.
 *
 * It holds counts instead of rates (DR is covered / blindspots, FDR is strangers / u): small, and exact on every machine. */
#ifndef SPOTTER_BASELINE_H
#define SPOTTER_BASELINE_H

#include <stdint.h>

#include "report/table/results.h"
#include "spotter/check.h"
#include "spotter/shifts.h"

#define SPOT_BASELINE_SCHEMA 1
enum { SPOT_BASELINE_ECS = 1000000, SPOT_BASELINE_MOST = 1000 };   /* most ECs; most quarantines, and most acceptances */
#define SPOT_BASELINE_LIMIT ((size_t)1 << 28)                      /* largest file, in bytes */

/* Metrics of a sweep, of every study, of shifts. */
enum { SPOT_CHECK_DR, SPOT_CHECK_FDR, SPOT_CHECK_LEARNED, SPOT_CHECK_BITS, SPOT_CHECK_IMPACT, SPOT_CHECK_SLOPE,
       SPOT_CHECK_PASSED, SPOT_CHECK_CLASSES, SPOT_CHECK_METRICS };
const char *spot_check_metric(int metric);                         /* "dr", ... */

typedef char spot_hash[17];                    /* XXH3, 64 bits */

typedef struct {
    int  index, blindspots;
    int  learned;                              /* 1, 0; -1: training failed */
    spot_hash definition, segment;             /* hash of the EC's definition with the run's seed; hash of its whole segment */
} spot_baseline_ec;

typedef struct {
    int  covered, strangers, u;                /* covered -1: there is no score, since the method or the training failed;
                                                * strangers -1: not known */
    char hash[9];                              /* 32-bit hash of the method's part of the segment, to name a difference */
} spot_baseline_found;

/* method: of a sweep; of shifts the source and shift, "clean, in the snow"; "": the whole run */
typedef struct { char method[SPOT_CHECK_NAME]; int metric; char reason[256]; } spot_quarantine;

/* A mean with its standard error over n ECs; method "": the whole run. */
typedef struct { char method[SPOT_CHECK_NAME]; int metric, n; double mean, se; } spot_baseline_mean;

typedef struct {
    char date[24], reason[512], build[64];
    int  numbers, means;
    spot_baseline_mean *mean;                  /* (means) */
} spot_acceptance;

/* The counts of a folder of shifts, base or shift. */
typedef struct {
    char name[SPOT_CHECK_NAME];
    int  base;                                 /* the folder of its base; -1: it is one */
    spot_hash inputs;                          /* pictures, tables, weights and encoder */
    int *pictures, *kept, *right;              /* (classes), (classes), (models, classes): of kept ones; in one piece */
} spot_shift_folder;

typedef struct {
    spot_shift_rule rule;                      /* without draws and seed */
    int   classes, models, folders;
    char (*class_name)[128], (*model)[64];
    spot_shift_folder *folder;                 /* (folders): for each source base, then shifts */
    spot_baseline_mean *mean;                  /* (means): of a run, for the history; not in the file */
    int   means;
} spot_shift_counts;

typedef struct {
    char     config[33], device[32], profile[16];
    char     build[64], platform[512];         /* of the run's processes, from its logs; "": not known, or several */
    char    *text;                             /* the resolved config */
    uint64_t seed;
    int      numbers, ecs, methods;
    spot_baseline_ec    *ec;                   /* (ecs), ascending by index */
    struct { char name[80], settings[33]; spot_baseline_found *found; } method[SPOT_MAX_BDMS];      /* found: (ecs) */
    spot_shift_counts *shifts;                 /* of a run of shifts, which has no ECs and methods; NULL: of a sweep */
    double   margin[SPOT_CHECK_METRICS], paper_margin;      /* 0: another study's */
    int      quarantines, acceptances;
    spot_quarantine *quarantine;               /* (quarantines) */
    spot_acceptance *acceptance;               /* (acceptances), the latest last */
} spot_baseline;

/* Call spot_baseline_free after each of these, also after a failure. parse accepts any bytes: the sentence of SPOT_INPUT names
 * the file (`name`), the place and the fault. print: *text is malloc'd. */
spot_status spot_baseline_parse(spot_ctx *c, spot_baseline *b, const char *bytes, size_t n, const char *name);
spot_status spot_baseline_print(spot_ctx *c, const spot_baseline *b, char **text, size_t *n);
spot_status spot_baseline_read (spot_ctx *c, spot_baseline *b, const char *path);
void        spot_baseline_free (spot_baseline *b);

/* The check of a run's scores against its own segments. scores: number checked; wrong: number that do not follow from the
 * hypotheses and the covered blindspots; impossible: number out of range; first: a sentence about the first fault. */
typedef struct { int scores, wrong, impossible; char first[300]; } spot_scores_check;

/* gather.c: from the run that r was read from. */
spot_status spot_baseline_gather(spot_ctx *c, spot_baseline *b, const spot_results *r, spot_scores_check *k);

/* baseline_shifts.c: the same from a run of shifts in dir; the members of the file; free, which accepts NULL. */
struct spot_document;
spot_status spot_baseline_gather_shifts(spot_ctx *c, spot_baseline *b, const spot_shifts_results *r, const char *dir);
void        spot_baseline_describe_shifts(struct spot_document *d, spot_baseline *b);
void        spot_baseline_free_shifts(spot_shift_counts *s);

/* check.c: of a run of either study. *r: of a sweep, freed by the caller also after a failure; NULL: of shifts. */
spot_status spot_baseline_of_run(spot_ctx *c, spot_baseline *b, spot_results **r, spot_scores_check *k, const char *run);

/* Build and platform from the run's logs. */
void spot_baseline_find_makers(spot_ctx *c, spot_baseline *b, const char *dir);

/* Whether metric is one of the baseline's study; whether it has a margin there. */
bool spot_baseline_has_metric(const spot_baseline *b, int metric);
bool spot_baseline_has_margin(const spot_baseline *b, int metric);

/* The EC's number for the pairs; false: the EC has none. A failure of training or of the method counts as DR 0. */
bool spot_baseline_value(double *v, const spot_baseline *b, int method, int metric, int ec);

/* average: the mean over the ECs that have a value. find: the index of a method; -1: it is not there. quarantined: NULL: no. */
spot_average spot_baseline_average(const spot_baseline *b, int method, int metric);
int  spot_baseline_find(const spot_baseline *b, const char *name, const char *settings);
const spot_quarantine *spot_baseline_quarantined(const spot_baseline *b, const char *method, int metric);

#endif
