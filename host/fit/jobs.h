/* jobs.h - what bic.c and search.c share: fits as jobs of the host, done on c's device. */
#ifndef SPOTTER_JOBS_H
#define SPOTTER_JOBS_H

#include "fit/mixture.h"

spot_status spot_mixture_check(spot_ctx *c, const spot_mixture_config *cfg);
spot_status spot_mixture_check_points(spot_ctx *c, uint32_t ec, spot_mat x, int least);

/* Where the results of a job of fit.k components on fit.n points of fit.d coordinates go. */
spot_status spot_mixture_job_take(spot_ctx *c, spot_arena *a, spot_mixture_job *job);

/* The jobs on c's device, without cfg k-means alone. Points lie on the host; the results in a, from `begin` to its
 * end. On a device job.x is no longer the host's afterwards. */
spot_status spot_mixture_jobs_run(spot_ctx *c, spot_arena *a, size_t begin, spot_mixture_job *jobs, int count,
                                  const spot_mixture_config *cfg);

#endif
