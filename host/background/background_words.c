/* background_words.c - the results of a study of backgrounds in sentences. */
#include <math.h>
#include <stdlib.h>

#include "background/background_study.h"
#include "spotter/model.h"

enum { NAMED = 4 };            /* models or classes that a sentence names */

typedef struct { double value; int index; } ranked;

/* Largest first, then by index; NaN last. */
static int by_value(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (isnan(x->value) != isnan(y->value)) return isnan(x->value) - isnan(y->value);
    if (x->value != y->value && !isnan(x->value)) return x->value > y->value ? -1 : 1;
    return x->index - y->index;
}

/* "a (45 %), b (31 %) and 3 more" of n ranked models, those with a number. */
static void name_ranked(spot_words *w, const spot_background_results *r, const ranked *v, int n)
{
    int some = 0;

    while (some < n && !isnan(v[some].value)) some++;
    for (int i = 0; spot_words_next(w, i, some, NAMED); i++)
        spot_words_add(w, "%s (%.0f %%)", r->unit[v[i].index].name, 100 * v[i].value);
}

/* ---- one model ---- */

static void add_share(spot_words *w, spot_interval v)
{
    spot_words_add(w, "%.1f %%", 100 * v.value);
    if (isfinite(v.low)) spot_words_add(w, " (%.1f to %.1f)", 100 * v.low, 100 * v.high);
}

/* "4.7 percentage points (1.2 to 8.3)" */
static void add_points(spot_words *w, spot_interval v)
{
    spot_words_add(w, "%.1f percentage points (%.1f to %.1f)", 100 * v.value, 100 * v.low, 100 * v.high);
}

/* The answer to the page's title, by the BG-gap: a background of the object's own class is cut and blended as any other, so
 * that their difference is the background's alone. It comes first, unless the numbers themselves are in doubt. */
static void tell_answer(spot_words *w, const spot_background_results *r, const spot_background_summary *m)
{
    const int classes = r->suite->classes;

    if (classes > 1 && !(m->accuracy[SPOT_SET_ORIGINAL].low > 1.0 / classes))
        spot_words_add(w, "No answer: the model is not shown to be better on the original pictures than a guess among %d "
                       "classes, so a background has little to take", classes);
    else if (m->dependence == SPOT_DEPENDENCE_UNKNOWN)
        spot_words_add(w, "No answer: there is no BG-gap, for want of pictures of mixed-same");
    else if (m->dependence == SPOT_DEPENDENCE_SHOWN) {
        spot_words_add(w, "Yes, the model depends on the background: a background of any class in place of one of the object's "
                       "own class costs it ");
        add_points(w, m->gap);
        spot_words_add(w, ", the BG-gap");
    } else {
        spot_words_add(w, "No dependence on the background is shown beyond %.1f percentage points: the BG-gap is ",
                       fmax(0, 100 * m->gap.high));
        add_points(w, m->gap);
    }
    spot_words_end(w, ".");
}

/* Blends cost accuracy by their cuts and colours, too, which is not the background's doing. */
static void tell_blending(spot_words *w, const spot_background_summary *m)
{
    if (isnan(m->blending.value)) spot_words_add(w, "The suite costs ");
    else {
        spot_words_add(w, "Cutting the object out and putting it on another background of its own class costs ");
        add_points(w, m->blending);
        spot_words_add(w, "; the suite, with other backgrounds and another blending, costs ");
    }
    add_points(w, m->lost);
    spot_words_end(w, ".");
}

/* Names the models whose outputs may stand in another order than the classes. */
static void tell_order_of_outputs(spot_words *w, const spot_background_results *r)
{
    for (int u = 0; u < r->units; u++)
        if (isfinite(r->summary[u].reordered))
            spot_words_say_order(w, r->unit[u].name, "original pictures", r->summary[u].reordered,
                                 r->summary[u].accuracy[SPOT_SET_ORIGINAL].value);
}

static void tell_accuracy(spot_words *w, const spot_background_results *r, const spot_background_summary *m)
{
    spot_words_add(w, "The model is right on ");
    add_share(w, m->accuracy[SPOT_SET_ORIGINAL]);
    spot_words_add(w, " of the %d original pictures, and with other backgrounds on ", r->suite->targets);
    add_share(w, m->accuracy[SPOT_SET_SUITE]);
    spot_words_end(w, ".");
}

