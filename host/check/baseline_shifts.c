/* baseline_shifts.c - a baseline of a run of shifts: its counts, gathered from the run or read from the file. */
#include "check/baseline.h"
#include "check/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/key.h"
#include "result/columns.h"
#include "spotter/shifts.h"

enum { MOST_CLASSES = 1000000, MOST_FOLDERS = SPOT_MAX_SOURCES * (1 + SPOT_MAX_SHIFTS) };

/* ---- memory ---- */

static bool take_folder(spot_shift_folder *f, int classes, int models)
{
    f->pictures = calloc(2 * (size_t)classes + (size_t)classes * (size_t)models + 1, sizeof *f->pictures);
    if (!f->pictures) return false;
    f->kept = f->pictures + classes;
    f->right = f->kept + classes;
    return true;
}

void spot_baseline_free_shifts(spot_shift_counts *s)
{
    if (!s) return;
    for (int i = 0; s->folder && i < s->folders; i++) free(s->folder[i].pictures);
    free(s->folder);
    free(s->class_name);
    free(s->model);
    free(s->mean);
    free(s);
}

/* ---- the file ---- */

static void names(spot_document *d, const char *key, char **v, int *n, int most, size_t size)
{
    const int have = spot_document_array(d, key, *n, most);

    if (!d->j.gen) {
        *v = spot_document_room(d, have, size);
        *n = *v ? have : 0;
    }
    for (int i = 0; i < *n; i++) spot_document_text_at(d, NULL, key, *v + (size_t)i * size, size);
    spot_json_end(&d->j);
}

static void counts(spot_document *d, const char *key, int *v, int n)
{
    const bool fits = spot_json_array(&d->j, key, n, n + 1) == n;

    spot_document_member(d, key);
    if (fits) spot_document_ints(d, key, n, v, sizeof *v, 0, 1 << 30);
    else {
        spot_document_fault(d, key, "it does not have one member for each class (and model)");
        spot_json_end(&d->j);
    }
}

static void check_folder(spot_document *d, const spot_shift_counts *s, const spot_shift_folder *f)
{
    for (int k = 0; k < s->classes; k++)
        if (f->kept[k] > f->pictures[k]) spot_document_fault(d, f->name, "more pictures are kept than there are");
    for (size_t i = 0; i < (size_t)s->models * (size_t)s->classes; i++)
        if (f->right[i] > f->kept[i % (size_t)s->classes])
            spot_document_fault(d, f->name, "more pictures are right than there are");
}

static void describe_folder(spot_document *d, spot_shift_counts *s, int i)
{
    spot_shift_folder *f = &s->folder[i];

    spot_json_object(&d->j, NULL);
    spot_document_text(d, "name", f->name, sizeof f->name);
    spot_document_int(d, "base", &f->base, -1, MOST_FOLDERS);
    spot_document_text(d, "inputs", f->inputs, sizeof f->inputs);
    if (!d->j.gen && !take_folder(f, s->classes, s->models)) d->full = true;
    if (f->pictures) {
        counts(d, "pictures", f->pictures, s->classes);
        counts(d, "kept", f->kept, s->classes);
        counts(d, "right", f->right, s->models * s->classes);
        check_folder(d, s, f);
    }
    spot_json_end(&d->j);
    if (f->base >= i || (f->base >= 0 && s->folder[f->base].base >= 0))
        spot_document_fault(d, f->name, "its base is no folder of base pictures before it");
    for (int k = 0; k < i; k++)
        if (!strcmp(s->folder[k].name, f->name)) spot_document_fault(d, f->name, "the folder appears twice");
}

/* Ends at the first fault, as the methods of a sweep. */
static void describe_folders(spot_document *d, spot_shift_counts *s)
{
    const int n = spot_document_array(d, "folders", s->folders, MOST_FOLDERS);

    if (!d->j.gen) {
        s->folder = spot_document_room(d, n, sizeof *s->folder);
        s->folders = 0;
    }
    for (int i = 0; i < n && s->folder && !*d->what && !d->full; i++) {
        if (!d->j.gen) s->folders = i + 1;
        describe_folder(d, s, i);
    }
    spot_json_end(&d->j);
    if (!s->folders) spot_document_fault(d, "folders", "there is none");
}

void spot_baseline_describe_shifts(spot_document *d, spot_baseline *b)
{
    spot_shift_counts *s = b->shifts;

    spot_document_int(d, "axes", &s->rule.axes, 0, SPOT_AXES_LOGIT);
    spot_document_int(d, "least", &s->rule.least, 1, 1000000);
    spot_document_int(d, "least_base", &s->rule.least_base, 1, 1000000);
    names(d, "classes", (char **)&s->class_name, &s->classes, MOST_CLASSES, sizeof *s->class_name);
    names(d, "models", (char **)&s->model, &s->models, SPOT_MAX_SHIFT_MODELS, sizeof *s->model);
    if (!s->classes || !s->models) spot_document_fault(d, s->classes ? "models" : "classes", "there is none");
    else if ((size_t)s->classes * (size_t)s->models > 1 << 30) spot_document_fault(d, "classes", "there are too many");
    else describe_folders(d, s);
}

