/* workers.h - independent tasks, several at once. Each worker has its own arena and its own context on the same device, hence
 * its own stream there, and its own plans of convolutions. Contexts outlive a call, so plans are not made again for each. */
#ifndef SPOTTER_WORKERS_H
#define SPOTTER_WORKERS_H

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "spotter/work.h"

typedef spot_status spot_worker_task(spot_ctx *c, spot_arena *a, void *user, int task);

/* The contexts of workers, opened by the calls that need them. All zeros: none yet. */
typedef struct { spot_ctx ctx[SPOT_MOST_AT_ONCE]; } spot_workers;
void spot_workers_close(spot_workers *w);

/* Runs tasks 0 .. tasks - 1, handed out in this order. After each task its arena is rewound. A single worker uses c and a
 * themselves; several share c's threads, and each gets `bytes` of memory. Their logs and progress reach c's callbacks one at
 * a time. A failure, or c's stop request, ends the others at their next safe point. Returns the first failure. All calls with
 * the same contexts have the same c. */
spot_status spot_workers_run(spot_ctx *c, spot_arena *a, spot_workers *kept, int workers, size_t bytes, int tasks,
                             spot_worker_task *task, void *user);

#endif
