/* rule_judge.c - a claim's numbers, its p, and the correction for all rules of at most two items: see spotter/claim.h.
 *
 * A draw looks only for rules that stand out as much as the claim. So each rule has the least number of wrong rows with which
 * it does, and the wrong rows of a draw are counted item by item and pair by pair until one of these is reached. */
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "discover/proof/proof_groups.h"
#include "discover/subject/subject_memory.h"
#include "spotter/claim.h"
#include "stats/group_sums.h"
#include "stats/statistics.h"

enum { FEWEST = 999, MOST = 9999, EXACT = 20000 };     /* draws; rows up to which the p of several classes is a convolution */

#define MOST_PAIRS 4e10                /* that are counted in all draws */
#define EQUAL (1 + 1e-9)

/* The rows of a class; with groups their units. */
typedef struct {
    int n, wrong, *row;                /* (n) */
    spot_units units;
} claim_class;

typedef struct {
    spot_ctx              *c;
    const spot_subject    *s;
    const spot_attributes *a;
    spot_row_claim        *k;
    spot_arena             memory;
    uint64_t               seed;
    bool                   grouped;
    int                   *class_rows; /* (classes) */
    claim_class           *cls;        /* (classes) */
    uint8_t               *is_wrong;   /* (n) */
    int                    items, *first, *item;       /* items; (n + 1): where those of a row begin; all */
    int                    draws;
    double                 stands_out; /* of the claim */
    int                   *least;      /* (items, items), i <= k: wrong rows with which a rule stands out as much; or INT_MAX */
    double                *mean, *variance;            /* as least: of all classes together */
    int                   *wrong;      /* (threads, most wrong rows of all classes) */
    uint64_t              *drawn;      /* (threads, words) */
    int                   *donor;      /* (threads, n) */
    int                   *count;      /* (threads, items, items) */
    uint8_t               *above;      /* (draws) */
} rule_test;

/* ---- how much a rule stands out ---- */

/* The p of so many wrong rows, as a gamma distribution has it. */
static double tail_of(double mean, double variance, int wrong)
{
    return variance > 1e-9 && wrong > 0 ? spot_gamma_tail(wrong - 0.5, mean, variance) : 1;
}

/* Adds the mean and variance of the wrong rows among `covered` ones that are drawn from a class. */
static void add_moments(double *mean, double *variance, int covered, const claim_class *k)
{
    const double n = k->n, share = k->wrong / n;

    *mean += covered * share;
    if (k->n > 1) *variance += covered * share * (1 - share) * (n - covered) / (n - 1);
}

static int least_wrong(double mean, double variance, int covered, double stands_out)
{
    int low = 0, high = covered + 1;

    if (!(variance > 1e-9)) return INT_MAX;
    while (low < high) {
        const int mid = (low + high) / 2;
        if (tail_of(mean, variance, mid) <= stands_out * EQUAL) high = mid;
        else low = mid + 1;
    }
    return low > covered ? INT_MAX : low;
}

/* ---- memory ---- */

static spot_status take_classes(rule_test *t, spot_arena *a)
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

static spot_status take_draws(rule_test *t, spot_arena *a)
{
    const size_t threads = (size_t)t->c->threads, n = (size_t)t->s->n, pairs = (size_t)t->items * (size_t)t->items;

    SPOT_TRY(SPOT_TAKE(t->c, a, t->wrong, threads * n));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->drawn, threads * (n / 64 + 1)));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->donor, t->grouped ? threads * n : 0));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->above, MOST));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->least, pairs));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->mean, pairs));
    SPOT_TRY(SPOT_TAKE(t->c, a, t->variance, pairs));
    return SPOT_TAKE(t->c, a, t->count, threads * pairs);
}

/* ---- rows ---- */

static void fill_classes(rule_test *t)
{
    const spot_subject *s = t->s;

    for (int i = 0; i < s->n; i++) {
        claim_class *k = &t->cls[s->target[i]];
        t->is_wrong[i] = spot_subject_wrong(s, i, s->target[i]);
        k->row[k->n++] = i;
        k->wrong += t->is_wrong[i];
    }
    for (claim_class *k = t->cls; k < t->cls + s->classes && t->grouped; k++) {
        memcpy(k->units.order, k->row, (size_t)k->n * sizeof *k->row);
        spot_units_add(&k->units, s, k->n, NULL);
        spot_units_note(&k->units, t->is_wrong);
    }
}

/* seen (groups): scratch. */
static void study_groups(rule_test *t, int *seen)
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
static spot_status widen_by_groups(rule_test *t)
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
        const claim_class *of = &t->cls[cls];
        row[i] = (spot_group_row){ t->s->group[i], t->k->in[i], t->is_wrong[i] - (double)of->wrong / of->n,
                                   (double)covered[cls] / of->n };
    }
    if (how == SPOT_OK) t->k->excess = spot_wider(t->k->excess, spot_group_excess(&sums, row, n, &t->k->groups));
    spot_group_sums_close(&sums);
    free(row), free(covered);
    return how;
}

