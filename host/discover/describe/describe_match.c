/* describe_match.c - see describe_match.h. */
#include "discover/describe/describe_match.h"

#include <math.h>

#include "stats/statistics.h"

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
    t.p = spot_hypergeometric_tail(t.rows, t.group, t.covered, t.inside);
    return t;
}
