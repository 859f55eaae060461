/* jobs.h - mixture fits as jobs, for bic.c and search.c: prepared on the host, run on c's device. */
#ifndef SPOTTER_JOBS_H
#define SPOTTER_JOBS_H

#include "fit/mixture.h"

spot_status spot_mixture_check(spot_ctx *c, const spot_mixture_config *cfg);
spot_status spot_mixture_check_points(spot_ctx *c, uint32_t ec, spot_mat x, int least);

/* The rows that each of `sets` sets is counted with where they share n rows in an unknown way: an array has at least one byte
 * per row, so that SPOT_ALIGN more rows make up for the rounding of its pieces, and no set has more than n. */
static inline int spot_rows_of_set(int n, int sets)
{
    return n / sets + SPOT_ALIGN < n ? n / sets + SPOT_ALIGN : n;
}

/* Allocates the results of a job with fit.k components on fit.n points of fit.d coordinates, as one piece: a search has
 * hundreds of jobs, and most results are short. */
spot_status spot_mixture_job_take(spot_ctx *c, spot_arena *a, spot_mixture_job *job);

/* Runs the jobs on c's device; cfg NULL: only k-means. Points lie on the host or, with points_on_device, on the device; results
 * in a from byte `begin` to its end. On a GPU, job.x points to the device's memory afterwards. */
spot_status spot_mixture_jobs_run(spot_ctx *c, spot_arena *a, size_t begin, spot_mixture_job *jobs, int count,
                                  bool points_on_device, const spot_mixture_config *cfg);

#endif
