/* verdict_forest.c - the forest that is trained on labels, and its verdicts with their reasons (paper 003, 5.3 and C3). */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/verdict_rows.h"
#include "spotter/verdict.h"

#define MEASURED "; measured: "
#define SUITE    "; suite: "
#define KEY      "; key: "

/* ---- training ---- */

static spot_status name_forest(spot_ctx *c, spot_forest *f, const spot_verdict_table *t, const spot_verdict_labels *l)
{
    char names[SPOT_VERDICT_FEATURES][64], about[1400], key[33];
    const char *feature[SPOT_VERDICT_FEATURES], *label[SPOT_BACKGROUND_LABELS];

    for (int i = 0; i < t->features; i++) feature[i] = spot_verdict_feature_name(names[i], i);
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) label[k] = spot_background_label_name(k);
    spot_verdict_table_key(key, t);
    snprintf(about, sizeof about,
             "trained on %d models (%d invariant, %d borderline, %d variant; %s)" MEASURED "%s" SUITE "%s" KEY "%s",
             l->labelled, l->count[SPOT_INVARIANT], l->count[SPOT_BORDERLINE], l->count[SPOT_VARIANT], l->source, t->measured,
             t->suite, key);
    return spot_forest_name(c, f, feature, label, about);
}

spot_status spot_verdict_train(spot_ctx *c, spot_forest *f, const spot_verdict_table *t, const spot_verdict_labels *l,
                               uint64_t seed)
{
    const spot_forest_config cfg = spot_forest_defaults(SPOT_FOREST_BAGGED);
    spot_verdict_rows r;
    spot_status s = spot_verdict_rows_take(c, &r, t, l);
    const spot_forest_rows rows = { .x = { r.x, r.n, t->features }, .y = r.y, .classes = SPOT_BACKGROUND_LABELS,
                                    .seed = { seed, 0 } };

    *f = (spot_forest){ 0 };
    if (s == SPOT_OK) s = spot_forest_fit(c, 1, f, &rows, &cfg);
    if (s == SPOT_OK) s = name_forest(c, f, t, l);
    if (s != SPOT_OK) spot_forest_close(f);
    spot_verdict_rows_free(&r);
    return s;
}

/* ---- opening ---- */

static spot_status check_forest(spot_ctx *c, const spot_forest *f, const char *name)
{
    char wanted[64];

    if (f->profile != SPOT_FOREST_BAGGED || f->classes != SPOT_BACKGROUND_LABELS || !f->feature_name || !f->class_name ||
        !f->about || !strstr(f->about, MEASURED) ||
        (f->features != SPOT_BACKGROUND_FEATURES && f->features != SPOT_VERDICT_FEATURES))
        return spot_fail(c, SPOT_INPUT, "%s: a forest of %d features and %d classes, not one that spotter verdict --train made",
                         name, f->features, f->classes);
    for (int k = 0; k < f->classes; k++)
        if (strcmp(f->class_name[k], spot_background_label_name(k)))
            return spot_fail(c, SPOT_INPUT, "%s: class %d is \"%.40s\", not \"%s\"", name, k, f->class_name[k],
                             spot_background_label_name(k));
    for (int i = 0; i < f->features; i++)
        if (strcmp(f->feature_name[i], spot_verdict_feature_name(wanted, i)))
            return spot_fail(c, SPOT_INPUT, "%s: feature %d is \"%.40s\", not \"%s\"", name, i, f->feature_name[i], wanted);
    return SPOT_OK;
}

spot_status spot_verdict_forest_open(spot_ctx *c, spot_forest *f, const char *path)
{
    const char *name = *path ? path : "the forest of this build";
    spot_status s;

    *f = (spot_forest){ 0 };
    if (!*path && !spot_default_forest_size)
        return spot_fail(c, SPOT_INPUT,
                         "this build of Spotter has no forest of its own: train one with spotter verdict --train");
    s = *path ? spot_forest_open(c, f, path) : spot_forest_parse(c, f, spot_default_forest, spot_default_forest_size, name);
    if (s == SPOT_OK) s = check_forest(c, f, name);
    if (s != SPOT_OK) spot_forest_close(f);
    return s;
}

/* ---- verdicts ---- */

/* Copies what stands between `from` and the next "; " or the end. */
static void copy_fact(char *to, size_t size, const char *about, const char *from)
{
    const char *at = strstr(about, from), *end;

    *to = 0;
    if (!at) return;
    at += strlen(from);
    end = strstr(at, "; ");
    snprintf(to, size, "%.*s", (int)(end ? end - at : (ptrdiff_t)strlen(at)), at);
}

static spot_status check_table(spot_ctx *c, const spot_forest *f, const spot_verdict_table *t)
{
    char measured[256];

    copy_fact(measured, sizeof measured, f->about, MEASURED);
    if (f->features != t->features)
        return spot_fail(c, SPOT_INPUT, "the forest was trained on %d features and the models have %d: a forest of models %s "
                         "embeddings says nothing about models %s", f->features, t->features,
                         f->features > t->features ? "with" : "without", f->features > t->features ? "without" : "with");
    if (strcmp(measured, t->measured))
        return spot_fail(c, SPOT_INPUT, "the forest was trained on matrices of %s; these are of %s: run spotter background "
                         "with its settings, or train a forest on yours", measured, t->measured);
    return SPOT_OK;
}

