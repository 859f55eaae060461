/* workers.c - threads that each take the next task; their caller waits for them and forwards the stop request. */
#define _POSIX_C_SOURCE 200809L
#include "study/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "core/ops.h"
#include "net/conv.h"

enum { LOOK_EVERY = 20 * 1000 * 1000 };      /* nanoseconds between looks at the stop request */

typedef struct {
    spot_ctx       *owner;
    spot_workers   *kept;
    size_t          bytes;
    int             workers, tasks, next, begun, working;
    spot_worker_task *task;
    void           *user;
    volatile sig_atomic_t stop;    /* the stop flag of all workers */
    pthread_mutex_t lock;          /* guards next, begun, working, failed and the owner's callbacks */
    pthread_cond_t  left;          /* a worker has ended */
    spot_ctx        failed;        /* has the first failure, and nothing else */
} pool;

static void pass_log(void *user, spot_log_level level, const char *text)
{
    pool *w = user;

    pthread_mutex_lock(&w->lock);
    if (w->owner->on_log) w->owner->on_log(w->owner->user, level, text);
    pthread_mutex_unlock(&w->lock);
}

static void pass_progress(void *user, const spot_progress *p)
{
    pool *w = user;

    pthread_mutex_lock(&w->lock);
    if (w->owner->on_progress) w->owner->on_progress(w->owner->user, p);
    pthread_mutex_unlock(&w->lock);
}

/* Workers read the flag inside their tasks, without the lock. */
static void raise_stop_flag(pool *w) { __atomic_store_n(&w->stop, 1, __ATOMIC_RELAXED); }

static bool next_task(pool *w, int *task)
{
    bool any;

    pthread_mutex_lock(&w->lock);
    any = !w->stop && w->next < w->tasks;
    if (any) *task = w->next++;
    pthread_mutex_unlock(&w->lock);
    return any;
}

/* Prepares a worker's context, which the first call opens. */
static spot_status open_context(pool *w, spot_ctx *c)
{
    int share = w->owner->threads / w->workers;
    spot_status s = SPOT_OK;

    spot_forget(c);
    c->on_log = pass_log;
    c->on_progress = pass_progress;
    c->user = w;
    c->stop = &w->stop;
    if (share < 1) share = 1;
    if (c->ops) c->threads = share;
    else        s = spot_ctx_open(c, w->owner->ops->name, share);
    if (s == SPOT_OK) s = spot_conv_keep_in(c, spot_conv_kept_in(w->owner));
    if (s) spot_ctx_close(c);
    return s;
}

static spot_status run_tasks(pool *w, spot_ctx *c)
{
    spot_status s = SPOT_OK;
    spot_arena a;
    int task;

    SPOT_TRY(open_context(w, c));
    SPOT_TRY(spot_arena_open(c, &a, w->bytes));
    while (s == SPOT_OK && next_task(w, &task)) {
        s = w->task(c, &a, w->user, task);
        a.used = 0;
    }
    spot_arena_close(&a);
    return s;
}

static void *run_worker(void *user)
{
    pool *w = user;
    spot_ctx *c;
    spot_status s;

    pthread_mutex_lock(&w->lock);
    c = &w->kept->ctx[w->begun++];
    pthread_mutex_unlock(&w->lock);
    s = run_tasks(w, c);
    pthread_mutex_lock(&w->lock);
    if (s != SPOT_OK) raise_stop_flag(w);
    if (s != SPOT_OK && s != SPOT_STOPPED) spot_fail_from(&w->failed, s, c);
    w->working--;
    pthread_cond_signal(&w->left);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void wait_for_all(pool *w)
{
    struct timespec until;

    pthread_mutex_lock(&w->lock);
    while (w->working) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_EVERY;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->left, &w->lock, &until);
        if (w->owner->stop && *w->owner->stop) raise_stop_flag(w);
    }
    pthread_mutex_unlock(&w->lock);
}

static spot_status run_workers(pool *w)
{
    pthread_t thread[SPOT_MOST_AT_ONCE];
    int started = 0;

    pthread_mutex_lock(&w->lock);
    while (started < w->workers && !pthread_create(&thread[started], NULL, run_worker, w)) started++;
    w->working = started;
    pthread_mutex_unlock(&w->lock);
    wait_for_all(w);
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
    if (!started) return spot_fail(w->owner, SPOT_NOMEM, "cannot start a thread for a worker; lower --at-once");
    if (w->failed.status) return spot_fail_from(w->owner, w->failed.status, &w->failed);
    return spot_check_stop(w->owner);
}

void spot_workers_close(spot_workers *w)
{
    for (int i = 0; i < SPOT_MOST_AT_ONCE; i++) spot_ctx_close(&w->ctx[i]);
}

spot_status spot_workers_run(spot_ctx *c, spot_arena *a, spot_workers *kept, int workers, size_t bytes, int tasks,
                             spot_worker_task *task, void *user)
{
    pool w = { .owner = c, .kept = kept, .bytes = bytes, .tasks = tasks, .task = task, .user = user,
               .lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER };
    size_t mark = a->used;

    w.workers = workers < tasks ? workers : tasks;
    if (w.workers > SPOT_MOST_AT_ONCE) w.workers = SPOT_MOST_AT_ONCE;
    if (w.workers > 1) return run_workers(&w);
    for (int i = 0; i < tasks; i++) {
        spot_status s = task(c, a, user, i);
        a->used = mark;
        SPOT_TRY(s);
    }
    return SPOT_OK;
}
