/* bic.c - fits every K of every problem in one batch and chooses the K of least BIC (cluster.h); the jobs of one call on c's
 * device, for search.c, too, which counts clusters by silhouette. */
#include <math.h>

#include "core/device.h"
#include "stats/jobs.h"
#include "stats/mixture_settings.h"

const spot_setting spot_mixture_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_mixture_config, field, help, __VA_ARGS__)
    S("k_min", INT,  k_min, "fewest components tried", SPOT_IN(1, SPOT_MAX_COMPONENTS), SPOT_DEF(1)),
    S("k_max", INT,  k_max, "most components tried", SPOT_IN(1, SPOT_MAX_COMPONENTS), SPOT_DEF(32)),
    S("tol",   REAL, tol,   "gain in mean log-likelihood below which EM ends", SPOT_IN(0, 1), SPOT_DEF(1e-3)),
    S("ridge", REAL, ridge, "number added to every variance", SPOT_IN(0, 1), SPOT_DEF(1e-6)),
    S("max_iterations", INT, max_iterations, "most EM iterations", SPOT_IN(1, 100000), SPOT_DEF(100)),
#undef S
    SPOT_END
};

spot_mixture_config spot_mixture_defaults(void)
{
    spot_mixture_config cfg = { 0 };

    spot_settings_defaults(spot_mixture_settings, &cfg);
    return cfg;
}

spot_status spot_mixture_check(spot_ctx *c, const spot_mixture_config *cfg)
{
    SPOT_TRY(spot_settings_check(c, SPOT_INVALID, spot_mixture_settings, cfg, "mixture"));
    if (cfg->k_min > cfg->k_max)
        return spot_fail(c, SPOT_INVALID, "{mixture.components} mixture components %d..%d; they must ascend", cfg->k_min,
                         cfg->k_max);
    return SPOT_OK;
}

spot_status spot_mixture_check_points(spot_ctx *c, uint32_t ec, spot_mat x, int k_min)
{
    if (x.cols < 1 || x.cols > SPOT_MAX_MIXTURE_DIM)
        return spot_fail_of(c, SPOT_INPUT, ec, "{points.dimensions} points of %d dimensions; 1 to %d can be clustered, so "
                            "reduce them first", x.cols, SPOT_MAX_MIXTURE_DIM);
    if (x.rows < k_min)
        return spot_fail_of(c, SPOT_INPUT, ec, "{mixture.few_points} %d points for at least %d components; make more test "
                            "images or lower k_min", x.rows, k_min);
    for (size_t i = 0; x.v && i < (size_t)x.rows * x.cols; i++)
        if (!isfinite(x.v[i]))
            return spot_fail_of(c, SPOT_INPUT, ec, "{points.value} row %zu, column %zu of the points is %g; it must be a "
                                "finite number", i / x.cols, i % x.cols, x.v[i]);
    return SPOT_OK;
}

/* Number of fits for n points: values of K above n are left out. */
static int fits_for(int n, const spot_mixture_config *cfg)
{
    return (cfg->k_max < n ? cfg->k_max : n) - cfg->k_min + 1;
}

spot_status spot_mixture_job_take(spot_ctx *c, spot_arena *a, spot_mixture_job *job)
{
    spot_mixture *f = &job->fit;
    const size_t means = (size_t)f->k * f->d, numbers = f->k + means + means * f->d;

    SPOT_TRY(spot_arena_take(c, a, &f->weight, numbers * sizeof *f->weight + (size_t)f->n));
    if (a->counting) return SPOT_OK;
    f->mean = f->weight + f->k;
    f->covariance = f->mean + means;
    job->label = (uint8_t *)(f->weight + numbers);
    return SPOT_OK;
}

/* Allocates one problem, and fills its jobs unless the arena only counts. */
static spot_status take_problem(spot_ctx *c, spot_arena *a, int **label, spot_mixture_job *jobs, int n, int d,
                                const spot_mixture_config *cfg)
{
    SPOT_TRY(SPOT_TAKE(c, a, *label, n));
    for (int i = 0; i < fits_for(n, cfg); i++) {
        spot_mixture_job job = { .fit = { .k = cfg->k_min + i, .d = d, .n = n } };
        SPOT_TRY(spot_mixture_job_take(c, a, &job));
        if (!a->counting) jobs[i] = job;
    }
    return SPOT_OK;
}

/* -2 log-likelihood + parameters * ln n; infinite for a failed fit. */
static void set_bic(spot_mixture *f)
{
    double parameters = f->k * (f->d * (f->d + 1) / 2 + f->d) + f->k - 1;

    if (f->ill) f->log_likelihood = -INFINITY;
    f->bic = parameters * log(f->n) - 2 * f->log_likelihood;
}

static void report_fit(spot_ctx *c, uint32_t ec, const spot_mixture *f)
{
    if (f->ill)
        spot_log_of(c, SPOT_LOG_WARN, ec, "mixture K=%d: given up, %d of its covariances are not positive definite; raise the "
                    "ridge if many K suffer", f->k, f->ill);
    else if (!f->converged)
        spot_log_of(c, SPOT_LOG_DEBUG, ec, "mixture K=%d: still moving after %d iterations", f->k, f->iterations);
}

