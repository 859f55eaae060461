/* rbf_step.h - arithmetic of variance matrices that the CPU and CUDA share. */
#ifndef SPOTTER_RBF_STEP_H
#define SPOTTER_RBF_STEP_H

#include "core/vmath.h"
#include "map/rbf.h"

enum { SPOT_RBF_CHUNK = 32 };          /* targets whose sums are fp32 chains */

/* The place of an image, in cells; in the binned method the centre of its cell. */
static SPOT_HD inline float spot_rbf_place(const spot_rbf_config *cfg, float range, float distance)
{
    float x = distance * ((float)cfg->grid / range), last = (float)cfg->grid;

    x = x < last ? x : last;
    if (cfg->method == SPOT_RBF_EXACT) return x;
    return x < last ? floorf(x) + 0.5f : last - 0.5f;
}

/* The reason why image i (of targets x images) takes no part, or SPOT_RBF_REASONS when it does. */
static SPOT_HD inline int spot_rbf_reason(const spot_rbf_problem *p, size_t i)
{
    const size_t plane = (size_t)p->targets * (size_t)p->images;
    float d = p->distance[i];

    if (d != d) return SPOT_RBF_ABSENT;
    if (!(d >= 0 && d <= p->range)) return SPOT_RBF_OUTSIDE;
    for (int s = 0; s < p->signals; s++)
        if (!(fabsf(p->signal[(size_t)s * plane + i]) <= SPOT_RBF_MOST_SIGNAL)) return SPOT_RBF_UNUSABLE;
    return SPOT_RBF_REASONS;
}

/* The square of the distance of x to the centre of cell i, and phi of it; phi of a point is the product of phi of both axes. */
static SPOT_HD inline float spot_rbf_square(int i, float x)
{
    float far = (float)i + 0.5f - x;

    return far * far;
}

static SPOT_HD inline float spot_rbf_phi(float square, float sigma) { return spot_expf(-square / (2 * sigma * sigma)); }

/* The first of `held` ascending numbers that is not below `at`. */
static SPOT_HD inline int spot_rbf_first(const float *x, int held, float at)
{
    int low = 0;

    while (low < held) {
        int half = (low + held) / 2;
        if (x[half] < at) low = half + 1;
        else              held = half;
    }
    return low;
}

/* -- points in cells, as sums along the rows: before[a][b] is the sum over row a's cells 0 .. b - 1 -------------------- */

/* The floor of the root of a square below 2^24; -1 of one below 0. */
static SPOT_HD inline int spot_rbf_root(int square) { return square < 0 ? -1 : (int)sqrtf((float)square); }

/* The columns of row p that lie within the root of `square` of cell (a, b), from *first on; their number. */
static SPOT_HD inline int spot_rbf_chord(int grid, int a, int b, int p, int square, int *first)
{
    int rest = square - (a - p) * (a - p), reach, last;

    if (rest < 0) return 0;
    reach = spot_rbf_root(rest);
    *first = b > reach ? b - reach : 0;
    last = b + reach < grid ? b + reach : grid - 1;
    return last - *first + 1;
}

/* Points whose cell's centre lies within the root of `square` of that of (a, b), and below the sum of their values; 0
 * where square is below 0. */
static SPOT_HD inline int spot_rbf_count_within(const int *before, int grid, int a, int b, int square)
{
    int reach = spot_rbf_root(square), sum = 0, first = 0;

    for (int p = a > reach ? a - reach : 0; p <= a + reach && p < grid; p++) {
        int cells = spot_rbf_chord(grid, a, b, p, square, &first);
        const int *row = before + (size_t)p * (size_t)(grid + 1) + first;
        sum += row[cells] - row[0];
    }
    return sum;
}

static SPOT_HD inline double spot_rbf_sum_within(const double *before, int grid, int a, int b, int square)
{
    int reach = spot_rbf_root(square), first = 0;
    double sum = 0;

    for (int p = a > reach ? a - reach : 0; p <= a + reach && p < grid; p++) {
        int cells = spot_rbf_chord(grid, a, b, p, square, &first);
        const double *row = before + (size_t)p * (size_t)(grid + 1) + first;
        sum += row[cells] - row[0];
    }
    return sum;
}

/* The least square within whose root `wanted` points lie; there are so many. */
static SPOT_HD inline int spot_rbf_nearest_square(const int *before, int grid, int a, int b, int wanted)
{
    int low = -1, high = 0;                  /* fewer points, enough points */

    while (spot_rbf_count_within(before, grid, a, b, high) < wanted) {
        low = high;
        high = high ? 2 * high : 1;
    }
    while (high - low > 1) {
        int half = low + (high - low) / 2;
        if (spot_rbf_count_within(before, grid, a, b, half) < wanted) low = half;
        else                                                          high = half;
    }
    return high;
}

/* The last of the nearest points lies within the root of this when their cells say `square`: a point is at most 1/sqrt(2) away
 * from its cell's centre. A little is added for rounding. */
static SPOT_HD inline float spot_rbf_bound(int square)
{
    float far = sqrtf((float)square) + 0.70712f;

    return far * far * 1.000001f;
}

/* u: `nearer` points with this sum, and `equal` ones at the last distance that share the places left of `wanted`. */
static SPOT_HD inline double spot_rbf_mean(double nearer_sum, int nearer, double equal_sum, int equal, int wanted)
{
    return (nearer_sum + (double)(wanted - nearer) * (equal_sum / (double)equal)) / (double)wanted;
}

static SPOT_HD inline double spot_rbf_binned_mean(const double *before_v, const int *before, int grid, int a, int b, int square,
                                                  int wanted)
{
    int nearer = spot_rbf_count_within(before, grid, a, b, square - 1);
    double sum = spot_rbf_sum_within(before_v, grid, a, b, square - 1);

    return spot_rbf_mean(sum, nearer, spot_rbf_sum_within(before_v, grid, a, b, square) - sum,
                         spot_rbf_count_within(before, grid, a, b, square) - nearer, wanted);
}

#endif
