/* density.c - slices of high loss whose rows are neighbours of one another, after the idea of Yu et al. 2025 (arXiv
 * 2501.19032): risk plus compactness on the graph of nearest neighbours. The objective, its solver and the order are ours; no
 * code of theirs was found, so that nothing here is compared with it.
 *
 * Q_ij is 1 if row j is one of the k nearest rows of row i (Euclidean). l_i = 1 - the probability of the row's label. Maximised
 * over weights w in [0, 1] whose sum is at most `share` of the rows, and at least one row:
 *
 *     f(w) = sum_i l_i w_i + lambda / k sum_ij Q_ij w_i w_j
 *
 * by Frank and Wolfe's ascent (1956): the gradient is l + lambda / k (Q + Q') w; the step goes towards the rows of greatest
 * gradient, of equals the first, exactly as far as f is greatest. It starts at the rows of greatest loss and ends where no
 * step has a gain. f is not concave: the end is a stationary point, not surely the greatest. Then l_i and Q's row and column i
 * are multiplied by 1 - w_i, so that a row that is in a slice counts neither as loss nor as a neighbour, and the next slice
 * begins.
 *
 * A slice has the rows of greatest w, of equals the first, as many as the sum of w says, rounded up: among rows that are alike
 * the optimum may share the weight evenly. Slices are ordered by errors x error rate. The device finds neighbours, the host
 * does the rest, problems side by side; the same bits on every device. A new row belongs to the slices of at least half of its
 * k nearest fitted rows, or to those of the first fitted row that is equal to it. So a fitted row gets its slices again. */
#include <math.h>
#include <string.h>

#include "bdm/fit.h"
#include "bdm/graph.h"
#include "bdm/methods.h"
#include "bdm/rank.h"
#include "core/sort.h"
#include "map/affinity.h"

#define LEAST_GAIN 1e-9        /* of a step, relative to f: the end */
#define ROUNDING   1e-9        /* of a sum of weights */
#define LEAST_RISK 1e-12       /* of a slice: no loss is left */

typedef struct {
    const spot_graph *g;
    double *loss;              /* (n) */
    double *left;              /* (n): share of a row that is in no slice yet */
    double *w, *step, *slope, *held;   /* (n): weights; direction of a step; gradient; products with (Q + Q') / k */
    double *share;             /* (n): left x what is multiplied */
    uint64_t *key;             /* (n) */
    int len;                   /* slices found */
    double *found;             /* (top, n): their weights */
    spot_rank *ranks;          /* (top) */
} density_problem;

static spot_status take_problem(spot_ctx *c, spot_arena *a, density_problem *q, int n, int top)
{
    size_t rows = (size_t)n, all = rows * (size_t)top;

    SPOT_TRY(SPOT_TAKE(c, a, q->loss, rows));
    SPOT_TRY(SPOT_TAKE(c, a, q->left, rows));
    SPOT_TRY(SPOT_TAKE(c, a, q->w, rows));
    SPOT_TRY(SPOT_TAKE(c, a, q->step, rows));
    SPOT_TRY(SPOT_TAKE(c, a, q->slope, rows));
    SPOT_TRY(SPOT_TAKE(c, a, q->held, rows));
    SPOT_TRY(SPOT_TAKE(c, a, q->share, rows));
    SPOT_TRY(SPOT_TAKE(c, a, q->key, rows));
    SPOT_TRY(SPOT_TAKE(c, a, q->found, all));
    return SPOT_TAKE(c, a, q->ranks, top);
}

/* held = left (Q + Q') (left v) / k */
static void multiply(density_problem *q, const double *v)
{
    const spot_graph *g = q->g;

    memset(q->held, 0, (size_t)g->n * sizeof *q->held);
    for (int i = 0; i < g->n; i++) q->share[i] = q->left[i] * v[i];
    for (int i = 0; i < g->n; i++) {
        const int *near = g->column + (size_t)i * g->k;
        double own = q->share[i], sum = 0;
        for (int e = 0; e < g->k; e++) sum += q->share[near[e]];
        for (int e = 0; e < g->k && own != 0; e++) q->held[near[e]] += own;       /* few rows have a weight */
        q->held[i] += sum;
    }
    for (int i = 0; i < g->n && g->k; i++) q->held[i] *= q->left[i] / g->k;
}

