/* layer_shifts.c - a run of shifts beside its baseline: impact, slope, pass rate and classes of every source and shift.
 *
 * Impact and slope are compared on the classes that count on both sides and on the models that both have, by a bootstrap over
 * classes and models that draws the same of both: the difference of a draw is of pairs. Its p-value is Student's, with one
 * degree of freedom less than there are classes (for a slope: classes or models, whichever are fewer). The pass rate and the
 * classes that count are means over classes, compared as DR is over ECs. Without a common class or model, the difference is of
 * independent runs. */
#include "check/shift_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "spotter/shifts.h"
#include "stats/statistics.h"

enum { DRAWS = 2000, NUMBERS = 4 };            /* of a shift: impact, slope, passed, classes */

/* ---- impact and slope ---- */

static bool counts_in(const spot_shift_comparison *v, const spot_shift_counts *s, const spot_shift_folder *f, int cls)
{
    const spot_shift_rule *r = &v->a->rule;    /* the baseline's on both sides */

    return f->kept[cls] >= r->least && s->folder[f->base].kept[cls] >= r->least_base;
}

/* Memory of one side's table: (classes) and (models, classes) for shift and base. */
typedef struct { int *owned; spot_shift_tally shift, base; } side;

static void copy_tally(spot_shift_tally *out, int *at, const spot_shift_counts *s, const spot_shift_folder *f, const int *cls,
                       int classes, const int *model, int models)
{
    out->pictures = at;
    out->right = at + classes;
    for (int k = 0; k < classes; k++) {
        if (cls[k] < 0) continue;
        at[k] = f->kept[cls[k]];
        for (int m = 0; m < models; m++)
            at[(size_t)(1 + m) * classes + k] = f->right[(size_t)model[m] * s->classes + cls[k]];
    }
}

/* cls[k] < 0: the class does not count, and gets no picture. */
static spot_status open_side(spot_ctx *c, side *x, const spot_shift_counts *s, const spot_shift_folder *f, const int *cls,
                             int classes, const int *model, int models)
{
    const size_t each = (size_t)(1 + models) * (size_t)classes;

    x->owned = calloc(2 * each + 1, sizeof *x->owned);
    if (!x->owned) return spot_fail(c, SPOT_NOMEM, "no memory to compare %d classes", classes);
    copy_tally(&x->shift, x->owned, s, f, cls, classes, model, models);
    copy_tally(&x->base, x->owned + each, s, &s->folder[f->base], cls, classes, model, models);
    return SPOT_OK;
}

typedef struct { spot_interval difference; double before, now, error; int least, df; } change;

static spot_shift_rule rule_of(const spot_shift_comparison *v)
{
    spot_shift_rule r = v->a->rule;

    r.draws = DRAWS, r.seed = 1;
    return r;
}

/* One or two sides in one table, with the same draws. */
static spot_status evaluate(const spot_shift_comparison *v, spot_shift_estimates *e, const side *x, int sides, int classes,
                            int models)
{
    const spot_shift_rule rule = rule_of(v);
    const spot_shift_tally shift[2] = { x[0].shift, x[sides - 1].shift }, base[2] = { x[0].base, x[sides - 1].base };
    const spot_shift_table t = { .classes = classes, .models = models, .shifts = sides, .base = base[0], .shift = shift,
                                 .own_base = base };

    return spot_shift_evaluate(v->g->c, e, &t, &rule);
}

/* The run, then the baseline: the first pair is now - before. */
static void take_pairs(const spot_shift_comparison *v, change *impact, change *slope, const spot_shift_estimates *e)
{
    const spot_shift_difference *d = &e->between[0];
    const int used = e->shift[0].used, few = used < v->models ? used : v->models;

    *impact = (change){ d->impact, e->shift[1].impact.value, e->shift[0].impact.value, d->impact_error, used, used - 1 };
    *slope = (change){ d->slope, e->shift[1].slope.value, e->shift[0].slope.value, d->slope_error, few, few - 1 };
}

static spot_status compare_pairs(const spot_shift_comparison *v, change *impact, change *slope, int *left,
                                 const spot_shift_folder *x, const spot_shift_folder *y)
{
    int *a = malloc(2 * (size_t)v->classes * sizeof *a), *b = a + v->classes;
    side both[2] = { { 0 } };
    spot_shift_estimates e = { 0 };
    spot_status s = a ? SPOT_OK : spot_fail(v->g->c, SPOT_NOMEM, "no memory to compare %d classes", v->classes);

    for (int k = 0; k < v->classes && s == SPOT_OK; k++) {
        const bool in_a = counts_in(v, v->a, x, v->class_a[k]), in_b = counts_in(v, v->b, y, v->class_b[k]);
        a[k] = in_a && in_b ? v->class_a[k] : -1;
        b[k] = in_a && in_b ? v->class_b[k] : -1;
        *left += in_a != in_b;
    }
    if (s == SPOT_OK) s = open_side(v->g->c, &both[0], v->b, y, b, v->classes, v->model_b, v->models);
    if (s == SPOT_OK) s = open_side(v->g->c, &both[1], v->a, x, a, v->classes, v->model_a, v->models);
    if (s == SPOT_OK) s = evaluate(v, &e, both, 2, v->classes, v->models);
    if (s == SPOT_OK) take_pairs(v, impact, slope, &e);
    spot_shift_estimates_close(&e);
    free(both[0].owned);
    free(both[1].owned);
    free(a);
    return s;
}

