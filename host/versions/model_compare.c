/* model_compare.c - two versions of a model under one study, whichever it is: equal objects are matched, each quantity is
 * tested over them, the tests are corrected together, and the verdicts follow. */
#include <math.h>
#include <string.h>

#include "stats/gatekeeping.h"
#include "versions/model_test.h"
#include "versions/version_values.h"

/* ---- values ---- */

spot_status spot_version_values_open(spot_ctx *c, spot_version_values *v, int objects, int quantities)
{
    const size_t all = (size_t)objects * (size_t)quantities;

    v->objects = objects, v->quantities = quantities;
    v->id = spot_memory_take(&v->memory, (size_t)objects * sizeof *v->id);
    v->quantity = spot_memory_take(&v->memory, (size_t)quantities * sizeof *v->quantity);
    v->value = spot_memory_take(&v->memory, all * sizeof *v->value);
    if (!v->id || !v->quantity || !v->value) return spot_fail(c, SPOT_NOMEM, "no memory to compare %d objects", objects);
    for (size_t i = 0; i < all; i++) v->value[i] = NAN;
    return SPOT_OK;
}

/* ---- tests ---- */

typedef enum { WORSE, BETTER, SAME, FAMILIES } family;

typedef struct {
    int    *match;                 /* (objects of the first version): the object of the second with the same id; -1: none */
    double *worsening;             /* (objects) */
    spot_model_test *test;         /* (quantities): of each change */
    int    *judged;                /* (quantities): the changes that are not only shown; `tests` of them */
    double *p, *at;                /* (FAMILIES, quantities): of the judged ones; at: see gatekeeping.h */
    spot_ranked_p *scratch;        /* (quantities) */
    int    tests;
} compare_room;

static spot_status open_room(spot_ctx *c, compare_room *r, spot_memory **memory, int objects, int quantities)
{
    const size_t n = (size_t)quantities;

    *r = (compare_room){
        .match = spot_memory_take(memory, (size_t)objects * sizeof *r->match),
        .worsening = spot_memory_take(memory, (size_t)objects * sizeof *r->worsening),
        .test = spot_memory_take(memory, n * sizeof *r->test), .judged = spot_memory_take(memory, n * sizeof *r->judged),
        .p = spot_memory_take(memory, FAMILIES * n * sizeof *r->p),
        .at = spot_memory_take(memory, FAMILIES * n * sizeof *r->at),
        .scratch = spot_memory_take(memory, n * sizeof *r->scratch) };
    return r->match && r->worsening && r->test && r->judged && r->p && r->at && r->scratch ? SPOT_OK
         : spot_fail(c, SPOT_NOMEM, "no memory to compare %d objects", objects);
}

/* The runs mostly have the same objects in the same order. Returns how many both have. */
static int match_objects(int *match, const spot_version_values *a, const spot_version_values *b)
{
    int both = 0;

    for (int i = 0; i < a->objects; i++) {
        match[i] = i < b->objects && !strcmp(a->id[i], b->id[i]) ? i : -1;
        for (int k = 0; k < b->objects && match[i] < 0; k++)
            if (!strcmp(a->id[i], b->id[k])) match[i] = k;
        both += match[i] >= 0;
    }
    return both;
}

/* Sums up quantity q over the objects that have it on both sides; x->objects of them have a worsening. */
static void add_objects(spot_model_change *x, const spot_version_values v[SPOT_VERSIONS], int q, const compare_room *r)
{
    const double sign = v[0].quantity[q].sign < 0 ? -1 : 1;

    *x = (spot_model_change){ .of = v[0].quantity[q], .p_worse = NAN, .p_better = NAN, .p_same = NAN };
    for (int i = 0; i < v[0].objects; i++) {
        if (r->match[i] < 0) continue;
        const double was = *spot_version_value(&v[0], q, i), is = *spot_version_value(&v[1], q, r->match[i]);
        if (!isfinite(was) || !isfinite(is)) continue;
        x->before += was, x->now += is;
        x->worse += sign * is < sign * was, x->better += sign * is > sign * was;
        r->worsening[x->objects++] = sign * (was - is);
    }
}

static spot_status test_quantity(spot_ctx *c, spot_model_change *x, spot_model_test *t, const compare_room *r, int q)
{
    x->before /= x->objects, x->now /= x->objects;
    SPOT_TRY(spot_model_test_of(c, t, x->of.scale, r->worsening, x->objects, (uint32_t)q));
    x->change = x->of.sign < 0 ? t->interval
              : (spot_interval){ x->now - x->before, 0 - t->interval.high, 0 - t->interval.low };     /* no -0 */
    return SPOT_OK;
}

