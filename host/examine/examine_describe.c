/* examine_describe.c - the numbers of an examination, each described once: for examine.json, examine.csv and the terminal. */
#include <math.h>
#include <string.h>

#include "examine/examine_study.h"

typedef spot_examine_results results;

/* ---- settings ---- */

static void put_factors(spot_json *j, const void *root)
{
    const spot_factor_space *s = &((const results *)root)->space;

    spot_json_array(j, "factors", s->dims, s->dims);
    for (int d = 0; d < s->dims; d++) {
        spot_json_object(j, NULL);
        spot_json_put_text(j, "factor", spot_factor_label(s->factor[d]));
        spot_json_put_text(j, "unit", spot_factor_unit(s->factor[d]));
        spot_json_put_real(j, "least", s->least[d]);
        spot_json_put_real(j, "most", s->most[d]);
        spot_json_end(j);
    }
    spot_json_end(j);
}

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
    SPOT_BEHIND(NULL, results, cfg, config), SPOT_WRITTEN(put_factors), SPOT_QUANTITIES_END
};

/* ---- means over objects ---- */

/* p of the true class: better is higher. The extreme p is the lowest one, in strength mode the highest. */
#define LINE(extreme)                                                                                                      \
    P("mean", mean, .title = "mean of the last", .label = "mean p of the true class",                                      \
      .about = "mean p of the last renders that the examiner asked for"),                                                  \
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

/* found: "3 of 5" objects in the planted region, beside the last point, in tables. */
typedef struct { const results *r; const spot_examine_summary *s; const spot_examine_line *line; char found[24]; } summary_row;

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

static const spot_quantity whose[] = {
    SPOT_COMPUTED("model", SPOT_AS_TEXT, model_name, .title = "model"),
    SPOT_COMPUTED("examiner", SPOT_AS_TEXT, examiner_name, .title = "examiner"),
    SPOT_QUANTITIES_END
};

static const spot_quantity summary_numbers[] = {
#define S(name, field) SPOT_QUANTITY(name, spot_examine_summary, field)
    S("objects", objects), S("seeds", seeds), S("mean_of_random_renders", start), SPOT_QUANTITIES_END
#undef S
};

