/* shifts_describe.c - the numbers of a study of shifts: those of a shift described once, for shifts.json, shifts.csv and the
 * terminal; what JSON alone has, by functions. */
#include <math.h>
#include <string.h>

#include "result/result.h"
#include "shifts/shift_result.h"
#include "shifts/shifts_config.h"
#include "shifts/shifts_write.h"

typedef spot_shifts_results results;

static const char *const set_names[] = { "all", "kept", "oracle" };

static const char *source_name(const results *r, int source) { return r->cfg->sources ? r->cfg->source[source].name : NULL; }

/* ---- settings ---- */

static const spot_quantity config[] = {
#define S(name, field) SPOT_QUANTITY(name, spot_shifts_config, field)
    S("encoder_label", encoder.label), S("thresholds_chosen_for", filter.chosen_for), S("percentile", filter.percentile),
    SPOT_NAMED("base_filtered", spot_shifts_config, filter.base, "no", "yes"),
    SPOT_NAMED("style_captions", spot_shifts_config, filter.style, "paper", "released"),
    SPOT_NAMED("axes", spot_shifts_config, evaluation.rule.axes, "linear", "probit", "logit"),
    S("least", evaluation.rule.least), S("least_base", evaluation.rule.least_base), S("draws", evaluation.rule.draws),
#undef S
    SPOT_QUANTITIES_END
};

static const spot_quantity encoder[] = { SPOT_QUANTITY("encoder", spot_shift_result, encoder), SPOT_QUANTITIES_END };

static const spot_quantity settings[] = {
    SPOT_BEHIND(NULL, results, unit, encoder), SPOT_BEHIND(NULL, results, cfg, config), SPOT_QUANTITIES_END
};

/* ---- a folder of pictures ---- */

static void put_hits(spot_json *j, const char *key, spot_shift_hits h)
{
    spot_json_object(j, key);
    spot_json_put_int(j, "right_and_passed", h.hits);
    spot_json_put_int(j, "passed", h.passed);
    spot_json_put_int(j, "right", h.right);
    spot_json_put_interval(j, "precision", spot_share_of(h.hits, h.passed));
    spot_json_put_interval(j, "recall", spot_share_of(h.hits, h.right));
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
    if (u->covers && u->class_cover[cls].classes) spot_shift_cover_put(j, "coverage", &u->class_cover[cls]);
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
    if (u->covers) spot_shift_covers_put(j, u);
    spot_json_array(j, "classes", u->classes, u->classes);
    for (int k = 0; k < u->classes; k++) put_class(j, u, k);
    spot_json_end(j);
}

/* ---- a shift ---- */

typedef struct {
    const char *source;
    const spot_shift *shift;
    double passed;                     /* share of the pictures; NaN: nothing is filtered */
    const spot_shift_estimate *e;      /* of the set that is compared; NULL: there is none */
} shift_row;

static const spot_quantity names[] = {
    SPOT_QUANTITY("shift", spot_shift, name, .title = "shift"),
    SPOT_QUANTITY("category", spot_shift, category, .title = "category"), SPOT_QUANTITIES_END
};

static const spot_quantity estimate[] = {
#define S(name, ...) SPOT_QUANTITY(name, spot_shift_estimate, __VA_ARGS__)
    S("classes_used", used, .title = "classes", .unit = SPOT_UNIT_COUNT, .direction = SPOT_HIGHER_IS_BETTER,
      .about = "that have enough pictures left"),
    S("classes_few", few, .title = "too few", .unit = SPOT_UNIT_COUNT, .place = SPOT_SHOWN_WIDE,
      .about = "classes with some pictures left, but too few"),
    S("classes_lost", lost, .title = "lost", .unit = SPOT_UNIT_COUNT, .place = SPOT_SHOWN_WIDE,
      .about = "classes without a picture left"),
    S("classes_few_base", few_base),
    S("impact", impact, .title = "impact", .label = "absolute impact (drop of accuracy)", .direction = SPOT_LOWER_IS_BETTER,
      .about = "drop of accuracy, mean over models"),
    S("slope", slope, .title = "slope", .direction = SPOT_HIGHER_IS_BETTER,
      .about = "of shift accuracy over base accuracy"),
    S("intercept", intercept), S("correlation", correlation), S("accuracies_limited", limited),
    S("limit_base", limit_base), S("limit_shift", limit_shift), S("draws", draws), SPOT_QUANTITIES_END
#undef S
};

static const spot_quantity row[] = {
    SPOT_BEHIND(NULL, shift_row, shift, names), SPOT_QUANTITY("source", shift_row, source, .title = "source"),
    SPOT_QUANTITY("pass_rate", shift_row, passed, .title = "passed", .label = "share that passes",
                  .unit = SPOT_UNIT_SHARE, .direction = SPOT_HIGHER_IS_BETTER, .about = "pictures that pass the filter"),
    SPOT_BEHIND(NULL, shift_row, e, estimate),
    SPOT_QUANTITIES_END
};

static long count_rows(const void *root)
{
    const results *r = root;

    return (long)r->sources * r->cfg->shifts;
}

