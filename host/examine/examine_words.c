/* examine_words.c - the results of an examination in sentences, for examine.json, the terminal and the page: an answer, then
 * for each of the first models its worst (strength mode: best) examiner, a planted region, the surest finding. p is the
 * probability of the true class; "robust" is its mean around the point that was found (spot_examine_point), for a single render
 * may be a freak. Whether an object fails is examine_verdict.c's. */
#include <math.h>

#include "examine/examine_study.h"

/* Models that have sentences of their own; objects whose meshes have; factors that one sentence names. */
enum { TOLD = 6, MESHES = 5, NAMED_SHARES = 4 };

static const double LEAST_SHARE = 0.01;        /* of a factor that is named */

static bool is_strength(const spot_examine_account *w) { return w->r->cfg->search.mode == SPOT_MODE_STRENGTH; }

static const char *examiner_name(const spot_examine_account *w, int e) { return spot_examine_label(&w->r->cfg->examiner[e]); }

/* The last point of the curve, when the budget is spent. */
static const spot_examine_line *end_of(const spot_examine_account *w, int model, int examiner)
{
    const spot_examine_summary *s = &w->r->summary[model * w->r->cfg->examiners + examiner];

    return &s->line[s->points - 1];
}

/* The value that ranks an examiner: robust, or the lowest one where nothing was perturbed. */
static double rank_value(const spot_examine_line *l)
{
    return isfinite(l->robust.value) ? l->robust.value : l->lowest_valid.value;
}

static int best_examiner(const spot_examine_account *w, int model)
{
    const double sign = is_strength(w) ? -1 : 1;
    int best = 0;

    for (int e = 1; e < w->r->cfg->examiners; e++)
        if (sign * rank_value(end_of(w, model, e)) < sign * rank_value(end_of(w, model, best))) best = e;
    return best;
}

/* The model that fails on most objects; the first of equal ones. */
static int weakest_model(const spot_examine_account *w)
{
    int worst = 0;

    for (int m = 1; m < w->r->cfg->models; m++)
        if (w->r->about[m].failing > w->r->about[worst].failing) worst = m;
    return worst;
}

static void tell_answer(spot_examine_account *w)
{
    const spot_examine_config *cfg = w->r->cfg;
    const int worst = weakest_model(w), most = w->r->about[worst].failing;
    const bool alone = cfg->models == 1, tested = cfg->search.perturbed > 0;

    if (is_strength(w))
        spot_words_say(&w->summary, "The searches looked for the conditions under which models are best: the highest p of the "
                       "true class");
    else if (!most)
        spot_words_say(&w->summary, "No lasting failure was found: %s the lowest p of every object %s is %g or above",
                       tested ? "around" : "at", tested ? "the mean p of fresh renders" : "p", cfg->search.fails);
    else
        spot_words_say(&w->summary, "%s%s%s fails on %d of %d objects: searches found conditions %s its p of the true class is "
                       "below %g%s, while on random renders it is %.2f", alone ? "Model " : "The weakest model, ",
                       cfg->model[worst].name, alone ? "" : ",", most, w->r->objects, tested ? "around which" : "under which",
                       cfg->search.fails, tested ? " on fresh renders, too" : "",
                       w->r->summary[worst * cfg->examiners].start);   /* random renders are the same for all examiners */
}

/* ---- what the random renders say of a model and of the ranges ---- */

static void tell_doubts(spot_examine_account *w)
{
    for (int m = 0; m < w->r->cfg->models; m++) {
        const spot_examine_model_summary *a = &w->r->about[m];
        if (isfinite(a->reordered))
            spot_words_say_order(&w->summary, w->r->cfg->model[m].name, "valid random renders", a->reordered, a->accuracy);
    }
}

static void tell_ranges(spot_examine_account *w)
{
    double valid = 1;

    for (int m = 0; m < w->r->cfg->models; m++) valid = fmin(valid, w->r->about[m].valid);
    if (valid < SPOT_EXAMINE_FEW_VALID)
        spot_words_say(&w->summary, "Only %.2g %% of the random renders are valid, so the searches spent most renders where "
                       "nobody could name the object. Narrow the ranges of `factors`, such as camera_distance, or widen "
                       "`valid`", 100 * valid);
}

