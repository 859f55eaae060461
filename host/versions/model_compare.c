/* model_compare.c - two versions of a model under one study, whichever it is: equal objects are matched, each quantity is
 * tested over them, the tests are corrected together, and the verdicts follow. */
#include <math.h>
#include <string.h>

#include "stats/paired.h"
#include "stats/statistics.h"
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

typedef struct {
    int    *match;                 /* (objects of the first version): the object of the second with the same id; -1: none */
    double *difference;            /* (objects) */
    double *p;                     /* (quantities) */
    spot_ranked_p *scratch;        /* (quantities) */
} compare_room;

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

/* The least p of n objects before the correction: all change to one side. */
static double least_of(int n) { return fmin(1, 2 * pow(0.5, n)); }

/* Sums up quantity q over the objects that have it on both sides; x->objects of them have a difference. */
static void add_objects(spot_model_change *x, const spot_version_values v[SPOT_VERSIONS], int q, const compare_room *r)
{
    const double sign = v[0].quantity[q].lower_is_better ? -1 : 1;

    *x = (spot_model_change){ .of = v[0].quantity[q], .change = { NAN, NAN, NAN } };
    for (int i = 0; i < v[0].objects; i++) {
        if (r->match[i] < 0) continue;
        const double was = *spot_version_value(&v[0], q, i), is = *spot_version_value(&v[1], q, r->match[i]);
        if (!isfinite(was) || !isfinite(is)) continue;
        x->before += was, x->now += is;
        x->worse += sign * is < sign * was, x->better += sign * is > sign * was;
        r->difference[x->objects++] = is - was;
    }
}

static spot_status test_quantity(spot_ctx *c, spot_model_change *x, const spot_model_words *words, const compare_room *r, int q)
{
    spot_difference d;

    x->before /= x->objects, x->now /= x->objects;
    if (!words->by_size) {
        x->p = spot_mcnemar(x->worse, x->better);
        return SPOT_OK;
    }
    SPOT_TRY(spot_difference_of(c, &d, r->difference, x->objects, NULL, 0, (uint32_t)q));
    x->change = (spot_interval){ d.mean, d.low, d.high };
    x->p = fmax(fmin(1, 2 * d.p), least_of(x->worse + x->better));     /* drawn signs may miss the least p */
    return SPOT_OK;
}

static void judge_changes(spot_model_comparison *k, const compare_room *r)
{
    for (int i = 0; i < k->changes; i++) r->p[i] = k->change[i].p;
    spot_holm(r->p, k->changes, r->scratch);
    k->least_p = fmin(1, k->changes * least_of(k->objects));
    for (int i = 0; i < k->changes; i++) {
        spot_model_change *x = &k->change[i];
        const double rise = !k->words->by_size ? x->better - x->worse
                          : x->of.lower_is_better ? -x->change.value : x->change.value;
        x->p = r->p[i];
        x->is_worse = spot_is_significant(x->p, SPOT_LEVEL) && rise < 0;
        x->is_better = spot_is_significant(x->p, SPOT_LEVEL) && rise > 0;
        k->failed |= x->is_worse;
    }
}

const char *spot_model_change_word(const spot_model_change *x)
{
    return x->is_worse ? "worse" : x->is_better ? "better" : x->worse + x->better ? "not shown" : "same";
}

spot_status spot_model_values_compare(spot_ctx *c, spot_model_comparison *k, const spot_model_words *words,
                                      const spot_version_values v[SPOT_VERSIONS])
{
    const size_t objects = (size_t)v[0].objects, quantities = (size_t)v[0].quantities;
    compare_room r;

    k->words = words;
    k->facts = v[0].facts;
    memcpy(k->before, v[0].name, sizeof k->before);
    memcpy(k->now, v[1].name, sizeof k->now);
    k->change = spot_memory_take(&k->memory, quantities * sizeof *k->change);
    r.match = spot_memory_take(&k->memory, objects * sizeof *r.match);
    r.difference = spot_memory_take(&k->memory, objects * sizeof *r.difference);
    r.p = spot_memory_take(&k->memory, quantities * sizeof *r.p);
    r.scratch = spot_memory_take(&k->memory, quantities * sizeof *r.scratch);
    if (!k->change || !r.match || !r.difference || !r.p || !r.scratch)
        return spot_fail(c, SPOT_NOMEM, "no memory to compare %d objects", v[0].objects);
    k->objects = match_objects(r.match, &v[0], &v[1]);
    k->left_out = v[0].objects + v[1].objects - 2 * k->objects;
    if (!k->objects)
        return spot_fail(c, SPOT_INPUT, "{versions.objects} %s and %s were examined on different %s; %s", k->before, k->now,
                         words->objects, words->advice);
    for (int q = 0; q < v[0].quantities; q++) {
        add_objects(&k->change[k->changes], v, q, &r);
        if (!k->change[k->changes].objects) continue;
        SPOT_TRY(test_quantity(c, &k->change[k->changes], words, &r, q));
        k->changes++;
    }
    judge_changes(k, &r);
    return SPOT_OK;
}
