/* layer_pairs.c - compares every number with the baseline's: on the same ECs in pairs, else as independent ECs. */
#include "check/layers.h"

#include <math.h>
#include <stdlib.h>

#include "stats/statistics.h"

/* Fills g->x (*n values) and, for independent ECs, g->y (*others); the two means and the number of ECs left out go into l. */
static void fill_values(spot_checking *g, spot_check_line *l, int m, int k, int metric, int *n, int *others)
{
    const spot_baseline *a = &g->before, *b = &g->now;
    double u, v, was = 0, is = 0;

    *n = *others = 0;
    for (int i = 0; g->paired && i < a->ecs; i++) {
        int j = g->at[i];
        bool whole = spot_check_is_pair(g, i) && spot_baseline_value(&u, a, m, metric, i)
                     && spot_baseline_value(&v, b, k, metric, j);
        bool neither = whole && metric != SPOT_CHECK_LEARNED && a->ec[i].learned < 0 && b->ec[j].learned < 0;
        if (whole && !neither) {
            g->x[(*n)++] = v - u;
            was += u;
            is += v;
        } else if (j < 0 || a->ec[i].learned || b->ec[j].learned) {
            l->left_out++;
        }
    }
    for (int j = 0; !g->paired && j < b->ecs; j++)
        if (spot_baseline_value(&v, b, k, metric, j)) is += g->x[(*n)++] = v;
    for (int i = 0; !g->paired && i < a->ecs; i++)
        if (spot_baseline_value(&u, a, m, metric, i)) was += g->y[(*others)++] = u;
    l->n = *n;
    l->before = was / (g->paired ? *n : *others);
    l->now = is / *n;
}

/* Names failures that the baseline does not have. They count as DR 0. */
static void name_failures(spot_checking *g, spot_check_line *l, int m, int k)
{
    spot_names failed = { 0 };

    for (int j = 0; !g->paired && j < g->now.ecs; j++)
        if (g->now.ec[j].learned && g->now.method[k].found[j].covered < 0) spot_names_add(&failed, g->now.ec[j].index);
    for (int i = 0; g->paired && i < g->before.ecs; i++) {
        int j = g->at[i];
        if (!spot_check_is_pair(g, i) || !g->before.ec[i].learned || !g->now.ec[j].learned) continue;
        if (g->before.method[m].found[i].covered >= 0 && g->now.method[k].found[j].covered < 0)
            spot_names_add(&failed, g->before.ec[i].index);
    }
    if (failed.n)
        spot_because(l, "failed in %d EC%s%s (%s), counted as DR 0", failed.n, failed.n == 1 ? "" : "s",
                     g->paired ? " where the baseline did not" : "", failed.text);
}

static void name_untrained(spot_checking *g, spot_check_line *l)
{
    spot_names failed = { 0 };

    for (int j = 0; j < g->now.ecs; j++)
        if (g->now.ec[j].learned < 0) spot_names_add(&failed, g->now.ec[j].index);
    if (failed.n) spot_because(l, "training failed in %d EC%s (%s)", failed.n, failed.n == 1 ? "" : "s", failed.text);
}

static void judge_number(spot_check_number *w, double p_worse, double p_better)
{
    spot_check_line *l = w->l;
    double gain = spot_check_direction(w->metric) * w->d.mean, margin = l->margin, reach;

    l->verdict = SPOT_INCONCLUSIVE;
    l->p = gain < 0 ? p_worse : p_better;
    if (w->d.equal) l->verdict = SPOT_SAME;
    else if (w->least < w->fewest)
        spot_because(l, "not enough %s: %d, and %d at least can show something", w->units, w->least, w->fewest);
    else if (gain < -margin && p_worse <= SPOT_CHECK_FAMILY) l->verdict = SPOT_WORSE;
    else if (gain > margin && p_better <= SPOT_CHECK_FAMILY) l->verdict = SPOT_BETTER;
    else if (w->d.inner_low >= -margin && w->d.inner_high <= margin) l->verdict = SPOT_SAME;
    else if (fabs(gain) < 0.8 * margin) {
        reach = fmax(w->d.inner_high - w->d.mean, w->d.mean - w->d.inner_low) / (margin - fabs(gain));
        spot_because(l, "about %.0f %s would tell", ceil(1.1 * w->least * reach * reach), w->units);
    }
}