static void tell_model(spot_examine_account *w, int model)
{
    const spot_examine_config *cfg = w->r->cfg;
    const int best = best_examiner(w, model);
    const spot_examine_line *l = end_of(w, model, best);
    const char *const word = is_strength(w) ? "highest" : "lowest";

    spot_words_say(&w->summary, "%s: after %d renders %s has the %s robust p, %.3f (%.3f to %.3f, mean over objects); %s p on "
                   "valid renders %.3f; the last %d renders have %.3f on average, random ones %.3f", cfg->model[model].name,
                   l->renders, examiner_name(w, best), word, rank_value(l), l->robust.low, l->robust.high, word,
                   l->lowest_valid.value, cfg->search.window, l->mean.value, w->r->summary[model * cfg->examiners].start);
}

static void tell_region(spot_examine_account *w, int model)
{
    const spot_examine_config *cfg = w->r->cfg;
    const spot_examine_summary *s = &w->r->summary[model * cfg->examiners];    /* (examiners); all have the same `learned` */

    if (!cfg->model[model].limits) return;
    if (!s->learned) {
        spot_words_say(&w->summary, "%s: no object learned the planted region, so nothing can be found there",
                       cfg->model[model].name);
        return;
    }
    spot_words_add(&w->summary, "%s: %d of %d objects learned the planted region. Of these ", cfg->model[model].name,
                   s->learned, w->r->objects);
    for (int e = 0; e < cfg->examiners; e++)
        spot_words_add(&w->summary, "%s%s finds %d (%.0f %% of its last 100 renders lie inside)", e ? ", " : "",
                       examiner_name(w, e), s[e].found, 100 * end_of(w, model, e)->inside.value);
    spot_words_end(&w->summary, ".");
}

static void tell_finding(spot_words *w, const spot_examine_results *r, const spot_failure_finding *f)
{
    const bool strength = r->cfg->search.mode == SPOT_MODE_STRENGTH;

    spot_words_add(w, "%s %s at %s: on %.0f %% (%.0f to %.0f) of %d random renders there, against %.1f %% elsewhere (p %s%.2g, "
                   "tested on renders that the search for words did not see)", r->cfg->model[f->model].name,
                   strength ? "is best" : "fails most", f->words, 100 * f->inside.value, 100 * f->inside.low,
                   100 * f->inside.high, f->renders, 100 * f->outside.value, f->adjusted < 1e-16 ? "below " : "",
                   fmax(f->adjusted, 1e-16));
    if (f->cls >= 0) spot_words_add(w, ", class %s", spot_examine_class(r->cfg, f->cls));
    if (f->objects == 1) spot_words_add(w, ", for this one object under its one sun");
    if (isfinite(f->overlap))
        spot_words_add(w, "; %.2f of the volume of rule and planted region is in both", f->overlap);
    spot_words_end(w, ".");
}

void spot_examine_tell_findings(spot_words *w, const spot_examine_results *r, const spot_failures *f, int model, int most)
{
    int confirmed = 0, others = 0;

    for (int i = 0; f && i < f->findings; i++) {
        if (f->finding[i].model != model) continue;
        if (!f->finding[i].confirmed) others++;
        else if (confirmed++ < most) tell_finding(w, r, &f->finding[i]);
    }
    if (most > 1 && (confirmed > most || others))
        spot_words_say(w, "%s: %d more confirmed rules and %d others are in failures.json", r->cfg->model[model].name,
                       confirmed > most ? confirmed - most : 0, others);
}

/* Objects that are not drawn as their files say: pictures of them are not the object's own. */
static void tell_meshes(spot_words *w, const spot_examine_results *r)
{
    int n = 0;

    for (int i = 0; i < r->objects; i++) n += r->unit[i].mesh[0] != 0;
    if (!n) return;
    spot_words_add(w, "%d of %d objects %s not drawn as %s says: ", n, r->objects, n == 1 ? "is" : "are",
                   n == 1 ? "its file" : "their file");
    for (int i = 0, told = 0; i < r->objects && told < MESHES; i++)
        if (r->unit[i].mesh[0]) spot_words_add(w, "%s%s: %s", told++ ? "; " : "", r->unit[i].object, r->unit[i].mesh);
    spot_words_end(w, n > MESHES ? "; the others are in examine.json." : ".");
}

