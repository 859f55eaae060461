/* slice_versions_ask.c - see slice_versions_ask.h. */
#include "versions/slice_versions_ask.h"

#include <math.h>
#include <stdlib.h>

#include "discover/subject/subject_memory.h"
#include "stats/change_test.h"
#include "stats/gatekeeping.h"
#include "versions/slice_versions_shift.h"

typedef enum { WORSE, BETTER, SAME, FAMILIES } family;

void spot_questions_add(spot_questions *q, spot_version_level level, spot_version_counts *k, const int *row, int n, int cls)
{
    int at = 0;

    for (int l = 0; l < SPOT_ASK_LEVELS; l++) at += q->n[l];
    q->of[at] = (spot_question){ .counts = k, .row = row, .n = n, .cls = cls };
    q->n[level]++;
}

static void count_row(spot_version_counts *k, const spot_subject *const s[SPOT_VERSIONS], int row, int cls)
{
    const bool was = spot_subject_wrong(s[0], row, cls), is = spot_subject_wrong(s[1], row, cls);

    k->rows++;
    k->wrong[0] += was, k->wrong[1] += is;
    k->lost += is && !was, k->gained += was && !is;
}

/* Counts the rows of a question, and keeps those that turned. */
static spot_status count_rows(spot_ctx *c, spot_arena *a, const spot_question *x, const spot_subject *const s[SPOT_VERSIONS])
{
    spot_version_counts *k = x->counts;
    int lost = 0, gained = 0;

    for (int i = 0; i < x->n; i++) count_row(k, s, x->row[i], x->cls);
    SPOT_TRY(SPOT_TAKE(c, a, k->lost_row, k->lost));
    SPOT_TRY(SPOT_TAKE(c, a, k->gained_row, k->gained));
    for (int i = 0; i < x->n; i++) {
        const bool was = spot_subject_wrong(s[0], x->row[i], x->cls), is = spot_subject_wrong(s[1], x->row[i], x->cls);
        if (is && !was) k->lost_row[lost++] = x->row[i];
        if (was && !is) k->gained_row[gained++] = x->row[i];
    }
    return SPOT_OK;
}

/* The change from the mean of all trainings of version 1. Their spread has the part of the variance that the mean has. */
static spot_change_test test_of(spot_questions *q, const spot_question *x, double share, int freedom, uint32_t number)
{
    const int befores = q->o->retrains + 1;
    spot_version_counts *k = x->counts;
    spot_change_test t;
    double up, down, square;

    share = spot_question_share(q, x, share, &freedom);
    square = spot_question_sums(q, x, q->before, befores, q->s[1], &up, &down);
    t = spot_change_test_of(up, down, k->rows, befores, q->sums.place ? &q->sums : NULL, number);
    k->groups = t.groups;
    k->change = spot_change_interval(&t, 0.025, 0.025);
    k->before = k->rows ? (double)k->wrong[1] / k->rows - k->change.value : NAN;
    t.spread = spot_spread_variance(share, square, x->n);
    t.freedom = t.spread > 0 ? freedom : 0;
    return t;
}

/* "Same" is about version 2 as it is: trainings that were not made add nothing. */
static spot_change_test of_rows_alone(const spot_change_test *t)
{
    spot_change_test rows = *t;

    rows.spread = rows.freedom = 0;
    return rows;
}

static double p_of(const spot_change_test *t, const spot_version_counts *k, family f)
{
    const spot_change_test rows = of_rows_alone(t);

    return f == WORSE ? spot_change_above(t, k->beyond) : f == BETTER ? spot_change_below(t, -k->beyond)
         : spot_change_below(&rows, k->margin);
}

/* The rows that would decide: that the change is below the margin, or above it; groups where rows have them. */
static double needed(const spot_change_test *t, const spot_version_counts *k, double worse_at, double same_at)
{
    const spot_change_test alone = of_rows_alone(t);
    const double rows = k->change.value < k->margin ? spot_change_needed(&alone, k->margin, same_at)
                                                    : spot_change_needed(t, k->beyond, worse_at);

    return t->groups ? rows * t->groups / t->n : rows;
}

/* The ends that verdicts look at: the lower one of worse, the upper one of same. */
static spot_interval corrected(const spot_change_test *t, double worse_at, double same_at)
{
    const spot_change_test rows = of_rows_alone(t);
    spot_interval k = spot_change_interval(t, worse_at, worse_at);

    k.high = spot_change_interval(&rows, same_at, same_at).high;
    return k;
}

/* Whether a slice's rows alone would be beyond chance, and its log odds are not. p, at, shift: of the family's test. */
static bool is_as_others(const spot_change_test *t, const spot_version_counts *k, family f, double at, double shift)
{
    return shift > at && p_of(t, k, f) <= at;
}

