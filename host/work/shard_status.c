/* shard_status.c - how the shards of a run stand, from its logs and segments. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_tree.h"
#include "spotter/shards.h"
#include "sweep/segment.h"
#include "work/run_log.h"

/* A process, from its start line on. */
typedef struct {
    spot_run_log_start start;
    int    file;
    double began, alive, step;         /* step: when it last finished an EC, or began */
    bool   ended;
    char   status[24], why[256];       /* of its end */
    int    done;                       /* ECs that it finished, ... */
    double seconds;                    /* ... and what they took together */
} process;

typedef struct {
    process *p;
    int      n, room;
    bool     full;                     /* no memory for more */
} crowd;

enum { MISSING, DONE, FAILED, DAMAGED };       /* an EC, by its segment */

/* A run at a glance, while it is put together. */
typedef struct {
    crowd    all;
    int      shards, ecs;              /* of the latest cut */
    char     config[33];               /* key; "": any */
    char    *ec;                       /* (ecs) */
    double   now, lost_after, pace;    /* pace: seconds an EC, over all processes; NaN */
} sight;

const char *spot_shard_state_name(spot_shard_state s)
{
    static const char *const names[SPOT_SHARD_STATES] = { "waiting", "running", "lost", "failed", "done" };

    return names[s];
}

static process *begin(crowd *w)
{
    if (w->n == w->room) {
        process *more = realloc(w->p, (size_t)(w->room = 2 * w->room + 64) * sizeof *more);
        if (!more) {
            w->full = true;
            return NULL;
        }
        w->p = more;
    }
    return &w->p[w->n++];
}