/* ---- verdicts ---- */

static double p_of(const spot_model_test *t, double margin, family f)
{
    return f == WORSE ? spot_model_above(t, margin) : spot_model_below(t, f == BETTER ? -margin : margin);
}

static void judge_change(spot_model_comparison *k, const compare_room *r, int i)
{
    spot_model_change *x = &k->change[r->judged[i]];
    const spot_model_test *t = &r->test[r->judged[i]];
    const double rise = x->of.sign < 0 ? x->change.value : -x->change.value;
    const int n = r->tests;

    x->p_worse = r->p[WORSE * n + i], x->p_better = r->p[BETTER * n + i], x->p_same = r->p[SAME * n + i];
    x->verdict = spot_change_verdict_of(x->p_worse, x->p_better, x->p_same, SPOT_LEVEL);
    if (x->verdict == SPOT_CHANGE_PENDING)
        x->needed = spot_model_needed(t, k->margin, r->at[(rise < k->margin ? SAME : WORSE) * n + i]);
    k->failed |= x->verdict == SPOT_CHANGE_WORSE;
    k->pending |= x->verdict == SPOT_CHANGE_PENDING;
}

/* The changes that are judged, level by level. */
static void order_questions(spot_model_comparison *k, compare_room *r, spot_gate gate[SPOT_MODEL_LEVELS])
{
    static const double share[SPOT_MODEL_LEVELS] = { 1.0 / 3, 2.0 / 3 };

    for (int l = 0; l < SPOT_MODEL_LEVELS; l++) {
        gate[l] = (spot_gate){ 0, share[l] };
        for (int i = 0; i < k->changes; i++) {
            if (!k->change[i].of.sign || (int)k->change[i].of.level != l) continue;
            r->judged[r->tests++] = i;
            gate[l].n++;
        }
    }
}

/* The least corrected p that so many objects can reach: where each test has 2^-objects. */
static double least_p(const spot_model_comparison *k, compare_room *r, const spot_gate gate[SPOT_MODEL_LEVELS])
{
    double least = 1;

    for (int i = 0; i < r->tests; i++) r->p[i] = ldexp(1, -k->objects);
    spot_gatekeep(r->p, NULL, gate, SPOT_MODEL_LEVELS, SPOT_LEVEL, r->scratch);
    for (int i = 0; i < r->tests; i++) least = fmin(least, r->p[i]);
    return least;
}

static void judge_changes(spot_model_comparison *k, compare_room *r)
{
    spot_gate gate[SPOT_MODEL_LEVELS];

    order_questions(k, r, gate);
    k->least_p = least_p(k, r, gate);
    for (int f = 0; f < FAMILIES; f++) {
        double *p = r->p + f * r->tests;
        for (int i = 0; i < r->tests; i++) p[i] = p_of(&r->test[r->judged[i]], k->margin, (family)f);
        spot_gatekeep(p, r->at + f * r->tests, gate, SPOT_MODEL_LEVELS, SPOT_LEVEL, r->scratch);
    }
    for (int i = 0; i < r->tests; i++) judge_change(k, r, i);
    k->pending &= !k->failed;
}

const char *spot_model_change_word(const spot_model_change *x)
{
    return x->of.sign ? spot_change_verdict_name(x->verdict) : "only shown";
}

spot_status spot_model_values_compare(spot_ctx *c, spot_model_comparison *k, const spot_model_words *words,
                                      const spot_version_values v[SPOT_VERSIONS], double margin)
{
    compare_room r;

    k->words = words;
    k->facts = v[0].facts;
    k->margin = margin;
    k->change = spot_memory_take(&k->memory, (size_t)v[0].quantities * sizeof *k->change);
    if (!k->change) return spot_fail(c, SPOT_NOMEM, "no memory to compare %d numbers", v[0].quantities);
    SPOT_TRY(open_room(c, &r, &k->memory, v[0].objects, v[0].quantities));
    k->objects = match_objects(r.match, &v[0], &v[1]);
    k->left_out = v[0].objects + v[1].objects - 2 * k->objects;
    if (!k->objects)
        return spot_fail(c, SPOT_INPUT, "{versions.objects} %s and %s were examined on different %s; %s", k->before, k->now,
                         words->objects, words->advice);
    for (int q = 0; q < v[0].quantities; q++) {
        add_objects(&k->change[k->changes], v, q, &r);
        if (!k->change[k->changes].objects) continue;
        SPOT_TRY(test_quantity(c, &k->change[k->changes], &r.test[k->changes], &r, q));
        k->changes++;
    }
    judge_changes(k, &r);
    return SPOT_OK;
}
