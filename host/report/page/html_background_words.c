/* html_background_words.c - the results of a background run in sentences. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure/figures_background.h"
#include "report/page/html_background.h"

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

__attribute__((format(printf, 2, 3)))
static void add_words(spot_text *t, const char *fmt, ...)
{
    char text[700];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    spot_text_adds(t, text);
}

/* Ends the sentence and adds it to the open array. */
static void end_sentence(spot_background_page *w, spot_text *t)
{
    spot_text_add(t, ".", 2);
    if (t->status) w->p->blocks.status = t->status;
    else spot_page_text(w->p, NULL, t->bytes);
    spot_text_free(t);
}

/* "a (45 %), b (31 %) and 3 more" of n ranked ones, those with a number. */
static void name_ranked(spot_text *t, const ranked *v, int n, const char *(*name)(const spot_background_page *, int),
                        const spot_background_page *w)
{
    int some = 0;

    while (some < n && !isnan(v[some].value)) some++;
    for (int i = 0; i < some && i < NAMED; i++) {
        add_words(t, "%s", i ? i == some - 1 ? " and " : ", " : "");
        spot_text_adds(t, name(w, v[i].index));
        add_words(t, " (%.0f %%)", 100 * v[i].value);
    }
    if (some > NAMED) add_words(t, " and %d more", some - NAMED);
}

static const char *model_name(const spot_background_page *w, int u) { return w->r->unit[u].name; }

/* ---- one model ---- */

static void add_share(spot_text *t, spot_interval v)
{
    add_words(t, "%.1f %%", 100 * v.value);
    if (isfinite(v.low)) add_words(t, " (%.1f to %.1f)", 100 * v.low, 100 * v.high);
}

/* "4.7 percentage points (1.2 to 8.3)" */
static void add_points(spot_text *t, spot_interval v)
{
    add_words(t, "%.1f percentage points (%.1f to %.1f)", 100 * v.value, 100 * v.low, 100 * v.high);
}

/* The answer to the page's title. It comes first, unless the numbers themselves are in doubt. */
static void tell_answer(spot_background_page *w, const spot_background_summary *m)
{
    const int classes = w->r->suite->classes;
    const spot_interval right = m->accuracy[SPOT_SET_ORIGINAL];
    spot_text t = { 0 };

    if (classes > 1 && !(right.low > 1.0 / classes))
        add_words(&t, "No answer: the model is not shown to be better on the original pictures than a guess among %d classes, "
                  "so a background has little to take", classes);
    else if (m->lost.low > 0) {
        add_words(&t, "Yes: other backgrounds cost the model ");
        add_points(&t, m->lost);
        add_words(&t, " of accuracy%s", m->gap.low > 0 ? ", and a background of the object's own class helps it"
                                        : isnan(m->gap.value) ? "" : ", whichever class they belong to");
    } else if (m->gap.low > 0)
        add_words(&t, "Yes: a background of the object's own class helps the model beyond chance, though the suite costs it "
                  "nothing that is shown");
    else {
        add_words(&t, "No loss of accuracy is shown: other backgrounds cost the model ");
        add_points(&t, m->lost);
        if (m->turned.value > 0) add_words(&t, ", but one or more of them turn %.0f %% of the objects that it recognises",
                                           100 * m->turned.value);
    }
    end_sentence(w, &t);
}

/* Names the models whose outputs may stand in another order than the classes. */
static void tell_order_of_outputs(spot_background_page *w)
{
    for (int u = 0; u < w->r->units; u++) {
        spot_text t = { 0 };
        if (isnan(w->r->summary[u].reordered)) continue;
        add_words(&t, "The outputs of ");
        spot_text_adds(&t, w->r->unit[u].name);
        add_words(&t, " may stand in another order than the classes: in that order %.1f %% of the original pictures would be "
                  "right, now %.1f %%. The setting models[].classes, or --classes, names the outputs",
                  100 * w->r->summary[u].reordered, 100 * w->r->summary[u].accuracy[SPOT_SET_ORIGINAL].value);
        end_sentence(w, &t);
    }
}

static void tell_accuracy(spot_background_page *w, const spot_background_summary *m)
{
    spot_text t = { 0 };

    add_words(&t, "The model is right on ");
    add_share(&t, m->accuracy[SPOT_SET_ORIGINAL]);
    add_words(&t, " of the %d original pictures, and with other backgrounds on ", w->r->suite->targets);
    add_share(&t, m->accuracy[SPOT_SET_SUITE]);
    end_sentence(w, &t);
}

