/* shifts_write.c - shifts.json, one object with every number, and shifts.csv, a line for each set, source, shift and model. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "shifts/shift_result.h"
#include "shifts/shifts_config.h"
#include "shifts/shifts_write.h"
#include "work/frame.h"

static const char *const set_names[] = { "all", "kept", "oracle" };
static const char *const axes_names[] = { "linear", "probit", "logit" };

/* ---- pieces ---- */

static void put_hits(spot_json *j, const char *key, spot_shift_hits h)
{
    spot_json_object(j, key);
    spot_json_put_int(j, "right_and_passed", h.hits);
    spot_json_put_int(j, "passed", h.passed);
    spot_json_put_int(j, "right", h.there);
    spot_json_put_interval(j, "precision", spot_share_of(h.hits, h.passed));
    spot_json_put_interval(j, "recall", spot_share_of(h.hits, h.there));
    spot_json_end(j);
}

static void put_similarities(spot_json *j, const spot_shift_result *u)
{
    spot_json_array(j, "similarities", u->columns, u->columns);
    for (int k = 0; k < u->columns; k++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "caption", u->column[k]);
        spot_json_array(j, "percentiles", SPOT_SHIFT_QUANTILES, SPOT_SHIFT_QUANTILES);
        for (int q = 0; q < SPOT_SHIFT_QUANTILES; q++)
            spot_json_put_number(j, NULL, "%.6f", u->quantile[k * SPOT_SHIFT_QUANTILES + q]);
        spot_json_end(j);
        spot_json_end(j);
    }
    spot_json_end(j);
}

/* Accuracy of a class, mean over the models that answered; NaN without pictures. */
static double class_accuracy(const spot_shift_result *u, int set, int cls)
{
    double right = 0;
    int models = 0;

    for (int m = 0; m < u->models; m++) {
        if (!u->answered[m]) continue;
        models++;
        right += u->right[set][(size_t)m * u->classes + cls];
    }
    return models && u->count[set][cls] ? right / models / u->count[set][cls] : NAN;
}

static void put_class(spot_json *j, const spot_shift_result *u, int cls)
{
    const int set = u->count[SPOT_SHIFT_KEPT] ? SPOT_SHIFT_KEPT : SPOT_SHIFT_ALL;
    const spot_shift_top *top = u->top + (size_t)cls * SPOT_SHIFT_TOP;
    int models = 0;

    for (int m = 0; m < u->models; m++) models += u->answered[m];
    spot_json_object(j, NULL);
    spot_json_put_text(j, "class", u->class_name[cls]);
    spot_json_put_int(j, "pictures", u->count[SPOT_SHIFT_ALL][cls]);
    if (u->filtered) spot_json_put_int(j, "kept", u->count[SPOT_SHIFT_KEPT][cls]);
    if (isfinite(u->class_threshold[cls])) spot_json_put_number(j, "threshold", "%.6f", u->class_threshold[cls]);
    spot_json_put_number(j, "accuracy", "%.6f", class_accuracy(u, set, cls));
    spot_json_array(j, "predicted_most", 0, 0);
    for (int k = 0; k < SPOT_SHIFT_TOP && top[k].answers; k++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "class", top[k].name);
        spot_json_put_number(j, "share", "%.6f", (double)top[k].answers / models / u->count[set][cls]);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_end(j);
}

