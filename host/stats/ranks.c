/* ranks.c - Spearman's rank correlation (interval.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/bootstrap.h"

/* A side: its numbers, their order, and twice the rank of each, which is whole. */
typedef struct { const double *x; int *order; double *rank; } side;

/* Correlation of ranks from `n` in the middle, weighted by how often a pair was drawn. */
static double correlate(const double *a, const double *b, const int *drawn, int n, int all)
{
    double xx = 0, yy = 0, xy = 0;

    for (int i = 0; i < n; i++) {
        const double u = a[i] - (all - 1), v = b[i] - (all - 1);
        xx += drawn[i] * u * u, yy += drawn[i] * v * v, xy += drawn[i] * u * v;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* Ranks from 0 among the drawn pairs; equal numbers share the mean of theirs. */
static void rank_side(const side *s, const int *drawn, int n)
{
    for (int i = 0, below = 0, j; i < n; i = j) {
        int equal = 0;
        for (j = i; j < n && s->x[s->order[j]] == s->x[s->order[i]]; j++) equal += drawn[s->order[j]];
        for (int k = i; k < j; k++) s->rank[s->order[k]] = 2.0 * below + equal - 1;
        below += equal;
    }
}

typedef struct { double value; int at; } sortable;

static int by_value(const void *a, const void *b)
{
    const sortable *x = a, *y = b;

    return x->value != y->value ? (x->value > y->value) - (x->value < y->value) : (x->at > y->at) - (x->at < y->at);
}

static void sort_side(side *s, sortable *scratch, int n)
{
    for (int i = 0; i < n; i++) scratch[i] = (sortable){ s->x[i], i };
    qsort(scratch, (size_t)n, sizeof *scratch, by_value);
    for (int i = 0; i < n; i++) s->order[i] = scratch[i].at;
}

/* The pairs of a bootstrap: sorted once, for a draw says only how often each counts. */
typedef struct { side a, b; int *drawn, n; double *x, *y; sortable *scratch; void *owned; } pairs;

static spot_status take_pairs(spot_ctx *c, pairs *p, int n)
{
    const size_t m = (size_t)n + 1;
    double *at = malloc(m * (4 * sizeof *at + sizeof *p->scratch + 3 * sizeof(int)));

    *p = (pairs){ .x = at, .owned = at };
    if (!at) return spot_fail(c, SPOT_NOMEM, "no memory for the ranks of %d numbers", n);
    p->y = at + m;
    p->scratch = (sortable *)(void *)(at + 4 * m);
    int *whole = (int *)(void *)(p->scratch + m);
    p->a = (side){ p->x, whole, at + 2 * m };
    p->b = (side){ p->y, whole + m, at + 3 * m };
    p->drawn = whole + 2 * m;
    return SPOT_OK;
}

static double correlation_of(const pairs *p)
{
    rank_side(&p->a, p->drawn, p->n);
    rank_side(&p->b, p->drawn, p->n);
    return correlate(p->a.rank, p->b.rank, p->drawn, p->n, p->n);
}

/* Changes the pairs' scratch: for one thread. */
static void draw_pairs(double *out, const void *of, spot_rng *r)
{
    const pairs *p = of;

    memset(p->drawn, 0, (size_t)p->n * sizeof *p->drawn);
    for (int i = 0; i < p->n; i++) p->drawn[spot_rng_below(r, (uint32_t)p->n)]++;
    *out = correlation_of(p);
}

spot_status spot_rank_correlation(spot_ctx *c, spot_interval *rho, const double *x, const double *y, int n, uint64_t seed)
{
    double draw[SPOT_REDRAWS];
    pairs p;

    *rho = (spot_interval){ NAN, NAN, NAN };
    SPOT_TRY(take_pairs(c, &p, n));
    for (int i = 0; i < n; i++)
        if (isfinite(x[i]) && isfinite(y[i])) p.drawn[p.n] = 1, p.x[p.n] = x[i], p.y[p.n++] = y[i];
    sort_side(&p.a, p.scratch, p.n);
    sort_side(&p.b, p.scratch, p.n);
    rho->value = correlation_of(&p);
    if (isfinite(rho->value))
        spot_bootstrap_run(rho, &(spot_bootstrap){ seed, 0, 1, SPOT_REDRAWS / 2, draw_pairs, &p }, 1, draw);
    free(p.owned);
    return SPOT_OK;
}
