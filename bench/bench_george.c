/* bench_george.c - GEORGE on maps and Multiaccuracy on features, for one EC or a hundred at once; from arrays on the host to
 * hypotheses. Peer: bench/peers/george_sklearn.py, on the same numbers. */
#include "bench.h"
#include "op_views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/rng.h"

enum { GROUPS = 16 };

/* Uniform in (-1/2, 1/2), by a hash that the peer's script has, too. */
static double noise(uint32_t i)
{
    uint32_t h = i * 2654435761u;

    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    return ((h ^ h >> 16) + 0.5) / 4294967296.0 - 0.5;
}

/* Groups around different places; the classifier fails on the first two. */
static void fill_points(spot_points x, float *confidence, int problem)
{
    for (int i = 0; i < x.n; i++) {
        uint32_t row = (uint32_t)(problem * x.n + i), group = row % GROUPS;
        for (int j = 0; j < x.d; j++)
            x.at[(size_t)i * x.d + j] = (float)(8 * noise(900000007u + group * 1000 + (uint32_t)j) +
                                                2 * noise(row * (uint32_t)x.d + (uint32_t)j));
        confidence[i] = (float)((group < 2 ? 0.15 : 0.9) + 0.15 * noise(700000001u + row));
    }
}

static void make_points(spot_op_run *r, spot_op_views *p, int method, const int *size)
{
    const spot_bdm_config cfg = spot_bdm_defaults(method);

    spot_op_make_views(r, p, &cfg, size[0]);
    p->points.d = size[1];
    p->points.at = spot_op_host(r, (size_t)size[0] * (size_t)size[1] * sizeof(float));
    if (r->status == SPOT_OK) fill_points(p->points, p->view.confidence, r->number);
}

static void make_george(spot_op_run *r, void *problem, const int *size) { make_points(r, problem, SPOT_GEORGE, size); }
static void make_audit(spot_op_run *r, void *problem, const int *size)  { make_points(r, problem, SPOT_MULTIACCURACY, size); }

/* All hypotheses, so that every row is in one. */
static spot_status run_george(spot_op_run *r, void *problems, int count)
{
    spot_op_views *p = problems;
    const int top = spot_bdm_defaults(SPOT_GEORGE).top;
    spot_status s;

    if (count) p->cfg.top = SPOT_MAX_HYPOTHESES;
    s = spot_op_run_views(r, problems, count);
    if (count) p->cfg.top = top;
    return s;
}

static double distance(const spot_points *x, int i, int j)
{
    double sum = 0;

    for (int k = 0; k < x->d; k++) sum += pow(x->at[i * x->d + k] - (double)x->at[j * x->d + k], 2);
    return sqrt(sum);
}

/* Silhouette of row i among the hypotheses; of[j]: the hypothesis of row j. */
static double silhouette(const spot_points *x, const spot_hypotheses *h, const int *of, int i)
{
    double sum[SPOT_MAX_HYPOTHESES] = { 0 }, least = INFINITY, own;

    for (int j = 0; j < x->n; j++) sum[of[j]] += distance(x, i, j);
    own = h->h[of[i]].len > 1 ? sum[of[i]] / (h->h[of[i]].len - 1) : 0;
    for (int k = 0; k < h->len; k++) if (k != of[i]) least = fmin(least, sum[k] / h->h[k].len);
    return h->h[of[i]].len > 1 ? (least - own) / fmax(own, least) : 0;
}

/* Checks that every row is in one hypothesis, each hypothesis's mean loss, and some silhouettes of this partition. */
static spot_status check_clusters(spot_op_run *run, const spot_hypotheses *h, const spot_points *x, const float *confidence,
                                  int *of, spot_labelling *l)
{
    spot_ctx *c = run->c;
    int rows = 0;

    for (int k = 0; k < h->len; k++) {
        double loss = 0;
        for (int i = 0; i < h->h[k].len; i++, rows++) {
            of[h->h[k].row[i]] = k;
            l->label[h->h[k].row[i]] = (uint16_t)k;
            loss -= log(confidence[h->h[k].row[i]]) / h->h[k].len;
        }
        SPOT_TRY(spot_bench_near(c, "mean loss of hypothesis", (size_t)k, h->h[k].score, loss, 1e-6));
    }
    if (rows != x->n || h->len != h->components)
        return spot_fail(c, SPOT_CHECK, "%d of %d rows in %d of %d hypotheses", rows, x->n, h->len, h->components);
    *l = (spot_labelling){ { x->at, x->n, x->d }, NULL, h->len, l->label, l->silhouette, 0 };
    SPOT_TRY(spot_silhouettes(c, &run->answers, 1, l));
    for (int i = 0; i < x->n; i += x->n / 20)
        SPOT_TRY(spot_bench_near(c, "silhouette", (size_t)i, l->silhouette[i], silhouette(x, h, of, i), 1e-9));
    return SPOT_OK;
}

static spot_status check_george(spot_op_run *r, void *problem)
{
    const spot_op_views *p = problem;
    size_t n = (size_t)p->view.n;
    spot_labelling l = { .label = calloc(n, sizeof(uint16_t)), .silhouette = malloc(n * sizeof(double)) };
    int *of = calloc(n, sizeof *of);
    spot_status s = of && l.label && l.silhouette ? SPOT_OK : spot_fail(r->c, SPOT_NOMEM, "no memory for a check");

    if (s == SPOT_OK) s = check_clusters(r, &p->found, &p->points, p->view.confidence, of, &l);
    free(of), free(l.label), free(l.silhouette);
    return s;
}

