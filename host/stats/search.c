/* search.c - chooses the number of clusters by silhouette, as GEORGE does (Sohoni et al. 2020, their released code). One batch
 * fits every number of every problem from every start. */
#include <math.h>
#include <string.h>

#include "stats/jobs.h"

/* The numbers of clusters to try for n points. */
static int most_clusters(int n, const spot_search_config *cfg) { return cfg->most < n ? cfg->most : n; }

static int least_clusters(int n, const spot_search_config *cfg)
{
    int most = most_clusters(n, cfg);

    return cfg->search && most > 2 ? 2 : most;
}

static int clusters_tried(int n, const spot_search_config *cfg) { return most_clusters(n, cfg) - least_clusters(n, cfg) + 1; }

static spot_status check_settings(spot_ctx *c, const spot_search_config *cfg)
{
    spot_mixture_config mixture = cfg->mixture;

    mixture.k_min = 1;
    mixture.k_max = cfg->most;
    SPOT_TRY(spot_mixture_check(c, &mixture));
    if (cfg->starts < 1) return spot_fail(c, SPOT_INVALID,
                                          "{clusters.starts} %d starts of each number of clusters; at least 1", cfg->starts);
    return SPOT_OK;
}

static spot_status take_result(spot_ctx *c, spot_arena *a, spot_clustering *out, int n, const spot_search_config *cfg)
{
    *out = (spot_clustering){ .least = least_clusters(n, cfg), .tried = clusters_tried(n, cfg) };
    SPOT_TRY(SPOT_TAKE(c, a, out->label, n));
    return SPOT_TAKE(c, a, out->score, out->tried);
}

/* Allocates a problem's jobs: number by number, start by start. jobs may be NULL if a only counts. */
static spot_status take_jobs(spot_ctx *c, spot_arena *a, spot_mixture_job *jobs, int n, int d, const spot_search_config *cfg)
{
    for (int j = 0; j < clusters_tried(n, cfg) * cfg->starts; j++) {
        spot_mixture_job job = { .start = (uint32_t)(j % cfg->starts),
                                 .fit = { .n = n, .d = d, .k = least_clusters(n, cfg) + j / cfg->starts } };
        SPOT_TRY(spot_mixture_job_take(c, a, &job));
        if (!a->counting) jobs[j] = job;
    }
    return SPOT_OK;
}

/* Sum of squared distances of the points to the means of their clusters. */
static double sum_of_squares(const spot_mixture_job *job, spot_mat x)
{
    int n = x.rows, d = x.cols, k = job->fit.k;
    double count[SPOT_MAX_COMPONENTS] = { 0 }, mean[SPOT_MAX_COMPONENTS * SPOT_MAX_MIXTURE_DIM] = { 0 }, sum = 0;

    for (int i = 0; i < n; i++) {
        count[job->label[i]]++;
        for (int a = 0; a < d; a++) mean[job->label[i] * d + a] += x.v[(size_t)i * d + a];
    }
    for (int e = 0; e < k * d; e++) mean[e] /= count[e / d] > 0 ? count[e / d] : 1;
    for (int i = 0; i < n; i++)
        for (int a = 0; a < d; a++) {
            double off = x.v[(size_t)i * d + a] - mean[job->label[i] * d + a];
            sum += off * off;
        }
    return sum;
}

/* The best start for one number of clusters, the first of equals; NULL if all failed. */
static const spot_mixture_job *best_start(spot_ctx *c, const spot_mixture_job *jobs, spot_mat x,
                                          const spot_search_config *cfg)
{
    const spot_mixture_job *best = NULL;
    double most_of_all = -INFINITY;

    for (int s = 0; s < cfg->starts; s++) {
        double good = cfg->kmeans ? -sum_of_squares(&jobs[s], x) : jobs[s].fit.ill ? -INFINITY : jobs[s].fit.log_likelihood;
        if (!(good > most_of_all)) continue;
        most_of_all = good;
        best = &jobs[s];
    }
    if (!best)
        spot_log_of(c, SPOT_LOG_WARN, jobs->seed.ec, "mixture K=%d: given up, no start led to covariances that are positive "
                    "definite; raise the ridge if many K suffer", jobs->fit.k);
    return best;
}

