/* examine_describe.c - the numbers of an examination, each described once: for examine.json, examine.csv and the terminal. */
#include <math.h>
#include <string.h>

#include "examine/examine_study.h"

typedef spot_examine_results results;

/* ---- settings ---- */

typedef struct { const char *factor, *unit; double least, most; } factor_row;

static long count_factors(const void *root) { return ((const results *)root)->space.dims; }

static bool get_factor(void *out, const void *root, long i)
{
    const spot_factor_space *s = &((const results *)root)->space;

    *(factor_row *)out = (factor_row){ spot_factor_label(s->factor[i]), spot_factor_unit(s->factor[i]), s->least[i],
                                       s->most[i] };
    return true;
}

static const spot_quantity factor[] = {
#define S(name, field) SPOT_QUANTITY(name, factor_row, field)
    S("factor", factor), S("unit", unit), S("least", least), S("most", most), SPOT_QUANTITIES_END
#undef S
};

static void fails(spot_quantity_value *v, const void *row)
{
    const spot_examine_search *s = &((const spot_examine_config *)row)->search;

    v->value = s->mode == SPOT_MODE_STRENGTH ? 1 - s->fails : s->fails;
}

static const spot_quantity config[] = {
#define S(name, field) SPOT_QUANTITY(name, spot_examine_config, field)
    S("size", render.size), S("samples", render.samples), S("sun_scale", render.sun_scale),
    S("lamp_scale", render.lamp_scale), S("exposure", render.exposure), S("renders_of_an_object", search.renders),
    S("of_them_to_test_a_weakness", search.perturbed), S("perturb", search.perturb), S("window", search.window),
    S("seeds", search.seeds), S("seed", search.seed),
    SPOT_NAMED("mode", spot_examine_config, search.mode, "weakness", "strength"),
    SPOT_COMPUTED("fails", SPOT_AS_REAL, fails),
#undef S
    SPOT_QUANTITIES_END
};

static const spot_quantity settings[] = {
    SPOT_BEHIND(NULL, results, cfg, config), SPOT_ROWS("factors", SPOT_AS_LIST, factor, factor_row, count_factors, get_factor),
    SPOT_QUANTITIES_END
};

/* ---- means over objects ---- */

/* p of the true class: better is higher. The extreme p is the lowest one, in strength mode the highest. */
#define LINE(extreme)                                                                                                      \
    P("mean", mean, .title = "mean of the last", .about = "mean p of the last renders that the examiner asked for"),       \
    P("lowest", lowest, .about = extreme " p"),                                                                            \
    P("lowest_valid", lowest_valid, .title = extreme, .about = extreme " p on valid renders, on which a person could still " \
      "name the object"),                                                                                                  \
    P("robust", robust, .title = "robust", .about = "mean p of renders around the " extreme " valid one"),                 \
    SPOT_QUANTITY("valid", spot_examine_line, valid, .title = "valid", .unit = SPOT_UNIT_SHARE,                            \
                  .about = "share of the renders on which a person could still name the object"),                          \
    P("inside", inside, .title = "inside", .optional = true, .about = "share of the last 100 renders in the planted region, " \
      "over the objects that learned it"),                                                                                 \
    SPOT_QUANTITIES_END
#define P(name, field, ...) SPOT_QUANTITY(name, spot_examine_line, field, .direction = SPOT_HIGHER_IS_BETTER, __VA_ARGS__)

static const spot_quantity renders[] = {
    SPOT_QUANTITY("renders", spot_examine_line, renders, .title = "renders", .unit = SPOT_UNIT_COUNT,
                  .about = "spent on each object, with those that test a weakness"), SPOT_QUANTITIES_END
};
static const spot_quantity weakness[] = { LINE("lowest") }, strength[] = { LINE("highest") };
#undef P

typedef struct { const results *r; const spot_examine_summary *s; const spot_examine_line *line; } summary_row;

static void model_name(spot_quantity_value *v, const void *row)
{
    const summary_row *k = row;

    v->text = k->r->cfg->model[k->s->model].name;
}

static void examiner_name(spot_quantity_value *v, const void *row)
{
    const summary_row *k = row;

    v->text = spot_examine_label(&k->r->cfg->examiner[k->s->examiner]);
}

static void learned(spot_quantity_value *v, const void *row)
{
    const summary_row *k = row;

    if (k->r->cfg->model[k->s->model].limits) v->value = k->s->learned;
}

static void found(spot_quantity_value *v, const void *row)
{
    const summary_row *k = row;

    if (k->r->cfg->model[k->s->model].limits) v->value = k->s->found;
}

static const spot_quantity whose[] = {
    SPOT_COMPUTED("model", SPOT_AS_TEXT, model_name, .title = "model"),
    SPOT_COMPUTED("examiner", SPOT_AS_TEXT, examiner_name, .title = "examiner"),
    SPOT_QUANTITIES_END
};

