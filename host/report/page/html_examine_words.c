/* html_examine_words.c - the results of an examination in sentences. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/page/html_examine.h"

enum { TOLD = 6 };             /* models that have sentences of their own */

static bool is_strength(const spot_examine_page *w) { return w->r->cfg->search.mode == SPOT_MODE_STRENGTH; }

static const char *examiner_name(const spot_examine_page *w, int e) { return spot_examine_label(&w->r->cfg->examiner[e]); }

static const spot_examine_line *end_of(const spot_examine_page *w, int model, int examiner)
{
    const spot_examine_summary *s = &w->r->summary[model * w->r->cfg->examiners + examiner];

    return &s->line[s->points - 1];
}

/* The value that ranks an examiner: robust, or the lowest one where nothing was perturbed. */
static double rank_value(const spot_examine_line *l)
{
    return isfinite(l->robust.value) ? l->robust.value : l->lowest_valid.value;
}

static int best_examiner(const spot_examine_page *w, int model)
{
    const double sign = is_strength(w) ? -1 : 1;
    int best = 0;

    for (int e = 1; e < w->r->cfg->examiners; e++)
        if (sign * rank_value(end_of(w, model, e)) < sign * rank_value(end_of(w, model, best))) best = e;
    return best;
}

/* Objects on which every search of an examiner ends with a robust failure. */
static int count_failing(const spot_examine_page *w, int model, int examiner)
{
    int n = 0;

    for (int i = 0; i < w->r->objects; i++) {
        bool fails = true;
        for (int s = 0; s < w->r->cfg->search.seeds; s++) {
            const spot_examine_point *p = spot_examine_page_last(spot_examine_page_unit(w, model, examiner, s, i));
            fails &= (isfinite(p->robust) ? p->robust : p->lowest_valid) < w->r->cfg->search.fails;
        }
        n += fails;
    }
    return n;
}

static void tell_answer(spot_examine_page *w)
{
    const spot_examine_config *cfg = w->r->cfg;
    int worst = 0, most = -1;

    if (is_strength(w)) {
        spot_page_text(w->p, NULL, "The searches looked for the conditions under which models are best: the highest p of the "
                       "true class.");
        return;
    }
    for (int m = 0; m < cfg->models; m++) {
        const int n = count_failing(w, m, best_examiner(w, m));
        if (n > most) most = n, worst = m;
    }
    const char *const who = examiner_name(w, best_examiner(w, worst));
    const double start = w->r->summary[worst * cfg->examiners].start;
    if (!most)
        spot_page_print(w->p, NULL, "No lasting failure was found: around the lowest p of every object the mean p stays at %g "
                        "or above in some search, after %d renders of each.", cfg->search.fails,
                        end_of(w, worst, best_examiner(w, worst))->renders);
    else
        spot_page_print(w->p, NULL, "%s%s%s fails on %d of %d objects: %s finds conditions around which its p of the true "
                        "class is below %g, while on random renders it is %.2f.",
                        cfg->models > 1 ? "The weakest model, " : "Model ", cfg->model[worst].name,
                        cfg->models > 1 ? "," : "", most, w->r->objects, who, cfg->search.fails, start);
}

static void tell_model(spot_examine_page *w, int model)
{
    const spot_examine_config *cfg = w->r->cfg;
    const int best = best_examiner(w, model);
    const spot_examine_line *l = end_of(w, model, best);
    const char *const word = is_strength(w) ? "highest" : "lowest";

    spot_page_print(w->p, NULL, "%s: after %d renders %s has the %s robust p, %.3f (%.3f to %.3f, mean over objects); %s p on "
                    "valid renders %.3f; the last %d renders have %.3f on average, random ones %.3f.", cfg->model[model].name,
                    l->renders, examiner_name(w, best), word, rank_value(l), l->robust.low, l->robust.high, word,
                    l->lowest_valid.value, cfg->search.window, l->mean.value, w->r->summary[model * cfg->examiners].start);
}

static void tell_region(spot_examine_page *w, int model)
{
    const spot_examine_config *cfg = w->r->cfg;
    const spot_examine_summary *s = &w->r->summary[model * cfg->examiners];
    char found[512] = "";

    if (!cfg->model[model].limits) return;
    if (!s->learned) {
        spot_page_print(w->p, NULL, "%s: no object learned the planted region, so nothing can be found there.",
                        cfg->model[model].name);
        return;
    }
    for (int e = 0; e < cfg->examiners && strlen(found) < sizeof found - 140; e++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s finds %d (%.0f %% of its last 100 renders lie "
                 "inside)",
                 e ? ", " : "", examiner_name(w, e), s[e].found, 100 * end_of(w, model, e)->inside.value);
    spot_page_print(w->p, NULL, "%s: %d of %d objects learned the planted region. Of these %s.", cfg->model[model].name,
                    s->learned, w->r->objects, found);
}

static void tell_findings(spot_examine_page *w, int model)
{
    for (int i = 0; w->mapped && i < w->failures.findings; i++) {
        const spot_failure_finding *f = &w->failures.finding[i];
        if (f->model != model || !f->confirmed) continue;
        spot_page_print(w->p, NULL, "%s %s at %s: on %.0f %% of the random renders there, against %.0f %% elsewhere "
                        "(p %s%.2g, tested on renders that the search for words did not see).", w->r->cfg->model[model].name,
                        is_strength(w) ? "is best" : "fails most", f->words, 100 * f->inside.value,
                        100 * f->outside.value, f->adjusted < 1e-16 ? "below " : "", fmax(f->adjusted, 1e-16));
        return;
    }
}

void spot_examine_page_words(spot_examine_page *w)
{
    spot_json_array(w->p->at, "summary", 0, 0);
    tell_answer(w);
    for (int m = 0; m < w->r->cfg->models && m < TOLD; m++) tell_model(w, m), tell_region(w, m), tell_findings(w, m);
    spot_json_end(w->p->at);
}
