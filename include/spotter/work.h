/* work.h - the work of a study: units that many processes share, their results, and what becomes of both.
 *
 * A study is one kind of experiment; a unit is what it computes and keeps as one result: an EC of a sweep. The study says how
 * a result is written and read, and how a unit is computed. All else is the same for every study and stands here: which units
 * a shard owns, which of them are missing, how they run in batches, the log, the status, the merge.
 *
 * A result is one file, DIR/segments/000/<prefix>-000012.json, whole or not there. Its frame holds a checksum; its content is
 * the study's. A unit is done when its segment is whole and was made with this config. There is no coordinator, lock or state
 * file: a shard owns a range of units; valid segments say what it did, and its log (DIR/logs, one file per process) says what
 * it is doing. So processes may die, come back, run twice or late, share one directory or have one each: the merged run is the
 * same to the byte.
 *
 * tests/test_work.c is a whole study. */
#ifndef SPOTTER_WORK_H
#define SPOTTER_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

struct spot_json;              /* a JSON document that is written or read: host/base/json.h */
struct spot_run_log;           /* run_log.h, beside work.c */

/* ---- a study ---- */

typedef enum { SPOT_SEGMENT_ABSENT, SPOT_SEGMENT_WHOLE, SPOT_SEGMENT_DAMAGED } spot_segment_state;

/* Functions that may be NULL say what happens then. A config is the study's own struct, in the caller's hands. */
typedef struct spot_study {
    const char *name;          /* "sweep", for the progress */
    const char *unit, *units;  /* "EC", "ECs", in sentences */
    const char *prefix;        /* "ec": how the names of its segments begin */
    int         numbers;       /* version of its numbers: a result of other numbers does not count */

    /* The content of a segment is an object. It has at least the integers `index` (the unit) and `numbers` and the text
     * `config` (the config's key). Equal configs make equal bytes, so it holds no times, hosts or counts of threads. describe
     * writes a result, and reads it into a zeroed one; a file in which it finds something wrong is damaged. */
    size_t result;             /* bytes of a result in memory */
    void (*describe)(struct spot_json *j, void *result);
    void (*close)(void *result);                               /* frees what describe allocated; NULL: nothing */

    /* Returns how many parts of a result failed, and tells about the first: its status, what failed, the sentence. Such a
     * failure would come again, so the unit is done all the same. Merge prefers results with fewer. NULL: never any. */
    int (*failures)(const void *result, spot_status *first, const char **what, const char **message);

    /* Writes the path of file i that belongs to a result, or "" where file i is not made; false: there are no more. Merge
     * takes these files with the segment. NULL: there are none. */
    bool (*file)(char *path, size_t size, const char *dir, const void *result, int i);

    /* DIR/config.yaml. load: *config is malloc'd or NULL, also after a failure; free() it. print: *text is malloc'd. key: text
     * of at most 32 characters; SPOT_IO or SPOT_INPUT where files that the config names are not here. differs: names the first
     * difference that makes another run. The number of units makes none, since a run may grow. */
    spot_status (*config_load)(spot_ctx *c, void **config, const char *path);
    spot_status (*config_print)(spot_ctx *c, const void *config, char **text);
    spot_status (*config_key)(spot_ctx *c, char key[33], const void *config);
    bool        (*config_differs)(char *words, size_t size, const void *there, const void *here);
    int         (*config_units)(const void *config);

    const char *beside;        /* a file of DIR that belongs to the cache, or NULL */

    /* Makes what is derived from all segments of this config, such as a database. NULL: nothing. */
    spot_status (*derive)(spot_ctx *c, const char *dir, const char *key);
} spot_study;

/* ---- one process's part of a run ---- */

/* The caller fills the first block. The functions get this struct; NULL stands for a function that does nothing. */
typedef struct spot_work spot_work;
struct spot_work {
    const spot_study *study;
    const char *dir;           /* the run directory: spot_store_open made it */
    const void *config;
    char   key[33];            /* the config's */
    int    units;              /* that the shards share */
    int    shard, shards;      /* 0 of 1: one process owns all */
    double seconds;            /* no batch is begun that would end later, at the pace so far; 0: no limit */
    int    starts;             /* see spot_work_run; 0: no limit */
    struct spot_run_log *log;  /* where the study's stages write, too; fd -1 until then. NULL: spot_work_run has its own */
    void  *user;

    /* False: the run would make another result now, since a file has changed. NULL: results always hold. */
    bool (*holds)(spot_work *w, const void *result);
    /* take: a result counts, from before or computed now. miss: while planning, a unit has no result. */
    void        (*take)(spot_ctx *c, spot_work *w, const void *result);
    spot_status (*miss)(spot_ctx *c, spot_work *w, int unit);
    /* Called when the missing units are known and nothing is claimed yet: it may refuse, and set w->batch. */
    spot_status (*prepare)(spot_ctx *c, spot_work *w);
    /* Before the first batch. */
    spot_status (*begin)(spot_ctx *c, spot_work *w);
    /* Computes n units: ends each with spot_work_keep, or spot_work_skip. Any failure ends the run. */
    spot_status (*compute)(spot_ctx *c, spot_work *w, const int *unit, int n);

    /* spot_work_run fills the rest. */
    int   *missing;            /* (missing_count) units of this shard, ascending */
    int    missing_count;
    int    batch;              /* units that compute gets at once; 1 unless prepare says more */
    int    tried;              /* missing units before the batch at hand */
    int    planned, already;   /* units of this shard; those with a result before */
    int    done, failed;       /* computed now; failed now or before, or skipped */
    double since, batch_since; /* clock: of the run (the caller may set it), of the batch */
    int    batch_count;
    spot_status failure;       /* the first; one that left a unit unfinished matters more than one in a result */
    bool   unfinished;
    char   message[1200];
};