/* The members of a folder, inside its object. */
static void put_folder(spot_json *j, const spot_shift_result *u)
{
    spot_json_put_int(j, "unit", u->index);
    spot_json_put_text(j, "folder", u->id);
    spot_json_put_int(j, "pictures", u->pictures);
    spot_json_put_int(j, "absent_classes", u->absent);
    if (u->filtered) {
        spot_json_put_int(j, "kept", spot_shift_kept_pictures(u));
        spot_json_put_interval(j, "pass_rate", spot_share_of(spot_shift_kept_pictures(u), u->pictures));
        spot_json_put_interval(j, "pass_class", spot_share_of(u->pass_class, u->pictures));
        spot_json_put_interval(j, "pass_shift", spot_share_of(u->pass_shift, u->pictures));
    }
    if (u->truth && u->filtered) {
        put_hits(j, "filter_against_truth", u->hits);
        if (u->parts) put_hits(j, "class_caption_against_truth", u->object_hits);
        if (u->parts) put_hits(j, "shift_caption_against_truth", u->shift_hits);
    }
    put_similarities(j, u);
    spot_json_array(j, "classes", u->classes, u->classes);
    for (int k = 0; k < u->classes; k++) put_class(j, u, k);
    spot_json_end(j);
}

/* ---- estimates ---- */

static void put_estimate(spot_json *j, const char *key, const spot_shift_estimate *e, int models)
{
    spot_json_object(j, key);
    spot_json_put_int(j, "classes_used", e->used);
    spot_json_put_int(j, "classes_few", e->few);
    spot_json_put_int(j, "classes_lost", e->lost);
    spot_json_put_int(j, "classes_few_base", e->few_base);
    spot_json_put_interval(j, "impact", e->impact);
    spot_json_put_interval(j, "slope", e->slope);
    spot_json_put_real(j, "intercept", e->intercept);
    spot_json_put_real(j, "correlation", e->correlation);
    spot_json_put_int(j, "accuracies_limited", e->limited);
    spot_json_put_int(j, "draws", e->draws);
    spot_json_array(j, "base", models, models);
    for (int m = 0; m < models; m++) spot_json_put_real(j, NULL, e->base[m]);
    spot_json_end(j);
    spot_json_array(j, "shift", models, models);
    for (int m = 0; m < models; m++) spot_json_put_real(j, NULL, e->shift[m]);
    spot_json_end(j);
    spot_json_end(j);
}

static void put_differences(spot_json *j, const char *key, const spot_shift_difference *d, int n, const char *(*name)(const
                            spot_shifts_results *r, int i), const spot_shifts_results *r)
{
    spot_json_array(j, key, n, n);
    for (int i = 0; i < n; i++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "a", name(r, d[i].a));
        spot_json_put_text(j, "b", name(r, d[i].b));
        spot_json_put_interval(j, "impact", d[i].impact);
        spot_json_put_real(j, "impact_p", d[i].impact_p);
        spot_json_put_interval(j, "slope", d[i].slope);
        spot_json_put_real(j, "slope_p", d[i].slope_p);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static const char *shift_name(const spot_shifts_results *r, int i) { return r->cfg->shift[i].name; }
static const char *category_name(const spot_shifts_results *r, int i) { return r->category[i]; }

/* Categories and differences: of the kept pictures, or of all where nothing is filtered. */
static void put_comparisons(spot_json *j, const spot_shifts_results *r, const spot_shift_estimates *e)
{
    spot_json_array(j, "categories", e->categories, e->categories);
    for (int g = 0; g < e->categories; g++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "category", r->category[g]);
        spot_json_put_int(j, "shifts", e->category[g].shifts);
        spot_json_put_interval(j, "impact", e->category[g].impact);
        spot_json_put_interval(j, "slope", e->category[g].slope);
        spot_json_end(j);
    }
    spot_json_end(j);
    put_differences(j, "between_shifts", e->between, e->shifts * (e->shifts - 1) / 2, shift_name, r);
    put_differences(j, "between_categories", e->across, e->categories * (e->categories - 1) / 2, category_name, r);
}

