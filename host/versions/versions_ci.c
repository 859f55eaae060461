/* versions_ci.c - see versions_ci.h. */
#include "versions/versions_ci.h"

#include <math.h>
#include <string.h>

/* ---- slices and classes ---- */

typedef struct {
    const spot_version_counts *k;
    const char *cls, *verdict, *named;     /* named: a rule, or a guard; NULL */
    int number;                        /* of the slice; 0: the whole class */
    spot_change_verdict rule;
    double class_rate;
    spot_interval change;
    char part[24];
} version_row;

static long count_rows(const void *root)
{
    const spot_versions *v = ((const spot_versions_root *)root)->v;

    return (long)v->slices + v->classes + v->guards;
}

static bool get_row(void *out, const void *root, long i)
{
    const spot_versions_root *t = root;
    const spot_version_slice *p = i < t->v->slices ? &t->v->slice[i] : NULL;
    const long named = i - t->v->slices;
    const spot_version_class *k = p ? NULL : named < t->v->classes ? &t->v->of[named] : &t->v->guard[named - t->v->classes];
    const int cls = p ? p->cls : k->cls;
    version_row *x = out;

    *x = (version_row){ .k = p ? &p->counts : &k->counts, .number = p ? (int)i + 1 : 0,
                        .class_rate = p ? p->class_rate[1] : NAN, .rule = p ? p->verdict : k->verdict };
    x->cls = cls < 0 ? NULL : t->s->class_name[cls];
    x->verdict = spot_change_verdict_name(x->rule);
    x->change = x->k->change;
    if (p) snprintf(x->part, sizeof x->part, "slice %d", x->number);
    else snprintf(x->part, sizeof x->part, k->name ? "guard" : "whole");
    x->named = p ? p->rule : k->name;
    return true;
}

static double share(const void *row, int version)
{
    const spot_version_counts *k = row;

    return k->rows ? (double)k->wrong[version] / k->rows : NAN;
}

static void rate_before(spot_quantity_value *v, const void *row) { v->value = share(row, 0); }
static void rate_now(spot_quantity_value *v, const void *row) { v->value = share(row, 1); }

static void least_p(spot_quantity_value *v, const void *row)
{
    v->value = fmin(((const spot_version_counts *)row)->p_worse, ((const spot_version_counts *)row)->p_better);
}

static void needed(spot_quantity_value *v, const void *row)
{
    const version_row *x = row;

    if (x->rule == SPOT_CHANGE_PENDING && isfinite(x->k->needed)) v->value = ceil(x->k->needed);
}

static const spot_quantity counts[] = {
#define S(name_, field, ...) SPOT_QUANTITY(name_, spot_version_counts, field, .unit = SPOT_UNIT_COUNT, .title = __VA_ARGS__)
#define RATE .unit = SPOT_UNIT_SHARE, .direction = SPOT_LOWER_IS_BETTER
    S("compared", rows, "rows", .about = "rows that are compared"),
    SPOT_COMPUTED("rate_before", SPOT_AS_REAL, rate_before, .title = "before", RATE, .about = "error rate of version 1"),
    SPOT_COMPUTED("rate_now", SPOT_AS_REAL, rate_now, .title = "now", RATE, .about = "error rate of version 2"),
    SPOT_QUANTITIES_END
};

static const spot_quantity tests[] = {
    S("lost", lost, "lost", .direction = SPOT_LOWER_IS_BETTER, .about = "right, then wrong"),
    S("gained", gained, "gained", .direction = SPOT_HIGHER_IS_BETTER, .about = "wrong, then right"),
    SPOT_COMPUTED("p", SPOT_AS_REAL, least_p, .title = "p", .format = "%.2g", .about = "of the likelier direction, corrected"),
    SPOT_QUANTITIES_END
#undef S
};

static const spot_quantity version_columns[] = {
    SPOT_QUANTITY("part", version_row, part, .title = "part"), SPOT_QUANTITY("class", version_row, cls, .title = "class"),
    SPOT_QUANTITY("verdict", version_row, verdict, .title = "verdict"), SPOT_BEHIND(NULL, version_row, k, counts),
    SPOT_QUANTITY("class_rate_now", version_row, class_rate, .title = "class rate", RATE,
                  .about = "error rate in the class now"),
    SPOT_QUANTITY("change", version_row, change, .title = "change [95 %]", .unit = SPOT_UNIT_POINTS, .format = "%+.1f",
                  .direction = SPOT_LOWER_IS_BETTER, .about = "now less before, in points"),
    SPOT_BEHIND(NULL, version_row, k, tests),
    SPOT_COMPUTED("needed", SPOT_AS_INT, needed, .title = "needs", .unit = SPOT_UNIT_COUNT,
                  .about = "rows of this kind, or groups, that would decide, if the change stays as it is"),
    SPOT_QUANTITIES_END
};

