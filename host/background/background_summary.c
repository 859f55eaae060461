/* background_summary.c - see background_summary.h. */
#include "background/background_summary.h"

#include <math.h>
#include <stdlib.h>

#include "models/output_order.h"
#include "stats/bootstrap.h"

static int sum_of(const int *v, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) sum += v[i];
    return sum;
}

/* Whether the answers to the originals fit another order of the outputs. */
static spot_status find_order(spot_ctx *c, double *reordered, const spot_background_responses *r,
                              const spot_background_suite *s)
{
    int *answer = malloc(((size_t)s->targets + 1) * sizeof *answer);

    if (!answer) return spot_fail(c, SPOT_NOMEM, "no memory for the answers of a model");
    for (int t = 0; t < s->targets; t++) answer[t] = r->answer[(size_t)t * (size_t)(s->n + 1)];
    const spot_status how = spot_output_order(c, reordered, s->cls, answer, s->targets, s->classes);
    free(answer);
    return how;
}

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
    how = find_order(c, &out->reordered, r, s);
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
