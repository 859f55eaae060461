/* domino.c - Domino (Eyuboglu et al. 2022): slices of a joint mixture over features, labels and predictions, ordered by the
 * distance of predictions from labels: |max over classes c of (Q_c - P_c)|; on positives alone, a slice's mean error.
 *
 * Follows the package `domino` 0.1.5 (DominoSlicer), so there is no compat switch. Differences: the noise and the draws of
 * k-means come from spotter's addresses; components come from exact PCA, and no more than exist (embed.h), where the package
 * fails; a slice without rows, an empty column in the package, is not returned.
 *
 * New rows take one E step and the same choice. Assigning fitted rows gives their slices again: with diagonal covariances, and
 * with full ones on the CPU, responsibilities have the same bits; CUDA's factors of full covariances differ in the last bit,
 * which may change a near-tie between two slices. */
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/twin.h"
#include "bdm/fit.h"
#include "bdm/methods.h"
#include "bdm/rank.h"
#include "core/device.h"
#include "core/problems.h"
#include "fit/domino_mixture.h"
#include "fit/kmeans.h"
#include "map/rows.h"
#include "models/reduce.h"

enum { CLASSES = 2, CHUNK = 4096 };      /* new rows at a time */

/* A problem. On the CPU the job uses these arrays, on CUDA copies of them. */
typedef struct {
    spot_domino_job   job;
    spot_domino_cells start;
    spot_kmeans_job   means;
    spot_twin given;           /* predictions (n, 2), then labels (n) */
    spot_twin shares;          /* of_y (k, 2), of_p (k, 2): what the job finds of both */
    uint8_t *y;                /* on the host, as the three below */
    float   *p;
    double  *of_y, *of_p;
    spot_rank *ranks;          /* (k): the slices, highest score first */
    spot_twin order, place;    /* (k): their numbers in this order; (n): index of a row's slice in it */
    double  *share;            /* (n): one slice's responsibilities */
} domino_problem;

static int slices_used(int n, const spot_bdm_config *cfg) { return n < cfg->domino.components ? n : cfg->domino.components; }

static void point_to_twins(domino_problem *q, size_t predictions, size_t shares)
{
    float *p = q->given.on_device;
    double *of_y = q->shares.on_device;

    q->p = q->given.here;
    q->y = (uint8_t *)(q->p + predictions);
    q->of_y = q->shares.here;
    q->of_p = q->of_y + shares;
    q->job.p = p;
    q->job.y = (uint8_t *)(p + predictions);
    q->job.of_y = of_y;
    q->job.of_p = of_y + shares;
}

/* Allocates one problem: the host's arrays in `host`, those of c's device in `work`. */
static spot_status take_problem(spot_ctx *c, spot_arena *host, spot_arena *work, domino_problem *q, const spot_points *points,
                                const spot_bdm_config *cfg)
{
    int n = points->n, d = points->d;
    size_t k = (size_t)slices_used(n, cfg), values = k * d, full = cfg->domino.covariance == SPOT_COVARIANCE_FULL;
    bool means = cfg->domino.start == SPOT_START_KMEANS;
    spot_domino_job *job = &q->job;

    SPOT_TRY(spot_twin_take(c, host, work, &q->given, (size_t)n * (CLASSES * sizeof(float) + 1)));
    SPOT_TRY(spot_twin_take(c, host, work, &q->shares, 2 * k * CLASSES * sizeof(double)));
    SPOT_TRY(SPOT_TAKE(c, host, q->ranks, k));
    SPOT_TRY(SPOT_TAKE(c, host, q->share, n));
    SPOT_TRY(spot_twin_take(c, host, work, &q->order, k * sizeof(int)));
    SPOT_TRY(spot_twin_take(c, host, work, &q->place, (size_t)n * sizeof(int)));
    *job = (spot_domino_job){ .n = n, .d = d, .k = (int)k, .classes = CLASSES, .full = (int)full };
    if (!host->counting) point_to_twins(q, (size_t)n * CLASSES, k * CLASSES);
    SPOT_TRY(spot_points_on_device(c, work, &job->x, points));
    SPOT_TRY(SPOT_TAKE(c, work, job->r, k * n));
    SPOT_TRY(SPOT_TAKE(c, work, job->weight, k));
    SPOT_TRY(SPOT_TAKE(c, work, job->mean, values));
    SPOT_TRY(SPOT_TAKE(c, work, job->covariance, full ? values * d : values));
    SPOT_TRY(SPOT_TAKE(c, work, job->label, means ? n : 0));
    SPOT_TRY(SPOT_TAKE(c, work, q->means.centre, means ? values : 0));
    return SPOT_OK;
}

