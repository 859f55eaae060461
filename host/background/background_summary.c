/* background_summary.c - see background_summary.h. */
#include "background/background_summary.h"

#include <math.h>
#include <stdlib.h>

#include "spotter/interval.h"
#include "spotter/rng.h"

enum { DRAWS = 2000 };

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The mean of value (n) over targets and its bootstrap interval. */
static spot_status bootstrap_mean(spot_ctx *c, spot_interval *out, const double *value, int n, uint32_t address)
{
    double sum = 0, *draw = malloc(DRAWS * sizeof *draw);

    *out = (spot_interval){ NAN, NAN, NAN };
    if (!draw) return spot_fail(c, SPOT_NOMEM, "no memory for a bootstrap");
    for (int i = 0; i < n; i++) sum += value[i];
    if (n) {
#pragma omp parallel for num_threads(c->threads)
        for (int d = 0; d < DRAWS; d++) {
            spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, address, (uint32_t)d);
            double all = 0;
            for (int i = 0; i < n; i++) all += value[spot_rng_below(&r, (uint32_t)n)];
            draw[d] = all / n;
        }
        qsort(draw, DRAWS, sizeof *draw, ascending);
        *out = (spot_interval){ sum / n, spot_quantile(draw, DRAWS, 0.025), spot_quantile(draw, DRAWS, 0.975) };
    }
    free(draw);
    return SPOT_OK;
}

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
    double *value = malloc(((size_t)s->targets + 1) * sizeof *value);
    const int right = sum_of(u->right[SPOT_SET_ORIGINAL], u->classes), turned = sum_of(u->turned, u->classes);
    int n = 0;
    spot_status how;

    if (!value) return spot_fail(c, SPOT_NOMEM, "no memory for a bootstrap");
    for (int k = 0; k < SPOT_SET_SUITE; k++)
        out->accuracy[k] = spot_share_of(sum_of(u->right[k], u->classes), sum_of(u->count[k], u->classes));
    for (int t = 0; t < s->targets; t++) {
        int right_blends = 0;
        for (int j = 1; j <= s->n; j++) right_blends += r->answer[(size_t)t * (size_t)(s->n + 1) + (size_t)j] == s->cls[t];
        value[t] = (double)right_blends / s->n;
    }
    how = bootstrap_mean(c, &out->accuracy[SPOT_SET_SUITE], value, s->targets, 1);
    for (int t = 0; t < s->targets; t++) value[t] = (r->answer[(size_t)t * (size_t)(s->n + 1)] == s->cls[t]) - value[t];
    if (how == SPOT_OK) how = bootstrap_mean(c, &out->lost, value, s->targets, 3);
    if (how == SPOT_OK) how = find_order(c, &out->reordered, r, s, right);
    for (int t = 0; t < s->targets; t++) {
        const int *a = r->derived + (size_t)t * SPOT_BACKGROUND_SETS;
        if (a[SPOT_SET_MIXED_SAME] != -2 && a[SPOT_SET_MIXED_RAND] != -2)
            value[n++] = (a[SPOT_SET_MIXED_SAME] == s->cls[t]) - (a[SPOT_SET_MIXED_RAND] == s->cls[t]);
    }
    if (how == SPOT_OK) how = bootstrap_mean(c, &out->gap, value, n, 2);
    out->turned = spot_share_of(turned, right);
    out->steady = spot_share_of(sum_of(u->steady, u->classes), s->targets);
    free(value);
    return how;
}
