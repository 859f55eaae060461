/* workers.h - independent tasks, some of them side by side: each worker has a context of its own on the same device, so a
 * stream of its own there, and an arena of its own. */
#ifndef SPOTTER_WORKERS_H
#define SPOTTER_WORKERS_H

#include "spotter/arena.h"
#include "spotter/ctx.h"

typedef spot_status spot_worker_task(spot_ctx *c, spot_arena *a, void *user, int task);

/* Tasks 0 .. tasks - 1, handed out in this order; what a task takes of its arena is given back after it. One worker works
 * on c and a themselves; more share c's threads, and each gets `bytes` of memory. What they log and tell reaches c's
 * callbacks one at a time. A failure, or c's stop request, ends the others at their next safe point; the first failure is
 * what comes back. */
spot_status spot_workers_run(spot_ctx *c, spot_arena *a, int workers, size_t bytes, int tasks, spot_worker_task *task,
                             void *user);

#endif