static spot_status count_claim(rule_test *t)
{
    spot_row_claim *k = t->k;
    double base = 0;
    int all = 0, wrong = 0;

    for (int i = 0; i < t->s->n; i++) {
        const claim_class *of = &t->cls[t->s->target[i]];
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

static spot_status exact_p(rule_test *t)
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
        add_moments(&mean, &variance, x->covered, &t->cls[c]);
        strata++;
    }
    k->p = strata == 1 || k->rows <= EXACT ? spot_stratified_tail(h, strata, k->wrong, scratch)
                                           : tail_of(mean, variance, k->wrong);
    t->stands_out = tail_of(mean, variance, k->wrong);
    free(h), free(scratch);
    return SPOT_OK;
}

/* ---- draws ---- */

/* Draws as many wrong rows as the class has (Floyd's sample). drawn is 0 before and after. */
static int draw_alone(const claim_class *k, spot_rng *r, uint64_t *drawn, int *wrong)
{
    int n = 0;

    for (int i = k->n - k->wrong; i < k->n; i++) {
        int at = (int)spot_rng_below(r, (uint32_t)i + 1);
        if (spot_has_bit(drawn, at)) at = i;
        drawn[at / 64] |= (uint64_t)1 << at % 64;
        wrong[n++] = at;
    }
    for (int i = 0; i < n; i++) {
        drawn[wrong[i] / 64] = 0;
        wrong[i] = k->row[wrong[i]];
    }
    return n;
}

/* The wrong rows of a class in a draw; their number. */
static int draw_class(const rule_test *t, int cls, int number, int thread, int *wrong)
{
    const size_t n = (size_t)t->s->n;
    spot_rng r = spot_rng_at(t->seed, SPOT_RNG_TESTS, (uint32_t)(2 + cls), (uint32_t)number);

    if (t->grouped) return spot_units_draw(&t->cls[cls].units, &r, t->donor + (size_t)thread * n, wrong);
    return draw_alone(&t->cls[cls], &r, t->drawn + (size_t)thread * (n / 64 + 1), wrong);
}

/* Counts items and pairs of these rows, `step` at a time, until a rule stands out; how many rows were counted. */
static int count_pairs(const rule_test *t, int *count, const int *row, int n, int step, bool *above)
{
    for (int i = 0; i < n; i++) {
        const int *item = t->item + t->first[row[i]], m = t->first[row[i] + 1] - t->first[row[i]];
        for (int a = 0; a < m; a++) {
            int *of = count + (size_t)item[a] * (size_t)t->items;
            const int *least = t->least + (size_t)item[a] * (size_t)t->items;
            for (int b = a; b < m; b++) {
                of[item[b]] += step;
                if (above && of[item[b]] >= least[item[b]]) *above = true;
            }
        }
        if (above && *above) return i + 1;
    }
    return n;
}

/* t->least of the rules of one class, or of all (cls -1). */
static void set_least(rule_test *t, int cls)
{
    const size_t pairs = (size_t)t->items * (size_t)t->items;
    int *covered = t->count;

    if (cls < 0)
        for (size_t e = 0; e < pairs; e++) t->least[e] = least_wrong(t->mean[e], t->variance[e], t->s->n, t->stands_out);
    else {
        memset(covered, 0, pairs * sizeof *covered);
        count_pairs(t, covered, t->cls[cls].row, t->cls[cls].n, 1, NULL);
        for (size_t e = 0; e < pairs; e++) {
            double mean = 0, variance = 0;
            add_moments(&mean, &variance, covered[e], &t->cls[cls]);
            t->least[e] = least_wrong(mean, variance, covered[e], t->stands_out);
            t->mean[e] += mean, t->variance[e] += variance;
        }
        memset(covered, 0, pairs * sizeof *covered);
    }
    for (int i = 0; i < t->items; i++)         /* items of one column are no pair */
        for (int k = i + 1; k < t->items; k++)
            if (t->a->column[i] == t->a->column[k]) t->least[(size_t)i * (size_t)t->items + (size_t)k] = INT_MAX;
}

/* Looks for rules of a class, or of all rows, that stand out in the draws. */
static void look_in(rule_test *t, int cls)
{
    const size_t pairs = (size_t)t->items * (size_t)t->items;

    set_least(t, cls);
#pragma omp parallel for num_threads(t->c->threads) schedule(dynamic, 16)
    for (int d = 0; d < t->draws; d++) {
        const int thread = omp_get_thread_num();
        int *wrong = t->wrong + (size_t)thread * (size_t)t->s->n, *count = t->count + (size_t)thread * pairs, n = 0;
        bool above = false;
        if (t->above[d]) continue;
        for (int k = cls < 0 ? 0 : cls; k < (cls < 0 ? t->s->classes : cls + 1); k++)
            n += draw_class(t, k, d, thread, wrong + n);
        n = count_pairs(t, count, wrong, n, 1, &above);
        count_pairs(t, count, wrong, n, -1, NULL);
        t->above[d] = above;
    }
}

