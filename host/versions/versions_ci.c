/* versions_ci.c - see versions_ci.h. */
#include "versions/versions_ci.h"

#include <math.h>
#include <string.h>

/* ---- all rows, classes, guards, slices ---- */

typedef struct {
    const spot_version_counts *k;
    const char *cls, *verdict, *named;     /* named: a rule, or a guard; NULL */
    int number;                            /* of the slice, or of guards that have one name; else 0 */
    bool is_slice;
    spot_change_verdict rule;
    double class_rate;
    spot_interval change;
    char part[24];
} version_row;

/* A reviewer reads the gravest verdicts first. */
static const spot_change_verdict order[] = { SPOT_CHANGE_WORSE, SPOT_CHANGE_NEW, SPOT_CHANGE_MENDED, SPOT_CHANGE_BETTER,
                                             SPOT_CHANGE_PENDING, SPOT_CHANGE_SAME };
enum { ORDERS = sizeof order / sizeof *order };

static long count_parts(const spot_versions *v) { return (long)v->classes + v->guards + v->slices; }

/* A walk for each verdict: get_row leaves out the rows of the others. */
static long count_rows(const void *root) { return ORDERS * count_parts(((const spot_versions_root *)root)->v); }

/* 2 for the second of two guards that are the same rule, with margins of their own; 0 where there is one. */
static int number_of_guard(const spot_versions *v, long g)
{
    int same = 0, before = 0;

    for (int i = 0; i < v->guards; i++)
        if (!strcmp(v->guard[i].name, v->guard[g].name)) same++, before += i <= g;
    return same > 1 ? before : 0;
}

static void take_named(version_row *x, const spot_versions *v, long i)
{
    const spot_version_class *k = i < v->classes ? &v->of[i] : &v->guard[i - v->classes];

    *x = (version_row){ .k = &k->counts, .class_rate = NAN, .rule = k->verdict, .named = k->name };
    if (k->name) x->number = number_of_guard(v, i - v->classes);
    snprintf(x->part, sizeof x->part, k->name ? "guard" : k->cls < 0 ? "all rows" : "class");
}

static void take_slice(version_row *x, const spot_versions *v, long i)
{
    const spot_version_slice *p = &v->slice[i];

    *x = (version_row){ .k = &p->counts, .class_rate = p->class_rate[1], .rule = p->verdict, .named = p->rule,
                        .number = (int)i + 1, .is_slice = true };
    snprintf(x->part, sizeof x->part, "slice %d", x->number);
}

static bool get_row(void *out, const void *root, long at)
{
    const spot_versions_root *t = root;
    const spot_versions *v = t->v;
    const long n = count_parts(v), i = at % n, named = (long)v->classes + v->guards;
    const int cls = i < v->classes ? v->of[i].cls : i < named ? v->guard[i - v->classes].cls : v->slice[i - named].cls;
    version_row *x = out;

    if (i < named) take_named(x, v, i);
    else take_slice(x, v, i - named);
    x->cls = cls < 0 ? NULL : t->s->class_name[cls];
    x->verdict = spot_change_verdict_name(x->rule);
    x->change = (spot_interval){ x->k->change.value, x->k->corrected.low, x->k->corrected.high };
    return x->rule == order[at / n];
}

static void rate_before(spot_quantity_value *v, const void *row) { v->value = ((const spot_version_counts *)row)->before; }

static void rate_now(spot_quantity_value *v, const void *row)
{
    const spot_version_counts *k = row;

    v->value = k->rows ? (double)k->wrong[1] / k->rows : NAN;
}