/* The shares of the variance of p of a model: factors that explain some of it beyond chance, the greatest first. */
static void tell_shares(spot_words *w, const spot_examine_results *r, const spot_failures *f, int model)
{
    const spot_failure_share *own[SPOT_FACTORS + 1];
    int n = 0;

    for (int i = 0; f && i < f->shares && n <= SPOT_FACTORS; i++)
        if (f->share[i].model == model && f->share[i].share.value >= LEAST_SHARE && !(f->share[i].share.low <= 0))
            own[n++] = &f->share[i];
    if (!n) return;
    spot_words_add(w, "%s: of the variance of p on valid random renders, ", r->cfg->model[model].name);
    for (int i = 0; spot_words_next(w, i, n, NAMED_SHARES); i++) {
        const spot_interval *v = &own[i]->share;
        char name[48];
        snprintf(name, sizeof name, "%s", own[i]->factor < 0 ? "the object" : spot_factor_label(own[i]->factor));
        for (char *p = name; *p; p++) *p = *p == '_' ? ' ' : *p;
        spot_words_add(w, "%s alone explains %.0f %%", name, 100 * v->value);
        if (isfinite(v->low)) spot_words_add(w, " (%.0f to %.0f)", 100 * v->low, 100 * v->high);
    }
    spot_words_end(w, ".");
}

static void tell_notes(spot_words *w, const spot_examine_results *r)
{
    const spot_examine_config *cfg = r->cfg;
    const char *const extreme = cfg->search.mode == SPOT_MODE_STRENGTH ? "highest" : "lowest";

    tell_meshes(w, r);
    spot_words_say(w, "%d objects, %d seed%s; brackets: 95 %% over objects; \"mean of the last\": of %d renders", r->objects,
                   cfg->search.seeds, cfg->search.seeds == 1 ? "" : "s", cfg->search.window);
    spot_words_say(w, "\"%s\" counts valid renders alone: those on which a person could still name the object", extreme);
    if (cfg->search.perturbed)
        spot_words_say(w, "\"robust\": mean of %d renders around it, with changes of %g %% of each range; they count as spent",
                       cfg->search.perturbed, 100 * cfg->search.perturb);
    if (cfg->search.mode == SPOT_MODE_WEAKNESS && cfg->search.perturbed)
        spot_words_say(w, "An object fails where %d fresh renders around the lowest robust p of all its searches, half of them "
                       "or more valid, have a mean p below %g: other renders than those by which the search was chosen",
                       cfg->search.perturbed, cfg->search.fails);
    spot_words_say(w, "Light: a sun of energy 1 gives %.3f, a lamp %.3f, ambient %.2f; exposure %g, cut at 1",
                   cfg->render.sun_scale, cfg->render.lamp_scale, cfg->render.ambient, cfg->render.exposure);
}

spot_status spot_examine_tell(spot_ctx *c, spot_examine_account *a, const spot_examine_results *r, const spot_failures *f)
{
    *a = (spot_examine_account){ .r = r, .failures = f };
    tell_doubts(a);
    tell_answer(a);
    tell_ranges(a);
    for (int m = 0; m < r->cfg->models && m < TOLD; m++) {
        tell_model(a, m), tell_region(a, m);
        spot_examine_tell_findings(&a->summary, r, f, m, 1);
        tell_shares(&a->summary, r, f, m);
    }
    tell_notes(&a->notes, r);
    if (a->summary.status || a->notes.status)
        return spot_fail(c, SPOT_NOMEM, "no memory for the sentences of an examination");
    return SPOT_OK;
}

void spot_examine_account_close(spot_examine_account *a)
{
    spot_words_free(&a->summary), spot_words_free(&a->notes);
}
