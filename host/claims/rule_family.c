/* rule_family.c - draws of a claim's errors, and the correction for all rules of at most two items: see spotter/claim.h.
 *
 * A draw looks only for rules that stand out as much as the claim. So each rule has the least number of wrong rows with which
 * it does, and the wrong rows of a draw are counted item by item and pair by pair until one of these is reached. */
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <string.h>

#include "claims/rule_test.h"
#include "stats/statistics.h"

enum { FEWEST = 999 };                 /* draws */

#define MOST_PAIRS 4e10                /* that are counted in all draws */
#define EQUAL (1 + 1e-9)

/* ---- how much a rule stands out ---- */

double spot_rule_tail(double mean, double variance, int wrong)
{
    return variance > 1e-9 && wrong > 0 ? spot_gamma_tail(wrong - 0.5, mean, variance) : 1;
}

void spot_rule_add_moments(double *mean, double *variance, int covered, const spot_claim_class *k)
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
        if (spot_rule_tail(mean, variance, mid) <= stands_out * EQUAL) high = mid;
        else low = mid + 1;
    }
    return low > covered ? INT_MAX : low;
}

/* ---- draws ---- */

/* Draws as many wrong rows as the class has (Floyd's sample). drawn is 0 before and after. */
static int draw_alone(const spot_claim_class *k, spot_rng *r, uint64_t *drawn, int *wrong)
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
static int draw_class(const spot_rule_test *t, int cls, int number, int thread, int *wrong)
{
    const size_t n = (size_t)t->s->n;
    spot_rng r = spot_rng_at(t->seed, SPOT_RNG_TESTS, (uint32_t)(2 + cls), (uint32_t)number);

    if (t->grouped) return spot_units_draw(&t->cls[cls].units, &r, t->donor + (size_t)thread * n, wrong);
    return draw_alone(&t->cls[cls], &r, t->drawn + (size_t)thread * (n / 64 + 1), wrong);
}

/* Counts items and pairs of these rows, `step` at a time, until a rule stands out; how many rows were counted. */
static int count_pairs(const spot_rule_test *t, int *count, const int *row, int n, int step, bool *above)
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
static void set_least(spot_rule_test *t, int cls)
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
            spot_rule_add_moments(&mean, &variance, covered[e], &t->cls[cls]);
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
static void look_in(spot_rule_test *t, int cls)
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

void spot_rule_rank(spot_rule_test *t)
{
    int above = 0;

#pragma omp parallel for num_threads(t->c->threads) schedule(static) reduction(+ : above)
    for (int d = 0; d < SPOT_RULE_DRAWS; d++) {
        const int thread = omp_get_thread_num();
        int *wrong = t->wrong + (size_t)thread * (size_t)t->s->n, hits = 0;
        for (int k = t->k->cls < 0 ? 0 : t->k->cls; k < (t->k->cls < 0 ? t->s->classes : t->k->cls + 1); k++) {
            const int n = draw_class(t, k, d, thread, wrong);
            for (int i = 0; i < n; i++) hits += t->k->in[wrong[i]];
        }
        above += hits >= t->k->wrong;
    }
    t->k->p = (1.0 + above) / (1 + SPOT_RULE_DRAWS);
}

/* ---- the family ---- */

static double count_rules(const spot_rule_test *t, int families)
{
    double rules = t->items;

    for (int i = 0; i < t->items; i++)
        for (int k = i + 1; k < t->items; k++) rules += t->a->column[i] != t->a->column[k];
    return rules * families;
}

int spot_rule_affordable(const spot_rule_test *t)
{
    double pairs = 0;

    for (int i = 0; i < t->s->n; i++) {
        const double m = t->first[i + 1] - t->first[i];
        pairs += t->is_wrong[i] * m * (m + 1) * 2;     /* of its class and of all rows, and taken away again */
    }
    if (FEWEST * pairs > MOST_PAIRS || (double)t->items * t->items > 1 << 23) return 0;
    return pairs * SPOT_RULE_DRAWS <= MOST_PAIRS / 10 ? SPOT_RULE_DRAWS : pairs * FEWEST >= MOST_PAIRS / 10 ? FEWEST
         : (int)(MOST_PAIRS / 10 / pairs);
}

spot_status spot_rule_correct(spot_rule_test *t)
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