static int judge_version(char name[SPOT_CI_NAME], const void *row)
{
    const version_row *x = row;

    const char *of = x->cls ? x->cls : "all rows", *class = x->cls ? "class " : "";

    if (x->named) snprintf(name, SPOT_CI_NAME, "%s%.200s", x->number ? class : "guard ", x->named);
    else if (x->number) snprintf(name, SPOT_CI_NAME, "slice %d of %s%.200s", x->number, class, of);
    else snprintf(name, SPOT_CI_NAME, "%s%.200s%s", class, of, x->cls ? " as a whole" : "");
    return (int)x->rule;
}

static const spot_ci_rule version_rules[] = {
    [SPOT_CHANGE_PENDING] = { "pending", "these rows cannot tell whether the versions differ; more rows decide", SPOT_CI_OPEN },
    [SPOT_CHANGE_SAME] = { "same", "the change lies within the margin", SPOT_CI_FINE },
    [SPOT_CHANGE_BETTER] = { "better", "version 2 is better there", SPOT_CI_FINE },
    [SPOT_CHANGE_MENDED] = { "mended", "version 2 is better there, and no longer above its error rate in the class",
                             SPOT_CI_FINE },
    [SPOT_CHANGE_WORSE] = { "worse", "version 2 is worse there", SPOT_CI_FAILED },
    [SPOT_CHANGE_NEW] = { "new", "version 2 is worse there, and version 1 had no blindspot there", SPOT_CI_FAILED },
};

void spot_versions_ci(spot_ci_report *r, const spot_versions_root *root)
{
    const spot_versions *v = root->v;
    int slices = 0, worse = 0, classes = 0;
    bool whole = false;

    *r = (spot_ci_report){ .command = "compare", .failed = v->failed, .root = root, .judge = judge_version,
                           .rules = sizeof version_rules / sizeof *version_rules, .named = { "part", "class", "verdict" } };
    r->list = (spot_quantity)SPOT_ROWS("parts", SPOT_AS_LIST, version_columns, version_row, count_rows, get_row);
    memcpy(r->rule, version_rules, sizeof version_rules);
    for (int i = 0; i < v->slices; i++) slices += v->slice[i].verdict >= SPOT_CHANGE_WORSE;
    for (int i = 0; i < v->classes; i++) {
        const bool is_worse = v->of[i].verdict >= SPOT_CHANGE_WORSE;
        if (v->of[i].cls < 0) whole |= is_worse;
        else worse += is_worse, classes++;
    }
    snprintf(r->subject, sizeof r->subject, "%s -> %s%s%s, %d rows", v->name[0], v->name[1], *v->data ? ", " : "", v->data,
             v->n);
    if (v->failed)
        snprintf(r->verdict, sizeof r->verdict, "worse: %d of %d slices, %d of %d classes%s", slices, v->slices, worse, classes,
                 whole ? ", all rows together" : "");
    else snprintf(r->verdict, sizeof r->verdict, v->equal ? "both versions have the same rows wrong"
                                                          : "nothing is shown to be worse");
    if (v->outside)
        snprintf(r->verdict + strlen(r->verdict), 100, "; %d row%s outside these slices turned wrong", v->outside,
                 v->outside == 1 ? "" : "s");
}

/* ---- a study's numbers ---- */

enum { MODEL_WORSE, MODEL_BETTER, MODEL_SAME, MODEL_PENDING, MODEL_SHOWN };

static const spot_ci_rule model_rules[] = {
    [MODEL_WORSE] = { "worse", "version 2 is worse by more than the margin, beyond chance", SPOT_CI_FAILED },
    [MODEL_BETTER] = { "better", "version 2 is better by more than the margin, beyond chance", SPOT_CI_FINE },
    [MODEL_SAME] = { "same", "version 2 is not worse by more than the margin, beyond chance", SPOT_CI_FINE },
    [MODEL_PENDING] = { "pending", "so few objects cannot tell whether the versions differ; more would", SPOT_CI_OPEN },
    [MODEL_SHOWN] = { "only shown", "a change of this number is neither good nor bad", SPOT_CI_FINE },
};

static long count_changes(const void *root) { return ((const spot_model_comparison *)root)->changes; }