/* step: 1 for the m rows of greatest value, of equals the first, without those of value 0. */
static void choose_rows(density_problem *q, const double *value, int m)
{
    int n = q->g->n;

    for (int i = 0; i < n; i++) q->key[i] = spot_key_with(-(float)value[i], (uint32_t)i);
    spot_select_smallest(q->key, n, m);
    memset(q->step, 0, (size_t)n * sizeof *q->step);
    for (int e = 0; e < m; e++) {
        uint32_t i = (uint32_t)q->key[e];
        q->step[i] = value[i] > 0;
    }
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* A step of the ascent; 0 if it has no gain. */
static int climb(density_problem *q, double lambda, int m)
{
    int n = q->g->n;
    double gain, bend, value, far;

    multiply(q, q->w);
    for (int i = 0; i < n; i++) q->slope[i] = q->left[i] * q->loss[i] + lambda * q->held[i];
    value = dot(q->slope, q->w, n);                      /* f plus its second part */
    choose_rows(q, q->slope, m);
    for (int i = 0; i < n; i++) q->step[i] -= q->w[i];
    gain = dot(q->slope, q->step, n);
    if (!(gain > LEAST_GAIN * value)) return 0;
    multiply(q, q->step);
    bend = lambda * dot(q->held, q->step, n) / 2;
    far = bend < 0 ? fmin(1, -gain / (2 * bend)) : 1;
    for (int i = 0; i < n; i++) q->w[i] += far * q->step[i];
    return 1;
}

/* The next slice in w; false if no loss is left. */
static bool find_slice(density_problem *q, const spot_density_config *cfg, int m)
{
    double risk = 0;
    int n = q->g->n;

    for (int i = 0; i < n; i++) q->slope[i] = q->left[i] * q->loss[i];
    choose_rows(q, q->slope, m);
    memcpy(q->w, q->step, (size_t)n * sizeof *q->w);
    for (int s = 0; s < cfg->steps && climb(q, cfg->lambda, m); s++) { }
    for (int i = 0; i < n; i++) risk += q->left[i] * q->loss[i] * q->w[i];
    return risk > LEAST_RISK;
}

/* step: 1 for the members of the slice with weights w. Returns their number. */
static int choose_members(density_problem *q, const double *w)
{
    double sum = 0;
    int members;

    for (int i = 0; i < q->g->n; i++) sum += w[i];
    members = (int)ceil(sum - ROUNDING);
    if (members < 1) members = 1;
    choose_rows(q, w, members);
    return members;
}

static void find_slices_of(density_problem *q, const spot_view *view, const spot_bdm_config *cfg)
{
    int n = view->n, m = (int)(cfg->density.share * n + 0.5);

    if (m < 1) m = 1;
    for (int i = 0; i < n; i++) q->loss[i] = spot_view_error(view, i), q->left[i] = 1;
    for (q->len = 0; q->len < cfg->top && find_slice(q, &cfg->density, m); q->len++) {
        spot_rank *r = &q->ranks[q->len];
        *r = (spot_rank){ .which = q->len, .size = choose_members(q, q->w) };
        memcpy(q->found + (size_t)q->len * n, q->w, (size_t)n * sizeof *q->w);
        for (int i = 0; i < n; i++) {
            q->left[i] *= 1 - q->w[i];
            if (q->step[i] > 0) r->error += q->loss[i];
        }
        r->score = r->error * (r->error / r->size);
        r->error /= r->size;
    }
    spot_ranks_sort(q->ranks, q->len);
}

static void list_slices(spot_hypotheses *out, int *row, float *weight, density_problem *q)
{
    int n = q->g->n;

    *out = (spot_hypotheses){ .len = q->len, .components = q->len };
    for (int k = 0; k < q->len; k++) {
        const double *w = q->found + (size_t)q->ranks[k].which * n;
        spot_hypothesis *h = &out->h[k];
        *h = (spot_hypothesis){ .row = row, .score = q->ranks[k].score, .mean_error = q->ranks[k].error,
                                .weight = weight + (size_t)k * n };
        choose_members(q, w);
        for (int i = 0; i < n; i++) {
            h->weight[i] = (float)w[i];
            if (q->step[i] > 0) row[h->len++] = i;
        }
        row += h->len;
    }
}

/* Keeps each row's hypotheses and its point. */
static spot_status keep_fit(spot_ctx *c, spot_fit *f, const spot_hypotheses *found, const spot_points *points,
                            const spot_bdm_config *cfg)
{
    uint8_t *in;

    SPOT_TRY(spot_fit_put(c, f, "density.member", SPOT_U8, NULL, points->n, found->len, &in));
    for (int k = 0; k < found->len; k++)
        for (int i = 0; i < found->h[k].len; i++) in[(size_t)found->h[k].row[i] * found->len + k] = 1;
    return spot_fit_put_points(c, f, points, &cfg->embed);
}

static spot_status solve_group(spot_ctx *c, spot_arena *host, spot_arena *work, const spot_bdm_group *g)
{
    spot_graph graph[SPOT_BDM_GROUP];
    density_problem q[SPOT_BDM_GROUP];

    for (int p = 0; p < g->problems; p++) {
        SPOT_TRY(take_problem(c, host, &q[p], g->points[p].n, g->cfg->top));
        SPOT_TRY(spot_graph_take(c, host, work, &graph[p], &g->points[p], g->cfg->density.neighbours, false));
        q[p].g = &graph[p];
    }
    SPOT_TRY(spot_graphs_find(c, work, g->problems, graph, g->points));
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int p = 0; p < g->problems; p++) {
        if (work->counting) continue;
        find_slices_of(&q[p], &g->views[p], g->cfg);
        list_slices(&g->out[p], g->row[p], g->weight[p], &q[p]);
    }
    for (int p = 0; p < g->problems && !work->counting; p++) {
        if (!q[p].len)
            spot_log_of(c, SPOT_LOG_WARN, g->seeds[p].ec, "density's list is empty: the classifier has no errors");
        if (g->fits && q[p].len) SPOT_TRY(keep_fit(c, &g->fits[p], &g->out[p], &g->points[p], g->cfg));
    }
    return SPOT_OK;
}