static void put_gaps(spot_json *j, const spot_shifts_results *r, const spot_shift_source_result *v)
{
    spot_json_put_real(j, "median_gap", v->gaps ? v->median_gap : NAN);
    spot_json_array(j, "gaps", v->gaps, v->gaps);
    for (int i = 0; i < v->gaps; i++) {
        const spot_shift_gap *g = &v->gap[i];
        spot_json_object(j, NULL);
        spot_json_put_text(j, "class", r->unit[0].class_name[g->cls]);
        spot_json_put_real(j, "real", g->real);
        spot_json_put_real(j, "base", g->base);
        spot_json_put_interval(j, "gap", (spot_interval){ g->gap, g->low, g->high });
        spot_json_put_real(j, "p", g->p);
        spot_json_put_text(j, "verdict", g->confounded ? "confounded" : "not shown");
        spot_json_end(j);
    }
    spot_json_end(j);
}

/* ---- the document ---- */

static void put_shift(spot_json *j, const spot_shifts_results *r, int source, int s)
{
    const spot_shift *h = &r->cfg->shift[s];
    char text[SPOT_CAPTION];

    spot_json_object(j, NULL);
    spot_json_put_text(j, "shift", h->name);
    spot_json_put_text(j, "category", h->category);
    spot_json_put_text(j, "prompt", h->prompt);
    spot_json_put_text(j, "class_caption", spot_class_caption(text, r->cfg, s, "<class>"));
    spot_json_put_text(j, "shift_caption", spot_shift_caption(text, r->cfg, s));
    spot_json_put_real(j, "threshold", h->threshold);
    spot_json_object(j, "estimates");
    for (int k = 0; k < SPOT_SHIFT_SETS; k++)
        if (r->source[source].set[k].shifts) put_estimate(j, set_names[k], &r->source[source].set[k].shift[s], r->cfg->models);
    spot_json_end(j);
    put_folder(j, &r->unit[spot_shift_unit_of(r->cfg, source, s)]);
    spot_json_end(j);
}

static void put_source(spot_json *j, const spot_shifts_results *r, int source)
{
    const spot_shift_source_result *v = &r->source[source];
    const int set = spot_shift_compared(r, source);

    spot_json_object(j, NULL);
    spot_json_put_text(j, "source", r->cfg->sources ? r->cfg->source[source].name : NULL);
    spot_json_object(j, "base");
    put_folder(j, &r->unit[spot_shift_unit_of(r->cfg, source, SPOT_BASE_PICTURES)]);
    spot_json_end(j);
    spot_json_array(j, "shifts", r->cfg->shifts, r->cfg->shifts);
    for (int s = 0; s < r->cfg->shifts; s++) put_shift(j, r, source, s);
    spot_json_end(j);
    spot_json_put_text(j, "compared", set_names[set]);
    put_comparisons(j, r, &v->set[set]);
    put_gaps(j, r, v);
    spot_json_end(j);
}

static void put_head(spot_json *j, const spot_shifts_results *r, const char *key)
{
    const spot_shifts_config *cfg = r->cfg;
    const spot_shift_rule *rule = &cfg->evaluation.rule;

    spot_json_put_int(j, "schema", 1);
    spot_json_put_text(j, "config", key);
    spot_json_put_int(j, "numbers", SPOT_SHIFT_NUMBERS);
    spot_json_object(j, "settings");
    spot_json_put_text(j, "encoder", r->unit[0].encoder);
    spot_json_put_text(j, "encoder_label", cfg->encoder.label);
    spot_json_put_text(j, "thresholds_chosen_for", cfg->filter.chosen_for);
    spot_json_put_real(j, "percentile", cfg->filter.percentile);
    spot_json_put_text(j, "base_filtered", cfg->filter.base ? "yes" : "no");
    spot_json_put_text(j, "style_captions", cfg->filter.style == SPOT_STYLE_PAPER ? "paper" : "released");
    spot_json_put_text(j, "axes", axes_names[rule->axes]);
    spot_json_put_int(j, "least", rule->least);
    spot_json_put_int(j, "least_base", rule->least_base);
    spot_json_put_int(j, "draws", rule->draws);
    spot_json_end(j);
    spot_json_array(j, "models", cfg->models, cfg->models);
    for (int m = 0; m < cfg->models; m++) spot_json_put_text(j, NULL, cfg->model[m].name);
    spot_json_end(j);
}