static double gamma_hat(const spot_bdm_config *cfg)
{
    return cfg->domino.gamma_hat < 0 ? cfg->domino.gamma : cfg->domino.gamma_hat;
}

/* Fills the labels y (n) and predictions p (n, 2) of n rows from i0 on. */
static void fill_labels(uint8_t *y, float *p, const spot_view *v, int i0, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] = spot_view_positive(v, i0 + i);
        p[CLASSES * i] = 1 - v->confidence[i0 + i];
        p[CLASSES * i + 1] = v->confidence[i0 + i];
    }
}

static spot_status fill_problem(spot_ctx *c, domino_problem *q, const spot_view *v, const spot_seed *seed,
                                const spot_bdm_config *cfg)
{
    spot_domino_job *job = &q->job;
    int n = job->n, d = job->d, k = job->k;
    const int *label = job->label;
    bool means = cfg->domino.start == SPOT_START_KMEANS;

    fill_labels(q->y, q->p, v, 0, n);
    SPOT_TRY(spot_twin_push(c, &q->given));
    job->gamma = cfg->domino.gamma;
    job->gamma_hat = gamma_hat(cfg);
    if (!means) job->label = NULL;
    q->start = (spot_domino_cells){ n, k, CLASSES, job->y, job->p, cfg->domino.noise, *seed, job->r };
    q->means = (spot_kmeans_job){ .n = n, .d = d, .k = k, .x = job->x, .seed = *seed, .centre = q->means.centre,
                                  .label = (int *)label };
    return SPOT_OK;
}

/* The start, then the mixtures of all problems. */
static spot_status run_jobs(spot_ctx *c, spot_arena *work, int problems, domino_problem *q, const spot_bdm_config *cfg)
{
    spot_domino_cells start[SPOT_BDM_GROUP];
    spot_kmeans_job means[SPOT_BDM_GROUP];
    spot_domino_job job[SPOT_BDM_GROUP];

    for (int i = 0; i < problems; i++) job[i] = q[i].job, start[i] = q[i].start, means[i] = q[i].means;
    if (cfg->domino.start == SPOT_START_KMEANS) SPOT_TRY(spot_kmeans_fit(c, work, problems, means));
    else                                        SPOT_TRY(spot_domino_confusion(c, problems, start));
    SPOT_TRY(spot_domino_em(c, work, problems, job, &cfg->mixture));
    for (int i = 0; i < problems; i++) {
        q[i].job = job[i];
        SPOT_TRY(spot_twin_pull(c, &q[i].shares));
    }
    return SPOT_OK;
}

/* Ranks all slices, highest score first; `size` counts the rows that have it as their best slice. */
static void rank_slices(domino_problem *q)
{
    const int *best = q->place.here;
    int *order = q->order.here, k = q->job.k;

    for (int s = 0; s < k; s++) {
        double most = -INFINITY;
        for (int c = 0; c < CLASSES; c++) most = fmax(most, q->of_p[s * CLASSES + c] - q->of_y[s * CLASSES + c]);
        q->ranks[s] = (spot_rank){ .which = s, .score = fabs(most) };
    }
    for (int i = 0; i < q->job.n; i++) q->ranks[best[i]].size++;      /* still unsorted */
    spot_ranks_sort(q->ranks, k);
    for (int s = 0; s < k; s++) order[s] = q->ranks[s].which;
}

static int slices_returned(const domino_problem *q, const spot_bdm_config *cfg)
{
    return q->job.k < cfg->top ? q->job.k : cfg->top;
}

/* Slices among which a row gets its own. */
static int slices_chosen(const domino_problem *q, const spot_bdm_config *cfg)
{
    return cfg->domino.assign == SPOT_ASSIGN_ALL ? q->job.k : slices_returned(q, cfg);
}

/* Sets every row's place: the slice with the greatest responsibility for it, the first of equals, of all or of the best. */
static spot_status place_rows(spot_ctx *c, int problems, const domino_problem *q, bool ranked, const spot_bdm_config *cfg)
{
    spot_rows_best_problem best[SPOT_BDM_GROUP] = { { 0 } };

    for (int i = 0; i < problems; i++) {
        best[i] = (spot_rows_best_problem){ .n = q[i].job.n, .len = ranked ? slices_chosen(&q[i], cfg) : q[i].job.k,
                                            .value = q[i].job.r, .choice = ranked ? q[i].order.on_device : NULL,
                                            .best = q[i].place.on_device };
        if (ranked) SPOT_TRY(spot_twin_push(c, &q[i].order));
    }
    SPOT_TRY(spot_rows_best(c, problems, best));
    for (int i = 0; i < problems; i++) SPOT_TRY(spot_twin_pull(c, &q[i].place));
    return SPOT_OK;
}

