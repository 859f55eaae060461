/* describe_match.c - see describe_match.h. */
#define _DEFAULT_SOURCE     /* lgamma_r */
#include "discover/describe_match.h"

#include <math.h>

static double log_choose(double n, double k)
{
    int sign;

    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

/* P(X >= inside), X the group's rows among `covered` random ones of `rows`. */
static double chance_of(const spot_match *t)
{
    const int most = t->covered < t->group ? t->covered : t->group;
    const double all = log_choose(t->rows, t->covered);
    double p = 0;

    for (int k = most; k >= t->inside; k--)
        if (t->covered - k <= t->rows - t->group)
            p += exp(log_choose(t->group, k) + log_choose(t->rows - t->group, t->covered - k) - all);
    return p < 1 ? p : 1;
}

static double bayesian_t(int k, int n, int all_k, int all_n)
{
    const double mean = (k + 1.0) / (n + 2.0), all = (all_k + 1.0) / (all_n + 2.0);

    return (mean - all) / sqrt(mean * (1 - mean) / (n + 3.0) + all * (1 - all) / (all_n + 3.0));
}

spot_match spot_match_on(const spot_conjunctions_problem *p, const int *item, int items, const uint8_t *member, const int *row,
                         int rows)
{
    spot_match t = { .rows = rows };
    int wrong = 0;

    for (int i = 0; i < rows; i++) {
        const int r = row ? row[i] : i;
        bool in = true;
        for (int k = 0; k < items; k++) in = in && spot_item_holds(p->attributes, item[k], p->row[r]);
        t.group += member[r];
        t.covered += in;
        t.inside += in && member[r];
        t.wrong += in && p->wrong[r];
        wrong += p->wrong[r];
    }
    t.precision = t.covered ? (double)t.inside / t.covered : NAN;
    t.recall = t.group ? (double)t.inside / t.group : NAN;
    t.f1 = t.covered + t.group ? 2.0 * t.inside / (t.covered + t.group) : NAN;
    t.lift = t.group ? t.precision * rows / t.group : NAN;
    t.t = bayesian_t(t.wrong, t.covered, wrong, rows);
    t.p = chance_of(&t);
    return t;
}