static void mark_outside(spot_model_verdict *v, const spot_forest *f, const float *row)
{
    double most = -1;

    v->farthest = -1;
    for (int i = 0; i < f->features; i++) {
        const double width = (double)f->most[i] - f->least[i];
        const double beyond = row[i] < f->least[i] ? (double)f->least[i] - row[i] : (double)row[i] - f->most[i];
        if (row[i] >= f->least[i] && row[i] <= f->most[i]) continue;
        v->outside++;
        if (!(beyond / width > most)) continue;
        most = beyond / width;
        v->farthest = i, v->value = row[i], v->least = f->least[i], v->most = f->most[i];
    }
}

/* Puts r into the list, which is sorted by |effect|; the first of equals stays first. */
static void add_reason(spot_verdict_reason *list, int *n, spot_verdict_reason r)
{
    int at = *n;

    while (at > 0 && fabs(list[at - 1].effect) < fabs(r.effect)) at--;
    if (at == SPOT_VERDICT_REASONS) return;
    if (*n < SPOT_VERDICT_REASONS) (*n)++;
    for (int i = *n - 1; i > at; i--) list[i] = list[i - 1];
    list[at] = r;
}

/* value: (features, labels) of TreeSHAP */
static void find_reasons(spot_model_verdict *v, const float *row, const double *value, int features)
{
    for (int i = 0; i < features; i++) {
        const spot_verdict_reason r = { i, row[i], value[(size_t)i * SPOT_BACKGROUND_LABELS + (size_t)v->label] };
        if (r.effect > 0) add_reason(v->reason, &v->reasons, r);
        if (r.effect < 0) add_reason(v->objection, &v->objections, r);
    }
}

static spot_status judge_rows(spot_ctx *c, spot_model_verdict *verdict, const spot_forest *f, spot_mat x, double *share,
                              double *value)
{
    double base[SPOT_BACKGROUND_LABELS];

    SPOT_TRY(spot_forest_shares(c, f, x, 0, share));
    SPOT_TRY(spot_forest_explain(c, f, x, base, value));
    for (int i = 0; i < x.rows; i++) {
        spot_model_verdict *v = &verdict[i];
        const float *row = x.v + (size_t)i * (size_t)x.cols;
        const double *own = share + (size_t)i * SPOT_BACKGROUND_LABELS;
        uint8_t label;
        mark_outside(v, f, row);
        if (v->outside) continue;
        spot_forest_classes(&label, own, 1, SPOT_BACKGROUND_LABELS);
        v->label = label;
        memcpy(v->share, own, sizeof v->share);
        find_reasons(v, row, value + (size_t)i * (size_t)x.cols * SPOT_BACKGROUND_LABELS, x.cols);
    }
    return SPOT_OK;
}

spot_status spot_verdict_give(spot_ctx *c, spot_model_verdict *verdict, const spot_forest *f, const spot_verdict_table *t)
{
    const size_t n = (size_t)t->models, features = (size_t)t->features;
    float *x = malloc(n * features * sizeof *x + 1);
    double *share = malloc((n + n * features) * SPOT_BACKGROUND_LABELS * sizeof *share + 1);
    char key[33], trained[64];
    spot_status s = check_table(c, f, t);

    spot_verdict_table_key(key, t);
    copy_fact(trained, sizeof trained, f->about, KEY);
    for (size_t i = 0; i < n; i++) {
        verdict[i] = (spot_model_verdict){ .label = -1, .share = { NAN, NAN, NAN }, .farthest = -1 };
        verdict[i].known = !strcmp(key, trained);
        if (x) memcpy(x + i * features, t->model[i].feature, features * sizeof *x);
    }
    if (s == SPOT_OK && (!x || !share)) s = spot_fail(c, SPOT_NOMEM, "no memory for the verdicts of %d models", t->models);
    if (s == SPOT_OK && n)
        s = judge_rows(c, verdict, f, (spot_mat){ x, t->models, t->features }, share, share + n * SPOT_BACKGROUND_LABELS);
    free(x), free(share);
    return s;
}

/* ---- words ---- */

typedef struct { char *text; size_t size, used; } words;

__attribute__((format(printf, 2, 3)))
static void say(words *w, const char *fmt, ...)
{
    va_list args;
    int n;

    if (w->used >= w->size) return;
    va_start(args, fmt);
    n = vsnprintf(w->text + w->used, w->size - w->used, fmt, args);
    va_end(args);
    w->used = n < 0 || (size_t)n >= w->size - w->used ? w->size : w->used + (size_t)n;
}

static void say_reasons(words *w, const spot_verdict_reason *r, int n, const char *speak)
{
    char name[64];

    for (int i = 0; i < n; i++) {
        say(w, "%s%s %.3g", i ? ", then " : "", spot_verdict_feature_name(name, r[i].feature), r[i].value);
        if (!i) say(w, " %s", speak);
        say(w, " (%+.2f)", r[i].effect);
    }
}

const char *spot_verdict_words(char *text, size_t size, const spot_model_verdict *v)
{
    words w = { text, size, 0 };
    char name[64];

    if (v->label < 0 && v->farthest >= 0) {
        say(&w, "the forest has not seen such a model: %s is %.3g, and the models that it was trained on have %.3g to %.3g",
            spot_verdict_feature_name(name, v->farthest), v->value, v->least, v->most);
        if (v->outside > 1) say(&w, "; %d more features are beyond theirs", v->outside - 1);
        return text;
    }
    if (v->label < 0) return say(&w, "no verdict"), text;
    say(&w, "%s (vote %.2f)%s", spot_background_label_name(v->label), v->share[v->label], v->reasons ? ": " : "");
    say_reasons(&w, v->reason, v->reasons, "speaks most for it");
    if (v->objections) say(&w, "; ");
    say_reasons(&w, v->objection, v->objections, "speaks most against it");
    if (v->known) say(&w, "; the forest was trained on this very model");
    return text;
}