/* member (hypotheses) of a new row, by its `len` nearest fitted rows. */
static void vote(uint8_t *member, const uint8_t *in, int hypotheses, const int *near, int len)
{
    for (int k = 0; k < hypotheses; k++) {
        int votes = 0;
        for (int e = 0; e < len; e++) votes += in[(size_t)near[e] * hypotheses + k] != 0;
        member[k] = 2 * votes >= len;
    }
}

static spot_status assign_rows(spot_ctx *c, spot_arena *a, const spot_assignment *to)
{
    int d = to->points->d, k = to->cfg->density.neighbours;
    const spot_fit_tensor *at, *in;

    SPOT_TRY(spot_fit_take_points(c, to->fit, d, &to->cfg->embed, &at));
    SPOT_TRY(spot_fit_take(c, to->fit, "density.member", SPOT_U8, at->rows, to->hypotheses, &in));
    if (a->counting || !at->rows) return SPOT_OK;
    if (k > at->rows) k = at->rows;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int i = 0; i < to->rows->n; i++) {
        double far[SPOT_GRAPH_MOST];
        int near[SPOT_GRAPH_MOST];
        spot_graph_nearest(near, far, k, to->points->at + (size_t)i * d, at->data, at->rows, d, false);
        vote(to->member + (size_t)i * to->hypotheses, in->data, to->hypotheses, near, far[0] == 0 ? 1 : k);
    }
    return SPOT_OK;
}

static const spot_setting settings[] = {
#define S SPOT_BDM_ROW
    S("neighbours", INT, density.neighbours, "neighbours of a row in the graph", SPOT_IN(1, SPOT_GRAPH_MOST), SPOT_DEF(10)),
    S("share",   REAL,  density.share, "most rows of a slice, as a share of all", SPOT_IN(0.0001, 1), SPOT_DEF(0.05)),
    S("lambda",  REAL,  density.lambda, "weight of the density beside the loss", SPOT_IN(0, 1e6), SPOT_DEF(1)),
    S("steps",   INT,   density.steps, "most steps of the ascent for a slice", SPOT_IN(1, 100000), SPOT_DEF(200)),
#undef S
    SPOT_END
};

const spot_method spot_method_density = { .weighs = true, .overlap = true, .settings = settings, .solve = solve_group,
                                          .assign = assign_rows };
