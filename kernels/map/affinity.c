/* affinity.c - nearest columns by selection, the perplexity search and the joint P, on the CPU (affinity.h): the steps from
 * squared distances to the graph that t-SNE, scvis and UMAP lay out. */
#include "map/affinity_step.h"

#include <limits.h>
#include <omp.h>

#include "core/philox.h"
#include "core/problems.h"

enum { LANES = 16, CHUNK = 16 };      /* CHUNK: rows of a task */

/* Sums over a row at one beta: of p, of p x and, for the search, of p x^2, where x = d - least. */
typedef struct { float sum, dot, square; } row_sums;

/* p_j = exp(-beta (d_j - least)) of a row, and their sums in 16 lanes. The least distance divides out of p, and keeps the sum
 * from 0 however far all neighbours are. */
static row_sums weigh_row(float *restrict p, const float *restrict d, int k, float beta, float least)
{
    float s[LANES] = { 0 }, t[LANES] = { 0 }, u[LANES] = { 0 };
    int whole = k / LANES * LANES;

#pragma omp simd
    for (int j = 0; j < k; j++) p[j] = spot_expf(-beta * (d[j] - least));
    for (int j = 0; j < whole; j += LANES)
        for (int l = 0; l < LANES; l++) {
            float x = d[j + l] - least;
            s[l] += p[j + l];
            t[l] = fmaf(x, p[j + l], t[l]);
            u[l] = fmaf(x, x * p[j + l], u[l]);
        }
    for (int l = 0; whole + l < k; l++) {
        float x = d[whole + l] - least;
        s[l] += p[whole + l];
        t[l] = fmaf(x, p[whole + l], t[l]);
        u[l] = fmaf(x, x * p[whole + l], u[l]);
    }
    return (row_sums){ spot_fold(s), spot_fold(t), spot_fold(u) };
}

/* The least of a row, SPOT_FAR at most. */
static float least_of(const float *d, int k)
{
    float lane[LANES], least = SPOT_FAR;
    int j = 0;

    for (int l = 0; l < LANES; l++) lane[l] = SPOT_FAR;
    for (; j + LANES <= k; j += LANES)
        for (int l = 0; l < LANES; l++) lane[l] = d[j + l] < lane[l] ? d[j + l] : lane[l];
    for (; j < k; j++) least = d[j] < least ? d[j] : least;
    for (int l = 0; l < LANES; l++) least = lane[l] < least ? lane[l] : least;
    return least;
}

/* The entropy of a row, log S + beta <d>, minus the wanted one. */
static double excess(const row_sums *r, double beta, const spot_affinity_rule *rule)
{
    return spot_philox_log(r->sum) + beta * r->dot / r->sum - rule->entropy;
}

/* The betas up to `low` have an entropy above the tolerance, those from `high` on one below it. */
typedef struct { double low, high; } spot_affinity_sides;

/* Finds by Newton's steps in log beta which betas the bisection need not try: entropy falls as beta rises, at the rate m =
 * beta^2 Var(x) a unit of log beta. Near the root the entropy is a line; half a tolerance and the sums' roundings stand for its
 * error. A row whose entropy is too flat, or that does not converge, leaves everything to be tried. *guess: where to begin, and
 * the root. */
static spot_affinity_sides find_sides(float *p, const float *d, int k, float least, const spot_affinity_rule *rule,
                                      double *guess)
{
    enum { STEPS = 8 };
    double slack = 1.5 * rule->tolerance + 4e-7 * (k / LANES + 8), beta = *guess;

    for (int step = 0; step < STEPS; step++) {
        row_sums r = weigh_row(p, d, k, (float)beta, least);
        double over = excess(&r, beta, rule), mean = r.dot / r.sum, m = beta * beta * (r.square / r.sum - mean * mean);
        if (fabs(over) <= 4 * rule->tolerance) {
            if (!(m > 2500 * rule->tolerance)) break;
            *guess = beta;
            return (spot_affinity_sides){ beta * (1 + (over - slack) / m), beta * (1 + (over + slack) / m) };
        }
        beta *= exp(fmax(-1, fmin(1, over / fmax(m, 1e-3))));
    }
    return (spot_affinity_sides){ 0, INFINITY };
}

