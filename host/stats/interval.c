/* interval.c - see interval.h. */
#include "spotter/interval.h"

#include <math.h>

double spot_quantile(const double *ascending, int n, double q)
{
    const double at = q * (n - 1);
    int i = (int)at;

    if (!n) return NAN;
    if (i > n - 2) i = n - 2;
    return n == 1 ? *ascending : ascending[i] + (at - i) * (ascending[i + 1] - ascending[i]);
}

spot_interval spot_share_of(int hits, int n)
{
    const double z = 1.959963984540054, p = n ? (double)hits / n : 0, scale = n + z * z;
    const double middle = (hits + z * z / 2) / scale, half = z * sqrt(hits * (1 - p) + z * z / 4) / scale;

    if (!n) return (spot_interval){ NAN, 0, 1 };
    return (spot_interval){ p, hits ? fmax(0, middle - half) : 0, hits < n ? fmin(1, middle + half) : 1 };
}

double spot_binomial_tail(int hits, int n, double p)
{
    double sum = 0;

    if (hits <= 0) return 1;
    for (int k = n; k >= hits; k--)
        sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) + (n - k) * log1p(-p));
    return fmin(sum, 1);
}
