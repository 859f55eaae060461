/* information_step.h - the arithmetic that information.c and information.cu share. */
#ifndef SPOTTER_INFORMATION_STEP_H
#define SPOTTER_INFORMATION_STEP_H

#include "core/philox.h"
#include "fit/information.h"

/* The last sum has 256 partial sums, one for each thread of a GPU's block: row i of a class goes into number i % 256. */
enum { SPOT_INFORMATION_LANES = 256, SPOT_INFORMATION_NEIGHBOURS = 3 };

/* Lists in CUDA's scratch: so many columns are sorted at a time, one a block. */
enum { SPOT_INFORMATION_LISTS = 1024 };

#define SPOT_SMALLEST 4.9406564584124654e-324

static inline SPOT_HD int spot_information_k(int count)
{
    return count - 1 < SPOT_INFORMATION_NEIGHBOURS ? count - 1 : SPOT_INFORMATION_NEIGHBOURS;
}

/* r_i: rows with |difference| < r_i are near row i. own: the values of i's class, ascending; count >= 2. The k neighbours lie
 * in a window of k + 1 values. */
static inline SPOT_HD double spot_information_reach(const double *own, int count, int i)
{
    int k = spot_information_k(count), last = i < count - 1 - k ? i : count - 1 - k;
    double least = INFINITY;

    for (int w = i > k ? i - k : 0; w <= last; w++) {
        double below = own[i] - own[w], above = own[w + k] - own[i], r = below > above ? below : above;
        if (r < least) least = r;
    }
    return least > 0 ? least : SPOT_SMALLEST;
}

/* The standard deviation, or 1 where scikit-learn takes a column for constant. */
static inline SPOT_HD double spot_information_scale(double variance)
{
    double s = sqrt(variance);

    return s < 10 * 2.220446049250313e-16 ? 1 : s;
}

/* The factor of z in a column with mean |x / s| `size`. */
static inline SPOT_HD double spot_information_noise(double size) { return 1e-10 * (size > 1 ? size : 1); }

/* The estimate from the sum of psi(m); psi(i) at psi[i]. */
static inline SPOT_HD double spot_information_total(const double *psi, const int count[2], double sum_of_psi_m)
{
    double known = 0, nats;
    int all = 0;

    for (int y = 0; y < 2; y++)
        if (count[y] > 1) {
            all += count[y];
            known += count[y] * (psi[spot_information_k(count[y])] - psi[count[y]]);
        }
    if (all == 0) return 0;
    nats = psi[all] + (known - sum_of_psi_m) / all;
    return nats > 0 ? nats : 0;
}

/* psi of 1..n. */
static inline SPOT_HD void spot_information_psi(double *psi, int n)
{
    psi[0] = 0;
    psi[1] = -0.57721566490153286;
    for (int i = 1; i < n; i++) psi[i + 1] = psi[i] + 1.0 / i;
}

#endif
