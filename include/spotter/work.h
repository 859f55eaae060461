/* work.h - the work of a study: units that many processes share, and their results.
 *
 * A study is one kind of experiment. A unit is a piece of its work with one result: an EC of a sweep. The study defines how a
 * unit is computed and how its result is written and read. Everything else is the same for every study and is here: the units
 * of a shard, the missing units, batches, the log, the status, the merge.
 *
 * A result is one file, DIR/segments/000/<prefix>-000012.json, whole or absent. Its frame holds a checksum; the study defines
 * its content. A unit is done when its segment is whole and was made with this config. There is no coordinator, lock or state
 * file: a shard owns a range of units; valid segments show the units it has done, and its log (DIR/logs, one file per process)
 * shows the present state. So processes may die, restart, run twice or late, share one directory or have one each: the merged
 * run is the same to the byte.
 *
 * tests/study_of_squares.h is a whole study. */
#ifndef SPOTTER_WORK_H
#define SPOTTER_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

struct spot_json;              /* a JSON document, written or read: host/base/json.h */
struct spot_run_log;           /* run_log.h, beside work.c */

/* ---- a study ---- */

typedef enum { SPOT_SEGMENT_ABSENT, SPOT_SEGMENT_WHOLE, SPOT_SEGMENT_DAMAGED } spot_segment_state;

/* A function may be NULL where its comment describes that case. A config is the study's own struct; the caller owns it. */
typedef struct spot_study {
    const char *name;          /* "sweep", for the progress */
    const char *unit, *units;  /* "EC", "ECs", in sentences */
    const char *prefix;        /* "ec": the start of the names of its segments */
    int         numbers;       /* version of its numbers: a result of other numbers does not count */

    /* The content of a segment is an object. It has at least the integers `index` (the unit) and `numbers` and the text
     * `config` (the config's key). Equal configs make equal bytes, so it holds no times, hosts or counts of threads. describe
     * writes a result, or reads it into a zeroed one; where it finds an error the segment is damaged. */
    size_t result;             /* bytes of a result in memory */
    void (*describe)(struct spot_json *j, void *result);
    void (*close)(void *result);                               /* frees what describe allocated; NULL: nothing */

    /* Returns how many parts of a result failed, and describes the first: its status, the failed part, the sentence. Such a
     * failure would repeat, so the unit counts as done. Merge prefers results with fewer failures. NULL: never any. */
    int (*failures)(const void *result, spot_status *first, const char **what, const char **message);

    /* Writes the path of file i that belongs to a result, or "" where file i is not made; false: there are no more. Merge
     * copies these files with the segment. NULL: there are none. */
    bool (*file)(char *path, size_t size, const char *dir, const void *result, int i);

    /* DIR/config.yaml: its settings, of which each says what it affects (host/study/yaml.h). A config that differs in another
     * way than those of another run do is the same run with other choices: DIR/config.yaml is written anew, and results of
     * another key are computed again. The number of units is no difference, since a run may grow. */
    const struct spot_config_kind *config;
    int (*units_of)(const void *config);
    /* The key of a result, text of at most 32 characters; SPOT_IO or SPOT_INPUT where files named in the config are missing.
     * NULL: the settings alone decide. */
    spot_status (*key)(spot_ctx *c, char key[33], const void *config);

    /* Writes the directory of run k of those that belong to the run in dir, each with a config of its own, such as its
     * variants; false: there are no more. NULL: there are none. */
    bool (*part)(char *path, size_t size, const char *dir, const void *config, int k);

    const char *beside;        /* a file of DIR that belongs to the cache, or NULL */
    /* Files of DIR that the run makes from all results, ended by NULL: spot_work_check does not let them replace others. */
    const char *made[8];
    /* DIR/config.yaml does not say where the inputs lie: only the command that began it continues it */
    bool by_words;

    /* Makes the files that are derived from all segments of this config, such as a database. NULL: nothing. */
    spot_status (*derive)(spot_ctx *c, const char *dir, const char *key);
} spot_study;

/* The config of a file (NULL: the defaults), and that of a run directory: SPOT_IO where it is none. For spot_study_close, also
 * after a failure. */
spot_status spot_study_load    (spot_ctx *c, const spot_study *y, void **config, const char *path);
spot_status spot_study_load_run(spot_ctx *c, const spot_study *y, void **config, const char *dir);
void        spot_study_close(void *config);                        /* NULL: nothing */

/* key: of the results of a config. print: the whole config as YAML that reads back as the same; *text is malloc'd. differs:
 * whether two configs are of different runs; words gets the first such setting. */
spot_status spot_study_key    (spot_ctx *c, const spot_study *y, char key[33], const void *config);
spot_status spot_study_print  (spot_ctx *c, const spot_study *y, const void *config, char **text);
bool        spot_study_differs(const spot_study *y, char *words, size_t size, const void *saved, const void *here);

