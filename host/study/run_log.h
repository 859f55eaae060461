/* run_log.h - a run's logs: one JSON line per event, in one file per process.
 *
 * Times, hosts and threads belong here and not in segments. A log that cannot be written stops nothing: the results matter
 * more, and writing them fails by itself when the disk is full. While a log is open, its file's time is updated every few
 * seconds, so that other processes see that this one lives, however long a stage computes. The lines call a unit "ec" in
 * every study. */
#ifndef SPOTTER_RUN_LOG_H
#define SPOTTER_RUN_LOG_H

#include <pthread.h>
#include <stdbool.h>

#include "spotter/ctx.h"


typedef struct spot_run_log {
    int             fd;
    bool            open, torn;        /* torn: only a part of the last line was written */
    pthread_t       beat;
    pthread_mutex_t lock;
    pthread_cond_t  closing;
} spot_run_log;

/* The start of a process. */
typedef struct {
    int  shard, shards, from, to;      /* the process owns the units [from, to) ... */
    int  ecs, pid;                     /* ... of `ecs` units */
    char config[33];                   /* the config's key */
    char host[64], job[64];            /* job: Slurm's "12_3", the pod's name in Kubernetes, else "" */
    char build[64], device[128], unit[128], platform[512];     /* spot_build, spot_platform_unit, spot_platform */
} spot_run_log_start;

typedef struct {
    double at;                         /* seconds since 1970 */
    char   event[24];                  /* "start", a stage value's kind, "done", "failed", "stopped", "end", ... */
    bool   kept;                       /* progress: the store keeps a value from now on */
    int    ec;                         /* the unit; -1: the whole run */
    double seconds;                    /* time taken; NaN: none */
    char   status[24];                 /* for "end": "OK", "STOPPED", ... */
    char   text[1400];
    spot_run_log_start start;          /* for "start" */
} spot_run_log_line;

void spot_run_log_open(spot_ctx *c, spot_run_log *d, const char *dir, int shard, int shards);
void spot_run_log_close(spot_run_log *d);

/* The caller fills shard, shards, from, to, ecs and config of s; begin fills the rest. */
void spot_run_log_begin(spot_ctx *c, spot_run_log *d, spot_run_log_start *s, const char *text);
void spot_run_log_end(spot_run_log *d, spot_status s, double seconds, const char *text);

/* ec -1: the whole run. text may be NULL; seconds NaN: none. */
void spot_run_log_write(spot_run_log *d, const char *event, int ec, double seconds, const char *text);

/* The same for a value that the store keeps from now on; `kind` is the event. */
void spot_run_log_kept(spot_run_log *d, const char *kind, int ec, double seconds, const char *text);

/* run_log_read.c: calls on_line for every line of the logs in DIR whose names begin with prefix ("": all; "3-of-40-"), file by
 * file in the order of their names. `alive` is the file's time, its process's last sign of life. Skips lines that are not
 * whole and files that are not regular files. Control characters in a text become "?". */
typedef void spot_run_log_on_line(void *user, int file, double alive, const spot_run_log_line *line);
spot_status spot_run_log_read(spot_ctx *c, const char *dir, const char *prefix, spot_run_log_on_line *on_line, void *user);

/* Returns how often the shard was started since it last kept a value; 0 when the logs cannot be read. */
int spot_run_log_starts(spot_ctx *c, const char *dir, int shard, int shards);

/* makers.c: build and platform of the processes that computed something. Zero the struct first. add takes the lines file by
 * file; read adds all logs of a run, if there are any. */
typedef struct {
    char build[64], platform[512];     /* the first process's; "": none */
    char other[512];                   /* a second platform, or "" */
    bool builds;                       /* there is a second build */
    bool started;                      /* this file's start line was read: */
    int  file;
    spot_run_log_start start;
} spot_run_makers;
void        spot_run_makers_add (spot_run_makers *m, int file, const spot_run_log_line *line);
spot_status spot_run_makers_read(spot_ctx *c, const char *dir, spot_run_makers *m);

/* warn: logs a warning if there are several platforms, or another one than `here` (NULL: any). look: reads the logs, then
 * warns. */
void spot_run_makers_warn(spot_ctx *c, const spot_run_makers *m, const char *dir, const char *here);
void spot_run_makers_look(spot_ctx *c, const char *dir, const char *here);

/* Writes or reads the members of a line. */
struct spot_json;
void spot_run_log_describe(struct spot_json *j, spot_run_log_line *line);

#endif