static void p_of_direction(spot_quantity_value *v, const void *row)
{
    const version_row *x = row;

    v->value = x->rule == SPOT_CHANGE_BETTER || x->rule == SPOT_CHANGE_MENDED ? x->k->p_better : x->k->p_worse;
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
    SPOT_COMPUTED("rate_before", SPOT_AS_REAL, rate_before, .title = "before", RATE,
                  .about = "error rate of version 1; with further trainings the mean over all of them"),
    SPOT_COMPUTED("rate_now", SPOT_AS_REAL, rate_now, .title = "now", RATE, .about = "error rate of version 2"),
    SPOT_QUANTITIES_END
};

static const spot_quantity turned[] = {
    S("lost", lost, "lost", .direction = SPOT_LOWER_IS_BETTER, .about = "rows that turned wrong"),
    S("gained", gained, "gained", .direction = SPOT_HIGHER_IS_BETTER, .about = "rows that turned right"),
    SPOT_QUANTITIES_END
#undef S
};

static const spot_quantity version_columns[] = {
    SPOT_QUANTITY("part", version_row, part, .title = "part"), SPOT_QUANTITY("class", version_row, cls, .title = "class"),
    SPOT_QUANTITY("rule", version_row, named, .title = "rule"),
    SPOT_QUANTITY("verdict", version_row, verdict, .title = "verdict"), SPOT_BEHIND(NULL, version_row, k, counts),
    SPOT_QUANTITY("class_rate_now", version_row, class_rate, .title = "class rate", RATE,
                  .about = "error rate of version 2 in the class"),
    SPOT_QUANTITY("change", version_row, change, .title = "change [low, high]", .unit = SPOT_UNIT_POINTS, .format = "%+.1f",
                  .direction = SPOT_LOWER_IS_BETTER,
                  .about = "now less before, in points; the corrected ends: worse looks at the low one, same at the high one"),
    SPOT_BEHIND(NULL, version_row, k, turned),
    SPOT_COMPUTED("p", SPOT_AS_REAL, p_of_direction, .title = "p", .format = "%.2g",
                  .about = "of better where the verdict is better or mended, else of worse; corrected"),
    SPOT_COMPUTED("needed", SPOT_AS_INT, needed, .title = "needs", .unit = SPOT_UNIT_COUNT,
                  .about = "rows of this kind, or groups where rows have them, that would decide if the change stays as it is"),
    SPOT_QUANTITIES_END
};

/* "all rows", "class places", "guard places & colour=grey", "places & colour=grey", "slice 3 of class places". */
static int judge_version(char name[SPOT_CI_NAME], const void *row)
{
    const version_row *x = row;
    const char *cls = x->cls ? x->cls : "";

    if (x->is_slice && x->named) snprintf(name, SPOT_CI_NAME, "%.150s%s%.150s", cls, x->cls ? " & " : "", x->named);
    else if (x->is_slice) snprintf(name, SPOT_CI_NAME, "slice %d of %s%.200s", x->number, x->cls ? "class " : "all rows", cls);
    else if (x->number) snprintf(name, SPOT_CI_NAME, "guard %.280s (%d)", x->named, x->number);
    else if (x->named) snprintf(name, SPOT_CI_NAME, "guard %.280s", x->named);
    else snprintf(name, SPOT_CI_NAME, "%s%.200s", x->cls ? "class " : "all rows", cls);
    return (int)x->rule;
}

static const spot_ci_rule version_rules[] = {
    [SPOT_CHANGE_PENDING] = { "pending", "these rows cannot tell: neither worse, nor better, nor the same within the margin is "
                                         "shown", SPOT_CI_OPEN },
    [SPOT_CHANGE_SAME] = { "same", "version 2 is not worse there by the margin or more, beyond chance", SPOT_CI_FINE },
    [SPOT_CHANGE_BETTER] = { "better", "version 2 is better there, beyond chance", SPOT_CI_FINE },
    [SPOT_CHANGE_MENDED] = { "mended", "version 2 is better there, beyond chance, and no longer above its error rate in the "
                                       "class", SPOT_CI_FINE },
    [SPOT_CHANGE_WORSE] = { "worse", "version 2 is worse there, by more than the margin or than equal trainings differ by, "
                                     "beyond chance", SPOT_CI_FAILED },
    [SPOT_CHANGE_NEW] = { "new", "version 2 is worse there, beyond chance, and version 1 has no confirmed blindspot there",
                          SPOT_CI_FAILED },
};

