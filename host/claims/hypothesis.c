/* hypothesis.c - see spotter/claim.h. */
#include "spotter/claim.h"

#include <math.h>
#include <stdlib.h>

#include "spotter/rng.h"
#include "stats/group_sums.h"
#include "stats/statistics.h"

static int nearest_first(const void *a, const void *b)
{
    const spot_gathered *x = a, *y = b;

    if (x->similarity != y->similarity) return x->similarity > y->similarity ? -1 : 1;
    return (x->picture > y->picture) - (x->picture < y->picture);
}

void spot_gathered_sort(spot_gathered *all, int n) { qsort(all, (size_t)n, sizeof *all, nearest_first); }

spot_status spot_gather_pick(spot_ctx *c, spot_gathered *pick, int *picked, const double *similarity, int n, int most,
                             uint64_t seed)
{
    spot_gathered *all = malloc(((size_t)n + 1) * sizeof *all);
    uint32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    spot_rng r = spot_rng_at(seed, SPOT_RNG_CONTROLS, 0, 0);
    spot_status s = all && order ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", n);

    if (most > n / 2) most = n / 2;
    if (!s && most < 1) s = spot_fail(c, SPOT_INPUT, "{gather.few_pictures} %d pictures are too few: one is gathered and one "
                                      "is its control", n);
    for (int i = 0; !s && i < n; i++) all[i] = (spot_gathered){ i, SPOT_GATHERED, similarity[i] };
    if (!s) {
        spot_gathered_sort(all, n);
        spot_rng_shuffle(&r, order, (uint32_t)(n - most));
        for (int i = 0; i < most; i++) {
            pick[i] = all[i];
            pick[most + i] = all[most + (int)order[i]];
            pick[most + i].group = SPOT_CONTROL;
        }
        *picked = 2 * most;
    }
    free(all);
    free(order);
    return s;
}

void spot_claim_judge(spot_claim_test *t, double level)
{
    const int n = t->n[0] + t->n[1];

    for (int g = 0; g < 2; g++) t->rate[g] = spot_share_of(t->wrong[g], t->n[g]);
    t->p = spot_hypergeometric_tail(n, t->wrong[0] + t->wrong[1], t->n[0], t->wrong[0]);
    if (!t->n[0] || !t->n[1] || spot_hypergeometric_tail(n, t->n[0], t->n[0], t->n[0]) > level) t->verdict = SPOT_TOO_FEW;
    else t->verdict = spot_is_significant(t->p, level) ? SPOT_CONFIRMED : SPOT_NOT_CONFIRMED;
}

const char *spot_claim_verdict_name(spot_claim_verdict v)
{
    static const char *const name[] = { "too few pictures", "not confirmed on new data", "confirmed on new data" };

    return name[v];
}

void spot_claim_count(spot_claim_test *t, const spot_new_picture *row, int n)
{
    *t = (spot_claim_test){ .n = { 0 } };
    for (int i = 0; i < n; i++) {
        if (row[i].wrong < 0) continue;
        t->n[row[i].group]++;
        t->wrong[row[i].group] += row[i].wrong;
    }
}

/* Groups of pictures of a kind, whose rate gets the interval of groups. sums: scratch. */
static int count_groups(spot_interval *rate, spot_group_sums *sums, const spot_new_picture *row, int n, const int *group,
                        int kind)
{
    spot_group_sums_clear(sums);
    for (int i = 0; i < n; i++)
        if (row[i].wrong >= 0 && row[i].group == kind) spot_group_sums_add(sums, group[i], row[i].wrong);
    if (sums->n) *rate = spot_wider(*rate, spot_group_mean(sums, 0.025));
    rate->low = fmax(rate->low, 0);
    return sums->n;
}

/* The parts of the groups sum to the difference of the two rates, so that controls in few groups are no sure rate. */
spot_status spot_claim_by_groups(spot_ctx *c, spot_claim_test *t, const spot_new_picture *row, int n, const int *group,
                                 double level)
{
    const int all = t->n[0] + t->n[1];
    const double rate = all ? (double)(t->wrong[0] + t->wrong[1]) / all : 0;
    spot_group_sums sums;
    double least;
    int controls;

    SPOT_TRY(spot_group_sums_open(c, &sums, n));
    controls = count_groups(&t->rate[SPOT_CONTROL], &sums, row, n, group, SPOT_CONTROL);
    t->groups = count_groups(&t->rate[SPOT_GATHERED], &sums, row, n, group, SPOT_GATHERED);
    spot_group_sums_clear(&sums);
    for (int i = 0; i < n; i++)
        if (row[i].wrong >= 0)
            spot_group_sums_add(&sums, group[i], (row[i].group == SPOT_GATHERED ? 1 : -1) * (row[i].wrong - rate)
                                                 / t->n[row[i].group]);
    least = ldexp(1, -(t->groups < controls ? t->groups : controls));
    t->p = fmax(spot_signs_tail(&sums, 0), least);
    if (!t->n[0] || !t->n[1] || least > level) t->verdict = SPOT_TOO_FEW;
    else t->verdict = spot_is_significant(t->p, level) ? SPOT_CONFIRMED : SPOT_NOT_CONFIRMED;
    spot_group_sums_close(&sums);
    return SPOT_OK;
}
