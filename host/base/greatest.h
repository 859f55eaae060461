/* greatest.h - the class that a classifier's answer names: that of the first greatest number, as argmax of numpy and torch.
 * Every study judges answers by it, so that the same answer is right or wrong everywhere. */
#ifndef SPOTTER_GREATEST_H
#define SPOTTER_GREATEST_H

#include <math.h>
#include <stdbool.h>

/* n >= 1. */
static inline int spot_first_greatest(const float *v, int n)
{
    int best = 0;

    for (int k = 1; k < n; k++)
        if (v[k] > v[best]) best = k;
    return best;
}

/* Makes v[best] the first greatest, by one step of a float above the others where rounding made it equal to them. */
static inline void spot_keep_greatest(float *v, int n, int best)
{
    const int now = spot_first_greatest(v, n);

    if (now != best) v[best] = now < best ? nextafterf(v[now], INFINITY) : v[now];
}

/* The probability of class 1 of two by its logit. */
static inline double spot_sigmoid(double logit) { return 1 / (1 + exp(-logit)); }

/* The same rule for one probability of a class and 1 minus it of the class before: exactly 1/2 answers the class before. */
static inline bool spot_half_is_right(double p, bool positive) { return (p > 0.5) == positive; }

#endif
