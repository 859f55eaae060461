/* paired.c - see paired.h. */
#define _DEFAULT_SOURCE     /* lgamma_r */
#include "stats/paired.h"

#include <math.h>

static double log_factorial(double n)
{
    int sign;

    return lgamma_r(n + 1, &sign);
}

double spot_mcnemar_tail(int a, int b)
{
    const int n = a + b;
    double tail = 0;

    for (int k = n; k >= a; k--) tail += exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) - n * log(2.0));
    return fmin(1, tail);
}

double spot_mcnemar(int a, int b) { return fmin(1, 2 * spot_mcnemar_tail(a > b ? a : b, a > b ? b : a)); }

int spot_mcnemar_enough(double tests, double level)
{
    int n = 0;

    while (tests > level && n < 1000) tests /= 2, n++;
    return n;
}

/* The score statistic of a change `by`, whose nuisance parameter, the share of falls, has its greatest likelihood. */
static double score_of(int up, int down, int n, double by)
{
    const double a = 2.0 * n, b = -up - down + (2.0 * n - up + down) * by, c = -down * by * (1 - by);
    const double falls = fmax(0, (sqrt(fmax(0, b * b - 4 * a * c)) - b) / (2 * a));
    const double square = n * (2 * falls + by * (1 - by));

    return square > 0 ? (up - down - n * by) / sqrt(square) : up - down == n * by ? 0 : copysign(INFINITY, up - down - n * by);
}

/* The end of the interval on the side of `end`, -1 or 1; the statistic falls as the change grows. */
static double end_of(int up, int down, int n, double z, double end)
{
    double in = (double)(up - down) / n, out = end;

    if (fabs(score_of(up, down, n, end)) <= z) return end;
    for (int i = 0; i < 60; i++) {
        const double middle = (in + out) / 2;
        if (fabs(score_of(up, down, n, middle)) <= z) in = middle;
        else out = middle;
    }
    return in;
}

spot_interval spot_paired_change(int up, int down, int n, double z)
{
    if (!n) return (spot_interval){ NAN, -1, 1 };
    return (spot_interval){ (double)(up - down) / n, end_of(up, down, n, z, -1), end_of(up, down, n, z, 1) };
}
