/* verdict_labels.c - what people, or planted cuts, say about models (verdict.h). */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/csv_rows.h"
#include "spotter/verdict.h"

enum { MOST_RATERS = 1000 };
enum { MODEL, RATER, LABEL, COLUMNS };

static const char *const names[SPOT_BACKGROUND_LABELS] = { "invariant", "borderline", "variant" };

const char *spot_background_label_name(int label) { return names[label]; }

void spot_verdict_labels_free(spot_verdict_labels *l)
{
    for (int i = 0; i < l->raters; i++) free(l->rater[i]);
    free(l->rater), free(l->label), free(l->majority), free(l->tied);
    *l = (spot_verdict_labels){ 0 };
}

static spot_status take_labels(spot_ctx *c, spot_verdict_labels *l, int models)
{
    *l = (spot_verdict_labels){ .models = models, .kappa = NAN };
    l->majority = malloc((size_t)models + 1);
    l->tied = calloc((size_t)models + 1, 1);
    if (l->majority && l->tied) return SPOT_OK;
    return spot_fail(c, SPOT_NOMEM, "no memory for the labels of %d models", models);
}

/* ---- majority and agreement ---- */

static void vote(spot_verdict_labels *l, int model, int count[SPOT_BACKGROUND_LABELS])
{
    bool tied;
    int votes = 0, most;

    memset(count, 0, SPOT_BACKGROUND_LABELS * sizeof *count);
    for (int r = 0; r < l->raters; r++) {
        const int label = l->label[(size_t)model * (size_t)l->raters + (size_t)r];
        if (label >= 0) count[label]++, votes++;
    }
    l->majority[model] = -1, l->tied[model] = 0;
    if (!votes) return;
    most = spot_majority(count, SPOT_BACKGROUND_LABELS, &tied);
    if (tied) most = SPOT_BORDERLINE;
    l->majority[model] = (int8_t)most;
    l->tied[model] = tied;
    l->labelled++, l->ties += tied, l->count[most]++;
}

static spot_status finish_labels(spot_ctx *c, spot_verdict_labels *l)
{
    int (*count)[SPOT_BACKGROUND_LABELS] = malloc(((size_t)l->models + 1) * sizeof *count);
    spot_status s = SPOT_OK;
    int n = 0;

    if (!count) return spot_fail(c, SPOT_NOMEM, "no memory for the labels of %d models", l->models);
    for (int i = 0; i < l->models; i++) {
        vote(l, i, count[n]);
        n += count[n][0] + count[n][1] + count[n][2] == l->raters;
    }
    l->kappa_models = n;
    if (n && l->raters > 1) s = spot_fleiss_kappa(c, &l->kappa, count[0], n, SPOT_BACKGROUND_LABELS);
    free(count);
    return s;
}

/* ---- the file ---- */

typedef struct {
    spot_ctx *c;
    spot_verdict_labels *l;
    const spot_verdict_table *t;
    const char *path;
} verdict_labels_reader;

/* The number of a rater, who may be new: the table of labels grows by a column. -1: no memory, or too many. */
static int find_rater(verdict_labels_reader *r, const char *name)
{
    spot_verdict_labels *l = r->l;
    const size_t wide = (size_t)l->raters + 1;
    int8_t *label;
    char **rater;

    for (int i = 0; i < l->raters; i++)
        if (!strcmp(l->rater[i], name)) return i;
    if (l->raters == MOST_RATERS) return -1;
    rater = realloc(l->rater, wide * sizeof *rater);
    if (rater) l->rater = rater;
    label = malloc((size_t)l->models * wide + 1);
    if (!rater || !label || !(l->rater[l->raters] = strdup(name))) return free(label), -1;
    for (int i = 0; i < l->models; i++) {
        if (l->raters) memcpy(label + (size_t)i * wide, l->label + (size_t)i * (wide - 1), wide - 1);
        label[(size_t)i * wide + wide - 1] = -1;
    }
    free(l->label);
    l->label = label;
    return l->raters++;
}

static int label_of(const char *text)
{
    for (int k = 0; k < SPOT_BACKGROUND_LABELS; k++) {
        const char *a = text, *b = names[k];
        while (*a && tolower((unsigned char)*a) == *b) a++, b++;
        if (!*a && !*b) return k;
    }
    return -1;
}

