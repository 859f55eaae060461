/* shifts_words.c - the results of a study of shifts in sentences. */
#include <math.h>
#include <string.h>

#include "shifts/shifts_config.h"
#include "shifts/shifts_write.h"
#include "stats/statistics.h"

enum { NAMED = 5, FEW_MODELS = 20 };       /* shifts that a sentence names; models that are few for a slope */

#define PAPER_ENCODER "open_clip ViT-H-14 laion2b_s32b_b79k"

typedef struct { spot_words *w; const spot_shifts_results *r; int source; const spot_shift_estimates *e; } telling;

static const char *shift_name(const telling *t, int s) { return t->r->cfg->shift[s].name; }

const char *spot_shift_encoder_name(const spot_shifts_results *r)
{
    return r->cfg->encoder.label[0] ? r->cfg->encoder.label : r->unit[r->units - 1].encoder;
}

/* Shifts in the order of a number, largest first; those without a number last. */
static void sort_shifts(int *order, const double *key, int n)
{
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at && (key[order[at - 1]] < key[i] || (isnan(key[order[at - 1]]) && !isnan(key[i]))); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* The first n of order become those whose numbers pass; returns n. */
typedef bool is_wanted(const spot_shift_estimate *e);

static int choose(int *order, const telling *t, is_wanted *wanted)
{
    int n = 0;

    for (int i = 0; i < t->e->shifts; i++)
        if (wanted(&t->e->shift[order[i]])) order[n++] = order[i];
    return n;
}

static bool costs(const spot_shift_estimate *e) { return e->impact.low > 0; }
static bool helps(const spot_shift_estimate *e) { return e->impact.high < 0; }
static bool is_flat(const spot_shift_estimate *e) { return e->slope.high < 1; }
static bool is_steep(const spot_shift_estimate *e) { return e->slope.low > 1; }

/* Names the wanted shifts behind `some`, "a (45), b (31) and 3 more"; where there are none, says `none`, or nothing. */
static void tell(telling *t, const double *key, is_wanted *wanted, const char *some, const char *none, int digits)
{
    int order[SPOT_MAX_SHIFTS], n;

    sort_shifts(order, key, t->e->shifts);
    n = choose(order, t, wanted);
    if (!n && !none) return;
    spot_words_add(t->w, "%s", n ? some : none);
    for (int i = 0; n && spot_words_next(t->w, i, n, NAMED); i++)
        spot_words_add(t->w, "%s (%.*f)", shift_name(t, order[i]), digits, key[order[i]]);
    spot_words_end(t->w, ".");
}

static void tell_impact(telling *t)
{
    double impact[SPOT_MAX_SHIFTS], gain[SPOT_MAX_SHIFTS], slope[SPOT_MAX_SHIFTS];

    for (int s = 0; s < t->e->shifts; s++) {
        impact[s] = 100 * t->e->shift[s].impact.value, gain[s] = -impact[s];
        slope[s] = t->e->shift[s].slope.value;
    }
    tell(t, impact, costs, "Accuracy falls beyond chance, most first (percentage points): ",
         "No shift costs accuracy beyond chance", 0);
    tell(t, gain, helps, "Accuracy rises beyond chance: ", NULL, 0);
    tell(t, slope, is_steep, "A gain on base pictures is larger on the shift (slope above 1 beyond chance): ", NULL, 2);
    tell(t, slope, is_flat, "A gain on base pictures arrives only in part (slope below 1 beyond chance): ",
         "No slope is below 1 beyond chance", 2);
}

static void tell_differences(telling *t, const spot_shift_difference *d, int pairs, bool categories)
{
    const char *what = categories ? "categories" : "shifts";
    const spot_shift_difference *most = NULL;
    int n = 0;

    for (int i = 0; i < pairs; i++) {
        if (!spot_is_significant(d[i].slope_p, SPOT_LEVEL)) continue;
        n++;
        if (!most || fabs(d[i].slope.value) > fabs(most->slope.value)) most = &d[i];
    }
    if (!pairs) return;
    if (!n) spot_words_say(t->w, "No two of the slopes of %s differ beyond chance (%d pair%s)", what, pairs,
                           pairs == 1 ? "" : "s");
    else spot_words_say(t->w, "Slopes of %d of %d pair%s of %s differ beyond chance, most %s and %s (%+.2f)", n, pairs,
                        pairs == 1 ? "" : "s", what, categories ? t->r->category[most->a] : shift_name(t, most->a),
                        categories ? t->r->category[most->b] : shift_name(t, most->b), most->slope.value);
}

static bool has_lost(const spot_shift_estimate *e) { return e->lost + e->few > 0; }

static void tell_lost(telling *t)
{
    double lost[SPOT_MAX_SHIFTS];
    char text[200];

    for (int s = 0; s < t->e->shifts; s++) lost[s] = t->e->shift[s].lost + t->e->shift[s].few;
    snprintf(text, sizeof text, "Classes that do not count because fewer than %d pictures are left, of %d: ",
             t->r->cfg->evaluation.rule.least, t->r->unit[0].classes);
    tell(t, lost, has_lost, text, "No class is lost", 0);
}

static void tell_confounded(telling *t)
{
    const spot_shift_source_result *v = &t->r->source[t->source];
    int n = 0, k = 0;

    for (int i = 0; i < v->gaps; i++) n += v->gap[i].confounded;
    if (!v->gaps) return;
    if (!n) {
        spot_words_say(t->w, "No class of base pictures is harder than its real pictures beyond chance and beyond the other "
                       "classes");
        return;
    }
    spot_words_add(t->w, "%d of %d classes of base pictures %s real pictures beyond chance and beyond the other classes: ", n,
                   v->gaps, n == 1 ? "is harder than its" : "are harder than their");
    for (int i = 0; i < v->gaps && k < NAMED; i++)
        if (v->gap[i].confounded)
            spot_words_add(t->w, "%s%s (%.0f %% against %.0f %%)", k++ ? ", " : "", t->r->unit[0].class_name[v->gap[i].cls],
                           100 * v->gap[i].base, 100 * v->gap[i].real);
    spot_words_say(t->w, ". The source may change more than it says");
}

static void tell_cover(telling *t)
{
    const spot_shift_result *base = &t->r->unit[spot_shift_unit_of(t->r->cfg, t->source, SPOT_BASE_PICTURES)];
    const spot_shift_cover *v = &base->cover[base->filtered ? SPOT_SHIFT_KEPT : SPOT_SHIFT_ALL];

    if (!base->covers) return;
    if (!v->classes) {
        spot_words_say(t->w, "No class has the 12 base and 12 real pictures by which coverage is measured");
        return;
    }
    spot_words_say(t->w, "Base pictures cover %.0f %% [%.0f, %.0f] of the real ones (%.0f %% if they were real), density %.2f "
                   "(%.2f), precision %.0f %% (%.0f %%), recall %.0f %% (%.0f %%); %d of %d classes",
                   100 * v->coverage.value, 100 * v->coverage.low, 100 * v->coverage.high, 100 * v->coverage_chance,
                   v->density.value, v->density_chance, 100 * v->precision.value, 100 * v->precision_chance,
                   100 * v->recall.value, 100 * v->recall_chance, v->classes, base->classes);
}

static void tell_accuracy(telling *t)
{
    tell_impact(t);
    tell_differences(t, t->e->between, t->e->shifts * (t->e->shifts - 1) / 2, false);
    tell_differences(t, t->e->across, t->e->categories * (t->e->categories - 1) / 2, true);
    tell_lost(t);
    tell_confounded(t);
}

static void tell_source(spot_words *w, const spot_shifts_results *r, int source)
{
    const spot_shift_estimates *e = &r->source[source].set[spot_shift_compared(r, source)];
    telling t = { w, r, source, e };

    if (r->cfg->models) tell_accuracy(&t);
    tell_cover(&t);
}

/* ---- settings ---- */

static void tell_notes(spot_words *w, const spot_shifts_results *r)
{
    static const char *const axes[] = { "accuracy", "probit of accuracy", "logit of accuracy" };
    const spot_shift_result *real = &r->unit[0];

    if (r->cfg->data.real[0] && real->named >= 0 && spot_shift_encoder_guesses(real->named, real->pictures, real->classes))
        spot_words_say(w, "The encoder names the class of %.0f %% of the real pictures, and a guess is right on %.0f %%: it "
                       "does not know these classes, so what passes the filter says little about the object",
                       100.0 * real->named / real->pictures, 100.0 / real->classes);
    if (!r->cfg->models) return;
    spot_words_say(w, "Slope: least squares over %d models on axes of %s", r->cfg->models, axes[r->cfg->evaluation.rule.axes]);
    if (r->cfg->models < FEW_MODELS)
        spot_words_say(w, "%d models are few: an interval of a slope from fewer than %d says little", r->cfg->models,
                       FEW_MODELS);
}

static void tell_settings(spot_words *w, const spot_shifts_results *r)
{
    const spot_shifts_config *cfg = r->cfg;
    const spot_shift_rule *rule = &cfg->evaluation.rule;
    const char *encoder = spot_shift_encoder_name(r);
    int open = 0;

    for (int s = 0; s < cfg->shifts; s++) open += cfg->shift[s].threshold <= -1;
    if (!*encoder) spot_words_say(w, "%s", cfg->filter.masks[0] ? "Pictures are kept by masks from a file"
                                                                : "Pictures are not filtered");
    else if (strcmp(encoder, PAPER_ENCODER)) spot_words_say(w, "The encoder is %s; the paper's is " PAPER_ENCODER, encoder);
    if (*encoder && open)
        spot_words_say(w, "%d of %d shifts have no threshold: all their pictures pass the caption of the shift", open,
                       cfg->shifts);
    if (*encoder && cfg->filter.percentile != 20)
        spot_words_say(w, "The threshold of a class is percentile %g of its real pictures; the paper's is 20",
                       cfg->filter.percentile);
    if (!cfg->filter.base) spot_words_say(w, "Base pictures are not filtered");
    if (cfg->filter.style != SPOT_STYLE_PAPER)
        spot_words_say(w, "Styles are compared with \"a photo of a <class>\", as the released masks; the paper says \"a "
                       "<class>\"");
    if (rule->least != 5) spot_words_say(w, "A class counts from %d pictures on; in the paper from 5", rule->least);
    if (rule->axes != SPOT_AXES_LINEAR)
        spot_words_say(w, "The fit is on axes of %s; the paper names no transform", rule->axes == SPOT_AXES_PROBIT ? "probit"
                                                                                                                : "logit");
    spot_words_say(w, "Intervals are from %d draws of a bootstrap over classes and models; the paper gives none", rule->draws);
}

spot_status spot_shifts_tell(spot_ctx *c, spot_shifts_account *a, const spot_shifts_results *r)
{
    spot_status s = SPOT_OK;

    *a = (spot_shifts_account){ .r = r };
    for (int v = 0; v < r->sources; v++) {
        tell_source(&a->source[v], r, v);
        if (a->source[v].status) s = SPOT_NOMEM;
    }
    tell_notes(&a->notes, r);
    tell_settings(&a->differs, r);
    if (a->notes.status || a->differs.status) s = SPOT_NOMEM;
    return s ? spot_fail(c, s, "no memory for the sentences of a study of shifts") : SPOT_OK;
}

void spot_shifts_account_close(spot_shifts_account *a)
{
    for (int v = 0; a->r && v < a->r->sources; v++) spot_words_free(&a->source[v]);
    spot_words_free(&a->notes), spot_words_free(&a->differs);
}