static spot_status keep_array(spot_ctx *c, spot_fit *f, const char *name, const double *from, int rows, int columns)
{
    void *to;

    SPOT_TRY(spot_fit_put(c, f, name, SPOT_F64, NULL, rows, columns, &to));
    return spot_device_copy(c, to, from, (size_t)rows * (size_t)(columns ? columns : 1) * sizeof *from);
}

/* Keeps the mixture, and the slices that rows may be assigned to, best first, with their hypotheses (-1: none). */
static spot_status keep_fit(spot_ctx *c, spot_fit *f, const domino_problem *q, const spot_rank *ranks, int len,
                            const int *hypothesis)
{
    const spot_domino_job *job = &q->job;
    int *slice;

    if (job->full && (size_t)job->d * job->d > INT_MAX)
        return spot_fail(c, SPOT_INVALID, "domino: %d features are too many for a fit of full covariances", job->d);
    SPOT_TRY(keep_array(c, f, "domino.weight", job->weight, job->k, 0));
    SPOT_TRY(keep_array(c, f, "domino.mean", job->mean, job->k, job->d));
    SPOT_TRY(keep_array(c, f, "domino.covariance", job->covariance, job->k, job->full ? job->d * job->d : job->d));
    SPOT_TRY(spot_fit_put(c, f, "domino.label", SPOT_F64, q->of_y, job->k, CLASSES, NULL));
    SPOT_TRY(spot_fit_put(c, f, "domino.prediction", SPOT_F64, q->of_p, job->k, CLASSES, NULL));
    SPOT_TRY(spot_fit_put(c, f, "domino.slice", SPOT_I32, NULL, len, 0, &slice));
    for (int s = 0; s < len; s++) slice[s] = ranks[s].which;
    return spot_fit_put(c, f, "domino.hypothesis", SPOT_I32, hypothesis, len, 0, NULL);
}

/* A row's weight in a hypothesis is its slice's responsibility for it, whether or not the row has a better slice. */
static spot_status weigh_rows(spot_ctx *c, float *weight, const domino_problem *q, int slice)
{
    size_t n = (size_t)q->job.n;

    SPOT_TRY(spot_device_copy(c, q->share, q->job.r + (size_t)slice * n, n * sizeof *q->share));
    for (size_t i = 0; i < n; i++) weight[i] = (float)q->share[i];
    return SPOT_OK;
}

static spot_status collect_slices(spot_ctx *c, const domino_problem *q, const spot_bdm_group *g, int p)
{
    const spot_rank *ranks = q->ranks;
    const int *place = q->place.here;
    int *row = g->row[p], kept = slices_returned(q, g->cfg), from = slices_chosen(q, g->cfg), hypothesis[SPOT_DOMINO_MOST];
    spot_hypotheses *out = &g->out[p];

    for (int s = 0; s < q->job.k; s++) out->components += ranks[s].size > 0;
    for (int s = 0; s < from; s++) hypothesis[s] = -1;
    for (int s = 0; s < kept; s++) {
        spot_hypothesis h = { .row = row, .score = ranks[s].score };
        for (int i = 0; i < q->job.n; i++) {
            if (place[i] != s) continue;
            h.row[h.len++] = i;
            h.mean_error += spot_view_error(&g->views[p], i);
        }
        if (!h.len) continue;
        h.mean_error /= h.len;
        row += h.len;
        h.weight = g->weight[p] + (size_t)out->len * q->job.n;
        SPOT_TRY(weigh_rows(c, h.weight, q, ranks[s].which));
        hypothesis[s] = out->len;
        out->h[out->len++] = h;
    }
    return g->fits ? keep_fit(c, &g->fits[p], q, ranks, from, hypothesis) : SPOT_OK;
}

static spot_status report_problem(spot_ctx *c, uint32_t ec, const domino_problem *q, const spot_bdm_config *cfg)
{
    const spot_domino_job *job = &q->job;

    if (job->ill)
        return spot_fail_of(c, SPOT_NUMERIC, ec, "{domino.covariances} the covariances of %d of domino's %d slices are not "
                            "positive definite; raise the mixture's ridge", job->ill, job->k);
    if (job->k < cfg->domino.components)
        spot_log_of(c, SPOT_LOG_WARN, ec, "%d rows, so domino has %d components instead of %d", job->n, job->k,
                    cfg->domino.components);
    if (!job->converged)
        spot_log_of(c, SPOT_LOG_DEBUG, ec, "domino's mixture is still moving after %d iterations", job->iterations);
    return SPOT_OK;
}