/* "worse: all rows, 1 of 3 classes, 2 of 9 slices", of the parts with one of two verdicts. */
static void count_verdicts(char *text, size_t size, const spot_versions *v, const char *word, spot_change_verdict a,
                           spot_change_verdict b)
{
    const int all = v->classes && v->of->cls < 0;
    const int of[] = { all, v->classes - all, v->guards, v->slices };
    static const char *const one[] = { "", "class", "guard", "slice" }, *const many[] = { "", "classes", "guards", "slices" };
    int n[4] = { 0 };
    size_t at;

    for (int i = 0; i < v->classes; i++) n[v->of[i].cls >= 0] += v->of[i].verdict == a || v->of[i].verdict == b;
    for (int i = 0; i < v->guards; i++) n[2] += v->guard[i].verdict == a || v->guard[i].verdict == b;
    for (int i = 0; i < v->slices; i++) n[3] += v->slice[i].verdict == a || v->slice[i].verdict == b;
    at = (size_t)snprintf(text, size, "%s: %s", word, n[0] ? "all rows" : "");
    for (int i = 1, said = n[0]; i < 4; said += n[i++])
        if (n[i]) at += (size_t)snprintf(text + at, size - at, "%s%d of %d %s", said ? ", " : "", n[i], of[i],
                                         of[i] == 1 ? one[i] : many[i]);
}

static bool has_pending(const spot_versions *v)
{
    for (int i = 0; i < v->classes; i++) if (v->of[i].verdict == SPOT_CHANGE_PENDING) return true;
    for (int i = 0; i < v->guards; i++) if (v->guard[i].verdict == SPOT_CHANGE_PENDING) return true;
    for (int i = 0; i < v->slices; i++) if (v->slice[i].verdict == SPOT_CHANGE_PENDING) return true;
    return false;
}

/* Pending parts are counted beside each verdict: "nothing is shown" is no "nothing is". */
static void say_verdict(char *text, size_t size, const spot_versions *v)
{
    char part[160];
    size_t at;

    if (v->failed) count_verdicts(part, sizeof part, v, "worse", SPOT_CHANGE_WORSE, SPOT_CHANGE_NEW);
    else snprintf(part, sizeof part, v->equal ? "both versions have the same rows wrong" : "nothing is shown to be worse");
    at = (size_t)snprintf(text, size, "%s", part);
    if (has_pending(v)) {
        count_verdicts(part, sizeof part, v, "pending", SPOT_CHANGE_PENDING, SPOT_CHANGE_PENDING);
        at += (size_t)snprintf(text + at, size - at, "; %s", part);
    }
    if (v->outside)
        snprintf(text + at, size - at, "; %d row%s outside the slices turned wrong", v->outside, v->outside == 1 ? "" : "s");
}

void spot_versions_ci(spot_ci_report *r, const spot_versions_root *root)
{
    const spot_versions *v = root->v;

    *r = (spot_ci_report){ .command = "compare", .failed = v->failed, .root = root, .judge = judge_version, .ordered = true,
                           .rules = sizeof version_rules / sizeof *version_rules,
                           .named = { "part", "class", "rule", "verdict" } };
    r->list = (spot_quantity)SPOT_ROWS("parts", SPOT_AS_LIST, version_columns, version_row, count_rows, get_row);
    memcpy(r->rule, version_rules, sizeof version_rules);
    snprintf(r->subject, sizeof r->subject, "%s -> %s%s%s, %d rows", v->name[0], v->name[1], *v->data ? ", " : "", v->data,
             v->n);
    say_verdict(r->verdict, sizeof r->verdict, v);
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
