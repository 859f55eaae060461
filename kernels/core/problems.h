/* problems.h - independent jobs of one kind on the CPU, side by side in lanes.
 *
 * A lane is memory for one job at a time, of the size that the largest job needs, and c->threads / lanes threads. Many jobs get
 * a lane for each thread; a few get one lane, in which all threads share every job. Results depend neither on the lanes nor on
 * the threads. */
#ifndef SPOTTER_PROBLEMS_H
#define SPOTTER_PROBLEMS_H

#include "spotter/arena.h"

typedef struct {
    size_t lane, job;      /* bytes of a lane's struct and of a job's */
    /* Fills *lane with arrays for a job of the sizes in *most. */
    spot_status (*take)(spot_ctx *c, spot_arena *a, void *lane, const void *most, int threads);
    spot_status (*run)(spot_ctx *c, void *lane, void *job, const void *cfg, int threads);
} spot_job_kind;

/* Runs `count` jobs in `lanes` lanes. Returns the status of a job that failed, if any. A counting scratch only counts. */
spot_status spot_run_jobs(spot_ctx *c, spot_arena *scratch, const spot_job_kind *kind, int lanes, const void *most, int count,
                          void *jobs, const void *cfg);

/* The greatest value of an int member of `count` structs; 0 if there is none above 0. */
#define SPOT_MOST(count, structs, member) spot_most((count), &(structs)->member, sizeof *(structs))

static inline int spot_most(int count, const int *member, size_t step)
{
    int most = 0;

    for (int i = 0; i < count; i++) {
        int value = *(const int *)((const char *)member + (size_t)i * step);
        most = value > most ? value : most;
    }
    return most;
}

#endif