static void tell_turned(spot_background_page *w, const spot_background_result *u, const spot_background_summary *m)
{
    int right = 0, turned = 0;
    spot_text t = { 0 };

    for (int k = 0; k < u->classes; k++) right += u->right[SPOT_SET_ORIGINAL][k], turned += u->turned[k];
    if (!right) return;
    if (u->n == 1)
        add_words(&t, "Another background turns %d of the %d objects that it recognises in the original picture: ", turned,
                  right);
    else
        add_words(&t, "Of %d objects that it recognises in the original picture, one or more of %d backgrounds turn %d: ",
                  right, u->n, turned);
    add_share(&t, m->turned);
    end_sentence(w, &t);
}

static void tell_gap(spot_background_page *w, const spot_background_summary *m)
{
    spot_text t = { 0 };

    if (isnan(m->gap.value)) return;
    add_words(&t, "The BG-gap is ");
    add_points(&t, m->gap);
    add_words(&t, ": %s", m->gap.low > 0
              ? "beyond chance, a background of the object's own class helps the model more than any other background"
              : m->gap.high < 0 ? "beyond chance, a background of the object's own class helps less than any other background"
              : "no difference beyond chance between backgrounds of the object's own class and of any class");
    end_sentence(w, &t);
}

/* Without the object only the background and the outline are left. */
static void tell_without_object(spot_background_page *w, const spot_background_summary *m)
{
    const spot_interval v = m->accuracy[SPOT_SET_NO_FG];
    const double chance = 1.0 / w->r->suite->classes;
    spot_text t = { 0 };

    if (isnan(v.value) || w->r->suite->classes < 2) return;
    add_words(&t, "With the object painted black it still names the class of ");
    add_share(&t, v);
    add_words(&t, v.low > chance ? ", more than a guess among %d classes would (%.1f %%)"
                                 : "; a guess among %d classes is right on %.1f %%", w->r->suite->classes, 100 * chance);
    end_sentence(w, &t);
}

/* Ranked by the low end of the interval, so that 9 of 10 comes before 1 of 1. */
static void tell_classes(spot_background_page *w, const spot_background_result *u)
{
    ranked *v = malloc(((size_t)u->classes + 1) * sizeof *v);
    spot_text t = { 0 };
    int n = 0;

    if (!v) { w->p->blocks.status = SPOT_NOMEM; return; }
    for (int k = 0; k < u->classes; k++)
        if (u->turned[k]) v[n++] = (ranked){ spot_share_of(u->turned[k], u->right[SPOT_SET_ORIGINAL][k]).low, k };
    qsort(v, (size_t)n, sizeof *v, by_value);
    if (n > 1) {
        add_words(&t, "Backgrounds turn these classes most: ");
        for (int i = 0; i < n && i < NAMED; i++) {
            add_words(&t, "%s", i ? i == n - 1 ? " and " : ", " : "");
            spot_text_adds(&t, w->r->suite->class_name[v[i].index]);
            add_words(&t, " (%d of %d)", u->turned[v[i].index], u->right[SPOT_SET_ORIGINAL][v[i].index]);
        }
        if (n > NAMED) add_words(&t, " and %d more", n - NAMED);
        end_sentence(w, &t);
    }
    free(v);
}

/* ---- several models ---- */

static void tell_order(spot_background_page *w, ranked *v, const char *words)
{
    const int n = w->r->units;
    spot_text t = { 0 };

    qsort(v, (size_t)n, sizeof *v, by_value);
    if (isnan(v[0].value)) return;
    add_words(&t, "%s", words);
    name_ranked(&t, v, n, model_name, w);
    end_sentence(w, &t);
}

static void tell_costs(spot_background_page *w, ranked *v)
{
    const int n = w->r->units;
    int costly = 0;
    spot_text t = { 0 };

    for (int u = 0; u < n; u++) {
        costly += w->r->summary[u].lost.low > 0;
        v[u] = (ranked){ w->r->summary[u].lost.value, u };
    }
    qsort(v, (size_t)n, sizeof *v, by_value);
    add_words(&t, "Other backgrounds cost %d of %d models accuracy beyond chance; the most, in percentage points, ", costly, n);
    spot_text_adds(&t, model_name(w, v[0].index));
    add_words(&t, " (%.1f), the least ", 100 * v[0].value);
    spot_text_adds(&t, model_name(w, v[n - 1].index));
    add_words(&t, " (%.1f)", 100 * v[n - 1].value);
    end_sentence(w, &t);
}

