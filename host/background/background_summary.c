/* background_summary.c - see background_summary.h. */
#include "background/background_summary.h"

#include <math.h>
#include <stdlib.h>

#include "stats/bootstrap.h"

static int sum_of(const int *v, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) sum += v[i];
    return sum;
}

/* ---- another order of the outputs ---- */

enum { ENOUGH = 5 };               /* targets of a class, on average */

typedef struct { int count, cls, answer; } pairing;

/* Most first, then by class and answer. */
static int compare_pairings(const void *a, const void *b)
{
    const pairing *x = a, *y = b;

    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return x->cls != y->cls ? (x->cls > y->cls) - (x->cls < y->cls) : (x->answer > y->answer) - (x->answer < y->answer);
}

/* The answers to the originals, counted. Returns how many different pairs of class and answer there are. */
static int count_pairings(pairing *p, const spot_background_responses *r, const spot_background_suite *s)
{
    int n = 0, pairs = 0;

    for (int t = 0; t < s->targets; t++) {
        const int answer = r->answer[(size_t)t * (size_t)(s->n + 1)];
        if (answer >= 0) p[n++] = (pairing){ 1, s->cls[t], answer };
    }
    qsort(p, (size_t)n, sizeof *p, compare_pairings);
    for (int i = 0; i < n; i++)
        if (pairs && p[pairs - 1].cls == p[i].cls && p[pairs - 1].answer == p[i].answer) p[pairs - 1].count++;
        else p[pairs++] = p[i];
    qsort(p, (size_t)pairs, sizeof *p, compare_pairings);
    return pairs;
}

static spot_status find_order(spot_ctx *c, double *reordered, const spot_background_responses *r,
                              const spot_background_suite *s, int right)
{
    pairing *p = malloc(((size_t)s->targets + 1) * sizeof *p);
    char *used = calloc(2 * (size_t)s->classes + 1, 1), *taken;
    int most = 0;

    *reordered = NAN;
    if (!p || !used) return free(p), free(used), spot_fail(c, SPOT_NOMEM, "no memory for the answers of a model");
    taken = used + s->classes;
    for (int i = 0, pairs = count_pairings(p, r, s); i < pairs; i++) {
        if (used[p[i].cls] || taken[p[i].answer]) continue;
        used[p[i].cls] = taken[p[i].answer] = 1;
        most += p[i].count;
    }
    if (s->targets >= ENOUGH * s->classes && most >= 2 * right && 2 * most >= s->targets)
        *reordered = (double)most / s->targets;
    free(p), free(used);
    return SPOT_OK;
}

/* ---- all ---- */

spot_status spot_background_summarise(spot_ctx *c, spot_background_summary *out, const spot_background_responses *r,
                                      const spot_background_suite *s, const spot_background_result *u)
{
    double *draw = malloc((SPOT_REDRAWS + (size_t)s->targets) * sizeof *draw), *value;
    const int right = sum_of(u->right[SPOT_SET_ORIGINAL], u->classes), turned = sum_of(u->turned, u->classes);
    int n = 0;
    spot_status how;

    if (!draw) return spot_fail(c, SPOT_NOMEM, "no memory for a bootstrap");
    value = draw + SPOT_REDRAWS;
    for (int k = 0; k < SPOT_SET_SUITE; k++)
        out->accuracy[k] = spot_share_of(sum_of(u->right[k], u->classes), sum_of(u->count[k], u->classes));
    for (int t = 0; t < s->targets; t++) {
        int right_blends = 0;
        for (int j = 1; j <= s->n; j++) right_blends += r->answer[(size_t)t * (size_t)(s->n + 1) + (size_t)j] == s->cls[t];
        value[t] = (double)right_blends / s->n;
    }
    out->accuracy[SPOT_SET_SUITE] = spot_bootstrap_mean(value, s->targets, 1, c->threads, draw);
    for (int t = 0; t < s->targets; t++) value[t] = (r->answer[(size_t)t * (size_t)(s->n + 1)] == s->cls[t]) - value[t];
    out->lost = spot_bootstrap_mean(value, s->targets, 3, c->threads, draw);
    how = find_order(c, &out->reordered, r, s, right);
    for (int t = 0; t < s->targets; t++) {
        const int *a = r->derived + (size_t)t * SPOT_BACKGROUND_SETS;
        if (a[SPOT_SET_MIXED_SAME] != -2 && a[SPOT_SET_MIXED_RAND] != -2)
            value[n++] = (a[SPOT_SET_MIXED_SAME] == s->cls[t]) - (a[SPOT_SET_MIXED_RAND] == s->cls[t]);
    }
    out->gap = spot_bootstrap_mean(value, n, 2, c->threads, draw);
    out->turned = spot_share_of(turned, right);
    out->steady = spot_share_of(sum_of(u->steady, u->classes), s->targets);
    free(draw);
    return how;
}
