/* layer_paper.c - compares means with the paper's averages over the ECs of the same experiment (Table 2, 4 or 15). The ECs are
 * independent, and the paper prints only means and standard errors. */
#include "check/layers.h"

#include <math.h>

#include "report/table/paper.h"
#include "stats/statistics.h"

/* Fills the line but for the verdict, which needs the p of all lines. */
static void measure_line(spot_checking *g, spot_check_line *l, const spot_paper_row *row, int k, int metric)
{
    spot_average ours = spot_baseline_average(&g->now, k, metric);
    double se = sqrt(ours.se * ours.se + row->se[metric] * row->se[metric]);

    l->n = ours.n;
    l->left_out = ours.left_out;
    l->paired = false;
    l->before = row->value[metric];
    l->now = ours.mean;
    l->margin = g->before.paper_margin;
    l->low = l->now - l->before - 1.959964 * se;
    l->high = l->now - l->before + 1.959964 * se;
    l->p = spot_normal_tail(fabs(l->now - l->before) / se);
}

static void judge_line(spot_checking *g, spot_check_line *l, double p)
{
    double d = l->now - l->before, inner = (l->high - l->low) / 2 / 1.959964 * 1.644854;
    int metric = l->metric[0] == 'f' ? SPOT_CHECK_FDR : SPOT_CHECK_DR;
    double gain = spot_check_direction(metric) * d;

    l->p = p;
    if (l->n < SPOT_CHECK_FEWEST)
        spot_because(l, "not enough ECs: %d, and %d at least can show something", l->n, SPOT_CHECK_FEWEST);
    else if (gain > l->margin && p <= SPOT_CHECK_FAMILY) l->verdict = SPOT_TOO_GOOD;
    else if (gain < -l->margin && p <= SPOT_CHECK_FAMILY) l->verdict = SPOT_WORSE;
    else if (fabs(d) + inner <= l->margin) l->verdict = SPOT_SAME;
    spot_check_quarantine(g, l, metric);
}

static void compare_method(spot_checking *g, int k, const spot_paper_row *row)
{
    char words[160];
    const char *name = g->now.method[k].name;

    if (*spot_paper_method_differs(words, sizeof words, &g->r->cfg.bdm[k], row)) {
        spot_because(spot_check_add(g, "paper", name, "", SPOT_NOT_COMPARABLE),
                     "the paper's %s had other settings, in brackets: %s", row->name, words);
        return;
    }
    for (int q = SPOT_CHECK_DR; q <= SPOT_CHECK_FDR; q++)
        if (!isnan(row->value[q]))
            measure_line(g, spot_check_add(g, "paper", name, spot_check_metric(q), SPOT_INCONCLUSIVE), row, k, q);
}

spot_status spot_check_paper(spot_checking *g)
{
    const spot_paper_table *t = spot_paper_overall(&g->r->cfg);
    spot_check_line *first = &g->k->line[g->k->lines], *l;
    spot_ranked_p scratch[SPOT_CHECK_NUMBERS];
    double p[SPOT_CHECK_NUMBERS];
    char words[160];
    int n = 0;

    if (!t) {
        spot_because(spot_check_add(g, "paper", "", "", SPOT_NOT_COMPARABLE),
                     "the paper has no averages over this pool of pictures");
        return SPOT_OK;
    }
    spot_paper_run_differs(words, sizeof words, &g->r->cfg);
    if (*words) {
        spot_because(spot_check_add(g, "paper", "", "", SPOT_NOT_COMPARABLE),
                     "the paper's ECs, models or metric are others, in brackets: %s", words);
        return SPOT_OK;
    }
    for (int k = 0; k < g->now.methods; k++) {
        int i = 0;
        while (i < t->rows && (isnan(t->row[i].value[0]) || !spot_method_has(&g->r->cfg, k, t->row[i].needs))) i++;
        if (i < t->rows) compare_method(g, k, &t->row[i]);
    }
    for (l = first; l < &g->k->line[g->k->lines]; l++)
        if (l->verdict == SPOT_INCONCLUSIVE) p[n++] = l->p;
    spot_holm(p, n, scratch);
    n = 0;
    for (l = first; l < &g->k->line[g->k->lines]; l++)
        if (l->verdict == SPOT_INCONCLUSIVE) judge_line(g, l, p[n++]);
    return SPOT_OK;
}
