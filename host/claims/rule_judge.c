/* rule_judge.c - a claim on the rows at hand: its numbers, its p and its verdict (spotter/claim.h). */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "claims/rule_test.h"
#include "discover/subject/subject_memory.h"
#include "stats/group_sums.h"
#include "stats/statistics.h"

enum { EXACT = 20000 };                /* rows up to which the p of several classes is a convolution */

/* ---- memory ---- */

static spot_status take_classes(spot_rule_test *t, spot_arena *a)
{
    const int n = t->s->n, classes = t->s->classes;
    int *rows, at = 0;

    SPOT_TRY(SPOT_TAKE(t->c, a, t->cls, classes));
    SPOT_TRY(SPOT_TAKE(t->c, a, rows, n));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->is_wrong, n));
    if (!a->counting) {
        memset(t->cls, 0, (size_t)classes * sizeof *t->cls);
        for (int k = 0; k < classes; at += t->class_rows[k++]) t->cls[k].row = rows + at;
    }
    for (int k = 0; k < classes && t->grouped; k++) {
        spot_units none;
        SPOT_TRY(spot_units_take(t->c, a, a->counting ? &none : &t->cls[k].units, t->class_rows[k]));
    }
    return SPOT_OK;
}

static spot_status take_draws(spot_rule_test *t, spot_arena *a)
{
    const size_t threads = (size_t)t->c->threads, n = (size_t)t->s->n, pairs = (size_t)t->items * (size_t)t->items;

    SPOT_TRY(SPOT_TAKE(t->c, a, t->wrong, threads * n));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->drawn, threads * (n / 64 + 1)));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->donor, t->grouped ? threads * n : 0));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->above, SPOT_RULE_DRAWS));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->least, pairs));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->mean, pairs));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->variance, pairs));
    return SPOT_TAKE(t->c, a, t->count, threads * pairs);
}

/* ---- rows ---- */

static void fill_classes(spot_rule_test *t)
{
    const spot_subject *s = t->s;

    for (int i = 0; i < s->n; i++) {
        spot_claim_class *k = &t->cls[s->target[i]];
        t->is_wrong[i] = spot_subject_wrong(s, i, s->target[i]);
        k->row[k->n++] = i;
        k->wrong += t->is_wrong[i];
    }
    for (spot_claim_class *k = t->cls; k < t->cls + s->classes && t->grouped; k++) {
        memcpy(k->units.order, k->row, (size_t)k->n * sizeof *k->row);
        spot_units_add(&k->units, s, k->n, NULL);
        spot_units_note(&k->units, t->is_wrong);
    }
}

/* seen (groups): scratch. */
static void study_groups(spot_rule_test *t, int *seen)
{
    const spot_subject *s = t->s;

    for (int g = 0; g < s->groups; g++) seen[g] = -1;
    for (int i = 0; i < s->n; i++) {
        int *of = &seen[s->group[i]];
        t->k->mixed |= *of >= 0 && *of != s->target[i];
        *of = s->target[i];
    }
}

/* ---- the claim's own numbers ---- */

/* Rows of a group depend on each other, so that the interval is as wide as that of the groups' parts. */
static spot_status widen_by_groups(spot_rule_test *t)
{
    const int n = t->s->n, classes = t->s->classes;
    spot_group_row *row = malloc((size_t)n * sizeof *row);
    int *covered = calloc((size_t)classes, sizeof *covered);
    spot_group_sums sums = { 0 };
    spot_status how = row && covered ? spot_group_sums_open(t->c, &sums, t->s->groups)
                                     : spot_fail(t->c, SPOT_NOMEM, "no memory for the groups of %d rows", n);

    for (int i = 0; i < n && how == SPOT_OK; i++) covered[t->s->target[i]] += t->k->in[i];
    for (int i = 0; i < n && how == SPOT_OK; i++) {
        const int cls = t->s->target[i];
        const spot_claim_class *of = &t->cls[cls];
        row[i] = (spot_group_row){ t->s->group[i], t->k->in[i], t->is_wrong[i] - (double)of->wrong / of->n,
                                   (double)covered[cls] / of->n };
    }
    if (how == SPOT_OK) t->k->excess = spot_wider(t->k->excess, spot_group_excess(&sums, row, n, &t->k->groups));
    spot_group_sums_close(&sums);
    free(row), free(covered);
    return how;
}

static spot_status count_claim(spot_rule_test *t)
{
    spot_row_claim *k = t->k;
    double base = 0;
    int all = 0, wrong = 0;

    for (int i = 0; i < t->s->n; i++) {
        const spot_claim_class *of = &t->cls[t->s->target[i]];
        if (!k->in[i]) continue;
        k->rows++;
        k->wrong += t->is_wrong[i];
        base += (double)of->wrong / of->n;
    }
    for (int h = 0; h < t->s->classes; h++)
        if (k->cls < 0 || h == k->cls) all += t->cls[h].n, wrong += t->cls[h].wrong;
    k->class_rate = base / k->rows;
    k->excess = spot_share_excess(k->wrong, k->rows, wrong, all, base);
    return t->grouped ? widen_by_groups(t) : SPOT_OK;
}

