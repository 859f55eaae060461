/* verdict_forest.c - the forest that is trained on labels, and its verdicts with their reasons (paper 003, 5.3 and C3). */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/verdict/verdict_reach.h"
#include "background/verdict/verdict_rows.h"
#include "spotter/verdict.h"

#define MEASURED "; measured: "
#define SUITE    "; suite: "

/* ---- training ---- */

static spot_status name_forest(spot_ctx *c, spot_forest *f, const spot_verdict_table *t, const spot_verdict_labels *l)
{
    char names[SPOT_VERDICT_FEATURES][64], about[1400];
    const char *feature[SPOT_VERDICT_FEATURES], *label[SPOT_BACKGROUND_LABELS];

    for (int i = 0; i < t->features; i++) feature[i] = spot_verdict_feature_name(names[i], i);
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) label[k] = spot_background_label_name(k);
    snprintf(about, sizeof about,
             "trained on %d models (%d invariant, %d borderline, %d variant; %s)" MEASURED "%s" SUITE "%s",
             l->labelled, l->count[SPOT_INVARIANT], l->count[SPOT_BORDERLINE], l->count[SPOT_VARIANT], l->source, t->measured,
             t->suite);
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
    if (s == SPOT_OK) s = spot_forest_keep(c, f, &rows, r.accuracy, r.group, r.groups, &cfg);
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
        !f->about || !strstr(f->about, MEASURED) || !f->kept.rows ||
        (f->features != SPOT_BACKGROUND_FEATURES && f->features != SPOT_VERDICT_FEATURES))
        return spot_fail(c, SPOT_INPUT, "%s: a forest of %d features and %d classes, not one that spotter verdict --train made",
                         name, f->features, f->classes);
    for (int k = 0; k < f->classes; k++)
        if (strcmp(f->class_name[k], spot_background_label_name(k)))
            return spot_fail(c, SPOT_INPUT, "%s: class %d is \"%.40s\", not \"%s\"", name, k, f->class_name[k],
                             spot_background_label_name(k));
    for (int i = 0; i < f->features; i++)
        if (strcmp(f->feature_name[i], spot_verdict_feature_name(wanted, i)))
            return spot_fail(c, SPOT_INPUT, "{verdict.feature} %s: feature %d is \"%.40s\", not \"%s\"", name, i,
                             f->feature_name[i], wanted);
    return SPOT_OK;
}

spot_status spot_verdict_forest_open(spot_ctx *c, spot_forest *f, const char *path)
{
    const char *name = *path ? path : "the forest of this build";
    spot_status s;

    *f = (spot_forest){ 0 };
    if (!*path && !spot_default_forest_size)
        return spot_fail(c, SPOT_INPUT, "{verdict.no_forest} this build of Spotter has no forest of its own: train one with "
                         "spotter verdict --train");
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
        return spot_fail(c, SPOT_INPUT, "{verdict.features} the forest was trained on %d features and the models have %d: a "
                         "forest of models %s embeddings says nothing about models %s", f->features, t->features,
                         f->features > t->features ? "with" : "without", f->features > t->features ? "without" : "with");
    if (strcmp(measured, t->measured))
        return spot_fail(c, SPOT_INPUT, "{verdict.matrices} the forest was trained on matrices of %s; these are of %s: run "
                         "spotter background with its settings, or train a forest on yours", measured, t->measured);
    return SPOT_OK;
}

/* How many models of the training got such a vote from forests that did not see them, and for how many it was right. */
static spot_verdict_sure sureness_of(const spot_forest *f, double vote)
{
    const int step = spot_verdict_vote_step(vote);
    spot_verdict_sure sure = { 0 };

    for (int i = 0; i < f->kept.rows; i++) {
        const double *own = f->kept.share + (size_t)i * SPOT_BACKGROUND_LABELS;
        uint8_t label;
        spot_forest_classes(&label, own, 1, SPOT_BACKGROUND_LABELS);
        if (spot_verdict_vote_step(own[label]) != step) continue;
        sure.models++;
        sure.right += label == f->kept.cls[i];
    }
    return sure;
}

