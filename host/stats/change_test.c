/* change_test.c - see change_test.h. */
#include "stats/change_test.h"

#include <math.h>

#include "stats/paired.h"
#include "stats/statistics.h"

static double change_of(const spot_change_test *t) { return (t->up - t->down) / t->n; }

spot_change_test spot_change_test_of(double up, double down, int n, int befores, const spot_group_sums *sums, uint32_t address)
{
    spot_change_test t = { .up = up, .down = down, .n = n, .scale = (1 + 1.0 / befores) / 2 };

    if (!n) return t;
    if (!sums) {
        const int rose = (int)lround(up), fell = (int)lround(down);
        t.exact[0] = spot_mcnemar_tail(rose, fell), t.exact[1] = spot_mcnemar_tail(fell, rose);
        return t;
    }
    t.groups = sums->n;
    t.error = spot_group_error(sums);
    t.exact[0] = spot_signs_tail(sums, address), t.exact[1] = spot_signs_below(sums, address);
    return t;
}

/* ---- p ---- */

/* P(T > distance / error) of an error with a part of `freedom` degrees of freedom (0: known) and the spread. */
static double tail_of(double distance, double square, int freedom, const spot_change_test *t)
{
    const double all = square + t->spread, parts = (freedom ? square * square / freedom : 0)
                                                 + (t->freedom ? t->spread * t->spread / t->freedom : 0);

    if (!(all > 0)) return distance > 0 ? 0 : 1;
    if (!(parts > 0)) return spot_normal_tail(distance / sqrt(all));
    return spot_student_tail(distance / sqrt(all), (int)fmax(1, fmin(1e6, all * all / parts)));
}

double spot_change_above(const spot_change_test *t, double by)
{
    const double distance = t->n ? change_of(t) - by : 0;
    double p;

    if (!t->n) return 1;
    p = tail_of(distance, t->scale * spot_paired_square(t->up, t->down, t->n, by), 0, t);
    if (t->groups) p = t->groups < 2 ? 1 : fmax(p, tail_of(distance, t->error * t->error, t->groups - 1, t));
    return by >= 0 ? fmax(p, t->exact[0]) : p;
}

static spot_change_test turned(const spot_change_test *t)
{
    spot_change_test other = *t;

    other.up = t->down, other.down = t->up;
    other.exact[0] = t->exact[1], other.exact[1] = t->exact[0];
    return other;
}

double spot_change_below(const spot_change_test *t, double by)
{
    const spot_change_test other = turned(t);

    return spot_change_above(&other, -by);
}

/* ---- intervals ---- */

/* The greatest change that the test of "at most" refuses. */
static double lower_end(const spot_change_test *t, double tail)
{
    double out = -1, in = change_of(t);

    if (spot_change_above(t, -1) > tail) return -1;
    for (int i = 0; i < 50; i++) {
        const double middle = (out + in) / 2;
        if (spot_change_above(t, middle) <= tail) out = middle;
        else in = middle;
    }
    return in;
}

spot_interval spot_change_interval(const spot_change_test *t, double tail_above, double tail_below)
{
    const spot_change_test other = turned(t);

    if (!t->n) return (spot_interval){ NAN, -1, 1 };
    return (spot_interval){ change_of(t), lower_end(t, tail_above), -lower_end(&other, tail_below) };
}

double spot_change_needed(const spot_change_test *t, double by, double tail)
{
    const double z = -spot_normal_quantile(tail), power = spot_normal_quantile(0.8);
    double distance, variance, share;

    if (!t->n) return INFINITY;
    distance = fabs(change_of(t) - by) / (z + power);
    variance = t->scale * (t->up + t->down + 1) / t->n;            /* one more: where none changed, some may yet */
    if (t->groups) variance = fmax(variance, t->error * t->error * t->n);
    share = distance * distance - t->spread;
    return share > 0 ? variance / share : INFINITY;
}