/* Ridge regression of target on the rows by conjugate gradients, without a matrix: w, and h of every row. work (4, d) */
static void regress(const spot_points *x, const int *row, int rows, const double *target, double *h, double *work, double *mean)
{
    int d = x->d;
    double *w = work, *r = w + d, *p = r + d, *q = p + d, y = 0, now = 0, first;

    for (int j = 0; j < d; j++) w[j] = r[j] = mean[j] = 0;
    for (int i = 0; i < rows; i++) {
        y += target[row[i]] / rows;
        for (int j = 0; j < d; j++) mean[j] += x->at[(size_t)row[i] * d + j] / (double)rows;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < d; j++) r[j] += (x->at[(size_t)row[i] * d + j] - mean[j]) * (target[row[i]] - y);
    for (int j = 0; j < d; j++) { p[j] = r[j]; now += r[j] * r[j]; }
    first = now;
    for (int step = 0; step < 2000 && now > 1e-24 * first; step++) {
        double along = 0, next = 0;
        for (int j = 0; j < d; j++) q[j] = p[j];
        for (int i = 0; i < rows; i++) {
            const float *at = x->at + (size_t)row[i] * d;
            double sum = 0;
            for (int j = 0; j < d; j++) sum += (at[j] - mean[j]) * p[j];
            for (int j = 0; j < d; j++) q[j] += (at[j] - mean[j]) * sum;
        }
        for (int j = 0; j < d; j++) along += p[j] * q[j];
        for (int j = 0; j < d; j++) {
            w[j] += now / along * p[j];
            r[j] -= now / along * q[j];
            next += r[j] * r[j];
        }
        for (int j = 0; j < d; j++) p[j] = r[j] + next / now * p[j];
        now = next;
    }
    for (int i = 0; i < x->n; i++) {
        h[i] = y;
        for (int j = 0; j < d; j++) h[i] += (x->at[(size_t)i * d + j] - mean[j]) * w[j];
    }
}

/* The first auditor's correlation, the greatest of the three parts'. */
static spot_status check_audit(spot_ctx *c, const spot_points *x, const float *p, spot_seed seed, int least, double found)
{
    size_t n = (size_t)x->n, d = (size_t)x->d;
    uint32_t *order = malloc(n * sizeof *order);
    int *row = malloc(n * sizeof *row), learn = (int)(0.7 * x->n);
    double *target = malloc((2 * n + 5 * d) * sizeof *target), *h = target ? target + n : NULL, best = 0;
    spot_rng r = spot_rng_at(seed.seed, SPOT_RNG_AUDIT, seed.ec, 0);

    for (int q = 0; q < 3 && order && row && target; q++) {
        double sum = 0;
        int rows = 0, others = 0;
        if (!q) spot_rng_shuffle(&r, order, (uint32_t)n);
        for (int i = 0; i < x->n; i++) target[i] = -(p[i] >= 0.1 ? 1 / (double)p[i] : 20 - 100 * (double)p[i]);
        for (int i = 0; i < learn; i++)
            if (q == 2 || (p[order[i]] > 0.5) == !q) row[rows++] = (int)order[i];
        regress(x, row, rows, target, h, target + 2 * n, target + 2 * n + 4 * d);
        for (int i = learn; i < x->n; i++) {
            if (q < 2 && (p[order[i]] > 0.5) != !q) continue;
            sum += h[order[i]] * (p[order[i]] - 1.0);
            others++;
        }
        if (rows >= least && others >= least) best = fmax(best, sum / others);
    }
    free(order), free(row), free(target);
    return spot_bench_near(c, "correlation of the best auditor", 0, found, best, 1e-6 * best);
}

/* The first problem and the last: an audit takes longer than the method. */
static spot_status check_multiaccuracy(spot_op_run *r, void *problem)
{
    const spot_op_views *p = problem;

    if (r->number && r->number < r->problems - 1) return SPOT_OK;
    return check_audit(r->c, &p->points, p->view.confidence, p->seed, p->cfg.least, p->found.h[0].score);
}

#define METHOD(name, make, run, check) { name, sizeof(spot_op_views), make, run, check, false }
const spot_op spot_op_george = METHOD("george", make_george, run_george, check_george);
const spot_op spot_op_multiaccuracy = METHOD("multiaccuracy", make_audit, spot_op_run_views, check_multiaccuracy);

/* size: method, problems, rows of each, coordinates. */
static spot_status open_points(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    work->items = size[1];
    return spot_op_bench_open(c, state, size[0] == SPOT_GEORGE ? &spot_op_george : &spot_op_multiaccuracy, size[1],
                              (int[SPOT_OP_SIZES]){ size[2], size[3] });
}

static const spot_bench_kind kind = { open_points, spot_op_bench_check_all, spot_op_find_views, spot_op_bench_close };

const spot_bench_row spot_bench_george[] = {
    { "george", "3,200 x 2, 2 to 10 clusters, 5 pieces", "ECs", SPOT_ON_CPU, &kind, { SPOT_GEORGE, 1, 3200, 2 },
      { SPOT_GEORGE, 1, 320, 2 } },
    { "george", "100 ECs of 3,200 x 2, 2 to 10 clusters, 5 pieces", "ECs", SPOT_ON_CUDA, &kind, { SPOT_GEORGE, 100, 3200, 2 },
      { SPOT_GEORGE, 2, 64, 2 } },
    { "multiaccuracy", "3,200 x 512, 10 auditors", "ECs", SPOT_ON_CPU, &kind, { SPOT_MULTIACCURACY, 1, 3200, 512 },
      { SPOT_MULTIACCURACY, 1, 320, 20 } },
    { "multiaccuracy", "100 ECs of 3,200 x 512, 10 auditors", "ECs", SPOT_ON_CUDA, &kind,
      { SPOT_MULTIACCURACY, 100, 3200, 512 }, { SPOT_MULTIACCURACY, 2, 100, 20 } },
    { .op = NULL },
};