/* ---- the run ---- */

/* The hash of all that its counts come from: pictures, tables, weights, encoder. */
static void hash_inputs(spot_hash hash, const spot_shift_result *u)
{
    const char *const part[] = { u->pictures_hash, u->inputs, u->encoder };
    spot_key k = spot_key_of("inputs", 6);
    char text[33];

    for (int i = 0; i < 3; i++) k = spot_key_join(k, "", part[i], strlen(part[i]));
    spot_key_text(text, k);
    snprintf(hash, sizeof(spot_hash), "%.*s", (int)sizeof(spot_hash) - 1, text);
}

static void gather_folder(spot_shift_folder *f, const spot_shift_result *u)
{
    const int set = u->count[SPOT_SHIFT_KEPT] ? SPOT_SHIFT_KEPT : SPOT_SHIFT_ALL;

    memcpy(f->pictures, u->count[SPOT_SHIFT_ALL], (size_t)u->classes * sizeof *f->pictures);
    memcpy(f->kept, u->count[set], (size_t)u->classes * sizeof *f->kept);
    memcpy(f->right, u->right[set], (size_t)u->models * (size_t)u->classes * sizeof *f->right);
    snprintf(f->name, sizeof f->name, "%s", u->name);
    hash_inputs(f->inputs, u);
}

/* Adds the means that the history keeps. */
static void add_means(spot_shift_counts *s, const char *name, const spot_shift_estimate *e)
{
    const spot_baseline_mean impact = { .metric = SPOT_CHECK_IMPACT, .n = e->used, .mean = e->impact.value,
                                        .se = e->impact_error };
    const spot_baseline_mean slope = { .metric = SPOT_CHECK_SLOPE, .n = e->used, .mean = e->slope.value, .se = e->slope_error };

    s->mean[s->means++] = impact;
    s->mean[s->means++] = slope;
    for (int i = s->means - 2; i < s->means; i++) snprintf(s->mean[i].method, sizeof s->mean[i].method, "%s", name);
}

static spot_status gather_folders(spot_ctx *c, spot_shift_counts *s, const spot_shifts_results *r)
{
    const int shifts = r->cfg->shifts, real = r->units - r->sources * (1 + shifts);

    for (int v = 0; v < r->sources; v++)
        for (int h = -1; h < shifts; h++) {
            const spot_shift_result *u = &r->unit[real + v * (1 + shifts) + 1 + h];
            const int set = spot_shift_compared(r, v);
            spot_shift_folder *f = &s->folder[s->folders++];
            f->base = h < 0 ? -1 : v * (1 + shifts);
            if (!take_folder(f, s->classes, s->models))
                return spot_fail(c, SPOT_NOMEM, "no memory for the counts of %d classes", s->classes);
            gather_folder(f, u);
            if (h >= 0) add_means(s, f->name, &r->source[v].set[set].shift[h]);
        }
    return SPOT_OK;
}

static spot_status gather_shifts(spot_ctx *c, spot_shift_counts *s, const spot_shifts_results *r)
{
    const size_t folders = (size_t)r->sources * (size_t)(1 + r->cfg->shifts);

    s->classes = r->unit[0].classes;
    s->models = r->cfg->models;
    s->rule = r->cfg->evaluation.rule;
    s->class_name = calloc((size_t)s->classes, sizeof *s->class_name);
    s->model = calloc((size_t)s->models, sizeof *s->model);
    s->folder = calloc(folders, sizeof *s->folder);
    s->mean = calloc(2 * folders, sizeof *s->mean);
    if (!s->class_name || !s->model || !s->folder || !s->mean)
        return spot_fail(c, SPOT_NOMEM, "no memory for the counts of %d classes", s->classes);
    for (int k = 0; k < s->classes; k++) snprintf(s->class_name[k], sizeof *s->class_name, "%s", r->unit[0].class_name[k]);
    for (int m = 0; m < s->models; m++) {
        snprintf(s->model[m], sizeof *s->model, "%s", r->cfg->model[m].name);
        spot_plain(s->model[m]);
    }
    return gather_folders(c, s, r);
}

spot_status spot_baseline_gather_shifts(spot_ctx *c, spot_baseline *b, const spot_shifts_results *r, const char *dir)
{
    memset(b, 0, sizeof *b);
    if (!r->cfg->models) return spot_fail(c, SPOT_INPUT, "%s has no models, so no impact and no slope to compare", dir);
    b->shifts = calloc(1, sizeof *b->shifts);
    if (!b->shifts) return spot_fail(c, SPOT_NOMEM, "no memory for the counts of %s", dir);
    memcpy(b->config, r->unit[0].config, sizeof b->config);
    b->numbers = r->unit[0].numbers;
    SPOT_TRY(gather_shifts(c, b->shifts, r));
    spot_baseline_find_makers(c, b, dir);
    return spot_study_print(c, &spot_shifts_study, r->cfg, &b->text);
}
