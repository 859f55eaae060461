/* by_tsne.c - what t-SNE needs before its descent: neighbours, the sparse symmetric P, a start. As scikit-learn's
 * Barnes-Hut does it, so that the two minimise the same function. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "distance.h"
#include "reduce.h"
#include "spotter/rng.h"
#include "tsne.h"

enum { ROW_TILE = 256, PAD = 16 };

/* Neighbours per point: 3 perplexity + 1, itself not counted. A perplexity that n - 1 neighbours cannot have is lowered. */
static int neighbours(spot_ctx *c, int n, uint32_t ec, double *perplexity)
{
    if (*perplexity > n - 1) {
        spot_log(c, SPOT_LOG_WARN, "EC %u: %d points have no perplexity of %g, t-SNE uses %.1f", ec, n, *perplexity,
                 fmax((n - 1) / 3.0, 1));
        *perplexity = fmax((n - 1) / 3.0, 1);
    }
    return (int)fmin(n - 1, floor(3 * *perplexity + 1));
}

/* to (n, k) in rising order and p (n, k): the k nearest of each row and their conditional probabilities. */
static spot_status conditional(spot_ctx *c, spot_arena *a, int *to, float *p, spot_view v, int k, double perplexity)
{
    const spot_affinity_rule rule = { log(perplexity), 1e-5, 100 };
    size_t mark = a->used;
    float *d, *near;
    uint64_t *keys;

    SPOT_TRY(SPOT_TAKE(c, a, d, (size_t)ROW_TILE * v.n));
    SPOT_TRY(SPOT_TAKE(c, a, keys, (size_t)ROW_TILE * v.n));
    SPOT_TRY(SPOT_TAKE(c, a, near, (size_t)ROW_TILE * k));
    a->used = mark;
    if (a->counting) return SPOT_OK;
    for (int i0 = 0; i0 < v.n; i0 += ROW_TILE) {
        int rows = v.n - i0 < ROW_TILE ? v.n - i0 : ROW_TILE;
        spot_mat all = { v.feature, v.n, v.d }, tile = { v.feature + (size_t)i0 * v.d, rows, v.d };
        spot_mat dist = { d, rows, v.n }, kept = { near, rows, k }, prob = { p + (size_t)i0 * k, rows, k };

        SPOT_TRY(spot_distance_squared(c, 1, &dist, &tile, &all));
        for (int i = 0; i < rows; i++) d[(size_t)i * v.n + i0 + i] = SPOT_FAR;
        SPOT_TRY(spot_affinity_nearest(c, dist, to + (size_t)i0 * k, kept, keys));
        SPOT_TRY(spot_affinity_rows(c, prob, kept, &rule));
    }
    return SPOT_OK;
}

/* One row of (P + P') / 2n: own neighbours and those that name this row, both in rising order, merged. */
static int merge_row(int *to, float *p, const int *own, const float *own_p, int k, const int *in, const float *in_p, int m,
                     double scale)
{
    int count = 0, i = 0, j = 0;

    while (i < k || j < m) {
        int column = j == m || (i < k && own[i] <= in[j]) ? own[i] : in[j];
        double sum = 0;
        if (i < k && own[i] == column) sum += own_p[i++];
        if (j < m && in[j] == column) sum += in_p[j++];
        to[count] = column;
        p[count++] = (float)(sum * scale);
    }
    return count;
}

