/* background_summary.c - see background_summary.h. */
#include "background/background_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/output_order.h"
#include "stats/bootstrap.h"
#include "stats/paired.h"
#include "stats/statistics.h"

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

/* ---- the answer ---- */

static int dependence_of(const spot_background_summary *m, int classes)
{
    const bool guesses = classes > 1 && !(m->accuracy[SPOT_SET_ORIGINAL].low > 1.0 / classes);

    if (guesses || isnan(m->gap.low)) return SPOT_DEPENDENCE_UNKNOWN;
    return m->gap.low > 0 ? SPOT_DEPENDENCE_SHOWN : SPOT_DEPENDENCE_NOT_SHOWN;
}

const char *spot_background_dependence_words(char *words, size_t size, const spot_background_summary *m)
{
    if (m->dependence == SPOT_DEPENDENCE_SHOWN)
        snprintf(words, size, "depends on the background: %.0f points [%.0f, %.0f]", 100 * m->gap.value, 100 * m->gap.low,
                 100 * m->gap.high);
    else if (m->dependence == SPOT_DEPENDENCE_NOT_SHOWN)
        snprintf(words, size, "not shown to depend on the background beyond %.0f points", fmax(0, ceil(100 * m->gap.high)));
    else
        snprintf(words, size, "unknown: %s", isnan(m->gap.low) ? "there is no BG-gap"
                                                               : "it is not shown to be better than a guess");
    return words;
}

/* Accuracy on one derived set less that on another, over the targets that have both. NaN, without an interval, for none. */
static spot_interval paired_difference(const spot_background_responses *r, const spot_background_suite *s, int one, int other)
{
    int n = 0, up = 0, down = 0;

    for (int t = 0; t < s->targets; t++) {
        const int *a = r->derived + (size_t)t * SPOT_BACKGROUND_SETS;
        if (a[one] == -2 || a[other] == -2) continue;
        n++;
        up += a[one] == s->cls[t] && a[other] != s->cls[t];
        down += a[one] != s->cls[t] && a[other] == s->cls[t];
    }
    return n ? spot_paired_change(up, down, n, spot_normal_quantile(0.975)) : (spot_interval){ NAN, NAN, NAN };
}

/* ---- all ---- */

spot_status spot_background_summarise(spot_ctx *c, spot_background_summary *out, const spot_background_responses *r,
                                      const spot_background_suite *s, const spot_background_result *u)
{
    double *draw = malloc((SPOT_REDRAWS + (size_t)s->targets) * sizeof *draw), *value;
    const int right = sum_of(u->right[SPOT_SET_ORIGINAL], u->classes), turned = sum_of(u->turned, u->classes);
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
    if (how == SPOT_OK) how = spot_background_control_of(c, &out->control, r, s);
    if (how == SPOT_OK) how = spot_background_sensitivity(c, &out->rfs, r, s);
    out->gap = paired_difference(r, s, SPOT_SET_MIXED_SAME, SPOT_SET_MIXED_RAND);
    out->blending = paired_difference(r, s, SPOT_SET_ORIGINAL, SPOT_SET_MIXED_SAME);
    out->dependence = dependence_of(out, s->classes);
    out->turned = spot_share_of(turned, right);
    out->steady = spot_share_of(sum_of(u->steady, u->classes), s->targets);
    free(draw);
    return how;
}