static void tell_models(spot_background_page *w)
{
    const int n = w->r->units;
    ranked *v = malloc((size_t)n * sizeof *v);
    int with = 0, beyond = 0;
    spot_text t = { 0 };

    if (!v) { w->p->blocks.status = SPOT_NOMEM; return; }
    tell_costs(w, v);
    for (int u = 0; u < n; u++) v[u] = (ranked){ w->r->summary[u].turned.value, u };
    tell_order(w, v, "Models by the share of recognised objects that some background turns, most first: ");
    for (int u = 0; u < n; u++) v[u] = (ranked){ w->r->summary[u].accuracy[SPOT_SET_ORIGINAL].value, u };
    tell_order(w, v, "Models by accuracy on the original pictures, best first: ");
    for (int u = 0; u < n; u++) {
        with += !isnan(w->r->summary[u].gap.value), beyond += w->r->summary[u].gap.low > 0;
        v[u] = (ranked){ w->r->summary[u].gap.value, u };
    }
    if (with) {
        qsort(v, (size_t)n, sizeof *v, by_value);
        add_words(&t, "The BG-gap is above 0 beyond chance for %d of %d models", beyond, with);
        if (beyond) {
            add_words(&t, "; the largest, in percentage points, is %.1f of ", 100 * v[0].value);
            spot_text_adds(&t, model_name(w, v[0].index));
        }
        end_sentence(w, &t);
    }
    free(v);
}

/* ---- the suite ---- */

static void tell_suite(spot_background_page *w)
{
    const spot_background_suite *s = w->r->suite;
    const int out = s->small + s->large + s->empty;
    spot_text t = { 0 };

    if (s->inverted) {
        add_words(&t, "%d of %d masks cover most of the border of their picture: they may be inverted, and then all numbers "
                  "are about the background in place of the object", s->inverted, s->targets + out);
        end_sentence(w, &t);
    }
    if (s->targets < 100) {
        add_words(&t, "%d pictures are few: intervals are wide, and matrices are rough", s->targets);
        end_sentence(w, &t);
    }
}

/* ---- settings ---- */

static void tell_settings(spot_background_page *w)
{
    const spot_background_config *cfg = w->r->cfg;
    const spot_background_measure *m = &cfg->measure;
    spot_page *p = w->p;

    spot_json_array(p->at, "differs", 0, 0);
    if (cfg->suite.choice != SPOT_SUITE_ONTOLOGY)
        spot_page_print(p, NULL, "backgrounds are chosen by \"%s\"; the paper's choice is \"ontology\"",
                        spot_background_choice_name(cfg->suite.choice));
    if (cfg->suite.n != 32) spot_page_print(p, NULL, "%d backgrounds for each picture; the paper has 32", cfg->suite.n);
    spot_page_print(p, NULL, "semantic distance is by %s; the paper's is an ensemble of ViT, CLIP, ResNet and VGG",
                    w->r->suite->encoder);
    if (!(cfg->suite.realness > 0)) spot_page_text(p, NULL, "realness is not tested; the paper tests it with DreamSim");
    else spot_page_print(p, NULL, "realness is 1 - semantic distance, of %g or more; the paper takes DreamSim and names no "
                         "threshold",
                         cfg->suite.realness);
    if (m->kernel != 32 || m->sigma != 10)
        spot_page_print(p, NULL, "the window of the matrices has %d cells, sigma %g; the paper's main setting is 32 and 10",
                        m->kernel, m->sigma);
    if (m->neighbours != 32) spot_page_print(p, NULL, "a cell without points takes %d nearest ones; the paper 32",
                                             m->neighbours);
    spot_page_print(p, NULL, "a matrix has %d x %d cells over distances from 0 to %.3g; the paper names neither", m->grid,
                    m->grid, (double)w->r->suite->range);
    if (m->top != 3) spot_page_print(p, NULL, "%d top neurons; the paper has 3", m->top);
    if (m->confidence) spot_page_text(p, NULL, "confidence is that of the true class; the authors' code takes the greatest");
    spot_page_print(p, NULL, "%d levels of the Laplacian pyramids; the paper names no number", m->levels);
    if (cfg->data.part < 100) spot_page_print(p, NULL, "%d %% of the pictures", cfg->data.part);
    spot_json_end(p->at);
}

void spot_background_page_words(spot_background_page *w)
{
    spot_json_array(w->p->at, "summary", 0, 0);
    if (w->r->units == 1) {
        tell_order_of_outputs(w);
        tell_answer(w, &w->r->summary[0]);
        tell_accuracy(w, &w->r->summary[0]);
        tell_turned(w, &w->r->unit[0], &w->r->summary[0]);
        tell_gap(w, &w->r->summary[0]);
        tell_without_object(w, &w->r->summary[0]);
        tell_classes(w, &w->r->unit[0]);
    } else {
        tell_models(w);
        tell_order_of_outputs(w);
    }
    tell_suite(w);
    spot_json_end(w->p->at);
    tell_settings(w);
}