static void tell_turned(spot_words *w, const spot_background_result *u, const spot_background_summary *m)
{
    int right = 0, turned = 0;

    for (int k = 0; k < u->classes; k++) right += u->right[SPOT_SET_ORIGINAL][k], turned += u->turned[k];
    if (!right) return;
    if (u->n == 1)
        spot_words_add(w, "Another background turns %d of the %d objects that it recognises in the original picture: ",
                       turned, right);
    else
        spot_words_add(w, "Of %d objects that it recognises in the original picture, one or more of %d backgrounds turn %d: ",
                       right, u->n, turned);
    add_share(w, m->turned);
    spot_words_end(w, ".");
}

/* Without the object only the background is left, and in no-fg the outline. */
static void tell_without_object(spot_words *w, const spot_background_results *r, const spot_background_summary *m)
{
    const spot_interval v = m->accuracy[SPOT_SET_ONLY_BG_T];
    const double chance = 1.0 / r->suite->classes;

    if (isnan(v.value) || r->suite->classes < 2) return;
    spot_words_add(w, "With the object painted black it still names the class of ");
    add_share(w, m->accuracy[SPOT_SET_NO_FG]);
    spot_words_add(w, ", and with the object and its outline tiled over of ");
    add_share(w, v);
    spot_words_say(w, v.low > chance ? ", more than a guess among %d classes would (%.1f %%)"
                                     : "; a guess among %d classes is right on %.1f %%", r->suite->classes, 100 * chance);
}

/* Ranked by the low end of the interval, so that 9 of 10 comes before 1 of 1. */
static void tell_classes(spot_words *w, const spot_background_results *r, const spot_background_result *u)
{
    ranked *v = malloc(((size_t)u->classes + 1) * sizeof *v);
    int n = 0;

    if (!v) { w->status = SPOT_NOMEM; return; }
    for (int k = 0; k < u->classes; k++)
        if (u->turned[k]) v[n++] = (ranked){ spot_share_of(u->turned[k], u->right[SPOT_SET_ORIGINAL][k]).low, k };
    qsort(v, (size_t)n, sizeof *v, by_value);
    if (n > 1) {
        spot_words_add(w, "Backgrounds turn these classes most: ");
        for (int i = 0; spot_words_next(w, i, n, NAMED); i++)
            spot_words_add(w, "%s (%d of %d)", r->suite->class_name[v[i].index], u->turned[v[i].index],
                           u->right[SPOT_SET_ORIGINAL][v[i].index]);
        spot_words_end(w, ".");
    }
    free(v);
}

/* ---- several models ---- */

static void tell_order(spot_words *w, const spot_background_results *r, ranked *v, const char *words)
{
    qsort(v, (size_t)r->units, sizeof *v, by_value);
    if (isnan(v[0].value)) return;
    spot_words_add(w, "%s", words);
    name_ranked(w, r, v, r->units);
    spot_words_end(w, ".");
}

/* The headline: the BG-gaps, or why there are none. */
static void tell_gaps(spot_words *w, const spot_background_results *r, ranked *v)
{
    const int n = r->units;
    int shown = 0, known = 0, last = 0;

    for (int u = 0; u < n; u++) {
        const spot_background_summary *m = &r->summary[u];
        known += m->dependence != SPOT_DEPENDENCE_UNKNOWN, shown += m->dependence == SPOT_DEPENDENCE_SHOWN;
        v[u] = (ranked){ m->dependence == SPOT_DEPENDENCE_UNKNOWN ? NAN : m->gap.value, u };
    }
    if (!known) {
        spot_words_say(w, "No answer: no model has both a BG-gap and an accuracy that is shown to be above a guess");
        return;
    }
    qsort(v, (size_t)n, sizeof *v, by_value);
    while (last + 1 < n && !isnan(v[last + 1].value)) last++;
    spot_words_add(w, "%d of %d models depend on the background beyond chance: their BG-gap is above 0", shown, known);
    spot_words_say(w, "; the largest gap, in percentage points, is %.1f of %s, the least %.1f of %s", 100 * v[0].value,
                   r->unit[v[0].index].name, 100 * v[last].value, r->unit[v[last].index].name);
    if (known < n) spot_words_say(w, "%d models have no BG-gap, or are not shown to be better than a guess", n - known);
}

static int count_above(const spot_background_results *r, bool of_blending)
{
    int n = 0;

    for (int u = 0; u < r->units; u++) n += (of_blending ? r->summary[u].blending.low : r->summary[u].lost.low) > 0;
    return n;
}