static spot_status measure_number(spot_checking *g, spot_check_number *w, int *waiting, int m, int k, int metric)
{
    const char *method = metric == SPOT_CHECK_LEARNED ? "" : g->before.method[m].name;
    spot_check_line *l = spot_check_add(g, "pairs", method, spot_check_metric(metric), SPOT_INCONCLUSIVE);
    int n, others;

    w += *waiting;
    fill_values(g, l, m, k, metric, &n, &others);
    l->margin = g->before.margin[metric];
    if (metric == SPOT_CHECK_LEARNED) name_untrained(g, l);
    if (metric == SPOT_CHECK_DR) name_failures(g, l, m, k);
    if (!n || (!g->paired && !others)) {
        spot_because(l, "no EC has one on both sides");
        spot_check_quarantine(g, l, metric);
        return SPOT_OK;
    }
    *w = (spot_check_number){ .l = l, .least = g->paired || n < others ? n : others, .fewest = SPOT_CHECK_FEWEST,
                              .metric = metric, .units = "ECs" };
    SPOT_TRY(spot_difference_of(g->c, &w->d, g->x, n, g->paired ? NULL : g->y, others, (uint32_t)(3 * m + metric)));
    l->low = w->d.low;
    l->high = w->d.high;
    ++*waiting;
    return SPOT_OK;
}

spot_status spot_check_judge(spot_checking *g, spot_check_number *w, int n)
{
    spot_ranked_p *scratch = malloc(((size_t)n + 1) * (sizeof *scratch + 2 * sizeof(double)));
    double *worse = scratch ? (double *)(scratch + n) : NULL, *better = worse ? worse + n : NULL;

    if (!scratch) return spot_fail(g->c, SPOT_NOMEM, "no memory to judge %d numbers", n);
    for (int i = 0; i < n; i++) {                      /* d.p is for the direction of the difference */
        const int direction = spot_check_direction(w[i].metric);
        const bool good = (w[i].d.mean > 0) == (direction > 0);
        worse[i] = good || !direction ? 1 : w[i].d.p;
        better[i] = good && direction ? w[i].d.p : 1;
    }
    spot_holm(worse, n, scratch);
    spot_holm(better, n, scratch);
    for (int i = 0; i < n; i++) {
        judge_number(&w[i], worse[i], better[i]);
        spot_check_quarantine(g, w[i].l, w[i].metric);
    }
    free(scratch);
    return SPOT_OK;
}

spot_status spot_check_pairs(spot_checking *g)
{
    const spot_baseline *a = &g->before, *b = &g->now;
    spot_check_number *w = calloc(SPOT_CHECK_NUMBERS + 1, sizeof *w);
    spot_status s = w ? SPOT_OK : spot_fail(g->c, SPOT_NOMEM, "no memory to compare %d ECs", a->ecs);
    int n = 0;

    if (s == SPOT_OK) s = measure_number(g, w, &n, 0, 0, SPOT_CHECK_LEARNED);
    for (int m = 0; m < a->methods && s == SPOT_OK; m++) {
        int k = spot_baseline_find(b, a->method[m].name, a->method[m].settings);
        if (k < 0) continue;
        s = measure_number(g, w, &n, m, k, SPOT_CHECK_DR);
        if (s == SPOT_OK) s = measure_number(g, w, &n, m, k, SPOT_CHECK_FDR);
    }
    if (s == SPOT_OK) s = spot_check_judge(g, w, n);
    free(w);
    return s;
}