/* The claim's own wrong rows in a draw, with groups. */
static void rank_claim(rule_test *t)
{
    int above = 0;

#pragma omp parallel for num_threads(t->c->threads) schedule(static) reduction(+ : above)
    for (int d = 0; d < MOST; d++) {
        const int thread = omp_get_thread_num();
        int *wrong = t->wrong + (size_t)thread * (size_t)t->s->n, hits = 0;
        for (int k = t->k->cls < 0 ? 0 : t->k->cls; k < (t->k->cls < 0 ? t->s->classes : t->k->cls + 1); k++) {
            const int n = draw_class(t, k, d, thread, wrong);
            for (int i = 0; i < n; i++) hits += t->k->in[wrong[i]];
        }
        above += hits >= t->k->wrong;
    }
    t->k->p = (1.0 + above) / (1 + MOST);
}

/* ---- the family ---- */

static double count_rules(const rule_test *t, int families)
{
    double rules = t->items;

    for (int i = 0; i < t->items; i++)
        for (int k = i + 1; k < t->items; k++) rules += t->a->column[i] != t->a->column[k];
    return rules * families;
}

/* Draws that are possible; 0: too few. */
static int affordable(const rule_test *t)
{
    double pairs = 0;

    for (int i = 0; i < t->s->n; i++) {
        const double m = t->first[i + 1] - t->first[i];
        pairs += t->is_wrong[i] * m * (m + 1) * 2;     /* of its class and of all rows, and taken away again */
    }
    if (FEWEST * pairs > MOST_PAIRS || (double)t->items * t->items > 1 << 23) return 0;
    return pairs * MOST <= MOST_PAIRS / 10 ? MOST : pairs * FEWEST >= MOST_PAIRS / 10 ? FEWEST : (int)(MOST_PAIRS / 10 / pairs);
}

static spot_status correct_claim(rule_test *t)
{
    const bool together = t->s->classes > 1 && !t->k->mixed;
    const size_t pairs = (size_t)t->items * (size_t)t->items;
    int families = together, above = 0;

    for (int k = 0; k < t->s->classes; k++) families += t->cls[k].wrong > 0 && t->cls[k].wrong < t->cls[k].n;
    t->k->rules = count_rules(t, families);
    if (!t->draws) {
        if (!t->grouped) t->k->corrected = fmin(1, t->k->p * t->k->rules);
        return SPOT_OK;
    }
    memset(t->above, 0, (size_t)t->draws);
    memset(t->count, 0, (size_t)t->c->threads * pairs * sizeof *t->count);
    memset(t->mean, 0, pairs * sizeof *t->mean);
    memset(t->variance, 0, pairs * sizeof *t->variance);
    for (int k = 0; k < t->s->classes; k++) {
        SPOT_TRY(spot_check_stop(t->c));
        if (t->cls[k].wrong) look_in(t, k);
    }
    if (together) look_in(t, -1);
    for (int d = 0; d < t->draws; d++) above += t->above[d];
    t->k->draws = t->draws;
    t->k->corrected = (1.0 + above) / (1 + t->draws);
    return SPOT_OK;
}

static spot_status count_classes(rule_test *t)
{
    t->class_rows = calloc((size_t)t->s->classes, sizeof *t->class_rows);
    if (!t->class_rows) return spot_fail(t->c, SPOT_NOMEM, "no memory for %d classes", t->s->classes);
    for (int i = 0; i < t->s->n; i++) t->class_rows[t->s->target[i]]++;
    return SPOT_OK;
}

static spot_status list_items(rule_test *t)
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
static void conclude(rule_test *t, const spot_row_claim_options *o)
{
    spot_row_claim *k = t->k;
    const bool sound = !k->mixed || k->cls >= 0, fine = k->excess.value <= 0;
    const double p = o->fresh ? k->p : k->corrected;

    if (fine) k->verdict = SPOT_CLAIM_CHANCE;
    else if (sound && spot_is_significant(p, o->level)) k->verdict = SPOT_CLAIM_CONFIRMED;
    else k->verdict = spot_is_significant(k->p, o->level) ? SPOT_CLAIM_SUGGESTED : SPOT_CLAIM_CHANCE;
}

static spot_status take_all(rule_test *t, spot_arena *a)
{
    SPOT_TRY(take_classes(t, a));
    return take_draws(t, a);
}

static spot_status judge(rule_test *t, const spot_row_claim_options *o)
{
    fill_classes(t);
    SPOT_TRY(count_claim(t));
    if (t->grouped) study_groups(t, t->wrong);
    SPOT_TRY(exact_p(t));
    if (t->grouped) rank_claim(t);
    if (t->k->listed && !o->fresh && (t->k->cls >= 0 || !t->k->mixed)) {
        t->draws = affordable(t);
        SPOT_TRY(correct_claim(t));
    }
    conclude(t, o);
    return SPOT_OK;
}

spot_status spot_row_claim_judge(spot_ctx *c, spot_row_claim *k, const spot_subject *s, const spot_attributes *a,
                                 const spot_row_claim_options *o)
{
    rule_test t = { .c = c, .s = s, .a = a, .k = k, .seed = o->seed, .grouped = spot_subject_is_grouped(s) };
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