typedef struct {
    spot_change_test *test;            /* (n) */
    double *p, *at;                    /* (FAMILIES * n): of every test, family by family */
    double *shift;                     /* (2 * slices): p of the slices' log odds, of worse and better */
    bool   *changed;                   /* (slices): beyond chance in errors */
    spot_ranked_p *scratch;            /* (n) */
    int n;
} answers;

/* p and at of all tests; with_shift: those of slices are no less than of their log odds. */
static void ask_once(const spot_questions *q, answers *a, bool with_shift)
{
    const int n = a->n, slices = q->n[SPOT_ASK_SLICE], first = n - slices;
    spot_gate gate[SPOT_ASK_LEVELS];

    for (int l = 0; l < SPOT_ASK_LEVELS; l++) gate[l] = (spot_gate){ q->n[l], q->o->share[l] };
    for (int f = 0; f < FAMILIES; f++) {
        double *p = a->p + f * n;
        for (int i = 0; i < n; i++) p[i] = p_of(&a->test[i], q->of[i].counts, (family)f);
        for (int i = 0; i < slices && with_shift && f != SAME; i++)
            p[first + i] = fmax(p[first + i], a->shift[f * slices + i]);
        spot_gatekeep(p, a->at + f * n, gate, SPOT_ASK_LEVELS, q->o->level, a->scratch);
    }
}

/* Slices that changed beyond chance in errors tell nothing about how slices move by themselves: many may be mended. */
static spot_status ask_all(spot_ctx *c, spot_questions *q, answers *a, spot_version_shift *shift)
{
    const int n = a->n, slices = q->n[SPOT_ASK_SLICE], first = n - slices;
    const double *p = a->p, *at = a->at;

    ask_once(q, a, false);
    for (int i = 0; i < slices; i++)
        a->changed[i] = p[WORSE * n + first + i] <= q->o->level || p[BETTER * n + first + i] <= q->o->level;
    SPOT_TRY(spot_shift_measure(c, q, a->changed, shift, a->shift, a->shift + slices));
    ask_once(q, a, true);
    for (int i = 0; i < n; i++) {
        spot_version_counts *k = q->of[i].counts;
        k->p_worse = p[WORSE * n + i], k->p_better = p[BETTER * n + i], k->p_same = p[SAME * n + i];
        k->corrected = corrected(&a->test[i], at[WORSE * n + i], at[SAME * n + i]);
        k->needed = needed(&a->test[i], k, at[WORSE * n + i], at[SAME * n + i]);
    }
    for (int i = 0; i < slices; i++)
        for (int f = WORSE; f <= BETTER; f++) {
            spot_version_counts *k = q->of[first + i].counts;
            if (is_as_others(&a->test[first + i], k, (family)f, at[f * n + first + i], a->shift[f * slices + i]))
                k->as_others = true, k->needed = INFINITY;
        }
    for (int i = 0; i < n; i++) shift->as_others += q->of[i].counts->as_others;
    return SPOT_OK;
}

spot_status spot_questions_ask(spot_ctx *c, spot_questions *q, spot_versions *v)
{
    const int slices = q->n[SPOT_ASK_SLICE], named = q->n[SPOT_ASK_ALL] + q->n[SPOT_ASK_CLASS];
    spot_status status;
    answers a = { 0 };
    size_t room;

    for (int l = 0; l < SPOT_ASK_LEVELS; l++) a.n += v->tests[l] = q->n[l];
    room = (size_t)a.n + 1;
    q->before = malloc(((size_t)q->o->retrains + 1) * sizeof *q->before);
    if (!q->before) return spot_fail(c, SPOT_NOMEM, "no memory for %d trainings", q->o->retrains);
    q->before[0] = q->s[0];
    for (int u = 0; u < q->o->retrains; u++) q->before[u + 1] = q->o->retrain[u];
    for (int i = 0; i < a.n; i++) SPOT_TRY(count_rows(c, &v->arena, &q->of[i], q->s));
    SPOT_TRY(spot_spread_measure(c, q, &v->spread));
    a.test = malloc(room * sizeof *a.test);
    a.p = malloc(room * (2 * FAMILIES + 2) * sizeof *a.p);
    a.changed = malloc(room * sizeof *a.changed);
    a.scratch = malloc(room * sizeof *a.scratch);
    if (a.test && a.p && a.changed && a.scratch) {
        a.at = a.p + FAMILIES * a.n, a.shift = a.at + FAMILIES * a.n;
        for (int i = 0; i < a.n; i++)
            a.test[i] = test_of(q, &q->of[i], v->spread.share[i >= named], v->spread.freedom, (uint32_t)i);
        status = ask_all(c, q, &a, &v->shift);
    } else status = spot_fail(c, SPOT_NOMEM, "no memory for %d tests, %d of slices", a.n, slices);
    free(a.scratch), free(a.changed), free(a.p), free(a.test);
    return status;
}
