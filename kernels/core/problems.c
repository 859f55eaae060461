/* problems.c - see problems.h. */
#include "core/problems.h"

#include <omp.h>
#include <stddef.h>

spot_status spot_run_jobs(spot_ctx *c, spot_arena *scratch, const spot_job_kind *kind, int lanes, const void *most, int count,
                          void *jobs, const void *cfg)
{
    size_t mark = scratch->used;
    spot_status status = SPOT_OK;
    _Alignas(max_align_t) char counted[kind->lane];
    char *lane;

    SPOT_TRY(SPOT_TAKE(c, scratch, lane, (size_t)lanes * kind->lane));
    for (int l = 0; l < lanes; l++) {
        void *own = scratch->counting ? counted : lane + (size_t)l * kind->lane;
        SPOT_TRY(kind->take(c, scratch, own, most, c->threads / lanes));
    }
    scratch->used = mark;
    if (scratch->counting) return SPOT_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(lanes)
    for (int j = 0; j < count; j++) {
        void *own = lane + (size_t)omp_get_thread_num() * kind->lane;
        spot_status one = kind->run(c, own, (char *)jobs + (size_t)j * kind->job, cfg, c->threads / lanes);
        if (one != SPOT_OK)
#pragma omp critical(spot_run_jobs)
            status = one;
    }
    return status;
}