static spot_status exact_p(spot_rule_test *t)
{
    spot_row_claim *k = t->k;
    spot_stratum *h = calloc((size_t)t->s->classes, sizeof *h);
    double mean = 0, variance = 0, *scratch = malloc(2 * ((size_t)k->rows + 1) * sizeof *scratch);
    int strata = 0;

    if (!h || !scratch) {
        free(h), free(scratch);
        return spot_fail(t->c, SPOT_NOMEM, "no memory for the test of %d rows", k->rows);
    }
    for (int c = 0; c < t->s->classes; c++) {
        spot_stratum *x = &h[strata];
        *x = (spot_stratum){ .rows = t->cls[c].n, .group = t->cls[c].wrong };
        for (int i = 0; i < t->cls[c].n; i++) x->covered += t->k->in[t->cls[c].row[i]];
        if (!x->covered) continue;
        spot_rule_add_moments(&mean, &variance, x->covered, &t->cls[c]);
        strata++;
    }
    k->p = strata == 1 || k->rows <= EXACT ? spot_stratified_tail(h, strata, k->wrong, scratch)
                                           : spot_rule_tail(mean, variance, k->wrong);
    t->stands_out = spot_rule_tail(mean, variance, k->wrong);
    free(h), free(scratch);
    return SPOT_OK;
}

static spot_status count_classes(spot_rule_test *t)
{
    t->class_rows = calloc((size_t)t->s->classes, sizeof *t->class_rows);
    if (!t->class_rows) return spot_fail(t->c, SPOT_NOMEM, "no memory for %d classes", t->s->classes);
    for (int i = 0; i < t->s->n; i++) t->class_rows[t->s->target[i]]++;
    return SPOT_OK;
}

static spot_status list_items(spot_rule_test *t)
{
    const int n = t->s->n;
    size_t all = 0;

    t->first = malloc(((size_t)n + 1) * sizeof *t->first);
    for (size_t e = 0; e < (size_t)t->items * t->a->words; e++) all += (size_t)__builtin_popcountll(t->a->bit[e]);
    t->item = all < INT_MAX ? malloc((all + 1) * sizeof *t->item) : NULL;
    if (!t->first || !t->item) return spot_fail(t->c, SPOT_NOMEM, "no memory for %d attributes of %d rows", t->items, n);
    t->first[0] = 0;
    for (int i = 0, at = 0; i < n; i++) {
        for (int k = 0; k < t->items; k++)
            if (spot_has_bit(t->a->bit + (size_t)k * t->a->words, i)) t->item[at++] = k;
        t->first[i + 1] = at;
    }
    return SPOT_OK;
}

/* ---- all ---- */

/* With mixed groups a rule on all rows has draws of no class that hold groups together. */
static void conclude(spot_rule_test *t, const spot_row_claim_options *o)
{
    spot_row_claim *k = t->k;
    const bool sound = !k->mixed || k->cls >= 0, fine = k->excess.value <= 0;
    const double p = o->fresh ? k->p : k->corrected;

    if (fine) k->verdict = SPOT_CLAIM_CHANCE;
    else if (sound && spot_is_significant(p, o->level)) k->verdict = SPOT_CLAIM_CONFIRMED;
    else k->verdict = spot_is_significant(k->p, o->level) ? SPOT_CLAIM_SUGGESTED : SPOT_CLAIM_CHANCE;
}

static spot_status take_all(spot_rule_test *t, spot_arena *a)
{
    SPOT_TRY(take_classes(t, a));
    return take_draws(t, a);
}

static spot_status judge(spot_rule_test *t, const spot_row_claim_options *o)
{
    fill_classes(t);
    SPOT_TRY(count_claim(t));
    if (t->grouped) study_groups(t, t->wrong);
    SPOT_TRY(exact_p(t));
    if (t->grouped) spot_rule_rank(t);
    if (t->k->listed && !o->fresh && (t->k->cls >= 0 || !t->k->mixed)) {
        t->draws = spot_rule_affordable(t);
        SPOT_TRY(spot_rule_correct(t));
    }
    conclude(t, o);
    return SPOT_OK;
}

spot_status spot_row_claim_judge(spot_ctx *c, spot_row_claim *k, const spot_subject *s, const spot_attributes *a,
                                 const spot_row_claim_options *o)
{
    spot_rule_test t = { .c = c, .s = s, .a = a, .k = k, .seed = o->seed, .grouped = spot_subject_is_grouped(s) };
    spot_arena sizes = spot_arena_counting();
    spot_status how;

    if (k->listed && a->rows != s->n)
        return spot_fail(c, SPOT_INVALID, "a claim on %d rows, whose attributes are of %d", s->n, a->rows);
    k->corrected = NAN;
    k->rows = k->wrong = k->groups = k->draws = 0;
    k->rules = 0, k->mixed = false;
    how = count_classes(&t);
    if (how == SPOT_OK && k->listed && !o->fresh) {
        t.items = a->items;
        how = list_items(&t);
    }
    if ((double)t.items * t.items > 1 << 23) t.items = 0;
    if (how == SPOT_OK) how = take_all(&t, &sizes);
    if (how == SPOT_OK) how = spot_arena_open(c, &t.memory, sizes.peak);
    if (how == SPOT_OK) how = take_all(&t, &t.memory);
    if (t.item) t.items = a->items;
    if (how == SPOT_OK) how = judge(&t, o);
    spot_arena_close(&t.memory);
    free(t.first), free(t.item), free(t.class_rows);
    return how;
}