/* ---- one process's part of a run ---- */

/* Where a process works, at which part, and for how long. `out` may be a directory that is not there yet. */
typedef struct {
    const char *out;           /* the run directory */
    int    shard, shards;      /* this process owns one range of the units: spot_shard_range; 0 of 1: all */
    double seconds;            /* time limit: no batch starts that would end later, at the pace so far; 0: no limit */
    int    starts;             /* a shard that was started this often and stopped with nothing kept ends in SPOT_DEVICE; else a
                                  scheduler would restart it for ever; 0: no limit */
    bool   beside;             /* another process may compute the same units at the same time; else it stops this one */
    bool   shared;             /* other shards work in the same directory: units are claimed one by one (unit_claim.h, beside
                                  work.c), and a shard that has done its own takes those that no other one has begun. Only
                                  studies whose functions take any unit may set it */
} spot_run_place;

/* SPOT_USAGE without a directory, or for a shard that is none of them. */
spot_status spot_run_place_check(spot_ctx *c, const spot_run_place *p);

/* The caller fills the first two blocks. The functions get this struct; a function that is NULL does nothing. */
typedef struct spot_work spot_work;
struct spot_work {
    const spot_study *study;
    spot_run_place place;      /* spot_store_open made place.out */
    const void *config;
    char   key[33];            /* the config's */
    int    units;              /* units of all shards */
    int    run, runs;          /* for the progress: run `run` of `runs` with as many units; 0 of 0: the only one */
    struct spot_run_log *log;  /* shared with the stages of the study; fd is -1 at first. NULL: spot_work_run has its own */
    void  *user;

    /* The work of a unit, of any scale, for the progress. NULL: all units are alike. */
    double (*size_of)(const spot_work *w, int unit);
    /* False: a file has changed, so the run would make another result now. NULL: results always hold. */
    bool (*holds)(spot_work *w, const void *result);
    /* take: called for each valid result, found or computed now. miss: called in planning for a unit without a result. */
    void        (*take)(spot_ctx *c, spot_work *w, const void *result);
    spot_status (*miss)(spot_ctx *c, spot_work *w, int unit);
    /* Called when the missing units are known and the directory is not claimed yet: it may fail, and may set w->batch. */
    spot_status (*prepare)(spot_ctx *c, spot_work *w);
    /* Before the first batch. */
    spot_status (*begin)(spot_ctx *c, spot_work *w);
    /* Computes n units and ends each with spot_work_keep or spot_work_skip. Any failure ends the run. */
    spot_status (*compute)(spot_ctx *c, spot_work *w, const int *unit, int n);
    /* Replaces the study's derive, for a caller that keeps what it reads. NULL: the study's. */
    spot_status (*derive)(spot_ctx *c, spot_work *w);

    /* spot_work_run fills the rest. */
    int   *missing;            /* (missing_count) units of this shard, ascending; of a shared run the others' follow */
    int    missing_count, own; /* own: those of this shard */
    int    batch;              /* units per call of compute; 1 unless prepare sets more */
    int    least;              /* units of a shared run that are claimed together at its end; 1 unless prepare sets more */
    int    tried;              /* missing units before the present batch */
    int    planned, already;   /* units of this shard; those with a result before */
    int    done, failed;       /* computed now; failed now or before, or skipped */
    double size, size_done;    /* of the planned units, by size_of; of those that have a result */
    double since, batch_since; /* start by spot_clock: of the run (the caller may set it), of the batch */
    int    batch_count;
    spot_status failure;       /* the first; a failure that left a unit unfinished precedes one in a result */
    bool   unfinished;
    char   message[1200];
};

/* Units of a shard: all, those with a result before, those computed now. */
typedef struct { int planned, already, done; double seconds; } spot_run_report;

/* Computes the missing units of this shard and writes the log. A result with failures counts as done; the call, and every
 * later run, returns the first failure at the end. SPOT_USAGE, before any work, when the directory holds another config, or
 * when another process that lives computes some of these units (run_claim.h, beside work.c), unless this is a shard.
 * SPOT_STOPPED when the stop flag was set or the time is over; the same call then continues. SPOT_DEVICE instead, when the
 * shard was started `starts` times and stopped each time with nothing kept: else a scheduler would restart it for ever. */
spot_status spot_work_run(spot_ctx *c, spot_work *w);

/* SPOT_USAGE when the directory holds another config, as spot_work_run, or no config and a file that the study would replace.
 * Call it before spot_store_open makes a folder there. config NULL: any config of this study will do. */
spot_status spot_work_check(spot_ctx *c, const spot_work *w);

/* Claims the directory and lists the units that spot_work_run would compute: w->missing, freed by spot_work_close. Writes no
 * log. */