static spot_status choose_k(spot_ctx *c, uint32_t ec, spot_mixture *best, int *label, const spot_mixture_job *jobs, int count)
{
    const spot_mixture_job *least = jobs;

    for (int i = 1; i < count; i++) if (jobs[i].fit.bic < least->fit.bic) least = &jobs[i];
    if (!(least->fit.bic < INFINITY))
        return spot_fail_of(c, SPOT_NUMERIC, ec, "{mixture.none_fitted} no mixture of %d to %d could be fitted to its %d "
                            "points; raise the ridge", jobs[0].fit.k, jobs[count - 1].fit.k, jobs[0].fit.n);
    *best = least->fit;
    for (int i = 0; i < best->n; i++) label[i] = least->label[i];
    return SPOT_OK;
}

/* Lists every fit of a problem; values of K that were left out have an infinite BIC. */
static spot_status list_fits(spot_ctx *c, spot_arena *a, spot_mixture **all, const spot_mixture_job *jobs, int count,
                             const spot_mixture_config *cfg)
{
    int range = cfg->k_max - cfg->k_min + 1;

    SPOT_TRY(SPOT_TAKE(c, a, *all, range));
    for (int i = 0; i < range; i++)
        (*all)[i] = i < count ? jobs[i].fit
                  : (spot_mixture){ .k = cfg->k_min + i, .n = jobs[0].fit.n, .d = jobs[0].fit.d,
                                    .log_likelihood = -INFINITY, .bic = INFINITY };
    return SPOT_OK;
}

/* Moves the pointers to a job's results from the memory at `from` to its copy at `to`. */
static void move_results(spot_mixture_job *job, const unsigned char *from, unsigned char *to)
{
    spot_mixture *f = &job->fit;

    job->label = to + (job->label - from);
    f->weight = (double *)(to + ((unsigned char *)f->weight - from));
    f->mean = (double *)(to + ((unsigned char *)f->mean - from));
    f->covariance = (double *)(to + ((unsigned char *)f->covariance - from));
}

/* Moves the jobs' arrays to device memory: copies given responsibilities and, unless they are on it already, the points, and
 * allocates the results, `bytes` from `host` on, as one piece at *on_device, so that one copy brings them back. */
static spot_status move_to_device(spot_ctx *c, spot_arena *a, spot_mixture_job *jobs, int count, bool points_on_device,
                                  const unsigned char *host, size_t bytes, unsigned char **on_device)
{
    const float *last = NULL;
    float *x = NULL;

    SPOT_TRY(SPOT_TAKE(c, a, *on_device, bytes));
    for (int j = 0; j < count; j++) {
        spot_mixture_job *job = &jobs[j];
        size_t points = (size_t)job->fit.n * (size_t)job->fit.d, resps = (size_t)job->fit.n * (size_t)job->fit.k;
        int fresh = !points_on_device && job->x != last;
        double *resp = NULL;
        last = job->x;
        if (fresh) SPOT_TRY(SPOT_TAKE(c, a, x, points));
        if (job->resp) SPOT_TRY(SPOT_TAKE(c, a, resp, resps));
        if (a->counting) continue;
        if (fresh) SPOT_TRY(spot_device_copy(c, x, job->x, points * sizeof *x));
        if (resp) SPOT_TRY(spot_device_copy(c, resp, job->resp, resps * sizeof *resp));
        if (!points_on_device) job->x = x;
        job->resp = resp;
        move_results(job, host, *on_device);
    }
    return SPOT_OK;
}

static spot_status run_em(spot_ctx *c, spot_arena *scratch, spot_mixture_job *jobs, int count, const spot_mixture_config *cfg)
{
    return cfg ? spot_mixture_em(c, scratch, jobs, count, cfg) : spot_mixture_kmeans(c, scratch, jobs, count);
}

spot_status spot_mixture_jobs_run(spot_ctx *c, spot_arena *a, size_t begin, spot_mixture_job *jobs, int count,
                                  bool points_on_device, const spot_mixture_config *cfg)
{
    spot_arena on_device = spot_arena_counting();
    size_t bytes = a->used - begin;
    unsigned char *host = a->base + begin, *piece;
    int n = 0, d = 0, k = 0;
    spot_status s;

    if (!c->device) return run_em(c, a, jobs, count, cfg);
    for (int j = 0; j < count; j++) {
        if (jobs[j].fit.n > n) n = jobs[j].fit.n;
        if (jobs[j].fit.d > d) d = jobs[j].fit.d;
        if (jobs[j].fit.k > k) k = jobs[j].fit.k;
    }
    SPOT_TRY(move_to_device(c, &on_device, jobs, count, points_on_device, host, bytes, &piece));
    SPOT_TRY(spot_arena_open_device(c, &on_device, on_device.peak + spot_mixture_scratch(count, n, d, k, 0)));
    s = move_to_device(c, &on_device, jobs, count, points_on_device, host, bytes, &piece);
    if (s == SPOT_OK) s = run_em(c, &on_device, jobs, count, cfg);
    if (s == SPOT_OK) s = spot_device_copy(c, host, piece, bytes);
    for (int j = 0; j < count && s == SPOT_OK; j++) move_results(&jobs[j], piece, host);
    spot_arena_close(&on_device);
    return s;
}