/* Whether the file has these bytes: a finished run on a disk that cannot be written is shown without a failure. */
static bool is_written(const char *path, const void *bytes, size_t n)
{
    spot_ctx quiet = { 0 };
    unsigned char *there = NULL;
    size_t size = 0;
    const bool same = spot_file_read(&quiet, path, &there, &size, n + 1) == SPOT_OK && size == n && !memcmp(there, bytes, n);

    free(there);
    return same;
}

static spot_status write_json(spot_ctx *c, const spot_shifts_results *r, const char *dir, const char *key)
{
    char path[1200];
    spot_json j = { 0 };
    spot_status s;

    snprintf(path, sizeof path, "%s/shifts.json", dir);
    SPOT_TRY(spot_json_begin(c, &j, " "));
    spot_json_object(&j, NULL);
    put_head(&j, r, key);
    if (r->cfg->data.real[0]) {
        spot_json_object(&j, "real");
        put_folder(&j, &r->unit[0]);
        spot_json_end(&j);
    }
    spot_json_array(&j, "sources", r->sources, r->sources);
    for (int s_ = 0; s_ < r->sources; s_++) put_source(&j, r, s_);
    spot_json_end(&j);
    spot_json_end(&j);
    s = spot_json_whole(c, &j, path);
    if (s == SPOT_OK && !is_written(path, j.out.bytes, j.out.used)) s = spot_file_write(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return s;
}

/* ---- the table ---- */

static void write_number(FILE *f, double v)
{
    char text[32];

    fprintf(f, ",%s", isfinite(v) ? spot_digits(text, v, 1) : "");
}

static void write_lines(FILE *f, const spot_shifts_results *r)
{
    fputs("set,source,shift,category,model,classes,base,shift_accuracy,drop\n", f);
    for (int v = 0; v < r->sources; v++)
        for (int k = 0; k < SPOT_SHIFT_SETS; k++)
            for (int s = 0; s < r->source[v].set[k].shifts; s++)
                for (int m = 0; m < r->cfg->models; m++) {
                    const spot_shift_estimate *e = &r->source[v].set[k].shift[s];
                    fprintf(f, "%s,", set_names[k]);
                    spot_csv_field(f, r->cfg->sources ? r->cfg->source[v].name : "");
                    fputc(',', f), spot_csv_field(f, r->cfg->shift[s].name);
                    fputc(',', f), spot_csv_field(f, r->cfg->shift[s].category);
                    fputc(',', f), spot_csv_field(f, r->cfg->model[m].name);
                    fprintf(f, ",%d", e->used);
                    write_number(f, e->base[m]), write_number(f, e->shift[m]), write_number(f, e->base[m] - e->shift[m]);
                    fputc('\n', f);
                }
}

static spot_status write_table(spot_ctx *c, const spot_shifts_results *r, const char *dir)
{
    char path[1200], *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    spot_status s = SPOT_OK;
    bool good = f;

    snprintf(path, sizeof path, "%s/shifts.csv", dir);
    if (f) {
        write_lines(f, r);
        good = !ferror(f);
        good = !fclose(f) && good;
    }
    if (!good) s = spot_fail(c, SPOT_NOMEM, "no memory for %s", path);
    else if (!is_written(path, text, n)) s = spot_file_write(c, path, text, n);
    free(text);
    return s;
}

/* ---- both ---- */

spot_status spot_shifts_write(spot_ctx *c, const spot_study *y, spot_shifts_results *r, const char *dir, const char *key)
{
    spot_status s = spot_shifts_collect(c, y, r, dir);

    if (s == SPOT_OK) s = write_table(c, r, dir);
    if (s == SPOT_OK) s = write_json(c, r, dir, key);
    if (s == SPOT_OK || !r->missing) return s;
    spot_forget(c);
    return SPOT_OK;
}