/* Makes a labelling of every number's best start, skipping numbers without one. Returns the number of labellings. */
static int label_all(spot_ctx *c, spot_labelling *l, const spot_mixture_job *jobs, spot_mat x, const float *on_device,
                     const spot_search_config *cfg)
{
    int len = 0;

    for (int i = 0; i < clusters_tried(x.rows, cfg); i++) {
        const spot_mixture_job *best = best_start(c, jobs + i * cfg->starts, x, cfg);
        if (!best) continue;
        l[len].x = x;
        l[len].on_device = on_device;
        l[len].k = best->fit.k;
        for (int j = 0; j < x.rows; j++) l[len].label[j] = best->label[j];
        len++;
    }
    return len;
}

static void choose_number(spot_clustering *out, const spot_labelling *l, int len)
{
    const spot_labelling *best = l;

    for (int i = 0; i < out->tried; i++) out->score[i] = out->tried > 1 ? -2 : NAN;
    for (int i = 0; i < len && out->tried > 1; i++) {
        out->score[l[i].k - out->least] = l[i].score;
        if (l[i].score >= best->score) best = &l[i];
    }
    out->k = best->k;
    memcpy(out->label, best->label, (size_t)best->x.rows * sizeof *out->label);
}

/* Scratch memory: jobs and labellings, followed by their arrays. */
typedef struct { spot_mixture_job *jobs; spot_labelling *labellings; int count; } search_batch;

static spot_status prepare_batch(spot_ctx *c, spot_arena *a, search_batch *b, size_t *begin, int problems, const spot_mat *x,
                                 const spot_search_config *cfg)
{
    int at = 0, first = 0;

    b->count = 0;
    for (int p = 0; p < problems; p++) b->count += clusters_tried(x[p].rows, cfg);
    SPOT_TRY(SPOT_TAKE(c, a, b->jobs, b->count * cfg->starts));
    SPOT_TRY(SPOT_TAKE(c, a, b->labellings, b->count));
    for (int p = 0; p < problems; p++)
        for (int i = 0; i < clusters_tried(x[p].rows, cfg); i++, at++) {
            spot_labelling l = { .k = 1 };
            SPOT_TRY(SPOT_TAKE(c, a, l.label, x[p].rows));
            SPOT_TRY(SPOT_TAKE(c, a, l.silhouette, x[p].rows));
            if (!a->counting) b->labellings[at] = l;
        }
    *begin = a->used;
    for (int p = 0; p < problems; p++) {
        SPOT_TRY(take_jobs(c, a, a->counting ? NULL : b->jobs + first, x[p].rows, x[p].cols, cfg));
        first += clusters_tried(x[p].rows, cfg) * cfg->starts;
    }
    return SPOT_OK;
}

/* Scores the labellings of all problems that have a choice, in one call. */
static spot_status score_labellings(spot_ctx *c, spot_arena *a, const search_batch *b, int problems, spot_clustering *out,
                                    const int *len)
{
    spot_labelling *chosen;
    int count = 0, at = 0;

    SPOT_TRY(SPOT_TAKE(c, a, chosen, b->count));
    for (int p = 0; p < problems; at += out[p++].tried)
        for (int i = 0; i < len[p] && out[p].tried > 1; i++) chosen[count++] = b->labellings[at + i];
    SPOT_TRY(spot_silhouettes(c, a, count, chosen));
    for (int p = at = count = 0; p < problems; at += out[p++].tried) {
        for (int i = 0; i < len[p] && out[p].tried > 1; i++) b->labellings[at + i] = chosen[count++];
        choose_number(&out[p], b->labellings + at, len[p]);
    }
    return SPOT_OK;
}