static spot_status read_row(verdict_labels_reader *r, const spot_rows *rows)
{
    const uint64_t line = spot_rows_line(rows);
    const int label = label_of(spot_rows_cell(rows, LABEL));
    const char *name = spot_rows_cell(rows, MODEL);
    int model = 0, rater;
    int8_t *cell;

    if (label < 0)
        return spot_fail(r->c, SPOT_INPUT, "{labels.unknown} %s line %" PRIu64 ": \"%.40s\" is no label; the labels are "
                         "invariant, borderline and variant", r->path, line, spot_rows_cell(rows, LABEL));
    while (model < r->t->models && strcmp(r->t->model[model].name, name)) model++;
    if (model == r->t->models) return r->l->others++, SPOT_OK;
    rater = find_rater(r, spot_rows_cell(rows, RATER));
    if (rater < 0 && r->l->raters == MOST_RATERS)
        return spot_fail(r->c, SPOT_INPUT, "%s line %" PRIu64 ": more than %d raters", r->path, line, MOST_RATERS);
    if (rater < 0) return spot_fail(r->c, SPOT_NOMEM, "no memory for the labels of %s", r->path);
    cell = &r->l->label[(size_t)model * (size_t)r->l->raters + (size_t)rater];
    if (*cell >= 0)
        return spot_fail(r->c, SPOT_INPUT, "{labels.twice} %s line %" PRIu64 ": a second label of %.60s by %.60s", r->path,
                         line, name, r->l->rater[rater]);
    *cell = (int8_t)label;
    return SPOT_OK;
}

static spot_status read_rows(verdict_labels_reader *r, spot_rows *rows)
{
    bool more = true;

    for (;;) {
        SPOT_TRY(spot_rows_next(r->c, rows, &more));
        if (!more) break;
        SPOT_TRY(read_row(r, rows));
    }
    if (r->l->raters) return SPOT_OK;
    return spot_fail(r->c, SPOT_INPUT, "{labels.no_model} %s has no label of any of the %d models (%d rows are about others); "
                     "its column model has their names, such as %.60s", r->path, r->t->models, r->l->others,
                     r->t->models ? r->t->model[0].name : "-");
}

spot_status spot_verdict_labels_read(spot_ctx *c, spot_verdict_labels *l, const spot_verdict_table *t, const char *path)
{
    static const char *const column[COLUMNS] = { "model", "rater", "label" };
    verdict_labels_reader r = { c, l, t, path };
    spot_rows *rows;
    spot_status s = take_labels(c, l, t->models);

    if (s == SPOT_OK) s = spot_rows_open(c, &rows, path, column, COLUMNS);
    if (s == SPOT_OK) {
        s = read_rows(&r, rows);
        spot_rows_close(rows);
    }
    if (s == SPOT_OK) s = finish_labels(c, l);
    if (s != SPOT_OK) return spot_verdict_labels_free(l), s;
    snprintf(l->source, sizeof l->source, "labels of %d rater%s", l->raters, l->raters > 1 ? "s" : "");
    return SPOT_OK;
}

/* ---- cuts of a known reliance ---- */
const char *spot_verdict_truth_name(int truth) { return truth == SPOT_TRUTH_PLANTED ? "planted" : "learned"; }

spot_status spot_verdict_labels_cut(spot_ctx *c, spot_verdict_labels *l, const spot_verdict_table *t, int truth,
                                    const spot_background_verdict *cfg)
{
    const char *name = spot_verdict_truth_name(truth), *prefix = truth == SPOT_TRUTH_PLANTED ? "" : "learned_";
    const double low = truth == SPOT_TRUTH_PLANTED ? cfg->invariant : cfg->learned_invariant;
    const double high = truth == SPOT_TRUTH_PLANTED ? cfg->variant : cfg->learned_variant;
    spot_status s = take_labels(c, l, t->models);
    verdict_labels_reader r = { c, l, t, "" };

    if (s == SPOT_OK && !(low <= high))
        s = spot_fail(c, SPOT_USAGE, "{verdict.thresholds} verdict.%sinvariant is %g, above verdict.%svariant, %g", prefix,
                      low, prefix, high);
    if (s == SPOT_OK && find_rater(&r, name) < 0) s = spot_fail(c, SPOT_NOMEM, "no memory for %d labels", t->models);
    for (int i = 0; s == SPOT_OK && i < t->models; i++) {
        const double v = t->model[i].reliance[truth];
        if (isfinite(v)) l->label[i] = v < low ? SPOT_INVARIANT : v < high ? SPOT_BORDERLINE : SPOT_VARIANT;
    }
    if (s == SPOT_OK) s = finish_labels(c, l);
    if (s != SPOT_OK) return spot_verdict_labels_free(l), s;
    snprintf(l->source, sizeof l->source, "%s reliance (%s): invariant below %.9g, variant from %.9g", name,
             truth == SPOT_TRUTH_PLANTED ? "share of the training's pictures with the place of their class"
                                         : "accuracy lost where backgrounds say nothing", low, high);
    return SPOT_OK;
}