/* Bytes of `work` that the ops need as scratch. */
static size_t scratch_bytes(const spot_ctx *c, const spot_bdm_group *g)
{
    int n = SPOT_MOST(g->problems, g->points, n), d = SPOT_MOST(g->problems, g->points, d), k = slices_used(n, g->cfg);
    int threads = c->device ? 0 : c->threads, full = g->cfg->domino.covariance == SPOT_COVARIANCE_FULL;
    size_t means = g->cfg->domino.start == SPOT_START_KMEANS ? spot_kmeans_scratch(g->problems, n, d, k, threads) : 0;
    size_t em = spot_domino_scratch(g->problems, n, d, k, CLASSES, full, threads);

    return means > em ? means : em;
}

static spot_status check_group(spot_ctx *c, const spot_bdm_group *g)
{
    if (g->cfg->domino.start != SPOT_START_CONFUSION) return SPOT_OK;
    if (g->cfg->domino.components < CLASSES * CLASSES)
        return spot_fail(c, SPOT_INVALID, "{domino.components} domino starts from the %d cells of the confusion matrix, and "
                         "components is %d; raise it, or set start: kmeans", CLASSES * CLASSES, g->cfg->domino.components);
    for (int p = 0; p < g->problems; p++)
        if (g->points[p].n < CLASSES * CLASSES)
            return spot_fail_of(c, SPOT_INPUT, g->seeds[p].ec, "{domino.few_rows} %d rows for domino, which needs at least %d",
                                g->points[p].n, CLASSES * CLASSES);
    return SPOT_OK;
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    domino_problem q[SPOT_BDM_GROUP];

    if (!work->counting) SPOT_TRY(check_group(c, g));
    for (int p = 0; p < g->problems; p++) {
        SPOT_TRY(take_problem(c, host, work, &q[p], &g->points[p], g->cfg));
        if (!work->counting) SPOT_TRY(fill_problem(c, &q[p], &g->views[p], &g->seeds[p], g->cfg));
    }
    SPOT_TRY(spot_bdm_scratch(c, work, scratch_bytes(c, g)));
    if (work->counting) return SPOT_OK;
    SPOT_TRY(run_jobs(c, work, g->problems, q, g->cfg));
    for (int p = 0; p < g->problems; p++) SPOT_TRY(report_problem(c, g->seeds[p].ec, &q[p], g->cfg));
    SPOT_TRY(place_rows(c, g->problems, q, false, g->cfg));
    for (int p = 0; p < g->problems; p++) rank_slices(&q[p]);
    SPOT_TRY(place_rows(c, g->problems, q, true, g->cfg));
    for (int p = 0; p < g->problems; p++) SPOT_TRY(collect_slices(c, &q[p], g, p));
    return SPOT_OK;
}

/* Fills a job for CHUNK rows with the fit's mixture, which it only reads. */
static spot_status open_job(spot_ctx *c, spot_domino_job *job, const spot_points *points, const spot_fit *fit,
                            const spot_bdm_config *cfg)
{
    const spot_fit_tensor *weight, *mean, *covariance, *of_y, *of_p;
    int full = cfg->domino.covariance == SPOT_COVARIANCE_FULL, k, d;

    SPOT_TRY(spot_fit_shares(c, fit, "domino.weight", -1, 0, &weight));
    SPOT_TRY(spot_fit_take(c, fit, "domino.mean", SPOT_F64, weight->rows, -1, &mean));
    k = weight->rows;
    d = mean->columns;
    if (k < 1 || k > SPOT_DOMINO_MOST || d != points->d || (full && (size_t)d * d > INT_MAX))
        return spot_fail(c, SPOT_INPUT, "the fit has %d slices in %d columns, the points have %d; it is of other settings, or "
                         "damaged", k, d, points->d);
    SPOT_TRY(spot_fit_take(c, fit, "domino.covariance", SPOT_F64, k, full ? d * d : d, &covariance));
    SPOT_TRY(spot_fit_shares(c, fit, "domino.label", k, CLASSES, &of_y));
    SPOT_TRY(spot_fit_shares(c, fit, "domino.prediction", k, CLASSES, &of_p));
    *job = (spot_domino_job){ .n = CHUNK, .d = d, .k = k, .classes = CLASSES, .full = full, .weight = weight->data,
                              .mean = mean->data, .covariance = covariance->data, .of_y = of_y->data, .of_p = of_p->data,
                              .gamma = cfg->domino.gamma, .gamma_hat = gamma_hat(cfg) };
    return SPOT_OK;
}

