/* shard_status.c - the state of each shard of a run, from its logs and segments. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "study/frame.h"
#include "study/run_log.h"
#include "study/yaml.h"

/* A process, from its start line on. Times are seconds since 1970. */
typedef struct {
    spot_run_log_start start;
    int    file;
    double began, alive, step;         /* step: the last end of a unit, or the start */
    bool   ended;
    char   status[24], why[256];       /* of the end line */
    int    done;                       /* finished units, ... */
    double seconds;                    /* ... and their time together */
} process;

typedef struct { spot_text list; process *p; int n; } processes;       /* p: the list's n processes */

enum { MISSING, DONE, FAILED, DAMAGED };       /* state of a unit's segment */

/* A run while its status is put together. */
typedef struct {
    const spot_study *study;
    processes all;
    spot_run_makers makers;
    int      shards, units;            /* of the latest cut */
    char     config[33];               /* key; "": any */
    char    *unit;                     /* (units) */
    double   now, lost_after, pace;    /* pace: seconds per unit over all processes; NaN: not known */
} run_view;

const char *spot_shard_state_name(spot_shard_state s)
{
    static const char *const names[SPOT_SHARD_STATES] = { "waiting", "running", "lost", "failed", "done" };

    return names[s];
}

static process *add_process(processes *w)
{
    static const process none;

    spot_text_add(&w->list, &none, sizeof none);
    if (w->list.status) return NULL;
    w->p = (process *)(void *)w->list.bytes;
    return &w->p[w->n++];
}

/* The lines of a file are in order of time: each belongs to the start line before it. */
static void read_line(void *user, int file, double alive, const spot_run_log_line *l)
{
    run_view *v = user;
    processes *w = &v->all;
    bool starts = !strcmp(l->event, "start") && l->start.shards > 0 && l->start.shard >= 0 && l->start.shard < l->start.shards
               && l->start.ecs >= 0;
    process *p = starts ? add_process(w) : w->n && w->p[w->n - 1].file == file ? &w->p[w->n - 1] : NULL;

    spot_run_makers_add(&v->makers, file, l);
    if (!p || w->list.status) return;
    if (starts) *p = (process){ .start = l->start, .file = file, .began = l->at, .step = l->at };
    p->alive = alive > l->at ? alive : l->at;
    if (!strcmp(l->event, "done") && isfinite(l->seconds)) {
        p->done++;
        p->seconds += l->seconds;
        p->step = l->at;
    }
    if (strcmp(l->event, "end")) return;
    p->ended = true;
    snprintf(p->status, sizeof p->status, "%s", l->status);
    snprintf(p->why, sizeof p->why, "%.255s", l->text);
}

/* DIR/slurm/submitted.json: {"shards": 40, "ecs": 1000, ...}. The array may not have started yet. */
static void read_submitted(spot_ctx *c, run_view *v, const char *dir, double latest)
{
    spot_json j = { .depth = 1 };
    int shards = 0, ecs = 0;
    unsigned char *text;
    char path[1200];
    struct stat st;
    size_t n;

    snprintf(path, sizeof path, "%s/slurm/submitted.json", dir);
    if (stat(path, &st) || !S_ISREG(st.st_mode) || (double)st.st_mtim.tv_sec + 1 < latest) return;
    if (spot_file_read(c, path, &text, &n, 1 << 20) != SPOT_OK) {
        spot_forget(c);
        return;
    }
    j.at[0] = spot_tree_parse((char *)text, n, NULL, 0);
    spot_json_int(&j, "shards", &shards);
    if (spot_json_has(&j, "ecs")) spot_json_int(&j, "ecs", &ecs);
    if (!j.wrong && shards > 0) v->shards = shards;
    if (!j.wrong && ecs > 0) v->units = ecs;
    yajl_tree_free(j.at[0]);
    free(text);
}

/* Shards and units are those of the process that started last, or of an array that was submitted later. If neither is known,
 * one process owns everything. */
static spot_status choose_cut(spot_ctx *c, run_view *v, const char *dir)
{
    const process *latest = NULL;
    void *config = NULL;
    char path[1200];
    spot_status s = SPOT_OK;

    for (int i = 0; i < v->all.n; i++)
        if (!latest || v->all.p[i].began >= latest->began) latest = &v->all.p[i];
    v->shards = 1;
    if (latest) {
        v->shards = latest->start.shards;
        v->units = latest->start.ecs;
        snprintf(v->config, sizeof v->config, "%s", latest->start.config);
    } else {
        snprintf(path, sizeof path, "%s/config.yaml", dir);
        if (!access(path, F_OK)) s = spot_study_load(c, v->study, &config, path);
        if (config && s == SPOT_OK) v->units = v->study->units_of(config);
        spot_study_close(config);
        SPOT_TRY(s);
    }
    read_submitted(c, v, dir, latest ? latest->began : 0);
    return v->units ? SPOT_OK : spot_fail(c, SPOT_IO, "{run.missing} %s is no run directory: there is no config.yaml in it",
                                          dir);
}

static spot_status read_segments(spot_ctx *c, run_view *v, const char *dir)
{
    const spot_study *y = v->study;
    void *result = spot_frame_result(y);
    const char *what, *message;
    int *unit = NULL, n = 0;
    spot_status first, s;
    spot_frame f;

    if (!result) return spot_fail(c, SPOT_NOMEM, "no memory to read segments");
    s = spot_frame_list(c, y, dir, &unit, &n);
    for (int i = 0; i < n && s == SPOT_OK; i++) {
        if (unit[i] >= v->units) continue;
        s = spot_frame_read(c, y, dir, unit[i], result, &f);
        if (f.state == SPOT_SEGMENT_DAMAGED) v->unit[unit[i]] = DAMAGED;
        else if (f.state == SPOT_SEGMENT_WHOLE && (!*v->config || !strcmp(v->config, f.config)))
            v->unit[unit[i]] = y->failures && y->failures(result, &first, &what, &message) ? FAILED : DONE;
    }
    free(unit);
    spot_frame_free(y, result);
    return s;
}

