/* run_log.h - a run's logs: one JSON line an event, in a file of this process alone.
 *
 * Times, hosts and threads belong here and not in segments. A log that cannot be written stops nothing: the results matter
 * more, and writing them fails by itself when the disk is full. While a log is open its file's time is moved on every few
 * seconds, so that others see that the process lives, however long a stage computes. The lines name a unit "ec" in every
 * study, as the first one did. */
#ifndef SPOTTER_RUN_LOG_H
#define SPOTTER_RUN_LOG_H

#include <pthread.h>

#include "spotter/store.h"

typedef struct spot_run_log {
    int             fd;
    bool            open, torn;        /* torn: the last line is there in part */
    pthread_t       beat;
    pthread_mutex_t lock;
    pthread_cond_t  closing;
} spot_run_log;

/* A process that begins. */
typedef struct {
    int  shard, shards, from, to;      /* it owns the units [from, to) ... */
    int  ecs, pid;                     /* ... of so many */
    char config[33];                   /* the config's key */
    char host[64], job[64];            /* job: "12_3" of Slurm, the pod's name in Kubernetes, else "" */
    char build[64], device[128], unit[128], platform[512];     /* spot_build, spot_platform_unit, spot_platform */
} spot_run_log_start;

typedef struct {
    double at;                         /* seconds since 1970 */
    char   event[24];                  /* "start", a stage value's kind, "done", "failed", "stopped", "end", ... */
    bool   kept;                       /* a value that the store has since then: progress */
    int    ec;                         /* the unit; -1: the whole run */
    double seconds;                    /* that it took; NaN */
    char   status[24];                 /* of "end": "OK", "STOPPED", ... */
    char   text[1400];
    spot_run_log_start start;            /* of "start" */
} spot_run_log_line;

void spot_run_log_open(spot_ctx *c, spot_run_log *d, const char *dir, int shard, int shards);
void spot_run_log_close(spot_run_log *d);

/* s: shard, shards, from, to, ecs, config; the rest is filled in. */
void spot_run_log_begin(spot_ctx *c, spot_run_log *d, spot_run_log_start *s, const char *text);
void spot_run_log_end(spot_run_log *d, spot_status s, double seconds, const char *text);

/* ec -1: the whole run. text may be NULL; seconds NaN: none. */
void spot_run_log_write(spot_run_log *d, const char *event, int ec, double seconds, const char *text);

/* The same for a value that the store keeps from now on. */
void spot_run_log_kept(spot_run_log *d, const char *kind, int ec, double seconds);

/* run_log_read.c: calls on_line for every line of the logs in DIR whose names begin with prefix ("": all; "3-of-40-"), file by
 * file in the order of their names. `alive` is the file's time, its process's last sign of life. A line that is not whole and
 * a file that is no regular file are passed over. Control characters in a text become "?". */
typedef void spot_run_log_on_line(void *user, int file, double alive, const spot_run_log_line *line);
spot_status spot_run_log_read(spot_ctx *c, const char *dir, const char *prefix, spot_run_log_on_line *on_line, void *user);

/* How often the shard was begun since it last kept anything; 0 when the logs cannot be read. */
int spot_run_log_starts(spot_ctx *c, const char *dir, int shard, int shards);

/* makers.c: build and platform of the processes that computed something. The sum is empty when it is zeroed; lines come file
 * by file. read adds the logs of a run. */
typedef struct {
    char build[64], platform[512];     /* of the first of them; "": none */
    char other[512];                   /* a second platform, or "" */
    bool builds;                       /* there is a second build */
    bool started;                      /* the process at hand: */
    int  file;
    spot_run_log_start start;
} spot_run_makers;
void        spot_run_makers_add (spot_run_makers *m, int file, const spot_run_log_line *line);
spot_status spot_run_makers_read(spot_ctx *c, const char *dir, spot_run_makers *m);

/* A warning when they are of several platforms, or of another than `here` (NULL: any). look reads the logs for it, if any. */
void spot_run_makers_warn(spot_ctx *c, const spot_run_makers *m, const char *dir, const char *here);
void spot_run_makers_look(spot_ctx *c, const char *dir, const char *here);

/* A line's members, both ways. */
struct spot_json;
void spot_run_log_describe(struct spot_json *j, spot_run_log_line *line);

#endif