static void put_summary(spot_json *j, const summary_row *row)
{
    const spot_examine_summary *s = row->s;

    spot_json_object(j, NULL);
    spot_quantities_put(j, whose, row);
    spot_quantities_put(j, summary_numbers, s);
    if (row->r->cfg->model[s->model].limits) {
        spot_json_put_int(j, "learned_the_region", s->learned);
        spot_json_put_int(j, "found_the_region", s->found);
    }
    spot_json_array(j, "curve", s->points, s->points);
    for (int k = 0; k < s->points; k++) {
        spot_json_object(j, NULL);
        spot_quantities_put(j, renders, &s->line[k]);
        spot_quantities_put(j, weakness, &s->line[k]);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_end(j);
}

static void put_summaries(spot_json *j, const void *root)
{
    const results *r = root;

    spot_json_array(j, "summaries", r->summaries, r->summaries);
    for (int i = 0; i < r->summaries; i++) put_summary(j, &(summary_row){ r, &r->summary[i], r->summary[i].line, "" });
    spot_json_end(j);
}

/* ---- the table of the curves ---- */

static long count_lines(const void *root) { return ((const results *)root)->summaries * SPOT_MAX_EXAMINE_POINTS; }

static bool get_line(void *out, const void *root, long i)
{
    const results *r = root;
    const spot_examine_summary *s = &r->summary[i / SPOT_MAX_EXAMINE_POINTS];
    const int k = (int)(i % SPOT_MAX_EXAMINE_POINTS);
    summary_row *x = out;

    *x = (summary_row){ r, s, &s->line[k], "" };
    if (k == s->points - 1 && s->learned) snprintf(x->found, sizeof x->found, "%d of %d", s->found, s->learned);
    return k < s->points;
}

#define FOUND { .type = SPOT_AS_TEXT, .get = found_region, .title = "found", .right = true }

static void found_region(spot_quantity_value *v, const void *row)
{
    const summary_row *x = row;

    if (*x->found) v->text = x->found;
}

static const spot_quantity low_line[] = {
    SPOT_HERE(NULL, whose), SPOT_BEHIND(NULL, summary_row, line, renders),
    SPOT_BEHIND(NULL, summary_row, line, weakness), FOUND, SPOT_QUANTITIES_END
};
static const spot_quantity high_line[] = {
    SPOT_HERE(NULL, whose), SPOT_BEHIND(NULL, summary_row, line, renders),
    SPOT_BEHIND(NULL, summary_row, line, strength), FOUND, SPOT_QUANTITIES_END
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

/* Whose search it is, in the file and in the table. */
static const spot_quantity search_seed[] = { SPOT_QUANTITY("seed", spot_examine_result, seed), SPOT_QUANTITIES_END };
static const spot_quantity search_object[] = { SPOT_QUANTITY("object", spot_examine_result, object), SPOT_QUANTITIES_END };

static const spot_quantity search_whose[] = {
    SPOT_COMPUTED("model", SPOT_AS_TEXT, search_model), SPOT_COMPUTED("examiner", SPOT_AS_TEXT, search_examiner),
    SPOT_BEHIND(NULL, search_row, u, search_seed), SPOT_COMPUTED("class", SPOT_AS_TEXT, search_class),
    SPOT_BEHIND(NULL, search_row, u, search_object),
    SPOT_QUANTITIES_END
};

static const spot_quantity search_about[] = {
#define S(name, ...) SPOT_QUANTITY(name, spot_examine_result, __VA_ARGS__)
    S("title", title), S("licence", licence), S("author", author), S("mesh", mesh), S("identity", identity),
    S("mean_of_random_renders", start), S("p_of_fresh_renders", fresh), S("valid_fresh_renders", fresh_valid),
    SPOT_QUANTITIES_END
#undef S
};

static void put_search(spot_json *j, const search_row *row)
{
    const spot_examine_result *u = row->u;

    spot_json_object(j, NULL);
    spot_json_put_int(j, "unit", u->index);
    spot_quantities_put(j, search_whose, row);
    spot_quantities_put(j, search_about, u);
    if (u->learned >= 0) {
        spot_json_put_int(j, "learned", u->learned);
        spot_json_put_real(j, "accuracy_outside", u->outside);
        spot_json_put_real(j, "accuracy_inside", u->inside);
    }
    spot_json_array(j, "curve", u->points, u->points);
    for (int k = 0; k < u->points; k++) {
        spot_json_object(j, NULL);
        spot_quantities_put(j, point, &(search_row){ row->r, u, &u->point[k] });
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_object(j, "lowest_at");
    for (int f = 0; f < SPOT_FACTORS; f++) spot_json_put_real(j, spot_factor_label(f), u->lowest_at[f]);
    spot_json_end(j);
    spot_json_end(j);
}

static void put_searches(spot_json *j, const void *root)
{
    const results *r = root;

    spot_json_array(j, "searches", r->units, r->units);
    for (int u = 0; u < r->units; u++) put_search(j, &(search_row){ r, &r->unit[u], r->unit[u].point });
    spot_json_end(j);
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

/* ---- models and objects ---- */

typedef struct { const results *r; const spot_examine_model_summary *about; int model; } model_row;

static long count_models(const void *root) { return ((const results *)root)->cfg->models; }

static bool get_model(void *out, const void *root, long i)
{
    const results *r = root;

    *(model_row *)out = (model_row){ r, &r->about[i], (int)i };
    return true;
}

static void row_name(spot_quantity_value *v, const void *row)
{
    const model_row *k = row;

    v->text = k->r->cfg->model[k->model].name;
}

static const spot_quantity model_numbers[] = {
#define S(name, ...) SPOT_QUANTITY(name, spot_examine_model_summary, __VA_ARGS__)
    S("lasting_failures", failing), S("valid_of_random_renders", valid), S("accuracy_of_random_renders", accuracy),
    S("accuracy_in_another_order", reordered, .optional = true),
    SPOT_QUANTITIES_END
#undef S
};

static const spot_quantity model_list[] = {
    SPOT_COMPUTED("model", SPOT_AS_TEXT, row_name), SPOT_BEHIND(NULL, model_row, about, model_numbers), SPOT_QUANTITIES_END
};

static void put_objects(spot_json *j, const void *root)
{
    const results *r = root;
    const int n = r->cfg->models * r->objects;

    spot_json_array(j, "objects", n, n);
    for (int i = 0; i < n; i++) {
        const spot_examine_result *first = spot_examine_first_unit(r, i / r->objects, 0) + i % r->objects;
        spot_examine_verdict v = r->verdict[i];
        spot_json_object(j, NULL);
        spot_quantities_put(j, search_whose, &(search_row){ r, v.unit < 0 ? first : &r->unit[v.unit], first->point });
        spot_json_put_int(j, "search", v.unit);
        spot_json_put_real(j, "p", v.p);
        spot_json_bool(j, "fails", &v.fails);
        spot_json_end(j);
    }
    spot_json_end(j);
}

/* ---- the document ---- */

static const spot_quantity parts[] = {
    SPOT_HERE("settings", settings),
    SPOT_ROWS("models", SPOT_AS_LIST, model_list, model_row, count_models, get_model), SPOT_WRITTEN(put_objects),
    SPOT_WRITTEN(put_summaries), SPOT_WRITTEN(put_searches),
    SPOT_QUANTITIES_END
};

const spot_quantity spot_examine_parts[] = {
    SPOT_BEHIND(NULL, spot_examine_account, r, parts),
    SPOT_QUANTITY("summary", spot_examine_account, summary), SPOT_QUANTITY("notes", spot_examine_account, notes),
    SPOT_QUANTITIES_END
};