static spot_status assign_rows(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    const spot_fit_tensor *t;
    const int *slice, *hypothesis;
    spot_rows_best_problem best;
    domino_problem q = { .p = NULL };
    int *place;

    SPOT_TRY(spot_fit_wants_confidence(c, to->rows, "domino"));
    SPOT_TRY(open_job(c, &q.job, to->points, to->fit, to->cfg));
    SPOT_TRY(spot_fit_take(c, to->fit, "domino.slice", SPOT_I32, -1, 0, &t));
    SPOT_TRY(spot_fit_indices(c, to->fit, "domino.slice", -1, 0, q.job.k - 1, &slice));
    SPOT_TRY(spot_fit_indices(c, to->fit, "domino.hypothesis", t->rows, -1, to->hypotheses - 1, &hypothesis));
    if (t->rows < 1 || t->rows > q.job.k)
        return spot_fail(c, SPOT_INPUT, "the fit chooses among %d of %d slices; it is damaged", t->rows, q.job.k);
    SPOT_TRY(SPOT_TAKE(c, a, q.y, CHUNK));
    SPOT_TRY(SPOT_TAKE(c, a, q.p, CHUNK * CLASSES));
    SPOT_TRY(SPOT_TAKE(c, a, q.job.r, (size_t)CHUNK * q.job.k));
    SPOT_TRY(SPOT_TAKE(c, a, place, CHUNK));
    q.job.y = q.y;
    q.job.p = q.p;
    if (a->counting) return spot_domino_expect(c, a, &q.job);
    for (int i0 = 0; i0 < to->rows->n; i0 += CHUNK) {
        q.job.n = to->rows->n - i0 < CHUNK ? to->rows->n - i0 : CHUNK;
        q.job.x = to->points->at + (size_t)i0 * to->points->d;
        fill_labels(q.y, q.p, to->rows, i0, q.job.n);
        SPOT_TRY(spot_domino_expect(c, a, &q.job));
        if (q.job.ill) return spot_fail(c, SPOT_INPUT, "%d of the fit's slices have no covariance; it is damaged", q.job.ill);
        best = (spot_rows_best_problem){ q.job.n, t->rows, q.job.r, slice, place };
        SPOT_TRY(spot_rows_best(c, 1, &best));
        for (int i = 0; i < q.job.n; i++) {
            int at = hypothesis[place[i]];
            if (at >= 0) to->member[(size_t)(i0 + i) * to->hypotheses + at] = 1;
        }
    }
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    SPOT_BDM_MIXTURE,
    S("gamma",   REAL,  domino.gamma,  "weight of labels and predictions beside the features", SPOT_IN(0, 1e6), SPOT_DEF(10)),
    S("gamma_hat", REAL, domino.gamma_hat, "weight of the predictions where it is another; -1: gamma", SPOT_IN(-1, 1e6),
      SPOT_DEF(-1)),
    S("components", INT, domino.components, "components of Domino's mixture", SPOT_IN(1, SPOT_DOMINO_MOST), SPOT_DEF(25)),
    S("start",   NAME,  domino.start,  "start from the cells of the confusion matrix, or from k-means",
      SPOT_ONE_OF("confusion", "kmeans"), SPOT_DEF(SPOT_START_CONFUSION)),
    S("noise",   REAL,  domino.noise,  "noise added to the start", SPOT_IN(0, 1), SPOT_DEF(1e-3)),
    S("covariance", NAME, domino.covariance, "covariance of each component", SPOT_ONE_OF("diag", "full"),
      SPOT_DEF(SPOT_COVARIANCE_DIAG)),
    S("assign",  NAME,  domino.assign, "rows go to the best of the slices returned, or to the best of all components",
      SPOT_ONE_OF("kept", "all"), SPOT_DEF(SPOT_ASSIGN_KEPT)),
#undef S
    SPOT_END
};

static void defaults(spot_bdm_config *cfg)
{
    cfg->embed.method = SPOT_REDUCE_PCA;
    cfg->embed.dim = 128;
}

const spot_method spot_method_domino = { .weighs = true, .settings = settings, .defaults = defaults,
                                         .solve = solve_group, .assign = assign_rows };