/* Lines of a file come in the order of time, so that all belong to the start before them. */
static void hear(void *user, int file, double alive, const spot_run_log_line *l)
{
    crowd *w = user;
    bool starts = !strcmp(l->event, "start") && l->start.shards > 0 && l->start.shard >= 0 && l->start.shard < l->start.shards
               && l->start.ecs >= 0;
    process *p = starts && !w->full ? begin(w) : w->n && w->p[w->n - 1].file == file ? &w->p[w->n - 1] : NULL;

    if (!p || w->full) return;
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

/* DIR/slurm/submitted.json: {"shards": 40, "ecs": 1000, ...}, of an array that perhaps has not begun. */
static void read_submitted(spot_ctx *c, sight *v, const char *dir, double latest)
{
    spot_json j = { .depth = 1 };
    int shards = 0, ecs = 0;
    unsigned char *text;
    char path[1200];
    struct stat st;
    size_t n;

    snprintf(path, sizeof path, "%s/slurm/submitted.json", dir);
    if (stat(path, &st) || (double)st.st_mtim.tv_sec + 1 < latest) return;
    if (spot_file_read(c, path, &text, &n, 1 << 20) != SPOT_OK) {
        spot_forget(c);
        return;
    }
    j.at[0] = spot_tree_parse((char *)text, n, NULL, 0);
    spot_json_int(&j, "shards", &shards);
    if (spot_json_has(&j, "ecs")) spot_json_int(&j, "ecs", &ecs);
    if (!j.wrong && shards > 0) v->shards = shards;
    if (!j.wrong && ecs > 0) v->ecs = ecs;
    yajl_tree_free(j.at[0]);
    free(text);
}

/* Which cut counts: that of the process that began last, or of an array that was submitted since. A process alone, that nothing
 * else was known of, owns everything. */
static spot_status choose_cut(spot_ctx *c, sight *v, const char *dir)
{
    const process *latest = NULL;
    spot_config *cfg;
    char path[1200];
    spot_status s;

    for (int i = 0; i < v->all.n; i++)
        if (!latest || v->all.p[i].began >= latest->began) latest = &v->all.p[i];
    v->shards = 1;
    if (latest) {
        v->shards = latest->start.shards;
        v->ecs = latest->start.ecs;
        snprintf(v->config, sizeof v->config, "%s", latest->start.config);
    } else {
        snprintf(path, sizeof path, "%s/config.yaml", dir);
        cfg = malloc(sizeof *cfg);
        if (!cfg) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
        s = access(path, F_OK) ? SPOT_OK : spot_config_load(c, cfg, path);
        v->ecs = s || access(path, F_OK) ? 0 : cfg->ecs;
        free(cfg);
        SPOT_TRY(s);
    }
    read_submitted(c, v, dir, latest ? latest->began : 0);
    return v->ecs ? SPOT_OK : spot_fail(c, SPOT_IO, "%s is no run directory: there is no config.yaml in it", dir);
}

static spot_status look_at_segments(spot_ctx *c, sight *v, const char *dir)
{
    spot_segment *seg = malloc(sizeof *seg);
    const char *who, *message;
    int *index = NULL, n = 0;
    char why[1300];
    spot_status s = seg ? spot_segment_list(c, dir, &index, &n) : spot_fail(c, SPOT_NOMEM, "no memory to read segments");

    for (int i = 0; i < n && s == SPOT_OK; i++) {
        spot_segment_state state;
        if (index[i] >= v->ecs) continue;
        s = spot_segment_read(c, dir, index[i], seg, &state, why, sizeof why);
        if (state == SPOT_SEGMENT_DAMAGED) v->ec[index[i]] = DAMAGED;
        else if (state == SPOT_SEGMENT_WHOLE && (!*v->config || !strcmp(v->config, seg->config)))
            v->ec[index[i]] = spot_segment_failure(seg, &who, &message) ? FAILED : DONE;
    }
    free(index);
    free(seg);
    return s;
}

/* The process whose word counts: one that lives, else the one that began last. */
static const process *speaker(const sight *v, const spot_shard *k, int *starts)
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

static spot_shard_state state_of(const sight *v, const spot_shard *k, const process *p)
{
    if (k->done == k->to - k->from) return SPOT_SHARD_DONE;
    if (!p) return SPOT_SHARD_WAITING;
    if (!p->ended) return v->now - p->alive <= v->lost_after ? SPOT_SHARD_RUNNING : SPOT_SHARD_LOST;
    return !strcmp(p->status, spot_status_name(SPOT_STOPPED)) || !strcmp(p->status, spot_status_name(SPOT_OK))
         ? SPOT_SHARD_WAITING : SPOT_SHARD_FAILED;
}

static void look_at_shard(const sight *v, spot_shard *k, int shard)
{
    const process *p;
    double pace;

    *k = (spot_shard){ .shard = shard, .shards = v->shards, .silent = NAN };
    spot_shard_range(&k->from, &k->to, shard, v->shards, v->ecs);
    for (int i = k->from; i < k->to; i++) {
        k->done += v->ec[i] == DONE || v->ec[i] == FAILED;
        k->failed += v->ec[i] == FAILED;
    }
    p = speaker(v, k, &k->starts);
    k->state = state_of(v, k, p);
    pace = p && p->done ? p->seconds / p->done : v->pace;
    k->left = pace * (k->to - k->from - k->done);
    if (!p) return;
    k->silent = v->now > p->alive ? v->now - p->alive : 0;
    snprintf(k->host, sizeof k->host, "%.50s-%d", p->start.host, p->start.pid);
    snprintf(k->job, sizeof k->job, "%s", p->start.job);
    if (k->state == SPOT_SHARD_FAILED) snprintf(k->why, sizeof k->why, "%s", p->why);
    if (k->state != SPOT_SHARD_RUNNING) return;
    k->left -= v->now - p->step;                       /* of the EC at hand some is over */
    if (k->left < 0) k->left = 0;
}

static spot_status put_together(spot_ctx *c, spot_run_status *s, sight *v)
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
    s->ecs = v->ecs;
    s->left = NAN;
    for (int i = 0; i < v->ecs; i++) {
        s->done += v->ec[i] == DONE || v->ec[i] == FAILED;
        s->failed += v->ec[i] == FAILED;
        s->damaged += v->ec[i] == DAMAGED;
    }
    for (int i = 0; i < v->shards; i++) {
        spot_shard *k = &s->shard[i];
        look_at_shard(v, k, i);
        if (k->state == SPOT_SHARD_RUNNING && !(s->left >= k->left)) s->left = k->left;
    }
    return SPOT_OK;
}

static spot_status read_all(spot_ctx *c, spot_run_status *s, sight *v, const char *dir)
{
    struct timespec now;
    char path[1200];

    snprintf(path, sizeof path, "%s/logs", dir);
    if (!access(path, F_OK)) SPOT_TRY(spot_run_log_read(c, dir, "", hear, &v->all));
    if (v->all.full) return spot_fail(c, SPOT_NOMEM, "no memory for all processes of %s", dir);
    SPOT_TRY(choose_cut(c, v, dir));
    v->ec = calloc((size_t)v->ecs, 1);
    if (!v->ec) return spot_fail(c, SPOT_NOMEM, "no memory for %d ECs", v->ecs);
    snprintf(path, sizeof path, "%s/segments", dir);
    if (!access(path, F_OK)) SPOT_TRY(look_at_segments(c, v, dir));
    clock_gettime(CLOCK_REALTIME, &now);
    v->now = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    return put_together(c, s, v);
}

spot_status spot_run_status_read(spot_ctx *c, spot_run_status **s, const char *dir, double lost_after)
{
    sight v = { .lost_after = lost_after };
    spot_status status;

    *s = calloc(1, sizeof **s);
    if (!*s) return spot_fail(c, SPOT_NOMEM, "no memory");
    status = read_all(c, *s, &v, dir);
    free(v.all.p);
    free(v.ec);
    return status;
}

void spot_run_status_free(spot_run_status *s)
{
    if (s) free(s->shard);
    free(s);
}
