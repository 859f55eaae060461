/* sweep.h - a whole experiment: plan it, run it, resume it, tabulate it. */
#ifndef SPOTTER_SWEEP_H
#define SPOTTER_SWEEP_H

#include <stdbool.h>
#include <stdio.h>

#include "spotter/config.h"
#include "spotter/ctx.h"
#include "spotter/metric.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *out;           /* run directory */
    int shard, shards;         /* this process owns ECs with index mod shards == shard; 0 of 1 by default */
    int limit;                 /* at most this many ECs of the config; 0 = all */
    bool pictures;             /* a PNG per EC */
} spot_sweep_options;

typedef struct {
    int planned;               /* ECs of this shard */
    int already;               /* had a valid segment before */
    int done;                  /* computed now */
    int failed;                /* could not be computed; reasons are in the log */
    int not_learned;           /* of all that are done */
    double seconds;
} spot_sweep_report;

/* Runs what is missing. A failed EC does not stop the others: its sentence is logged, and the first failure is what
 * comes back after all others are done. SPOT_STOPPED when the stop flag went up: nothing computed is lost. */
spot_status spot_sweep_run(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, spot_sweep_report *report);

typedef struct {
    size_t memory;             /* bytes at the peak */
    double seconds;            /* for all ECs, from a short calibration; NaN where not calibrated */
    double images;             /* rendered and trained on, all epochs */
} spot_sweep_cost;

spot_status spot_sweep_cost_of(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, spot_sweep_cost *cost,
                               bool calibrate);

typedef enum { SPOT_TABLE_TEXT, SPOT_TABLE_CSV, SPOT_TABLE_JSON, SPOT_TABLE_MD } spot_table_format;

/* DR and FDR of every method over the run's ECs with standard errors, per-EC rows, failure categories; prints how many
 * ECs each average left out and why. Rebuilds results.sqlite from the segments. include_all also averages ECs that did
 * not learn their blindspots. */
spot_status spot_tables(spot_ctx *c, FILE *f, const char *dir, spot_table_format format, bool include_all);

#ifdef __cplusplus
}
#endif
#endif