void spot_affinity_row(float *p, const float *d, int k, const spot_affinity_rule *rule, double *guess)
{
    spot_affinity_beta b = { 1, 0, INFINITY };
    spot_affinity_sides sides;
    float least = least_of(d, k);
    row_sums r;

    sides = find_sides(p, d, k, least, rule, guess);
    for (int try = 1;; try++) {
        double over = b.beta <= sides.low ? 1 : -1;
        if (try >= rule->tries || (b.beta > sides.low && b.beta < sides.high)) {
            r = weigh_row(p, d, k, (float)b.beta, least);
            over = excess(&r, b.beta, rule);
            if (fabs(over) <= rule->tolerance || try >= rule->tries) break;
        }
        spot_affinity_bisect(&b, over);
    }
    for (int j = 0; j < k; j++) p[j] = d[j] < SPOT_FAR ? p[j] / r.sum : 0.0f;
}

static spot_status rows_cpu(spot_ctx *c, int problems, const spot_mat *p, const spot_mat *d, const spot_affinity_rule *rule)
{
    for (int t = 0; t < problems; t++) {
        int k = d[t].cols;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int i0 = 0; i0 < d[t].rows; i0 += CHUNK) {
            double guess = 1;
            for (int i = i0; i < i0 + CHUNK && i < d[t].rows; i++)
                spot_affinity_row(p[t].v + (size_t)i * k, d[t].v + (size_t)i * k, k, &rule[t], &guess);
        }
    }
    return SPOT_OK;
}

/* Hoare's selection, median of three. */
void spot_select_smallest(uint64_t *key, int n, int k)
{
    int lo = 0, hi = n - 1;

    while (lo < hi) {
        uint64_t a = key[lo], b = key[lo + (hi - lo) / 2], e = key[hi];
        uint64_t pivot = a < b ? (b < e ? b : a < e ? e : a) : (a < e ? a : b < e ? e : b);
        int i = lo, j = hi;

        while (i <= j) {
            while (key[i] < pivot) i++;
            while (key[j] > pivot) j--;
            if (i <= j) {
                uint64_t swap = key[i];
                key[i++] = key[j];
                key[j--] = swap;
            }
        }
        if (k - 1 <= j) hi = j;
        else if (k - 1 >= i) lo = i;
        else return;
    }
}

/* A distance's bits rise with it since it is not negative: above the column they make a key that breaks ties too. The row
 * itself (own) comes last. */
static uint64_t key_of(const float *d, int j, int own)
{
    return j == own ? UINT64_MAX : (uint64_t)(uint32_t)spot_float_bits(d[j]) << 32 | (uint32_t)j;
}

static void find_nearest(const float *d, int m, int own, int k, int *column, float *near, uint64_t *key)
{
    uint64_t last;
    int found = 0;

    for (int j = 0; j < m; j++) key[j] = key_of(d, j, own);
    spot_select_smallest(key, m, k);
    last = key[0];
    for (int j = 1; j < k; j++) last = key[j] > last ? key[j] : last;
    for (int j = 0; j < m; j++)            /* once more over all, since selection has lost the order of columns */
        if (key_of(d, j, own) <= last) {
            column[found] = j;
            near[found++] = d[j];
        }
}

static spot_status nearest_cpu(spot_ctx *c, int problems, const spot_affinity_search *s, uint64_t *scratch)
{
    int widest = SPOT_MOST(problems, s, d.cols);

    for (int p = 0; p < problems; p++) {
        int m = s[p].d.cols, k = s[p].near.cols;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 16)
        for (int i = 0; i < s[p].d.rows; i++)
            find_nearest(s[p].d.v + (size_t)i * m, m, s[p].own < 0 ? -1 : s[p].own + i, k, s[p].column + (size_t)i * k,
                         s[p].near.v + (size_t)i * k, scratch + (size_t)omp_get_thread_num() * widest);
    }
    return SPOT_OK;
}

