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

double spot_paired_square(double up, double down, int n, double by)
{
    const double a = 2.0 * n, b = -up - down + (2.0 * n - up + down) * by, c = -down * by * (1 - by);
    const double falls = fmax(0, (sqrt(fmax(0, b * b - 4 * a * c)) - b) / (2 * a));

    return fmax(0, 2 * falls + by * (1 - by)) / n;
}

/* The score statistic of a change `by`. */
static double score_of(int up, int down, int n, double by)
{
    const double square = spot_paired_square(up, down, n, by), more = (double)(up - down) / n - by;

    return square > 0 ? more / sqrt(square) : more == 0 ? 0 : copysign(INFINITY, more);
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
