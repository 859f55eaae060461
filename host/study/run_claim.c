/* run_claim.c - see run_claim.h. Two processes that begin in the same moment may both go on: each unit is computed twice then,
 * with the same bytes, and nothing else is harmed. */
#define _DEFAULT_SOURCE                /* gethostname, kill, nanosleep, fopen's "e" */
#include "study/run_claim.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "study/run_log.h"

/* ---- a process ---- */

#define SIX " %*s %*s %*s %*s %*s %*s"

/* Whether this host has a process with the number that began before the log's start line: numbers are used again. */
static bool is_here(const spot_claimant *p)
{
    char path[64], state = 0;
    unsigned long long ticks = 0;
    double up = 0;
    struct timespec now;
    FILE *f;

    if (kill(p->pid, 0) && errno == ESRCH) return false;
    snprintf(path, sizeof path, "/proc/%d/stat", p->pid);
    f = fopen(path, "re");
    if (!f) return true;                                   /* a system without /proc: the number is what is known */
    /* state, 18 numbers, and when it began */
    if (fscanf(f, "%*d (%*[^)]) %c" SIX SIX SIX " %llu", &state, &ticks) != 2) state = 0;
    fclose(f);
    f = fopen("/proc/uptime", "re");
    if (f && fscanf(f, "%lf", &up) != 1) up = 0;
    if (f) fclose(f);
    if (state == 'Z' || state == 'X') return false;
    clock_gettime(CLOCK_REALTIME, &now);
    return !state || !(up > 0) || (double)now.tv_sec - up + (double)ticks / (double)sysconf(_SC_CLK_TCK) < p->began + 5;
}

/* *lives: the process on another host touched its log while it was watched. */
static spot_status watch(spot_ctx *c, bool *lives, const spot_claim_place *at, const spot_claimant *p)
{
    const double since = (double)time(NULL);

    *lives = false;
    if (since - p->alive < SPOT_CLAIM_SILENCE)
        spot_log(c, SPOT_LOG_INFO, "%s: process %d on %s did not end; whether it still works here shows within %d s", at->where,
                 p->pid, p->host, SPOT_CLAIM_SILENCE);
    while ((double)time(NULL) - p->alive < SPOT_CLAIM_SILENCE && (double)time(NULL) - since < SPOT_CLAIM_SILENCE) {
        SPOT_TRY(spot_check_stop(c));
        nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
        const double now = at->look_again(c, at->user, p);
        if (!now) return SPOT_OK;                          /* it has ended */
        *lives = now > p->alive;
        if (*lives) return SPOT_OK;
    }
    return SPOT_OK;
}

static spot_status refuse(spot_ctx *c, const spot_claim_place *at, const spot_claimant *p)
{
    const time_t began = (time_t)p->began;
    struct tm local;
    char text[32];

    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", localtime_r(&began, &local));
    if (at->shared) {
        spot_log(c, SPOT_LOG_WARN, "%s: process %d on %s computes some of these %s, too, since %s", at->where, p->pid, p->host,
                 at->units, text);
        return SPOT_OK;
    }
    return spot_fail(c, SPOT_USAGE, "{run.claimed} %s: process %d on %s computes these %s since %s; wait until it ends, or "
                     "let both work (--beside)", at->where, p->pid, p->host, at->units, text);
}

spot_claimant spot_claim_now(void)
{
    spot_claimant p = { .pid = (int)getpid(), .began = (double)time(NULL) };

    gethostname(p.host, sizeof p.host - 1);
    return p;
}

spot_status spot_claim_check(spot_ctx *c, const spot_claim_place *at, const spot_claimant *p)
{
    const spot_claimant own = spot_claim_now();
    const bool mine = !strcmp(p->host, own.host);
    bool lives = mine && p->pid != own.pid && is_here(p);

    if (!mine && !at->shared) SPOT_TRY(watch(c, &lives, at, p));
    return lives ? refuse(c, at, p) : SPOT_OK;
}

/* ---- a run directory ---- */

/* The processes of a directory that began and did not end, and hold some of the units [from, to). */
typedef struct {
    int from, to, file, n;             /* file: the one that is read */
    bool open;                         /* the file's last process did not end */
    spot_run_log_start start;
    double began, alive;
    spot_claimant *all;
    bool no_memory;
} holders;

static void keep_open(holders *h)
{
    const bool overlaps = h->start.from < h->to && h->from < h->start.to;
    spot_claimant *all;

    if (!h->open || !overlaps) return;
    all = realloc(h->all, ((size_t)h->n + 1) * sizeof *all);
    if (!all) {
        h->no_memory = true;
        return;
    }
    h->all = all;
    all[h->n] = (spot_claimant){ .pid = h->start.pid, .began = h->began, .alive = h->alive };
    memcpy(all[h->n++].host, h->start.host, sizeof all->host);
}

static void read_line(void *user, int file, double alive, const spot_run_log_line *l)
{
    holders *h = user;

    if (file != h->file) keep_open(h), h->open = false;
    h->file = file;
    h->alive = alive;
    if (!strcmp(l->event, "start")) h->start = l->start, h->began = l->at, h->open = true;
    if (!strcmp(l->event, "end")) h->open = false;
}

static spot_status list_holders(spot_ctx *c, holders *h, const spot_work *w)
{
    char path[1300];

    *h = (holders){ .file = -1 };
    spot_shard_range(&h->from, &h->to, w->place.shard, w->place.shards, w->units);
    snprintf(path, sizeof path, "%s/logs", w->place.out);
    if (access(path, F_OK)) return SPOT_OK;
    SPOT_TRY(spot_run_log_read(c, w->place.out, "", read_line, h));
    keep_open(h);
    return h->no_memory ? spot_fail(c, SPOT_NOMEM, "no memory to read the logs of %s", w->place.out) : SPOT_OK;
}

/* The log's present time; 0: it cannot be read. */
static double look_at_log(spot_ctx *c, void *user, const spot_claimant *p)
{
    const spot_work *w = user;
    holders h;
    double alive = 0;

    if (list_holders(c, &h, w)) spot_forget(c);
    for (int i = 0; i < h.n; i++)
        if (h.all[i].pid == p->pid && !strcmp(h.all[i].host, p->host)) alive = h.all[i].alive;
    free(h.all);
    return alive;
}

bool spot_claim_works(spot_ctx *c, const spot_work *w, const spot_claimant *p)
{
    const spot_claimant own = spot_claim_now();
    spot_work whole = *w;

    if (!strcmp(p->host, own.host)) return p->pid != own.pid && is_here(p);
    whole.place.shard = 0, whole.place.shards = 1;
    return (double)time(NULL) - look_at_log(c, &whole, p) < SPOT_CLAIM_SILENCE;
}

spot_status spot_work_claim(spot_ctx *c, const spot_work *w)
{
    spot_work same = *w;
    const spot_claim_place at = { w->place.out, w->study->units, w->place.shards > 1, look_at_log, &same };
    holders h;
    spot_status s = w->place.beside ? SPOT_OK : list_holders(c, &h, w);

    if (w->place.beside || s) return s;
    for (int i = 0; i < h.n && s == SPOT_OK; i++) s = spot_claim_check(c, &at, &h.all[i]);
    free(h.all);
    return s;
}