/* The suite's cost has that of blending in it. */
static void tell_costs(spot_words *w, const spot_background_results *r, ranked *v)
{
    const int n = r->units;

    for (int u = 0; u < n; u++) v[u] = (ranked){ r->summary[u].blending.value, u };
    qsort(v, (size_t)n, sizeof *v, by_value);
    if (!isnan(v[0].value))
        spot_words_say(w, "Cutting the object out and putting it on another background of its own class costs %d of %d models "
                       "accuracy beyond chance, at most %.1f percentage points (%s)", count_above(r, true), n,
                       100 * v[0].value, r->unit[v[0].index].name);
    for (int u = 0; u < n; u++) v[u] = (ranked){ r->summary[u].lost.value, u };
    qsort(v, (size_t)n, sizeof *v, by_value);
    spot_words_say(w, "The suite, with other backgrounds and another blending, costs %d of %d models accuracy beyond chance; "
                   "the most, in percentage points, %s (%.1f), the least %s (%.1f)", count_above(r, false), n,
                   r->unit[v[0].index].name, 100 * v[0].value, r->unit[v[n - 1].index].name, 100 * v[n - 1].value);
}

static void tell_models(spot_words *w, const spot_background_results *r)
{
    const int n = r->units;
    ranked *v = malloc((size_t)n * sizeof *v);

    if (!v) { w->status = SPOT_NOMEM; return; }
    tell_gaps(w, r, v);
    tell_costs(w, r, v);
    for (int u = 0; u < n; u++) v[u] = (ranked){ r->summary[u].turned.value, u };
    tell_order(w, r, v, "Models by the share of recognised objects that some background turns, most first: ");
    for (int u = 0; u < n; u++) v[u] = (ranked){ r->summary[u].accuracy[SPOT_SET_ORIGINAL].value, u };
    tell_order(w, r, v, "Models by accuracy on the original pictures, best first: ");
    free(v);
}

/* Reasons to doubt all numbers. */
static void tell_doubts(spot_words *w, const spot_background_suite *s)
{
    if (s->inverted)
        spot_words_say(w, "%d of %d masks cover most of the border of their picture: they may be inverted, and then all "
                       "numbers are about the background in place of the object", s->inverted,
                       s->targets + s->small + s->large + s->empty);
    if (s->targets < 100)
        spot_words_say(w, "%d pictures are few: intervals are wide, and matrices are rough", s->targets);
}

/* ---- the suite ---- */

int spot_background_unreal(const spot_background_suite *s)
{
    const size_t blends = (size_t)s->targets * (size_t)s->n;
    int unreal = 0;

    for (size_t i = 0; i < blends; i++) unreal += s->unreal[i];
    return unreal;
}

static void tell_levels(spot_words *w, const spot_background_suite *s)
{
    const size_t blends = (size_t)s->targets * (size_t)s->n;
    int level[256] = { 0 }, levels = 0;

    for (size_t i = 0; i < blends; i++) {
        if (s->keyword[i] < 0) continue;
        level[s->level[i]]++;
        if (s->level[i] >= levels) levels = s->level[i] + 1;
    }
    if (levels < 2) return;
    spot_words_add(w, "Blends by level of their keyword in the ontology: ");
    for (int i = 0; i < levels; i++) spot_words_add(w, "%s%d: %d", i ? ", " : "", i, level[i]);
    spot_words_end(w, ".");
}

static void tell_left_out(spot_words *w, const spot_background_results *r)
{
    const spot_background_suite *s = r->suite;
    int lone = 0;

    if (s->small + s->large + s->empty)
        spot_words_say(w, "%d pictures are left out; empty masks: %d, objects too small: %d, too large: %d",
                       s->small + s->large + s->empty, s->empty, s->small, s->large);
    if (s->with_class)
        spot_words_say(w, "%d backgrounds are left out: they show an object of a class or an excluded keyword", s->with_class);
    if (s->own) spot_words_say(w, "%d times a background was the picture itself and was not taken", s->own);
    for (int i = 0; i < s->classes; i++) lone += r->unit[0].count[SPOT_SET_ORIGINAL][i] == 1;
    if (lone && r->cfg->measure.sets)
        spot_words_say(w, "Classes with one target, and so without a picture of mixed-same: %d", lone);
}

/* Names the models that a reason has; count: with the pictures that their matrices leave out. */
static void tell_which(spot_words *w, const spot_background_results *r, bool (*has)(const spot_background_result *u),
                       const char *reason, bool count)
{
    int n = 0, i = 0;

    for (int u = 0; u < r->units; u++) n += has(&r->unit[u]);
    if (!n) return;
    spot_words_add(w, "%s: ", reason);
    for (int u = 0; u < r->units; u++) {
        if (!has(&r->unit[u])) continue;
        if (!spot_words_next(w, i++, n, NAMED)) break;
        spot_words_add(w, "%s", r->unit[u].name);
        if (count) spot_words_add(w, " %d", r->unit[u].left_out);
    }
    spot_words_end(w, ".");
}

