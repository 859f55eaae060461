/* team.h - the number of threads for a loop of many short parallel regions: all, or fewer where that is faster.
 *
 * A region ends with its slowest thread. Beside another program a thread often waits milliseconds for a core, far longer
 * than the region's work. The team counts the steps of the loop per second. From time to time it tries half or twice as many
 * threads and keeps the faster number. Only for work whose results do not depend on the number of threads. */
#ifndef SPOTTER_TEAM_H
#define SPOTTER_TEAM_H

#include <stdbool.h>

typedef struct {
    int    most, best, threads;    /* allowed; the fastest so far; for the next step */
    bool   more;                   /* the next trial has more threads than the best */
    int    steps;                  /* since `since` */
    double since, pause;           /* clock: start of this count; earliest time of the next trial */
    double rate;                   /* steps a second with the best */
} spot_team;

spot_team spot_team_of(int threads);

/* Called after each step; returns the threads for the next. */
int spot_team_step(spot_team *t);

/* Problems solved side by side, a thread each; 1 when they are fewer than threads: then all threads share each in turn. */
static inline int spot_abreast(int problems, int threads) { return problems < threads ? 1 : threads; }

#endif