/* All classes and models of one side. */
static spot_status evaluate_alone(const spot_shift_comparison *v, spot_shift_estimates *e, const spot_shift_counts *s,
                                  const spot_shift_folder *f)
{
    const int most = s->classes > s->models ? s->classes : s->models;
    int *all = malloc((size_t)most * sizeof *all);
    side x = { 0 };
    spot_status how = all ? SPOT_OK : spot_fail(v->g->c, SPOT_NOMEM, "no memory to compare %d classes", s->classes);

    for (int i = 0; i < most && all; i++) all[i] = i;
    if (how == SPOT_OK) how = open_side(v->g->c, &x, s, f, all, s->classes, all, s->models);
    if (how == SPOT_OK) how = evaluate(v, e, &x, 1, s->classes, s->models);
    free(x.owned);
    free(all);
    return how;
}

/* Independent runs: the errors add in squares. */
static change differ(spot_interval before, spot_interval now, double error_before, double error_now, int least)
{
    const double error = hypot(error_before, error_now), reach = least > 1 ? error * spot_student_above(0.025, least - 1) : NAN;
    const double value = now.value - before.value;

    return (change){ { value, value - reach, value + reach }, before.value, now.value, error, least, least - 1 };
}

static spot_status compare_alone(const spot_shift_comparison *v, change *impact, change *slope, const spot_shift_folder *x,
                                 const spot_shift_folder *y)
{
    spot_shift_estimates e = { 0 }, f = { 0 };
    spot_status s = evaluate_alone(v, &e, v->a, x);

    if (s == SPOT_OK) s = evaluate_alone(v, &f, v->b, y);
    if (s == SPOT_OK) {
        const spot_shift_estimate *was = e.shift, *is = f.shift;
        const int models = v->a->models < v->b->models ? v->a->models : v->b->models;
        const int classes = was->used < is->used ? was->used : is->used, few = classes < models ? classes : models;
        *impact = differ(was->impact, is->impact, was->impact_error, is->impact_error, classes);
        *slope = differ(was->slope, is->slope, was->slope_error, is->slope_error, few);
    }
    spot_shift_estimates_close(&e);
    spot_shift_estimates_close(&f);
    return s;
}

/* ---- numbers ---- */

static spot_check_number *add_number(spot_shift_comparison *v, const char *name, int metric)
{
    spot_check_line *l = spot_check_add(v->g, "pairs", name, spot_check_metric(metric), SPOT_INCONCLUSIVE);
    spot_check_number *w = &v->number[v->numbers++];

    l->margin = v->g->before.margin[metric];
    *w = (spot_check_number){ .l = l, .metric = metric, .fewest = SPOT_CHECK_FEWEST_CLASSES, .units = "classes" };
    return w;
}

/* The line gets this verdict: a side has no value. */
static void drop_number(spot_shift_comparison *v, spot_verdict verdict, const char *why)
{
    spot_check_number *w = &v->number[--v->numbers];

    w->l->verdict = verdict;
    spot_because(w->l, "%s", why);
    spot_check_quarantine(v->g, w->l, w->metric);
}

/* had: the baseline has a class that counts. */
static void add_change(spot_shift_comparison *v, const char *name, int metric, const change *x, int left, bool had)
{
    spot_check_number *w = add_number(v, name, metric);
    spot_difference *d = &w->d;
    double reach;

    w->l->left_out = left;
    w->l->n = w->least = x->least;
    w->l->before = x->before;
    w->l->now = x->now;
    if (metric == SPOT_CHECK_SLOPE) w->units = "classes and models";
    if (!isfinite(x->difference.value)) {
        drop_number(v, had ? SPOT_INCONCLUSIVE : SPOT_NOT_COMPARABLE, !had ? "no class counts in the baseline"
                    : metric == SPOT_CHECK_SLOPE ? "a side has no slope" : "no class counts on both sides");
        return;
    }
    if (!isfinite(x->error) || x->df < 1) {
        drop_number(v, SPOT_INCONCLUSIVE, "there is no interval: too few classes or models");
        return;
    }
    reach = x->error * spot_student_above(0.05, x->df);
    *d = (spot_difference){ .mean = x->difference.value, .low = x->difference.low, .high = x->difference.high,
                            .inner_low = x->difference.value - reach, .inner_high = x->difference.value + reach,
                            .p = x->error > 0 ? spot_student_tail(fabs(x->difference.value) / x->error, x->df)
                               : x->difference.value != 0 ? 0 : 1,
                            .equal = v->g->paired && !(x->error > 0) && x->difference.value == 0 };
    w->l->low = d->low;
    w->l->high = d->high;
}

