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

static void tell_labels(spot_background_page *w, const spot_verdict_labels *l)
{
    const spot_verdict_report *v = &w->verdict;
    const spot_verdict_sure agree = v->verdict ? spot_verdict_agreement(v->verdict, l) : (spot_verdict_sure){ 0 };
    char ties[64] = "";

    if (l->ties) snprintf(ties, sizeof ties, "; %d votes were tied and count as borderline", l->ties);
    spot_page_print(w->p, NULL, "Labels (%s): %d invariant, %d borderline, %d variant%s.", l->source, l->count[SPOT_INVARIANT],
                    l->count[SPOT_BORDERLINE], l->count[SPOT_VARIANT], ties);
    if (isfinite(l->kappa)) spot_page_print(w->p, NULL, "Fleiss' kappa of the raters: %.2f.", l->kappa);
    if (agree.models)
        spot_page_print(w->p, NULL, "The verdicts agree with them for %d of %d models not trained on.", agree.right,
                        agree.models);
}

static void tell_scores(spot_background_page *w, const spot_verdict_scores *s)
{
    char text[400] = "", most[64] = "";
    int used = 0;

    for (int k = 0; k < SPOT_ASSESSORS; k++) {
        const spot_spread v = s->assessor[k].of_accuracy;
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s %.0f %% (sd %.0f)", k ? ", " : "",
                         spot_assessor_name(k), 100 * v.mean, 100 * v.deviation);
    }
    if (s->judged) snprintf(most, sizeof most, ", %.0f %% of them rightly", 100.0 * s->judged_right / s->judged);
    spot_page_print(w->p, NULL, "How well such labels are learned from the models of this run alone, %d splits into %d to "
                    "train and %d to test; right: %s. Such a forest may judge %.0f %% of them%s.", s->splits, s->train, s->test,
                    text, 100.0 * s->judged / (s->splits * s->test), most);
}

static void tell_learning(spot_background_page *w)
{
    const spot_verdict_report *v = &w->verdict;

    if (v->why_labels[0]) {
        if (strcmp(v->why_labels, v->why_verdict)) spot_page_print(w->p, NULL, "Labels: %s.", v->why_labels);
        return;
    }
    tell_labels(w, &v->labels);
    if (v->scores.splits) tell_scores(w, &v->scores);
    else spot_page_print(w->p, NULL, "How well labels are learned: %s.", v->why_scores);
    if (!v->other_scores.splits) return;
    tell_labels(w, &v->other_labels);
    tell_scores(w, &v->other_scores);
}

/* Says which models the forest was trained on, but not the settings of its matrices: those of this run are the same. */
static void tell_forest(spot_background_page *w)
{
    const char *about = w->verdict.forest.about, *end = strstr(about, "; measured");

    spot_page_print(w->p, NULL, "Verdicts are by a random forest, %.*s. A model that is unlike those gets none.",
                    end ? (int)(end - about) : (int)strlen(about), about);
}

void spot_background_page_verdicts(spot_background_page *w)
{
    const bool found = w->verdict.verdict && !w->verdict.why_verdict[0];

    spot_json_array(w->p->at, "labels", 0, 0);
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) spot_page_text(w->p, NULL, spot_background_label_name(k));
    spot_json_end(w->p->at);
    spot_json_put_int(w->p->at, "verdicts", found);
    spot_json_array(w->p->at, "about_verdicts", 0, 0);
    if (found) tell_forest(w);
    else spot_page_print(w->p, NULL, "No verdicts: %s.", w->verdict.why_verdict);
    tell_learning(w);
    spot_json_end(w->p->at);
}

static void write_reasons(spot_page *p, const char *key, const spot_verdict_reason *r, int n)
{
    char name[64];

    spot_json_array(p->at, key, n, n);
    for (int i = 0; i < n; i++) {
        spot_json_array(p->at, NULL, 3, 3);
        spot_page_text(p, NULL, spot_verdict_feature_name(name, r[i].feature));
        spot_json_put_real(p->at, NULL, r[i].value);
        spot_json_put_real(p->at, NULL, r[i].effect);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
}

void spot_background_page_verdict(spot_background_page *w, int unit)
{
    const int row = row_of(&w->verdict.table, w->r->unit[unit].name);
    char words[1400];

    if (!w->verdict.verdict || w->verdict.why_verdict[0] || row < 0) return;
    const spot_model_verdict *v = &w->verdict.verdict[row];
    spot_json_object(w->p->at, "verdict");
    spot_json_put_int(w->p->at, "label", v->label);
    if (v->label < 0) spot_page_text(w->p, "words", spot_verdict_words(words, sizeof words, v));
    spot_json_array(w->p->at, "share", SPOT_BACKGROUND_LABELS, SPOT_BACKGROUND_LABELS);
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) spot_json_put_real(w->p->at, NULL, v->share[k]);
    spot_json_end(w->p->at);
    spot_json_put_int(w->p->at, "such", v->sure.models);
    spot_json_put_int(w->p->at, "right", v->sure.right);
    spot_json_put_int(w->p->at, "known", v->known);
    write_reasons(w->p, "reasons", v->reason, v->reasons);
    write_reasons(w->p, "objections", v->objection, v->objections);
    if (isfinite(w->verdict.table.model[row].reliance[SPOT_TRUTH_LEARNED]))
        spot_json_put_real(w->p->at, "learned", w->verdict.table.model[row].reliance[SPOT_TRUTH_LEARNED]);
    if (row < w->verdict.labels.models && w->verdict.labels.majority && !w->verdict.why_labels[0])
        spot_json_put_int(w->p->at, "given", w->verdict.labels.majority[row]);
    spot_json_end(w->p->at);
}
