/* html_shifts_words.c - the results of a study of shifts in sentences. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/statistics.h"
#include "report/figure/figures_shifts.h"
#include "report/page/html_shifts.h"

enum { NAMED = 5 };            /* shifts that a sentence names */

#define PAPER_ENCODER "open_clip ViT-H-14 laion2b_s32b_b79k"

typedef struct { spot_page *p; const spot_shifts_results *r; int source; const spot_shift_estimates *e; } words;

static const char *shift_name(const words *w, int s) { return w->r->cfg->shift[s].name; }

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

/* "a (0.45), b (0.31) and 3 more"; the first n of order. */
static void name_shifts(spot_text *t, const words *w, const int *order, int n, const double *value, const char *format)
{
    char text[64];

    for (int i = 0; i < n && i < NAMED; i++) {
        spot_text_adds(t, i ? i == n - 1 ? " and " : ", " : "");
        spot_text_adds(t, shift_name(w, order[i]));
        snprintf(text, sizeof text, format, value[order[i]]);
        spot_text_adds(t, text);
    }
    if (n <= NAMED) return;
    snprintf(text, sizeof text, " and %d more", n - NAMED);
    spot_text_adds(t, text);
}

static void end_sentence(words *w, spot_text *t)
{
    spot_text_add(t, ".", 2);
    spot_page_text(w->p, NULL, t->status ? NULL : t->bytes);
    spot_text_free(t);
}

__attribute__((format(printf, 2, 3)))
static void begin_sentence(spot_text *t, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    spot_text_adds(t, text);
}

/* The first n of order become those whose numbers pass; returns n. */
typedef bool is_wanted(const spot_shift_estimate *e);

static int choose(int *order, const words *w, is_wanted *wanted)
{
    int n = 0;

    for (int i = 0; i < w->e->shifts; i++)
        if (wanted(&w->e->shift[order[i]])) order[n++] = order[i];
    return n;
}

static bool costs(const spot_shift_estimate *e) { return e->impact.low > 0; }
static bool helps(const spot_shift_estimate *e) { return e->impact.high < 0; }
static bool is_flat(const spot_shift_estimate *e) { return e->slope.high < 1; }
static bool is_steep(const spot_shift_estimate *e) { return e->slope.low > 1; }

static void tell(words *w, const double *key, is_wanted *wanted, const char *some, const char *none, const char *format)
{
    int order[SPOT_MAX_SHIFTS], n;
    spot_text t = { 0 };

    sort_shifts(order, key, w->e->shifts);
    n = choose(order, w, wanted);
    if (!n && !none) return;
    begin_sentence(&t, "%s", n ? some : none);
    if (n) name_shifts(&t, w, order, n, key, format);
    end_sentence(w, &t);
}

static void tell_impact(words *w)
{
    double impact[SPOT_MAX_SHIFTS], gain[SPOT_MAX_SHIFTS], slope[SPOT_MAX_SHIFTS];

    for (int s = 0; s < w->e->shifts; s++) {
        impact[s] = 100 * w->e->shift[s].impact.value, gain[s] = -impact[s];
        slope[s] = w->e->shift[s].slope.value;
    }
    tell(w, impact, costs, "Accuracy falls beyond chance, most first (percentage points): ",
         "No shift costs accuracy beyond chance", " (%.0f)");
    tell(w, gain, helps, "Accuracy rises beyond chance: ", NULL, " (%.0f)");
    tell(w, slope, is_steep, "A gain on base pictures is larger on the shift (slope above 1 beyond chance): ", NULL, " (%.2f)");
    tell(w, slope, is_flat, "A gain on base pictures arrives only in part (slope below 1 beyond chance): ",
         "No slope is below 1 beyond chance", " (%.2f)");
}

/* ---- differences ---- */

static void tell_differences(words *w, const spot_shift_difference *d, int pairs, bool categories)
{
    const spot_shift_difference *most = NULL;
    spot_text t = { 0 };
    int n = 0;

    for (int i = 0; i < pairs; i++) {
        if (!spot_is_significant(d[i].slope_p, SPOT_LEVEL)) continue;
        n++;
        if (!most || fabs(d[i].slope.value) > fabs(most->slope.value)) most = &d[i];
    }
    if (!pairs) return;
    if (!n)
        begin_sentence(&t, "No two of the slopes of %s differ beyond chance (%d pair%s)", categories ? "categories" : "shifts",
                       pairs,
                       pairs == 1 ? "" : "s");
    else
        begin_sentence(&t, "Slopes of %d of %d pair%s of %s differ beyond chance, most %s and %s (%+.2f)", n, pairs,
                       pairs == 1 ? "" : "s",
                       categories ? "categories" : "shifts", categories ? w->r->category[most->a] : shift_name(w, most->a),
                       categories ? w->r->category[most->b] : shift_name(w, most->b), most->slope.value);
    end_sentence(w, &t);
}