/* Runs all jobs of all problems on the device in one call, problem by problem with K ascending. */
static spot_status run_problems(spot_ctx *c, spot_arena *a, const spot_mixture_data *data, int **label, spot_mixture_job *jobs,
                                const spot_mixture_config *cfg)
{
    size_t begin = a->used;
    int at = 0;

    for (int p = 0; p < data->problems; p++) {
        int count = fits_for(data->x[p].rows, cfg);
        SPOT_TRY(take_problem(c, a, &label[p], jobs + at, data->x[p].rows, data->x[p].cols, cfg));
        for (int i = 0; i < count; i++) {
            jobs[at + i].x = data->on_device ? data->on_device[p] : data->x[p].v;
            jobs[at + i].seed = data->seeds[p];
        }
        if (data->x[p].rows < cfg->k_max)
            spot_log_of(c, SPOT_LOG_WARN, data->seeds[p].ec, "%d points, so K stops at %d instead of %d", data->x[p].rows,
                        data->x[p].rows, cfg->k_max);
        at += count;
    }
    SPOT_TRY(spot_mixture_jobs_run(c, a, begin, jobs, at, data->on_device != NULL, cfg));
    for (int j = 0; j < at; j++) set_bic(&jobs[j].fit);
    return SPOT_OK;
}

spot_status spot_mixture_fit(spot_ctx *c, spot_arena *a, const spot_mixture_data *data, spot_mixture *best, int **label,
                             spot_mixture **all, const spot_mixture_config *cfg)
{
    spot_mixture_job *jobs;

    SPOT_TRY(spot_mixture_check(c, cfg));
    for (int p = 0; p < data->problems; p++) SPOT_TRY(spot_mixture_check_points(c, data->seeds[p].ec, data->x[p], cfg->k_min));
    SPOT_TRY(SPOT_TAKE(c, a, jobs, data->problems * (cfg->k_max - cfg->k_min + 1)));
    SPOT_TRY(run_problems(c, a, data, label, jobs, cfg));
    for (int p = 0; p < data->problems; p++) {
        int count = fits_for(data->x[p].rows, cfg);
        for (int i = 0; i < count; i++) report_fit(c, data->seeds[p].ec, &jobs[i].fit);
        if (all) SPOT_TRY(list_fits(c, a, &all[p], jobs, count, cfg));
        SPOT_TRY(choose_k(c, data->seeds[p].ec, &best[p], label[p], jobs, count));
        jobs += count;
    }
    return SPOT_OK;
}

spot_status spot_mixture_fit_from(spot_ctx *c, spot_arena *a, spot_mixture *fit, int *label, spot_mat x, int k,
                                  const double *resp, const spot_mixture_config *cfg)
{
    spot_mixture_config only = *cfg;
    spot_mixture_job job;
    size_t begin = a->used;
    int *unused;

    only.k_min = only.k_max = k;
    SPOT_TRY(spot_mixture_check(c, &only));
    SPOT_TRY(spot_mixture_check_points(c, 0, x, k));
    SPOT_TRY(take_problem(c, a, &unused, &job, x.rows, x.cols, &only));
    job.x = x.v;
    job.resp = resp;
    SPOT_TRY(spot_mixture_jobs_run(c, a, begin, &job, 1, false, &only));
    set_bic(&job.fit);
    report_fit(c, 0, &job.fit);
    return choose_k(c, 0, fit, label, &job, 1);
}

spot_bytes spot_mixture_needs(const spot_ctx *c, int problems, const int *n, int d, const spot_mixture_config *cfg)
{
    spot_ctx quiet = { 0 };
    spot_arena a = spot_arena_counting();
    int range = cfg->k_max - cfg->k_min + 1, *label, largest = 0;
    size_t points = 0, scratch;
    spot_mixture_job *jobs;
    spot_mixture *all;

    SPOT_TAKE(&quiet, &a, jobs, problems * range);
    for (int p = 0; p < problems; p++) {
        take_problem(&quiet, &a, &label, NULL, n[p], d, cfg);
        SPOT_TAKE(&quiet, &a, all, range);
        points += spot_arena_room((size_t)n[p] * (size_t)d * sizeof(float));
        if (n[p] > largest) largest = n[p];
    }
    scratch = spot_mixture_scratch(problems * range, largest, d, cfg->k_max, c->device ? 0 : c->threads);
    if (!c->device) return (spot_bytes){ a.peak + scratch, 0 };
    return (spot_bytes){ a.peak, a.peak + points + scratch };      /* results lie in both */
}

size_t spot_mixture_bytes(int problems, const int *n, int d, const spot_mixture_config *cfg, int threads)
{
    const spot_ctx c = { .threads = threads };

    return spot_mixture_needs(&c, problems, n, d, cfg).host;
}