/* Row i: its own neighbours and the `in` edges that name it, both in rising order, merged. Returns where it ends. */
static int merge_row(const spot_affinity_graph *g, int i, int at, const int *in, int count)
{
    const int *own = g->column + (size_t)i * g->k;
    const float *own_p = g->p + (size_t)i * g->k;
    double scale = 0.5 / g->n;

    for (int e = 0, f = 0; e < g->k || f < count; at++) {
        int column = f == count || (e < g->k && own[e] <= in[f] / g->k) ? own[e] : in[f] / g->k;
        double forward = 0, back = 0;
        if (e < g->k && own[e] == column) forward = own_p[e++];
        if (f < count && in[f] / g->k == column) back = g->p[in[f++]];
        g->to[at] = column;
        g->joint[at] = (float)(g->fuzzy ? forward + back - forward * back : (forward + back) * scale);
    }
    for (; at % SPOT_AFFINITY_PAD; at++) {
        g->to[at] = i;
        g->joint[at] = 0;
    }
    return at;
}

/* Edges sorted by the row that they name: begin[i] .. begin[i+1] of `edge`, each in rising order. Counted two places on, so
 * that begin[i + 1] is where row i's next edge goes, and at the end where row i's edges end. */
static void build_joint(const spot_affinity_graph *g)
{
    int edges = g->n * g->k, *begin = g->begin;

    memset(begin, 0, (g->n + 2) * sizeof *begin);
    for (int e = 0; e < edges; e++) begin[g->column[e] + 2]++;
    for (int i = 0; i < g->n; i++) begin[i + 2] += begin[i + 1];
    for (int e = 0; e < edges; e++) g->edge[begin[g->column[e] + 1]++] = e;
    g->start[0] = 0;
    for (int i = 0; i < g->n; i++)
        g->start[i + 1] = merge_row(g, i, g->start[i], g->edge + begin[i], begin[i + 1] - begin[i]);
}

static spot_status joint_cpu(spot_ctx *c, int problems, const spot_affinity_graph *g)
{
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int p = 0; p < problems; p++) build_joint(&g[p]);
    return SPOT_OK;
}

const spot_affinity_ops spot_affinity_cpu = { .nearest = nearest_cpu, .rows = rows_cpu, .joint = joint_cpu };

spot_status spot_affinity_nearest(spot_ctx *c, int problems, const spot_affinity_search *s, uint64_t *scratch)
{
    for (int p = 0; p < problems; p++) {
        spot_mat d = s[p].d, near = s[p].near;
        if (near.rows != d.rows || d.rows < 0 || near.cols < 1 || near.cols > d.cols - (s[p].own >= 0)
            || (s[p].own >= 0 && s[p].own > d.cols - d.rows))
            return spot_fail(c, SPOT_INVALID, "{affinity.sizes} affinity.nearest, problem %d: %d of (%d,%d) from %d on into %d "
                             "rows", p, near.cols, d.rows, d.cols, s[p].own, near.rows);
    }
    SPOT_DISPATCH(c, affinity, nearest, problems, s, scratch);
}

spot_status spot_affinity_rows(spot_ctx *c, int problems, const spot_mat *p, const spot_mat *d,
                               const spot_affinity_rule *rule)
{
    for (int t = 0; t < problems; t++)
        if (p[t].rows != d[t].rows || d[t].rows < 0 || p[t].cols != d[t].cols || d[t].cols < 1 || rule[t].tries < 1)
            return spot_fail(c, SPOT_INVALID, "affinity.rows, problem %d: (%d,%d) into (%d,%d), %d tries", t, d[t].rows,
                             d[t].cols, p[t].rows, p[t].cols, rule[t].tries);
    SPOT_DISPATCH(c, affinity, rows, problems, p, d, rule);
}

spot_status spot_affinity_joint(spot_ctx *c, int problems, const spot_affinity_graph *g)
{
    for (int p = 0; p < problems; p++)
        if (g[p].n < 2 || g[p].k < 1 || g[p].k >= g[p].n || spot_affinity_room(g[p].n, g[p].k) > INT_MAX)
            return spot_fail(c, SPOT_INVALID, "affinity.joint, problem %d: %d neighbours of %d points", p, g[p].k, g[p].n);
    SPOT_DISPATCH(c, affinity, joint, problems, g);
}