/* ---- what was lost ---- */

static bool has_lost(const spot_shift_estimate *e) { return e->lost + e->few > 0; }

static void tell_lost(words *w)
{
    const int classes = w->r->unit[0].classes;
    double lost[SPOT_MAX_SHIFTS];
    char text[200];

    for (int s = 0; s < w->e->shifts; s++) lost[s] = w->e->shift[s].lost + w->e->shift[s].few;
    snprintf(text, sizeof text, "Classes that do not count because fewer than %d pictures are left, of %d: ",
             w->r->cfg->evaluation.rule.least,
             classes);
    tell(w, lost, has_lost, text, "No class is lost", " (%.0f)");
}

static void tell_confounded(words *w)
{
    const spot_shift_source_result *v = &w->r->source[w->source];
    spot_text t = { 0 };
    char text[400];
    int n = 0;

    for (int i = 0; i < v->gaps; i++) n += v->gap[i].confounded;
    if (!v->gaps) return;
    if (!n) begin_sentence(&t, "No class of base pictures is harder than its real pictures beyond chance and beyond the other "
                           "classes");
    else {
        begin_sentence(&t, "%d of %d classes of base pictures %s real pictures beyond chance and beyond the other classes: ", n,
                       v->gaps, n == 1 ? "is harder than its" : "are harder than their");
        for (int i = 0, k = 0; i < v->gaps; i++) {
            const spot_shift_gap *g = &v->gap[i];
            if (!g->confounded || k == NAMED) continue;
            snprintf(text, sizeof text, "%s%s (%.0f %% against %.0f %%)", k++ ? ", " : "", w->r->unit[0].class_name[g->cls],
                     100 * g->base,
                     100 * g->real);
            spot_text_adds(&t, text);
        }
        spot_text_adds(&t, ". The source may change more than it says");
    }
    end_sentence(w, &t);
}

/* ---- settings ---- */

static void tell_settings(spot_page *p, const spot_shifts_results *r)
{
    const spot_shifts_config *cfg = r->cfg;
    const spot_shift_rule *rule = &cfg->evaluation.rule;
    const char *encoder = spot_shift_encoder_name(r);
    int open = 0;

    for (int s = 0; s < cfg->shifts; s++) open += cfg->shift[s].threshold <= -1;
    spot_json_array(p->at, "differs", 0, 0);
    if (!*encoder) spot_page_print(p, NULL, "%s", cfg->filter.masks[0] ? "pictures are kept by masks from a file"
                                   : "pictures are not filtered");
    else if (strcmp(encoder, PAPER_ENCODER)) spot_page_print(p, NULL, "the encoder is %s; the paper's is " PAPER_ENCODER,
                                                             encoder);
    if (*encoder && open) spot_page_print(p, NULL, "%d of %d shifts have no threshold: all their pictures pass the caption of "
                                          "the shift", open,
                                          cfg->shifts);
    if (*encoder && cfg->filter.percentile != 20)
        spot_page_print(p, NULL, "the threshold of a class is percentile %g of its real pictures; the paper's is 20",
                        cfg->filter.percentile);
    if (!cfg->filter.base) spot_page_text(p, NULL, "base pictures are not filtered");
    if (cfg->filter.style != SPOT_STYLE_PAPER)
        spot_page_text(p, NULL, "styles are compared with \"a photo of a <class>\", as the released masks; the paper says \"a "
                       "<class>\"");
    if (rule->least != 5) spot_page_print(p, NULL, "a class counts from %d pictures on; in the paper from 5", rule->least);
    if (rule->axes != SPOT_AXES_LINEAR)
        spot_page_print(p, NULL, "the fit is on axes of %s; the paper names no transform", rule->axes == SPOT_AXES_PROBIT
                        ? "probit" : "logit");
    spot_page_print(p, NULL, "intervals are from %d draws of a bootstrap over classes and models; the paper gives none",
                    rule->draws);
    spot_json_end(p->at);
}

void spot_page_summary(spot_page *p, const spot_shifts_results *r)
{
    spot_json_array(p->at, "summary", 0, 0);
    for (int v = 0; v < r->sources; v++) {
        const spot_shift_estimates *e = &r->source[v].set[spot_shift_compared(r, v)];
        words w = { p, r, v, e };
        spot_json_array(p->at, NULL, 0, 0);
        if (r->cfg->models) {
            tell_impact(&w);
            tell_differences(&w, e->between, e->shifts * (e->shifts - 1) / 2, false);
            tell_differences(&w, e->across, e->categories * (e->categories - 1) / 2, true);
            tell_lost(&w);
            tell_confounded(&w);
        }
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
    tell_settings(p, r);
}