static bool leaves_out(const spot_background_result *u) { return u->left_out > 0; }
static bool is_without_embedding(const spot_background_result *u) { return !u->dim; }

static void tell_suite(spot_words *w, const spot_background_results *r)
{
    const spot_background_suite *s = r->suite;
    const double blends = (double)s->targets * s->n, realness = r->cfg->suite.realness;
    const int unreal = spot_background_unreal(s);

    spot_words_say(w, "%d objects, each before %d backgrounds chosen by \"%s\" from %d different ones: %.0f blends, which "
                   "every model saw. Semantic distance is by %s", s->targets, s->n,
                   spot_background_choice_name(r->cfg->suite.choice), s->backgrounds, blends, s->encoder);
    if (r->cfg->measure.precision != SPOT_FP32)
        spot_words_say(w, "Networks that Spotter runs itself: %s",
                       spot_precision_name((spot_precision)r->cfg->measure.precision));
    tell_left_out(w, r);
    if (!(realness > 0)) spot_words_say(w, "Realness was not tested");
    else spot_words_say(w, "%d of %.0f blends (%.0f %%) are below the realness of %g: no candidate reached it, and the best "
                        "one was taken", unreal, blends, 100 * unreal / blends, realness);
    tell_levels(w, s);
    tell_which(w, r, leaves_out, "Pictures that the matrices leave out, because their distance is beyond the axes or a number "
               "is missing", true);
    tell_which(w, r, is_without_embedding, "One variance matrix instead of four, for want of embeddings", false);
}

/* ---- settings ---- */

static void tell_settings(spot_words *w, const spot_background_results *r)
{
    const spot_background_config *cfg = r->cfg;
    const spot_background_measure *m = &cfg->measure;

    if (cfg->suite.choice != SPOT_SUITE_ONTOLOGY)
        spot_words_say(w, "Backgrounds are chosen by \"%s\"; the paper's choice is \"ontology\"",
                       spot_background_choice_name(cfg->suite.choice));
    if (cfg->suite.n != 32) spot_words_say(w, "%d backgrounds for each picture; the paper has 32", cfg->suite.n);
    spot_words_say(w, "Semantic distance is by %s; the paper's is an ensemble of ViT, CLIP, ResNet and VGG",
                   r->suite->encoder);
    if (!(cfg->suite.realness > 0)) spot_words_say(w, "Realness is not tested; the paper tests it with DreamSim");
    else spot_words_say(w, "Realness is 1 - semantic distance, of %g or more; the paper takes DreamSim and names no threshold",
                        cfg->suite.realness);
    if (m->kernel != 32 || m->sigma != 10)
        spot_words_say(w, "The window of the matrices has %d cells, sigma %g; the paper's main setting is 32 and 10",
                       m->kernel, m->sigma);
    if (m->neighbours != 32)
        spot_words_say(w, "A cell without points takes %d nearest ones; the paper 32", m->neighbours);
    spot_words_say(w, "A matrix has %d x %d cells over distances from 0 to %.3g; the paper names neither", m->grid, m->grid,
                   (double)r->suite->range);
    if (m->top != 3) spot_words_say(w, "%d top neurons; the paper has 3", m->top);
    if (m->confidence) spot_words_say(w, "Confidence is that of the true class; the authors' code takes the greatest");
    spot_words_say(w, "%d levels of the Laplacian pyramids; the paper names no number", m->levels);
    if (cfg->data.part < 100) spot_words_say(w, "%d %% of the pictures", cfg->data.part);
}

spot_status spot_background_tell(spot_ctx *c, spot_background_account *a, const spot_background_results *r)
{
    spot_words *w = &a->summary;

    *a = (spot_background_account){ .r = r };
    if (r->units == 1) {
        tell_order_of_outputs(w, r);
        tell_answer(w, r, &r->summary[0]);
        tell_blending(w, &r->summary[0]);
        tell_accuracy(w, r, &r->summary[0]);
        tell_turned(w, &r->unit[0], &r->summary[0]);
        tell_without_object(w, r, &r->summary[0]);
        tell_classes(w, r, &r->unit[0]);
    } else {
        tell_models(w, r);
        tell_order_of_outputs(w, r);
    }
    tell_doubts(w, r->suite);
    tell_suite(&a->notes, r);
    tell_settings(&a->differs, r);
    if (a->summary.status || a->notes.status || a->differs.status)
        return spot_fail(c, SPOT_NOMEM, "no memory for the sentences of a study");
    return SPOT_OK;
}

void spot_background_account_close(spot_background_account *a)
{
    spot_words_free(&a->summary), spot_words_free(&a->notes), spot_words_free(&a->differs);
}