/* P as compressed rows, each padded to a multiple of 16 with the row itself at 0. */
static spot_status joint(spot_ctx *c, spot_arena *a, spot_tsne_problem *t, spot_view v, int k, double perplexity)
{
    size_t edges = (size_t)v.n * k, most = 2 * edges + (size_t)PAD * v.n, mark;
    int *start, *to, *column, *begin, *source;
    float *p, *own, *incoming;

    SPOT_TRY(SPOT_TAKE(c, a, start, v.n + 1));
    SPOT_TRY(SPOT_TAKE(c, a, to, most));
    SPOT_TRY(SPOT_TAKE(c, a, p, most));
    mark = a->used;
    SPOT_TRY(SPOT_TAKE(c, a, column, edges));
    SPOT_TRY(SPOT_TAKE(c, a, own, edges));
    SPOT_TRY(SPOT_TAKE(c, a, begin, v.n + 2));
    SPOT_TRY(SPOT_TAKE(c, a, source, edges));
    SPOT_TRY(SPOT_TAKE(c, a, incoming, edges));
    SPOT_TRY(conditional(c, a, column, own, v, k, perplexity));
    a->used = mark;
    if (a->counting) return SPOT_OK;

    memset(begin, 0, (v.n + 2) * sizeof *begin);
    for (size_t e = 0; e < edges; e++) begin[column[e] + 2]++;
    for (int i = 0; i < v.n; i++) begin[i + 2] += begin[i + 1];
    for (int i = 0; i < v.n; i++)
        for (int e = 0; e < k; e++) {
            int at = begin[column[(size_t)i * k + e] + 1]++;
            source[at] = i;
            incoming[at] = own[(size_t)i * k + e];
        }
    start[0] = 0;
    for (int i = 0; i < v.n; i++) {
        int at = start[i], end;
        end = at + merge_row(to + at, p + at, column + (size_t)i * k, own + (size_t)i * k, k, source + begin[i],
                             incoming + begin[i], begin[i + 1] - begin[i], 0.5 / v.n);
        for (; end % PAD; end++) {
            to[end] = i;
            p[end] = 0;
        }
        start[i + 1] = end;
    }
    t->start = start;
    t->to = to;
    t->p = p;
    return SPOT_OK;
}

/* Principal components, the first with standard deviation 1e-4. Components that the data lack start as noise of that
 * size, so that equal rows and maps of more dimensions than the data can move at all. */
static spot_status begin_at_pca(spot_ctx *c, spot_arena *a, spot_tsne_problem *t, spot_view v, spot_seed seed)
{
    size_t mark = a->used;
    spot_rng r = spot_rng_at(seed.seed, SPOT_RNG_TSNE, seed.ec, 0);
    double left_out, first = 0;
    float *score;

    SPOT_TRY(SPOT_TAKE(c, a, score, (size_t)v.n * t->dim));
    SPOT_TRY(spot_pca_scores(c, a, score, &left_out, v.feature, v.n, v.d, t->dim));
    a->used = mark;
    if (a->counting) return SPOT_OK;
    for (int k = 0; k < t->dim; k++) {
        double squares = 0;
        for (int i = 0; i < v.n; i++) squares += (double)score[i * t->dim + k] * score[i * t->dim + k];
        if (k == 0) first = squares;
        for (int i = 0; i < v.n; i++)
            t->y[(size_t)k * t->stride + i] = (float)(squares > 1e-12 * first ? score[i * t->dim + k] * 1e-4 / sqrt(first / v.n)
                                                                              : 1e-4 * spot_rng_normal(&r));
    }
    return SPOT_OK;
}

static spot_status solve(spot_ctx *c, spot_arena *a, spot_tsne_problem *t, int problems, spot_points *out,
                         const spot_view *views, const spot_seed *seeds, const spot_tsne_config *cfg)
{
    for (int p = 0; p < problems; p++) {
        double perplexity = cfg->perplexity;
        int k = neighbours(c, views[p].n, seeds[p].ec, &perplexity), stride = spot_tsne_stride(views[p].n);

        t[p] = (spot_tsne_problem){ .n = views[p].n, .dim = out[p].d, .stride = stride, .ec = seeds[p].ec };
        SPOT_TRY(SPOT_TAKE(c, a, t[p].y, (size_t)t[p].dim * stride));
        SPOT_TRY(begin_at_pca(c, a, &t[p], views[p], seeds[p]));
        SPOT_TRY(joint(c, a, &t[p], views[p], k, perplexity));
    }
    SPOT_TRY(spot_tsne_fit(c, a, problems, t, cfg));
    for (int p = 0; p < problems && !a->counting; p++) {
        out[p].objective = t[p].kl;
        for (int i = 0; i < t[p].n; i++)
            for (int k = 0; k < t[p].dim; k++) out[p].at[i * t[p].dim + k] = t[p].y[(size_t)k * t[p].stride + i];
    }
    return SPOT_OK;
}

spot_status spot_tsne_map(spot_ctx *c, spot_arena *a, int problems, spot_points *out, const spot_view *views,
                          const spot_seed *seeds, const spot_tsne_config *cfg)
{
    size_t mark = a->used;
    spot_tsne_problem *t = calloc((size_t)problems, sizeof *t);
    spot_status s = t ? solve(c, a, t, problems, out, views, seeds, cfg)
                      : spot_fail(c, SPOT_NOMEM, "no memory for %d t-SNE problems", problems);

    free(t);
    a->used = mark;
    return s;
}