static const spot_quantity line[] = {
    SPOT_HERE(NULL, renders), SPOT_HERE(NULL, weakness),
    SPOT_QUANTITIES_END
};

static const spot_quantity summary_numbers[] = {
#define S(name, field) SPOT_QUANTITY(name, spot_examine_summary, field)
    S("objects", objects), S("seeds", seeds), S("mean_of_random_renders", start),
#undef S
    SPOT_QUANTITIES_END
};

static long count_curve(const void *row) { return ((const summary_row *)row)->s->points; }

static bool get_curve(void *out, const void *row, long i)
{
    *(const spot_examine_line **)out = &((const summary_row *)row)->s->line[i];
    return true;
}

typedef struct { const spot_examine_line *line; } curve_row;
static const spot_quantity curve[] = { SPOT_BEHIND(NULL, curve_row, line, line), SPOT_QUANTITIES_END };

static const spot_quantity summary[] = {
    SPOT_HERE(NULL, whose), SPOT_BEHIND(NULL, summary_row, s, summary_numbers),
    SPOT_COMPUTED("learned_the_region", SPOT_AS_INT, learned, .optional = true),
    SPOT_COMPUTED("found_the_region", SPOT_AS_INT, found, .optional = true),
    SPOT_ROWS("curve", SPOT_AS_LIST, curve, curve_row, count_curve, get_curve),
    SPOT_QUANTITIES_END
};

static long count_summaries(const void *root) { return ((const results *)root)->summaries; }

static bool get_summary(void *out, const void *root, long i)
{
    const results *r = root;
    const spot_examine_summary *s = &r->summary[i];

    *(summary_row *)out = (summary_row){ r, s, &s->line[s->points - 1] };
    return true;
}

/* ---- the table of the curves ---- */

static long count_lines(const void *root) { return ((const results *)root)->summaries * SPOT_MAX_EXAMINE_POINTS; }

static bool get_line(void *out, const void *root, long i)
{
    const results *r = root;
    const spot_examine_summary *s = &r->summary[i / SPOT_MAX_EXAMINE_POINTS];
    const int k = (int)(i % SPOT_MAX_EXAMINE_POINTS);

    *(summary_row *)out = (summary_row){ r, s, &s->line[k] };
    return k < s->points;
}

static const spot_quantity low_line[] = {
    SPOT_HERE(NULL, whose), SPOT_BEHIND(NULL, summary_row, line, renders),
    SPOT_BEHIND(NULL, summary_row, line, weakness), SPOT_QUANTITIES_END
};
static const spot_quantity high_line[] = {
    SPOT_HERE(NULL, whose), SPOT_BEHIND(NULL, summary_row, line, renders),
    SPOT_BEHIND(NULL, summary_row, line, strength), SPOT_QUANTITIES_END
};

static const spot_quantity curves[2] = {
    SPOT_ROWS("curves", SPOT_AS_LIST, low_line, summary_row, count_lines, get_line, .title = "p of the true class"),
    SPOT_ROWS("curves", SPOT_AS_LIST, high_line, summary_row, count_lines, get_line, .title = "p of the true class"),
};

const spot_quantity *spot_examine_curves(const spot_examine_results *r)
{
    return &curves[r->cfg->search.mode == SPOT_MODE_STRENGTH];
}

/* ---- searches ---- */

typedef struct { const results *r; const spot_examine_result *u; const spot_examine_point *point; } search_row;

static const spot_quantity point_counts[] = {
    SPOT_QUANTITY("renders", spot_examine_point, renders), SPOT_QUANTITY("asked", spot_examine_point, asked),
    SPOT_QUANTITIES_END
};

static const spot_quantity point_numbers[] = {
#define S(name, ...) SPOT_QUANTITY(name, spot_examine_point, __VA_ARGS__)
    S("mean", mean), S("lowest", lowest), S("lowest_valid", lowest_valid), S("robust", robust), S("valid", valid),
    S("inside", inside, .optional = true),
#undef S
    SPOT_QUANTITIES_END
};

static const spot_quantity point[] = {
    SPOT_BEHIND(NULL, search_row, point, point_counts), SPOT_BEHIND(NULL, search_row, point, point_numbers),
    SPOT_QUANTITIES_END
};

static void search_model(spot_quantity_value *v, const void *row)
{
    const search_row *k = row;

    v->text = k->r->cfg->model[k->u->model].name;
}

static void search_examiner(spot_quantity_value *v, const void *row)
{
    const search_row *k = row;

    v->text = spot_examine_label(&k->r->cfg->examiner[k->u->examiner]);
}

static void search_class(spot_quantity_value *v, const void *row)
{
    const search_row *k = row;

    v->text = spot_examine_class(k->r->cfg, k->u->cls);
}

static void search_learned(spot_quantity_value *v, const void *row)
{
    const search_row *k = row;

    if (k->u->learned >= 0) v->value = k->u->learned;
}

