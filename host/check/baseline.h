/* baseline.h - a run as the nightly verdict sees it: what its ECs are, what each method found, the hashes of the rest. Gathered
 * from a run's segments, or read from a baseline's file, which is one of these with margins, quarantine and a history.
 *
 * Counts stand for rates (DR is covered / blindspots, FDR strangers / u): small, and exact on every machine. */
#ifndef SPOTTER_BASELINE_H
#define SPOTTER_BASELINE_H

#include <stdint.h>

#include "report/table/results.h"
#include "spotter/check.h"
#include "spotter/store.h"

#define SPOT_BASELINE_SCHEMA 1
enum { SPOT_BASELINE_ECS = 1000000, SPOT_BASELINE_MOST = 1000 };   /* ECs; of quarantines, and of acceptances, at most */
#define SPOT_BASELINE_LIMIT ((size_t)1 << 28)                      /* bytes of a file */

enum { SPOT_CHECK_DR, SPOT_CHECK_FDR, SPOT_CHECK_LEARNED, SPOT_CHECK_BITS, SPOT_CHECK_METRICS };
const char *spot_check_metric(int metric);                         /* "dr", ... */

typedef char spot_hash[17];                    /* XXH3, 64 bits */

typedef struct {
    int  index, blindspots;
    int  learned;                              /* 1, 0; -1: training failed */
    spot_hash definition, segment;             /* of what the EC is, with the run's seed; and of all that its segment holds */
} spot_baseline_ec;

typedef struct {
    int  covered, strangers, u;                /* covered -1: there is no score, since the method or the training failed */
    char hash[9];                              /* 32 bits of the method's part of the segment: to say where two differ */
} spot_baseline_found;

typedef struct { char method[80]; int metric; char reason[256]; } spot_quarantine;      /* method "": of the whole run */

/* A mean with its standard error over n ECs; method "": of the whole run. */
typedef struct { char method[80]; int metric, n; double mean, se; } spot_baseline_mean;

typedef struct {
    char date[24], reason[512], build[64];
    int  numbers, means;
    spot_baseline_mean *mean;                  /* (means) */
} spot_acceptance;

typedef struct {
    char     config[33], device[32], profile[16];
    char     build[64], platform[512];         /* of the processes that made it, from its logs; "": not known, or several */
    char    *text;                             /* the resolved config */
    uint64_t seed;
    int      numbers, ecs, methods;
    spot_baseline_ec    *ec;                   /* (ecs), ascending by index */
    struct { char name[80], settings[33]; spot_baseline_found *found; } method[SPOT_MAX_BDMS];      /* found: (ecs) */
    double   margin[SPOT_CHECK_LEARNED + 1], paper_margin;
    int      quarantines, acceptances;
    spot_quarantine *quarantine;               /* (quarantines) */
    spot_acceptance *acceptance;               /* (acceptances), the latest last */
} spot_baseline;

/* All of these leave something that spot_baseline_free takes, also after a failure. Parse takes any bytes: SPOT_INPUT says what
 * is wrong and where, `name` being the file's. print: malloc'd. */
spot_status spot_baseline_parse(spot_ctx *c, spot_baseline *b, const char *bytes, size_t n, const char *name);
spot_status spot_baseline_print(spot_ctx *c, const spot_baseline *b, char **text, size_t *n);
spot_status spot_baseline_read (spot_ctx *c, spot_baseline *b, const char *path);
void        spot_baseline_free (spot_baseline *b);

/* What is wrong with a run's numbers in themselves: the scores looked at, those that do not follow from what the hypotheses
 * belong to and which blindspots are covered, and those outside of what is possible; the first of them in a sentence. */
typedef struct { int scores, wrong, impossible; char first[300]; } spot_scores_check;

/* gather.c: from the run that r was read from. */
spot_status spot_baseline_gather(spot_ctx *c, spot_baseline *b, const spot_results *r, spot_scores_check *k);

/* What stands for an EC in the pairs; false: the EC has no such number. A failure, of training or of the method, where the
 * other side may have a score, is DR 0. */
bool spot_baseline_value(double *v, const spot_baseline *b, int method, int metric, int ec);

/* Mean over the ECs that have a value; and of a method by its name, -1 when it is not there. */
spot_average spot_baseline_average(const spot_baseline *b, int method, int metric);
int  spot_baseline_find(const spot_baseline *b, const char *name, const char *settings);
const spot_quarantine *spot_baseline_quarantined(const spot_baseline *b, const char *method, int metric);

#endif
