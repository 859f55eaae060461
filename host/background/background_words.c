/* background_words.c - the results of a study of backgrounds in sentences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "background/background_study.h"

enum { NAMED = 4 };            /* models or classes that a sentence names */
#define NEARLY 0.9             /* shares above it leave no room for a difference */

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

/* Blending alone lets some of many backgrounds turn an object; those of its own class say how often. */
static void tell_control(spot_words *w, const spot_background_result *u, const spot_background_control *k)
{
    char number[32];

    if (!k->objects) return;
    snprintf(number, sizeof number, k->least < k->most ? "%d to %d" : "%d", k->least, k->most);
    if (k->least == u->n)
        spot_words_add(w, "As many backgrounds of the object's own class, blended in the same way, turn ");
    else
        spot_words_add(w, "Of its own class an object has %s backgrounds; of the %d objects with one or more they turn ",
                       number, k->objects);
    add_share(w, k->own);
    if (k->least < u->n) {
        spot_words_add(w, ", and as many of the suite would turn ");
        add_share(w, k->foreign);
    }
    spot_words_end(w, ".");
    if (k->own.value > NEARLY && k->foreign.value > NEARLY) {
        spot_words_say(w, "So many backgrounds turn nearly every object, whatever their class; the BG-gap, of single ones, "
                       "tells more");
        return;
    }
    if (k->beyond.low > 0) spot_words_add(w, "So foreign backgrounds turn more than blending alone does, by ");
    else if (k->beyond.high < 0) spot_words_add(w, "So foreign backgrounds turn less than those of the own class, by ");
    else spot_words_add(w, "So foreign backgrounds are not shown to turn more than blending alone does: the difference is ");
    add_points(w, k->beyond);
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
    tell_control(w, u, &m->control);
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

static void tell_noise(spot_words *w, const spot_background_summary *m)
{
    if (isnan(m->accuracy[SPOT_SET_NOISE_FG].value)) return;
    spot_words_add(w, "With noise on the object alone it is right on ");
    add_share(w, m->accuracy[SPOT_SET_NOISE_FG]);
    spot_words_add(w, ", with noise on the background alone on ");
    add_share(w, m->accuracy[SPOT_SET_NOISE_BG]);
    if (!isnan(m->rfs.value)) spot_words_add(w, "; relative foreground sensitivity %.2f", m->rfs.value);
    if (!isnan(m->rfs.low)) spot_words_add(w, " (%.2f to %.2f)", m->rfs.low, m->rfs.high);
    spot_words_end(w, ".");
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

/* The models that foreign backgrounds turn more often than those of the objects' own class. */
static void tell_controls(spot_words *w, const spot_background_results *r, ranked *v)
{
    const int n = r->units;
    int known = 0, above = 0;

    for (int u = 0; u < n; u++) {
        const spot_interval beyond = r->summary[u].control.beyond;
        known += !isnan(beyond.value), above += beyond.low > 0;
        v[u] = (ranked){ beyond.value, u };
    }
    if (!known) return;
    qsort(v, (size_t)n, sizeof *v, by_value);
    spot_words_say(w, "%d of %d models are turned by foreign backgrounds beyond chance more often than by as many of the "
                   "object's own class; the most, in percentage points, %.1f of %s, the least %.1f of %s", above, known,
                   100 * v[0].value, r->unit[v[0].index].name, 100 * v[known - 1].value, r->unit[v[known - 1].index].name);
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
    tell_controls(w, r, v);
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

/* ---- all ---- */

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
        tell_noise(w, &r->summary[0]);
        tell_classes(w, r, &r->unit[0]);
    } else {
        tell_models(w, r);
        tell_order_of_outputs(w, r);
    }
    tell_doubts(w, r->suite);
    spot_background_tell_suite(&a->notes, r);
    spot_background_tell_settings(&a->differs, r);
    if (a->summary.status || a->notes.status || a->differs.status)
        return spot_fail(c, SPOT_NOMEM, "no memory for the sentences of a study");
    return SPOT_OK;
}

void spot_background_account_close(spot_background_account *a)
{
    spot_words_free(&a->summary), spot_words_free(&a->notes), spot_words_free(&a->differs);
}