static spot_status search_all(spot_ctx *c, spot_arena *a, int problems, spot_clustering *out, const spot_mat *x,
                              const float *const *on_device, const spot_seed *seeds, const spot_search_config *cfg)
{
    int *len, at = 0;
    size_t begin;
    search_batch b;

    SPOT_TRY(SPOT_TAKE(c, a, len, problems));
    SPOT_TRY(prepare_batch(c, a, &b, &begin, problems, x, cfg));
    for (int p = 0; p < problems; at += out[p++].tried)
        for (int j = at * cfg->starts; j < (at + out[p].tried) * cfg->starts; j++) {
            b.jobs[j].x = on_device ? on_device[p] : x[p].v;
            b.jobs[j].seed = seeds[p];
        }
    SPOT_TRY(spot_mixture_jobs_run(c, a, begin, b.jobs, at * cfg->starts, on_device != NULL,
                                   cfg->kmeans ? NULL : &cfg->mixture));
    for (int p = at = 0; p < problems; at += out[p++].tried) {
        len[p] = label_all(c, b.labellings + at, b.jobs + at * cfg->starts, x[p], on_device ? on_device[p] : NULL, cfg);
        if (!len[p])
            return spot_fail_of(c, SPOT_NUMERIC, seeds[p].ec, "{mixture.none_fitted} no mixture of %d to %d could be fitted to "
                                "its %d points; raise the ridge", out[p].least, out[p].least + out[p].tried - 1, x[p].rows);
    }
    return score_labellings(c, a, &b, problems, out, len);
}

spot_status spot_cluster_search(spot_ctx *c, spot_arena *a, int problems, spot_clustering *out, const spot_mat *x,
                                const spot_seed *seeds, const spot_search_config *cfg)
{
    return spot_cluster_search_on(c, a, problems, out, x, NULL, seeds, cfg);
}

spot_status spot_cluster_search_on(spot_ctx *c, spot_arena *a, int problems, spot_clustering *out, const spot_mat *x,
                                   const float *const *on_device, const spot_seed *seeds, const spot_search_config *cfg)
{
    size_t mark;

    SPOT_TRY(check_settings(c, cfg));
    for (int p = 0; p < problems; p++) {
        SPOT_TRY(spot_mixture_check_points(c, seeds[p].ec, x[p], 1));
        SPOT_TRY(take_result(c, a, &out[p], x[p].rows, cfg));
    }
    mark = a->used;
    SPOT_TRY(search_all(c, a, problems, out, x, on_device, seeds, cfg));
    a->used = mark;
    return SPOT_OK;
}

spot_bytes spot_cluster_search_needs(const spot_ctx *c, int problems, const int *n, int sets, int d,
                                     const spot_search_config *cfg)
{
    spot_ctx quiet = { 0 };
    spot_arena a = spot_arena_counting();
    int largest = 1, count = 0, *len;
    size_t points = 0, begin, scratch, device = 0, host;
    spot_labelling *chosen;
    spot_clustering out;
    search_batch b;

    SPOT_TAKE(&quiet, &a, len, problems * sets);
    for (int p = 0; p < problems * sets; p++) {
        spot_mat x = { NULL, spot_rows_of_set(n[p / sets], sets), d };
        take_result(&quiet, &a, &out, x.rows, cfg);
        prepare_batch(&quiet, &a, &b, &begin, 1, &x, cfg);
        count += b.count;
        points += spot_arena_room((size_t)x.rows * (size_t)d * sizeof(float));
        device += spot_silhouettes_needs(c, b.count, x.rows, d).device;
        if (n[p / sets] > largest) largest = n[p / sets];
    }
    scratch = spot_mixture_scratch(count * cfg->starts, largest, d, most_clusters(largest, cfg),
                                   c->device ? 0 : c->threads);
    host = a.peak;
    SPOT_TAKE(&quiet, &a, chosen, count);
    host = a.peak + spot_silhouettes_needs(c, count, largest, d).host;
    if (!c->device) return (spot_bytes){ host + scratch, 0 };
    points += a.peak + scratch;                              /* results lie in both */
    return (spot_bytes){ host, points > device ? points : device };
}