/* The process that decides the shard's state: one that lives, else the one that started last. */
static const process *process_of(const run_view *v, const spot_shard *k, int *starts)
{
    const process *best = NULL;
    bool best_lives = false;

    *starts = 0;
    for (int i = 0; i < v->all.n; i++) {
        const process *p = &v->all.p[i];
        bool lives = !p->ended && v->now - p->alive <= v->lost_after;
        if (p->start.shard != k->shard || p->start.shards != k->shards) continue;
        ++*starts;
        if (best && (best_lives > lives || (best_lives == lives && best->began > p->began))) continue;
        best = p;
        best_lives = lives;
    }
    return best;
}

static spot_shard_state shard_state(const run_view *v, const spot_shard *k, const process *p)
{
    if (k->done == k->to - k->from) return SPOT_SHARD_DONE;
    if (!p) return SPOT_SHARD_WAITING;
    if (!p->ended) return v->now - p->alive <= v->lost_after ? SPOT_SHARD_RUNNING : SPOT_SHARD_LOST;
    return !strcmp(p->status, spot_status_name(SPOT_STOPPED)) || !strcmp(p->status, spot_status_name(SPOT_OK))
         ? SPOT_SHARD_WAITING : SPOT_SHARD_FAILED;
}

static void describe_shard(const run_view *v, spot_shard *k, int shard)
{
    const process *p;
    double pace;

    *k = (spot_shard){ .shard = shard, .shards = v->shards, .silent = NAN };
    spot_shard_range(&k->from, &k->to, shard, v->shards, v->units);
    for (int i = k->from; i < k->to; i++) {
        k->done += v->unit[i] == DONE || v->unit[i] == FAILED;
        k->failed += v->unit[i] == FAILED;
    }
    p = process_of(v, k, &k->starts);
    k->state = shard_state(v, k, p);
    pace = p && p->done ? p->seconds / p->done : v->pace;
    k->left = pace * (k->to - k->from - k->done);
    if (!p) return;
    k->silent = v->now > p->alive ? v->now - p->alive : 0;
    snprintf(k->host, sizeof k->host, "%.50s-%d", p->start.host, p->start.pid);
    snprintf(k->job, sizeof k->job, "%s", p->start.job);
    if (k->state == SPOT_SHARD_FAILED) snprintf(k->why, sizeof k->why, "%s", p->why);
    if (k->state != SPOT_SHARD_RUNNING) return;
    k->left -= v->now - p->step;                       /* a part of the current unit is over */
    if (k->left < 0) k->left = 0;
}

static spot_status describe_run(spot_ctx *c, spot_run_status *s, run_view *v)
{
    double seconds = 0;
    int done = 0;

    for (int i = 0; i < v->all.n; i++) {
        seconds += v->all.p[i].seconds;
        done += v->all.p[i].done;
    }
    v->pace = done ? seconds / done : NAN;
    s->shard = calloc((size_t)v->shards, sizeof *s->shard);
    if (!s->shard) return spot_fail(c, SPOT_NOMEM, "no memory for %d shards", v->shards);
    s->shards = v->shards;
    s->ecs = v->units;
    s->left = NAN;
    for (int i = 0; i < v->units; i++) {
        s->done += v->unit[i] == DONE || v->unit[i] == FAILED;
        s->failed += v->unit[i] == FAILED;
        s->damaged += v->unit[i] == DAMAGED;
    }
    for (int i = 0; i < v->shards; i++) {
        spot_shard *k = &s->shard[i];
        describe_shard(v, k, i);
        if (k->state == SPOT_SHARD_RUNNING && !(s->left >= k->left)) s->left = k->left;
    }
    return SPOT_OK;
}

static spot_status read_run(spot_ctx *c, spot_run_status *s, run_view *v, const char *dir)
{
    struct timespec now;
    char path[1200];

    snprintf(path, sizeof path, "%s/logs", dir);
    if (!access(path, F_OK)) SPOT_TRY(spot_run_log_read(c, dir, "", read_line, v));
    if (v->all.list.status) return spot_fail(c, SPOT_NOMEM, "no memory for all processes of %s", dir);
    SPOT_TRY(choose_cut(c, v, dir));
    v->unit = calloc((size_t)v->units, 1);
    if (!v->unit) return spot_fail(c, SPOT_NOMEM, "no memory for %d %s", v->units, v->study->units);
    snprintf(path, sizeof path, "%s/segments", dir);
    if (!access(path, F_OK)) SPOT_TRY(read_segments(c, v, dir));
    clock_gettime(CLOCK_REALTIME, &now);
    v->now = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    spot_run_makers_warn(c, &v->makers, dir, NULL);
    return describe_run(c, s, v);
}

spot_status spot_work_status(spot_ctx *c, const spot_study *y, spot_run_status **s, const char *dir, double lost_after)
{
    run_view v = { .study = y, .lost_after = lost_after };
    spot_status status;

    *s = calloc(1, sizeof **s);
    if (!*s) return spot_fail(c, SPOT_NOMEM, "no memory");
    status = read_run(c, *s, &v, dir);
    spot_text_free(&v.all.list);
    free(v.unit);
    return status;
}

void spot_run_status_free(spot_run_status *s)
{
    if (s) free(s->shard);
    free(s);
}