spot_status spot_work_plan(spot_ctx *c, spot_work *w);
void        spot_work_close(spot_work *w);

/* Tells the progress how many units are done, of all runs, by their sizes. note: the name of the last one, or "". */
void spot_work_tell(spot_ctx *c, const spot_work *w, const char *note);

/* The same with units in work, of which `more` is done in all, by size: 2.5 of 5 that are half done. */
void spot_work_tell_within(spot_ctx *c, const spot_work *w, double more, const char *note);

/* A study's compute calls these. keep: writes a unit's segment and counts it. find: counts the segment if another process has
 * written one in the meantime. skip: the unit could not be finished; the next run computes it. */
spot_status spot_work_keep(spot_ctx *c, spot_work *w, int unit, void *result);
spot_status spot_work_find(spot_ctx *c, spot_work *w, int unit, bool *found);
void        spot_work_skip(spot_work *w, int unit, spot_status s, const char *message);

/* ---- shards ---- */

#define SPOT_MOST_AT_ONCE 64           /* workers of one process */

/* Shard I of N owns the units *from <= unit < *to of `units`. The lengths of the ranges differ by at most one; with more
 * shards than units some are empty. */
void spot_shard_range(int *from, int *to, int shard, int shards, int units);

/* The state of a shard, from its log and its segments. A process updates the time of its log at least every 30 s. */
typedef enum {
    SPOT_SHARD_WAITING,        /* not started, or not restarted since it stopped to be run again (exit 75) */
    SPOT_SHARD_RUNNING,
    SPOT_SHARD_LOST,           /* started, did not end, and its log is unchanged for `lost_after` seconds */
    SPOT_SHARD_FAILED,         /* ended with a failure that belongs to no unit: `why` */
    SPOT_SHARD_DONE,           /* every unit it owns has a valid segment */
    SPOT_SHARD_STATES
} spot_shard_state;

typedef struct {
    int    shard, shards, from, to;
    spot_shard_state state;
    int    done, failed;       /* units with a valid segment; those of them in which something failed */
    int    starts;             /* how often it was started */
    char   host[64], job[64];  /* of the latest process: "n1-4711"; Slurm's "12_3", or "" */
    double silent;             /* seconds since its log changed; NaN: never started */
    double left;               /* seconds left at the pace of its units so far; NaN: not known */
    char   why[256];
} spot_shard;

typedef struct {
    int    ecs, done, failed, damaged;     /* units of the whole run */
    double left;                           /* seconds until the last running shard ends; NaN: not known */
    int    shards;
    spot_shard *shard;                     /* (shards), as many as the latest started or submitted process was given */
} spot_run_status;

/* Reads DIR; changes nothing. SPOT_IO when it is no run directory. Free with spot_run_status_free, also after a failure.
 * spot_run_status_read is for sweeps. */
spot_status spot_work_status(spot_ctx *c, const spot_study *y, spot_run_status **s, const char *dir, double lost_after);
spot_status spot_run_status_read(spot_ctx *c, spot_run_status **s, const char *dir, double lost_after);
void        spot_run_status_free(spot_run_status *s);
const char *spot_shard_state_name(spot_shard_state s);

/* ---- merge ---- */

typedef struct {
    bool pictures, cache;      /* also copy the files that belong to results; the stage values, which later runs use */
    bool partial;              /* missing units are no failure */
} spot_merge_options;

/* The state of a unit in the sources: bits. */
enum { SPOT_EC_MERGED = 1, SPOT_EC_DAMAGED = 2, SPOT_EC_CONFLICT = 4, SPOT_EC_FOREIGN = 8 };

typedef struct {
    int ecs;                   /* units of the config */
    int merged;                /* units that have a valid segment in `out` now */
    int duplicates;            /* further valid segments of a unit, equal to the byte */
    int conflicts;             /* units whose valid segments differ; the choice does not depend on the order */
    int missing, damaged;      /* units without any segment; with damaged segments only */
    int foreign;               /* segments of another config or of other numbers: left out and named */
    unsigned char *ec;         /* (ecs) bits of each unit; NULL when nothing was merged. free() it */
} spot_merge_report;

/* Merges the segments of n run directories of one config (the one with the most units counts) into the run directory `out`,
 * and makes the derived files. `out` may be one of the sources; its segments always count as a source. Associative,
 * commutative, idempotent: the bytes of segments, config and database depend on the set of segments alone. Where segments of a
 * unit differ, the one with fewer failures wins, then the one with the lesser bytes. Sources are only read; a directory without
 * results is named and counts as empty. Nothing is made on SPOT_USAGE (the configs differ), or on SPOT_IO or SPOT_INPUT for a
 * source that is no run directory. SPOT_INPUT, with every valid segment merged, when units are missing or damaged, or segments
 * are in conflict. If the call is killed, the same call later ends in the same bytes. spot_merge is for sweeps.
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
