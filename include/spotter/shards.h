/* shards.h - a sweep that many processes share: what each of them owns, how they stand, and their results in one place.
 *
 * There is no coordinator, lock or state file. A shard owns a range of ECs; what it did is what valid segments say, and what
 * it is doing is what its log says (DIR/logs, one file per process). So processes may die, come back, run twice or late, share
 * one directory or have one each: the merged run is the same to the byte. */
#ifndef SPOTTER_SHARDS_H
#define SPOTTER_SHARDS_H

#include <stdbool.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Shard I of N owns the ECs *from <= ec < *to of `ecs`: ranges that differ by at most one in length. With more shards than ECs
 * some own none. */
void spot_shard_range(int *from, int *to, int shard, int shards, int ecs);

/* How a shard stands, by its log and its segments. A process gives a sign of life at least every 30 s (its log's time). */
typedef enum {
    SPOT_SHARD_WAITING,        /* nobody has begun it, or nobody has since it stopped to be run again (exit 75) */
    SPOT_SHARD_RUNNING,
    SPOT_SHARD_LOST,           /* began, did not end, and gave no sign of life for `lost_after` seconds */
    SPOT_SHARD_FAILED,         /* ended with a failure that is no verdict on an EC; `why` says which */
    SPOT_SHARD_DONE,           /* every EC it owns has a valid segment */
    SPOT_SHARD_STATES
} spot_shard_state;

typedef struct {
    int    shard, shards, from, to;
    spot_shard_state state;
    int    done, failed;       /* ECs with a valid segment; those of them in which training or a method failed */
    int    starts;             /* how often it was begun */
    char   host[64], job[64];  /* of the latest process: "n1-4711"; Slurm's "12_3", or "" */
    double silent;             /* seconds since its last sign of life; NaN: never began */
    double left;               /* seconds that it will take at the pace of its ECs so far; NaN: not known */
    char   why[256];
} spot_shard;

typedef struct {
    int    ecs, done, failed, damaged;     /* of the whole run */
    double left;                           /* seconds until the last running shard is through; NaN: not known */
    int    shards;
    spot_shard *shard;                     /* (shards), of the cut that the latest process was started with, or submitted */
} spot_run_status;

/* Reads DIR; changes nothing. SPOT_IO when it is no run directory. Free with spot_run_status_free, also after a failure. */
spot_status spot_run_status_read(spot_ctx *c, spot_run_status **s, const char *dir, double lost_after);
void        spot_run_status_free(spot_run_status *s);
const char *spot_shard_state_name(spot_shard_state s);

typedef struct {
    bool pictures, cache;      /* the PNGs, too; and the stage values, from which pages are drawn and runs go on */
    bool partial;              /* missing ECs are no failure */
} spot_merge_options;

/* What the sources hold of an EC: bits. */
enum { SPOT_EC_MERGED = 1, SPOT_EC_DAMAGED = 2, SPOT_EC_CONFLICT = 4, SPOT_EC_FOREIGN = 8 };

typedef struct {
    int ecs;                   /* of the config */
    int merged;                /* that have a valid segment in `out` now */
    int duplicates;            /* valid segments beyond the first of an EC, equal to the byte */
    int conflicts;             /* ECs of which valid segments differ; the choice does not depend on the order */
    int missing, damaged;      /* ECs without any segment; with none that is valid */
    int foreign;               /* segments of another config or of other numbers: left out, named */
    unsigned char *ec;         /* (ecs) bits of each; NULL when it came to nothing. free() it */
} spot_merge_report;

/* The segments of n run directories of one config (the longest `ecs` counts) into the run directory `out`, which may be one of
 * them, and results.sqlite. Associative, commutative, idempotent: the bytes of segments, config and database depend on the set
 * of segments alone. Of segments that differ the one with fewer failures, then the one with the lesser bytes, is taken. What
 * lies in `out` already counts as one more source. Sources are only read; a directory without results yet is named and counts
 * as empty. SPOT_USAGE when the configs differ, SPOT_IO or SPOT_INPUT when one is no run directory: nothing is made then.
 * SPOT_INPUT, with all that is valid merged, when ECs are missing or damaged, or segments are in conflict. Killed anywhere, the
 * same call ends in the same bytes. */
spot_status spot_merge(spot_ctx *c, const char *const *dirs, int n, const char *out, const spot_merge_options *o,
                       spot_merge_report *report);

#ifdef __cplusplus
}
#endif
#endif