static double mean_of(const double *x, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += x[i];
    return sum / n;
}

/* The value of a class for the pass rate, or 1 where it counts. False: it has none. */
static bool class_value(const spot_shift_comparison *v, double *value, const spot_shift_counts *s,
                        const spot_shift_folder *f, int metric, int cls)
{
    *value = metric == SPOT_CHECK_CLASSES ? counts_in(v, s, f, cls) : (double)f->kept[cls] / f->pictures[cls];
    return metric == SPOT_CHECK_CLASSES || f->pictures[cls];
}

/* Means over classes: pairs of common classes, else of all classes of both sides. */
static spot_status add_rate(spot_shift_comparison *v, const spot_shift_folder *x, const spot_shift_folder *y, int metric)
{
    spot_checking *g = v->g;
    double *now = g->x, *before = g->y;
    int n = 0, m = 0;
    spot_check_number *w = add_number(v, x->name, metric);

    for (int k = 0; k < v->classes; k++) {
        const bool a = class_value(v, &before[n], v->a, x, metric, v->class_a[k]);
        const bool b = class_value(v, &now[n], v->b, y, metric, v->class_b[k]);
        n += a && b;
        w->l->left_out += a != b;
    }
    m = n;
    for (int k = 0; k < v->a->classes && !v->classes; k++) m += class_value(v, &before[m], v->a, x, metric, k);
    for (int k = 0; k < v->b->classes && !v->classes; k++) n += class_value(v, &now[n], v->b, y, metric, k);
    w->l->n = w->least = n < m ? n : m;
    w->l->paired = v->classes;
    if (!w->least) {
        drop_number(v, SPOT_INCONCLUSIVE, "no class has one on both sides");
        return SPOT_OK;
    }
    w->l->before = mean_of(before, m);
    w->l->now = mean_of(now, n);
    for (int i = 0; i < n && v->classes; i++) now[i] -= before[i];
    SPOT_TRY(spot_difference_of(g->c, &w->d, now, n, v->classes ? NULL : before, v->classes ? 0 : m,
                                0x53480000u + (uint32_t)v->numbers));
    w->l->low = w->d.low;
    w->l->high = w->d.high;
    return SPOT_OK;
}

/* A class that counts no more makes a shift look milder, so it is named. */
static void name_lost(spot_shift_comparison *v, spot_check_line *l, const spot_shift_folder *x, const spot_shift_folder *y)
{
    const char *first = NULL;
    int lost = 0;

    for (int k = 0; k < v->classes; k++)
        if (counts_in(v, v->a, x, v->class_a[k]) && !counts_in(v, v->b, y, v->class_b[k]) && !lost++)
            first = v->b->class_name[v->class_b[k]];
    if (lost) spot_because(l, "%d class%s of the baseline count%s no more, first %s", lost, lost == 1 ? "" : "es",
                           lost == 1 ? "s" : "", first);
}

static spot_status compare_shift(spot_shift_comparison *v, const spot_shift_folder *x, const spot_shift_folder *y)
{
    change impact = { 0 }, slope = { 0 };
    bool had = false;
    int left = 0;

    for (int k = 0; k < v->a->classes && !had; k++) had = counts_in(v, v->a, x, k);
    if (v->g->paired) SPOT_TRY(compare_pairs(v, &impact, &slope, &left, x, y));
    else SPOT_TRY(compare_alone(v, &impact, &slope, x, y));
    add_change(v, x->name, SPOT_CHECK_IMPACT, &impact, left, had);
    add_change(v, x->name, SPOT_CHECK_SLOPE, &slope, left, had);
    SPOT_TRY(add_rate(v, x, y, SPOT_CHECK_PASSED));
    SPOT_TRY(add_rate(v, x, y, SPOT_CHECK_CLASSES));
    name_lost(v, &v->g->k->line[v->g->k->lines - 1], x, y);
    return SPOT_OK;
}

static spot_status compare_numbers(spot_shift_comparison *v)
{
    SPOT_TRY(spot_shift_pair(v));
    spot_check_shift_bits(v);
    v->number = calloc(NUMBERS * (size_t)v->a->folders, sizeof *v->number);
    if (!v->number) return spot_fail(v->g->c, SPOT_NOMEM, "no memory to compare %d folders", v->a->folders);
    for (int i = 0; i < v->a->folders; i++) {
        const spot_shift_folder *x = &v->a->folder[i], *y = x->base < 0 ? NULL : spot_shift_folder_find(v->b, x->name);
        SPOT_TRY(spot_check_stop(v->g->c));
        if (y && y->base >= 0) SPOT_TRY(compare_shift(v, x, y));
    }
    return spot_check_judge(v->g, v->number, v->numbers);
}

spot_status spot_check_shifts(spot_checking *g)
{
    spot_shift_comparison v = { .g = g, .a = g->before.shifts, .b = g->now.shifts };
    const spot_status s = compare_numbers(&v);

    free(v.class_a);
    free(v.number);
    return s;
}
