/* agreement.c - see verdict.h. */
#include "spotter/verdict.h"

#include <math.h>

spot_status spot_fleiss_kappa(spot_ctx *c, double *kappa, const int *count, int subjects, int categories)
{
    double agree = 0, chance = 0, raters = 0;

    if (subjects < 1 || categories < 2)
        return spot_fail(c, SPOT_INVALID, "{agreement.sizes} Fleiss' kappa of %d subjects and %d categories", subjects,
                         categories);
    for (int i = 0; i < subjects; i++) {
        const int *own = count + (size_t)i * (size_t)categories;
        double all = 0, pairs = 0;
        for (int j = 0; j < categories; j++) {
            if (own[j] < 0) return spot_fail(c, SPOT_INPUT, "{agreement.labels} subject %d has %d labels of category %d", i,
                                             own[j], j);
            all += own[j];
            pairs += (double)own[j] * (own[j] - 1);
        }
        if (!i) raters = all;
        if (all != raters || raters < 2)
            return spot_fail(c, SPOT_INPUT, "{agreement.unequal} subject %d has %g labels and subject 0 has %g; Fleiss' kappa "
                             "needs equally many, at least 2, for every subject", i, all, raters);
        agree += pairs / (raters * (raters - 1));
    }
    agree /= subjects;
    for (int j = 0; j < categories; j++) {
        double share = 0;
        for (int i = 0; i < subjects; i++) share += count[(size_t)i * (size_t)categories + (size_t)j];
        share /= raters * subjects;
        chance += share * share;
    }
    *kappa = chance < 1 ? (agree - chance) / (1 - chance) : NAN;
    return SPOT_OK;
}

int spot_majority(const int *count, int categories, bool *tied)
{
    int best = 0;

    *tied = false;
    for (int j = 1; j < categories; j++)
        if (count[j] > count[best]) best = j;
    for (int j = best + 1; j < categories; j++) *tied = *tied || count[j] == count[best];
    return best;
}

double spot_f1(double precision, double recall)
{
    return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

int spot_split_rows(uint32_t *order, int n, spot_seed seed, int split)
{
    spot_rng r = spot_rng_at(seed.seed, SPOT_RNG_HOLDOUT, seed.ec, (uint32_t)split);

    spot_rng_shuffle(&r, order, (uint32_t)n);
    return n - (n + 2) / 3;
}

spot_spread spot_spread_of(const double *value, int n)
{
    spot_spread s = { 0, 0, n };

    for (int i = 0; i < n; i++) s.mean += value[i] / n;
    for (int i = 0; i < n; i++) s.deviation += (value[i] - s.mean) * (value[i] - s.mean);
    s.deviation = n > 1 ? sqrt(s.deviation / (n - 1)) : 0;
    return s;
}