static bool is_kept(const spot_forest *f, const float *row)
{
    const size_t features = (size_t)f->features;

    for (int i = 0; i < f->kept.rows; i++)
        if (!memcmp(f->kept.x + (size_t)i * features, row, features * sizeof *row)) return true;
    return false;
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

/* Judges row i of x, whose shares and explanation are given. */
static void judge_row(spot_model_verdict *v, const spot_forest *f, const float *row, const double *share, const double *value)
{
    uint8_t label;

    v->known = is_kept(f, row);
    if (!v->reach.within) return;
    spot_forest_classes(&label, share, 1, SPOT_BACKGROUND_LABELS);
    v->label = label;
    memcpy(v->share, share, sizeof v->share);
    v->sure = sureness_of(f, share[label]);
    find_reasons(v, row, value, f->features);
}

/* share: (models, labels); value: (models, features, labels) */
static spot_status judge_rows(spot_ctx *c, spot_model_verdict *verdict, const spot_forest *f, const spot_verdict_table *t,
                              spot_mat x, double *share, double *value)
{
    const spot_reach_models of = { f->kept.rows, f->features, f->kept.x, f->kept.aside, f->kept.group };
    const size_t features = (size_t)x.cols;
    double base[SPOT_BACKGROUND_LABELS];
    spot_verdict_reach *reach;

    SPOT_TRY(spot_forest_shares(c, f, x, 0, share));
    SPOT_TRY(spot_forest_explain(c, f, x, base, value));
    SPOT_TRY(spot_verdict_reach_open(c, &reach, &of));
    for (size_t i = 0; i < (size_t)x.rows; i++) {
        const float *row = x.v + i * features;
        spot_verdict_reach_find(reach, &verdict[i].reach, row, t->model[i].accuracy);
        judge_row(&verdict[i], f, row, share + i * SPOT_BACKGROUND_LABELS, value + i * features * SPOT_BACKGROUND_LABELS);
    }
    spot_verdict_reach_close(reach);
    return SPOT_OK;
}

spot_status spot_verdict_give(spot_ctx *c, spot_model_verdict *verdict, const spot_forest *f, const spot_verdict_table *t)
{
    const size_t n = (size_t)t->models, features = (size_t)t->features;
    float *x = malloc(n * features * sizeof *x + 1);
    double *share = malloc((n + n * features) * SPOT_BACKGROUND_LABELS * sizeof *share + 1);
    spot_status s = check_table(c, f, t);

    for (size_t i = 0; i < n; i++) {
        verdict[i] = (spot_model_verdict){ .label = -1, .share = { NAN, NAN, NAN } };
        if (x) memcpy(x + i * features, t->model[i].feature, features * sizeof *x);
    }
    if (s == SPOT_OK && (!x || !share)) s = spot_fail(c, SPOT_NOMEM, "no memory for the verdicts of %d models", t->models);
    if (s == SPOT_OK && n)
        s = judge_rows(c, verdict, f, t, (spot_mat){ x, t->models, t->features }, share, share + n * SPOT_BACKGROUND_LABELS);
    free(x), free(share);
    return s;
}

spot_verdict_sure spot_verdict_agreement(const spot_model_verdict *v, const spot_verdict_labels *l)
{
    spot_verdict_sure agree = { 0 };

    for (int i = 0; i < l->models; i++) {
        if (l->majority[i] < 0 || v[i].label < 0 || v[i].known) continue;
        agree.models++;
        agree.right += v[i].label == l->majority[i];
    }
    return agree;
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

    for (int i = 0; i < n; i++)
        say(w, "%s%s %.3g (%+.2f)", i ? ", " : speak, spot_verdict_feature_name(name, r[i].feature), r[i].value, r[i].effect);
}

static void say_refusal(words *w, const spot_verdict_distance *d)
{
    char name[64];

    say(w, "the forest has not seen such a model: ");
    if (d->inaccurate)
        say(w, "it is right on %.0f %% of the originals, those of the training are on %.0f %% or more%s", 100 * d->accuracy,
            100 * d->least_accuracy, d->distance > d->limit ? "; " : "");
    if (!(d->distance > d->limit)) return;
    say(w, "it is %.3g times as far from the nearest models of the training as is usual", d->distance / d->limit);
    for (int i = 0; i < d->oddities; i++) {
        const spot_verdict_oddity *o = &d->oddity[i];
        say(w, "%s%s %.3g (%s%.3g", i ? ", " : ", most by ", spot_verdict_feature_name(name, o->feature), o->value,
            i ? "" : "they have ", o->least);
        if (o->most > o->least) say(w, " to %.3g", o->most);
        say(w, ")");
    }
}

const char *spot_verdict_words(char *text, size_t size, const spot_model_verdict *v)
{
    words w = { text, size, 0 };

    if (v->label < 0) {
        say(&w, "no verdict: ");
        say_refusal(&w, &v->reach);
        return text;
    }
    say(&w, "%s, with %.0f %% of the vote", spot_background_label_name(v->label), 100 * v->share[v->label]);
    if (v->known) say(&w, " (the forest was trained on this very model)");
    else if (v->sure.models)
        say(&w, " (such votes were right for %d of %d models not trained on)", v->sure.right, v->sure.models);
    say_reasons(&w, v->reason, v->reasons, "; for it: ");
    say_reasons(&w, v->objection, v->objections, "; against it: ");
    return text;
}