/* Computes what is missing of this shard and writes the log. A result with failures counts as done; the first failure is what
 * comes back in the end, now and in every later run. Before anything is computed: SPOT_USAGE when the directory holds another
 * config. SPOT_STOPPED: the stop flag went up or the time is over; the same call goes on. SPOT_DEVICE instead, when the shard
 * was begun `starts` times and stopped each time before anything was kept: a scheduler would begin it for ever. */
spot_status spot_work_run(spot_ctx *c, spot_work *w);

/* Claims the directory and lists what such a run would compute: w->missing, for spot_work_close. Writes no log. */
spot_status spot_work_plan(spot_ctx *c, spot_work *w);
void        spot_work_close(spot_work *w);

/* For compute. keep: writes a unit's segment and counts it. find: counts the segment that another process has written
 * meanwhile, if one is there. skip: the unit could not be finished; the next run computes it. */
spot_status spot_work_keep(spot_ctx *c, spot_work *w, int unit, void *result);
spot_status spot_work_find(spot_ctx *c, spot_work *w, int unit, bool *found);
void        spot_work_skip(spot_work *w, int unit, spot_status s, const char *message);

/* ---- shards ---- */

#define SPOT_MOST_AT_ONCE 64           /* workers of one process */

/* Shard I of N owns the units *from <= unit < *to of `units`: ranges that differ by at most one in length. With more shards
 * than units some own none. */
void spot_shard_range(int *from, int *to, int shard, int shards, int units);

/* How a shard stands, by its log and its segments. A process gives a sign of life at least every 30 s (its log's time). */
typedef enum {
    SPOT_SHARD_WAITING,        /* nobody has begun it, or nobody has since it stopped to be run again (exit 75) */
    SPOT_SHARD_RUNNING,
    SPOT_SHARD_LOST,           /* began, did not end, and gave no sign of life for `lost_after` seconds */
    SPOT_SHARD_FAILED,         /* ended with a failure that belongs to no unit; `why` says which */
    SPOT_SHARD_DONE,           /* every unit it owns has a valid segment */
    SPOT_SHARD_STATES
} spot_shard_state;

typedef struct {
    int    shard, shards, from, to;
    spot_shard_state state;
    int    done, failed;       /* units with a valid segment; those of them in which something failed */
    int    starts;             /* how often it was begun */
    char   host[64], job[64];  /* of the latest process: "n1-4711"; Slurm's "12_3", or "" */
    double silent;             /* seconds since its last sign of life; NaN: never began */
    double left;               /* seconds that it will take at the pace of its units so far; NaN: not known */
    char   why[256];
} spot_shard;

typedef struct {
    int    ecs, done, failed, damaged;     /* units of the whole run */
    double left;                           /* seconds until the last running shard is through; NaN: not known */
    int    shards;
    spot_shard *shard;                     /* (shards), of the cut that the latest process was started with, or submitted */
} spot_run_status;

/* Reads DIR; changes nothing. SPOT_IO when it is no run directory. Free with spot_run_status_free, also after a failure. The
 * second is a sweep's. */
spot_status spot_work_status(spot_ctx *c, const spot_study *y, spot_run_status **s, const char *dir, double lost_after);
spot_status spot_run_status_read(spot_ctx *c, spot_run_status **s, const char *dir, double lost_after);
void        spot_run_status_free(spot_run_status *s);
const char *spot_shard_state_name(spot_shard_state s);

/* ---- merge ---- */

typedef struct {
    bool pictures, cache;      /* the files that belong to results; and the stage values, from which runs go on */
    bool partial;              /* missing units are no failure */
} spot_merge_options;

/* The state of a unit in the sources: bits. */
enum { SPOT_EC_MERGED = 1, SPOT_EC_DAMAGED = 2, SPOT_EC_CONFLICT = 4, SPOT_EC_FOREIGN = 8 };

typedef struct {
    int ecs;                   /* units of the config */
    int merged;                /* that have a valid segment in `out` now */
    int duplicates;            /* valid segments beyond the first of a unit, equal to the byte */
    int conflicts;             /* units of which valid segments differ; the choice does not depend on the order */
    int missing, damaged;      /* units without any segment; with none that is valid */
    int foreign;               /* segments of another config or of other numbers: left out, named */
    unsigned char *ec;         /* (ecs) bits of each unit; NULL when it came to nothing. free() it */
} spot_merge_report;

/* The segments of n run directories of one config (the longest counts) into the run directory `out`, which may be one of
 * them, and what is derived from them. Associative, commutative, idempotent: the bytes of segments, config and database depend
 * on the set of segments alone. Of segments that differ the one with fewer failures, then the one with the lesser bytes, is
 * taken. What lies in `out` already counts as one more source. Sources are only read; a directory without results yet is named
 * and counts as empty. SPOT_USAGE when the configs differ, SPOT_IO or SPOT_INPUT when one is no run directory: nothing is made
 * then. SPOT_INPUT, with all that is valid merged, when units are missing or damaged, or segments are in conflict. Killed
 * anywhere, the same call ends in the same bytes. The second is a sweep's.
 *
 * Two runs of one config have equal bits when their merge has a duplicate for each unit and no conflict. */
spot_status spot_work_merge(spot_ctx *c, const spot_study *y, const char *const *dirs, int n, const char *out,
                            const spot_merge_options *o, spot_merge_report *report);
spot_status spot_merge(spot_ctx *c, const char *const *dirs, int n, const char *out, const spot_merge_options *o,
                       spot_merge_report *report);

#ifdef __cplusplus
}
#endif
#endif
