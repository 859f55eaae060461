/* html_background_verdict.c - verdicts on the models of a background run: labels, how well an assessor learns them, reasons. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page/html_background.h"

/* The model's row; -1: it has none. */
static int row_of(const spot_verdict_table *t, const char *name)
{
    for (int i = 0; i < t->models; i++)
        if (!strcmp(t->model[i].name, name)) return i;
    return -1;
}

static void tell_labels(spot_background_page *w)
{
    const spot_verdict_labels *l = &w->verdict.labels;
    spot_page *p = w->p;

    if (w->verdict.why_labels[0]) {
        if (strcmp(w->verdict.why_labels, w->verdict.why_verdict))
            spot_page_print(p, NULL, "Labels: %s.", w->verdict.why_labels);
        return;
    }
    spot_page_print(p, NULL, "Labels (%s): %d invariant, %d borderline, %d variant; %d votes were tied and count as "
                    "borderline.",
                    l->source, l->count[SPOT_INVARIANT], l->count[SPOT_BORDERLINE], l->count[SPOT_VARIANT], l->ties);
    if (isfinite(l->kappa)) spot_page_print(p, NULL, "Fleiss' kappa of the raters: %.2f.", l->kappa);
}

static void tell_scores(spot_background_page *w)
{
    const spot_verdict_scores *s = &w->verdict.scores;

    if (w->verdict.why_scores[0]) {
        if (strcmp(w->verdict.why_scores, w->verdict.why_labels))
            spot_page_print(w->p, NULL, "How well an assessor learns labels: %s.", w->verdict.why_scores);
        return;
    }
    for (int k = 0; k < SPOT_ASSESSORS; k++)
        spot_page_print(w->p, NULL, "%s: right on %.1f %% (sd %.1f) of the models that it was not trained on, %d splits.",
                        spot_assessor_name(k), 100 * s->assessor[k].of_accuracy.mean,
                            100 * s->assessor[k].of_accuracy.deviation,
                        s->splits);
}

void spot_background_page_verdicts(spot_background_page *w)
{
    const bool there = w->verdict.verdict && !w->verdict.why_verdict[0];

    spot_json_array(w->p->at, "labels", 0, 0);
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) spot_page_text(w->p, NULL, spot_background_label_name(k));
    spot_json_end(w->p->at);
    spot_json_put_int(w->p->at, "verdicts", there);
    spot_json_array(w->p->at, "about_verdicts", 0, 0);
    if (there) spot_page_print(w->p, NULL, "Verdicts are by a forest: %s.", w->verdict.forest.about ? w->verdict.forest.about
                               : "it does not say what it was trained on");
    else spot_page_print(w->p, NULL, "No verdicts: %s.", w->verdict.why_verdict);
    tell_labels(w);
    tell_scores(w);
    spot_json_end(w->p->at);
}

void spot_background_page_verdict(spot_background_page *w, int unit)
{
    const int row = row_of(&w->verdict.table, w->r->unit[unit].name);
    char words[1024];

    if (!w->verdict.verdict || w->verdict.why_verdict[0] || row < 0) return;
    const spot_model_verdict *v = &w->verdict.verdict[row];
    spot_json_object(w->p->at, "verdict");
    spot_json_put_int(w->p->at, "label", v->label);
    spot_page_text(w->p, "words", spot_verdict_words(words, sizeof words, v));
    if (row < w->verdict.labels.models && w->verdict.labels.majority && !w->verdict.why_labels[0])
        spot_json_put_int(w->p->at, "given", w->verdict.labels.majority[row]);
    spot_json_end(w->p->at);
}