static bool get_change(void *out, const void *root, long i)
{
    memcpy(out, &((const spot_model_comparison *)root)->change[i], sizeof(spot_model_change));
    return true;
}

static int rule_of(const spot_model_change *x)
{
    return !x->of.sign ? MODEL_SHOWN : x->verdict == SPOT_CHANGE_WORSE ? MODEL_WORSE
         : x->verdict == SPOT_CHANGE_BETTER ? MODEL_BETTER : x->verdict == SPOT_CHANGE_SAME ? MODEL_SAME : MODEL_PENDING;
}

static int judge_change(char name[SPOT_CI_NAME], const void *row)
{
    const spot_model_change *x = row;

    snprintf(name, SPOT_CI_NAME, "%s%s%s", x->of.group, *x->of.group ? ", " : "", x->of.name);
    return rule_of(x);
}

static void verdict_of(spot_quantity_value *v, const void *row) { v->text = spot_model_change_word(row); }

static void model_p(spot_quantity_value *v, const void *row)
{
    v->value = fmin(((const spot_model_change *)row)->p_worse, ((const spot_model_change *)row)->p_better);
}

static void model_needed(spot_quantity_value *v, const void *row)
{
    const double needed = ((const spot_model_change *)row)->needed;

    if (needed > 0 && isfinite(needed)) v->value = ceil(needed);
}

/* The columns in the words of the study: of its reports, and of the JSON object. */
static void describe_changes(spot_quantity *q, const spot_model_words *w)
{
    const spot_quantity_unit unit = w->is_share ? SPOT_UNIT_SHARE : SPOT_UNIT_NUMBER;
#define S(name_, field, title_, ...) \
    (spot_quantity)SPOT_QUANTITY(name_, spot_model_change, field, .title = title_, __VA_ARGS__)

    if (w->group) *q++ = S(w->group, of.group, w->group, .unit = unit);
    *q++ = S(w->quantity, of.name, w->quantity, .unit = unit);
    *q++ = S(w->objects, objects, w->objects, .unit = SPOT_UNIT_COUNT);
    *q++ = S("before", before, "before", .unit = unit);
    *q++ = S("now", now, "now", .unit = unit);
    *q++ = S("change", change, "change [95 %]", .unit = w->is_share ? SPOT_UNIT_POINTS : unit,
             .format = w->is_share ? "%+.1f" : "%+.3f",
             .about = w->is_share ? "now less before, in points" : "now less before");
    *q++ = S(w->worse, worse, w->worse, .unit = SPOT_UNIT_COUNT);
    *q++ = S(w->better, better, w->better, .unit = SPOT_UNIT_COUNT);
    *q++ = (spot_quantity)SPOT_COMPUTED("p", SPOT_AS_REAL, model_p, .title = "p", .format = "%.2g",
                                        .about = "of the likelier direction, corrected over all numbers");
    *q++ = S("p_same", p_same, "p of same", .format = "%.2g", .about = "of no worsening beyond the margin, corrected");
    *q++ = (spot_quantity)SPOT_COMPUTED("needed", SPOT_AS_INT, model_needed, .title = "needs", .unit = SPOT_UNIT_COUNT,
                                        .about = "as many would decide, if the change stays as it is");
    *q++ = (spot_quantity)SPOT_COMPUTED("verdict", SPOT_AS_TEXT, verdict_of, .title = "verdict");
    *q = (spot_quantity)SPOT_QUANTITIES_END;
#undef S
}

void spot_models_ci(spot_ci_report *r, const spot_model_comparison *k)
{
    int worse = 0;

    *r = (spot_ci_report){ .command = "compare", .failed = k->failed, .root = k, .judge = judge_change,
                           .rules = sizeof model_rules / sizeof *model_rules,
                           .named = { k->words->quantity, "verdict", k->words->group } };
    describe_changes(r->column, k->words);
    r->list = (spot_quantity)SPOT_ROWS("changes", SPOT_AS_LIST, NULL, spot_model_change, count_changes, get_change);
    r->list.rows = r->column;
    memcpy(r->rule, model_rules, sizeof model_rules);
    for (int i = 0; i < k->changes; i++) worse += k->change[i].verdict == SPOT_CHANGE_WORSE;
    snprintf(r->subject, sizeof r->subject, "%s -> %s, %d %s", k->before, k->now, k->objects, k->words->objects);
    if (worse) snprintf(r->verdict, sizeof r->verdict, "worse: %d of %d numbers", worse, k->changes);
    else snprintf(r->verdict, sizeof r->verdict, "nothing is shown to be worse in %d numbers", k->changes);
}
