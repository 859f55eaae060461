/* verdict_report.c - all that verdicts say of one run (verdict.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "background/verdict/verdict_rows.h"
#include "spotter/verdict.h"

/* A missing piece is told and is no failure: a run that moved may lack a file of its config, and its models may be too few. */
static spot_status tell(spot_ctx *c, char why[512], spot_status s, bool (*passes)(spot_status))
{
    if (s == SPOT_OK || !passes(s)) return s;
    snprintf(why, 512, "%s", spot_take_message(c, s));
    return SPOT_OK;
}

static bool is_input(spot_status s) { return s == SPOT_INPUT; }
static bool is_io(spot_status s) { return s == SPOT_IO; }

static bool is_known(const spot_verdict_table *t, int truth)
{
    for (int i = 0; i < t->models; i++)
        if (isfinite(t->model[i].reliance[truth])) return true;
    return false;
}

static spot_status find_labels(spot_ctx *c, spot_verdict_report *v, const spot_background_verdict *cfg)
{
    if (cfg->labels[0]) return spot_verdict_labels_read(c, &v->labels, &v->table, cfg->labels);
    if (is_known(&v->table, cfg->truth)) return spot_verdict_labels_cut(c, &v->labels, &v->table, cfg->truth, cfg);
    snprintf(v->why_labels, sizeof v->why_labels, "nobody has labelled the models: the setting verdict.labels names a file");
    return SPOT_OK;
}

/* The same by the other truth, to stand beside it, where that is known too. */
static spot_status try_other(spot_ctx *c, spot_verdict_report *v, const spot_background_verdict *by)
{
    const int other = by->truth == SPOT_TRUTH_PLANTED ? SPOT_TRUTH_LEARNED : SPOT_TRUTH_PLANTED;
    char why[512] = "";

    if (by->labels[0] || !is_known(&v->table, other)) return SPOT_OK;
    SPOT_TRY(spot_verdict_labels_cut(c, &v->other_labels, &v->table, other, by));
    return tell(c, why, spot_verdict_try(c, &v->other_scores, &v->table, &v->other_labels, by->splits, by->seed), is_input);
}

static spot_status find_forest(spot_ctx *c, spot_verdict_report *v, const spot_background_verdict *cfg)
{
    spot_status s = spot_verdict_forest_open(c, &v->forest, cfg->forest);

    if (!cfg->forest[0]) s = tell(c, v->why_verdict, s, is_input);
    if (s != SPOT_OK || !v->forest.trees) return s;
    v->verdict = malloc((size_t)v->table.models * sizeof *v->verdict + 1);
    if (!v->verdict) return spot_fail(c, SPOT_NOMEM, "no memory for the verdicts of %d models", v->table.models);
    SPOT_TRY(tell(c, v->why_verdict, spot_verdict_give(c, v->verdict, &v->forest, &v->table), is_input));
    if (v->why_verdict[0]) free(v->verdict), v->verdict = NULL;
    return SPOT_OK;
}

spot_status spot_verdict_report_learn(spot_ctx *c, spot_verdict_report *v, const spot_background_config *cfg)
{
    const spot_background_verdict *by = &cfg->verdict;

    SPOT_TRY(find_labels(c, v, by));
    snprintf(v->why_scores, sizeof v->why_scores, "%s", v->why_labels);
    if (!v->labels.models) return SPOT_OK;
    SPOT_TRY(tell(c, v->why_scores, spot_verdict_try(c, &v->scores, &v->table, &v->labels, by->splits, by->seed), is_input));
    return try_other(c, v, by);
}

spot_status spot_verdict_report_judge(spot_ctx *c, spot_verdict_report *v, const spot_background_config *cfg)
{
    return find_forest(c, v, &cfg->verdict);
}

static spot_status fill_report(spot_ctx *c, spot_verdict_report *v, const spot_background_results *r, const char *dir)
{
    SPOT_TRY(tell(c, v->why_verdict, spot_verdict_table_add(c, &v->table, r, dir), is_input));
    if (v->why_verdict[0]) {
        snprintf(v->why_labels, sizeof v->why_labels, "%s", v->why_verdict);
        snprintf(v->why_scores, sizeof v->why_scores, "%s", v->why_verdict);
        return SPOT_OK;
    }
    SPOT_TRY(tell(c, v->why_labels, spot_verdict_report_learn(c, v, r->cfg), is_io));
    if (!v->labels.models) snprintf(v->why_scores, sizeof v->why_scores, "%s", v->why_labels);
    return tell(c, v->why_verdict, spot_verdict_report_judge(c, v, r->cfg), is_io);
}

spot_status spot_verdict_report_make(spot_ctx *c, spot_verdict_report *v, const spot_background_results *r, const char *dir)
{
    spot_status s;

    *v = (spot_verdict_report){ 0 };
    s = fill_report(c, v, r, dir);
    if (s != SPOT_OK) spot_verdict_report_free(v);
    return s;
}

void spot_verdict_report_free(spot_verdict_report *v)
{
    spot_forest_close(&v->forest);
    spot_verdict_scores_free(&v->scores);
    spot_verdict_labels_free(&v->labels);
    spot_verdict_scores_free(&v->other_scores);
    spot_verdict_labels_free(&v->other_labels);
    spot_verdict_table_free(&v->table);
    free(v->verdict);
    *v = (spot_verdict_report){ 0 };
}