static const spot_quantity search_unit[] = { SPOT_QUANTITY("unit", spot_examine_result, index), SPOT_QUANTITIES_END };
static const spot_quantity search_seed[] = { SPOT_QUANTITY("seed", spot_examine_result, seed), SPOT_QUANTITIES_END };
static const spot_quantity search_object[] = { SPOT_QUANTITY("object", spot_examine_result, object), SPOT_QUANTITIES_END };

static const spot_quantity search_about[] = {
#define S(name, ...) SPOT_QUANTITY(name, spot_examine_result, __VA_ARGS__)
    S("title", title), S("licence", licence), S("author", author), S("identity", identity),
    S("mean_of_random_renders", start), SPOT_QUANTITIES_END
};

static const spot_quantity search_region[] = {
    S("accuracy_outside", outside, .optional = true), S("accuracy_inside", inside, .optional = true), SPOT_QUANTITIES_END
#undef S
};

/* Whose search it is, in the file and in the table. */
static const spot_quantity search_whose[] = {
    SPOT_COMPUTED("model", SPOT_AS_TEXT, search_model), SPOT_COMPUTED("examiner", SPOT_AS_TEXT, search_examiner),
    SPOT_BEHIND(NULL, search_row, u, search_seed), SPOT_COMPUTED("class", SPOT_AS_TEXT, search_class),
    SPOT_BEHIND(NULL, search_row, u, search_object),
    SPOT_QUANTITIES_END
};

typedef struct { const char *factor; double value; } condition_row;

static const spot_quantity condition[] = {
    SPOT_QUANTITY("factor", condition_row, factor), SPOT_QUANTITY("value", condition_row, value), SPOT_QUANTITIES_END
};

static long count_conditions(const void *row) { return (void)row, SPOT_FACTORS; }

static bool get_condition(void *out, const void *row, long i)
{
    *(condition_row *)out = (condition_row){ spot_factor_label((int)i), ((const search_row *)row)->u->lowest_at[i] };
    return true;
}

static long count_points(const void *row) { return ((const search_row *)row)->u->points; }

static bool get_point(void *out, const void *row, long i)
{
    const search_row *k = row;

    *(search_row *)out = (search_row){ k->r, k->u, &k->u->point[i] };
    return true;
}

static const spot_quantity search[] = {
    SPOT_BEHIND(NULL, search_row, u, search_unit), SPOT_HERE(NULL, search_whose),
    SPOT_BEHIND(NULL, search_row, u, search_about),
    SPOT_COMPUTED("learned", SPOT_AS_INT, search_learned, .optional = true),
    SPOT_BEHIND(NULL, search_row, u, search_region),
    SPOT_ROWS("curve", SPOT_AS_LIST, point, search_row, count_points, get_point),
    SPOT_ROWS("lowest_at", SPOT_AS_KEYED, condition, condition_row, count_conditions, get_condition, .bare = true),
    SPOT_QUANTITIES_END
};

static long count_searches(const void *root) { return ((const results *)root)->units; }

static bool get_search(void *out, const void *root, long i)
{
    const results *r = root;

    *(search_row *)out = (search_row){ r, &r->unit[i], r->unit[i].point };
    return true;
}

/* A line of examine.csv for each point of each search. */
static const spot_quantity search_point[] = {
    SPOT_HERE(NULL, search_whose), SPOT_HERE(NULL, point),
    SPOT_COMPUTED("learned", SPOT_AS_INT, search_learned),
    SPOT_QUANTITIES_END
};

static long count_search_points(const void *root) { return (long)((const results *)root)->units * SPOT_MAX_EXAMINE_POINTS; }

static bool get_search_point(void *out, const void *root, long i)
{
    const results *r = root;
    const spot_examine_result *u = &r->unit[i / SPOT_MAX_EXAMINE_POINTS];
    const int k = (int)(i % SPOT_MAX_EXAMINE_POINTS);

    *(search_row *)out = (search_row){ r, u, &u->point[k] };
    return k < u->points;
}

const spot_quantity spot_examine_searches = SPOT_ROWS("points", SPOT_AS_LIST, search_point, search_row, count_search_points,
                                                    get_search_point);

/* ---- the document ---- */

static const spot_quantity parts[] = {
    SPOT_HERE("settings", settings),
    SPOT_ROWS("summaries", SPOT_AS_LIST, summary, summary_row, count_summaries, get_summary),
    SPOT_ROWS("searches", SPOT_AS_LIST, search, search_row, count_searches, get_search),
    SPOT_QUANTITIES_END
};

const spot_quantity spot_examine_parts[] = {
    SPOT_BEHIND(NULL, spot_examine_account, r, parts),
    SPOT_QUANTITY("summary", spot_examine_account, summary), SPOT_QUANTITY("notes", spot_examine_account, notes),
    SPOT_QUANTITIES_END
};