static bool get_row(void *out, const void *root, long i)
{
    const results *r = root;
    const int v = (int)i / r->cfg->shifts, s = (int)i % r->cfg->shifts;
    const spot_shift_result *u = &r->unit[spot_shift_unit_of(r->cfg, v, s)];
    const spot_shift_estimates *of = &r->source[v].set[spot_shift_compared(r, v)];

    *(shift_row *)out = (shift_row){ source_name(r, v), &r->cfg->shift[s], NAN, of->shifts ? &of->shift[s] : NULL };
    if (u->filtered) ((shift_row *)out)->passed = spot_share_of(spot_shift_kept_pictures(u), u->pictures).value;
    return true;
}

const spot_quantity spot_shifts_table = SPOT_ROWS("shifts", SPOT_AS_LIST, row, shift_row, count_rows, get_row,
                                                  .title = "Shifts");

static void put_numbers(spot_json *j, const char *key, const double *v, int n)
{
    spot_json_array(j, key, n, n);
    for (int i = 0; i < n; i++) spot_json_put_real(j, NULL, v[i]);
    spot_json_end(j);
}

static void put_estimate(spot_json *j, const char *key, const spot_shift_estimate *e, int models)
{
    spot_json_object(j, key);
    spot_quantities_put(j, estimate, e);
    put_numbers(j, "base", e->base, models), put_numbers(j, "shift", e->shift, models);
    spot_json_end(j);
}

static void put_shift(spot_json *j, const results *r, int source, int s)
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

/* ---- a source ---- */

static void put_differences(spot_json *j, const char *key, const spot_shift_difference *d, int n,
                            const char *(*name)(const results *r, int i), const results *r)
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

static const char *shift_name(const results *r, int i) { return r->cfg->shift[i].name; }
static const char *category_name(const results *r, int i) { return r->category[i]; }

/* Categories and differences: of the kept pictures, or of all where nothing is filtered. */
static void put_comparisons(spot_json *j, const results *r, const spot_shift_estimates *e)
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

static void put_gaps(spot_json *j, const results *r, const spot_shift_source_result *v)
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

static void put_source(spot_json *j, const spot_shifts_account *a, int source)
{
    const results *r = a->r;
    const spot_shift_source_result *v = &r->source[source];
    const int set = spot_shift_compared(r, source);

    spot_json_object(j, NULL);
    spot_json_put_text(j, "source", r->cfg->sources ? r->cfg->source[source].name : NULL);
    spot_words_put(j, "summary", &a->source[source]);
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

/* ---- shifts.csv ---- */

typedef struct {
    const char *set, *source, *shift, *category, *model;
    int classes;
    double base, accuracy, drop;
} line_row;

static const spot_quantity line[] = {
#define S(name, ...) SPOT_QUANTITY(name, line_row, __VA_ARGS__)
    S("set", set), S("source", source), S("shift", shift), S("category", category), S("model", model),
    S("classes", classes), S("base", base, .label = "base accuracy"),
    S("shift_accuracy", accuracy, .label = "shift accuracy"), S("drop", drop), SPOT_QUANTITIES_END
#undef S
};

static long count_lines(const void *root)
{
    const results *r = root;

    return (long)r->sources * SPOT_SHIFT_SETS * r->cfg->shifts * r->cfg->models;
}

static bool get_line(void *out, const void *root, long i)
{
    const results *r = root;
    const int m = (int)(i % r->cfg->models), s = (int)(i / r->cfg->models % r->cfg->shifts);
    const long rest = i / r->cfg->models / r->cfg->shifts;
    const int set = (int)(rest % SPOT_SHIFT_SETS), v = (int)(rest / SPOT_SHIFT_SETS);
    const spot_shift_estimates *of = &r->source[v].set[set];

    if (!of->shifts) return false;
    const spot_shift_estimate *e = &of->shift[s];
    *(line_row *)out = (line_row){ set_names[set], source_name(r, v), r->cfg->shift[s].name, r->cfg->shift[s].category,
                                   r->cfg->model[m].name, e->used, e->base[m], e->shift[m], e->base[m] - e->shift[m] };
    return true;
}

const spot_quantity spot_shifts_lines = SPOT_ROWS("lines", SPOT_AS_LIST, line, line_row, count_lines, get_line);

/* ---- the document ---- */

static void put_parts(spot_json *j, const void *account)
{
    const spot_shifts_account *a = account;
    const results *r = a->r;

    spot_json_array(j, "models", r->cfg->models, r->cfg->models);
    for (int m = 0; m < r->cfg->models; m++) spot_json_put_text(j, NULL, r->cfg->model[m].name);
    spot_json_end(j);
    if (r->cfg->data.real[0]) {
        spot_json_object(j, "real");
        put_folder(j, &r->unit[0]);
        if (r->unit[0].named >= 0)
            spot_json_put_interval(j, "class_named_by_encoder", spot_share_of(r->unit[0].named, r->unit[0].pictures));
        spot_json_end(j);
    }
    spot_json_array(j, "sources", r->sources, r->sources);
    for (int v = 0; v < r->sources; v++) put_source(j, a, v);
    spot_json_end(j);
}

const spot_quantity spot_shifts_parts[] = {
    SPOT_BEHIND("settings", spot_shifts_account, r, settings), SPOT_WRITTEN(put_parts),
    SPOT_QUANTITY("notes", spot_shifts_account, notes), SPOT_QUANTITY("not_the_papers", spot_shifts_account, differs),
    SPOT_QUANTITIES_END
};
