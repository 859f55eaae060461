/* umap_step.h - the arithmetic that UMAP's CPU and CUDA versions share: forces of a pair, due edges, strengths of a row. */
#ifndef SPOTTER_UMAP_STEP_H
#define SPOTTER_UMAP_STEP_H

#include "core/vmath.h"
#include "map/umap.h"

/* Whether an edge of weight w is due at this step: after s steps it was due floor(r s) times, r = w scale. The reference
 * implementation keeps each edge's next step; here nothing has to be remembered. */
static SPOT_HD inline int spot_umap_due(float w, float scale, int step)
{
    float r = w * scale;

    return floorf(r * (float)(step + 1)) > floorf(r * (float)step);
}

static SPOT_HD inline float spot_umap_rate(const spot_umap_layout *u, int step)
{
    return u->lr * (1.0f - (float)step / (float)u->steps);
}

/* x^b of a positive normal x, always finite. Without branches, for vectors of 16 points. */
static SPOT_HD inline float spot_umap_power(float x, float b) { return spot_expf_within(spot_exp_range(b * spot_logf(x))); }

/* Attraction: the factor of the difference y_i - y_j of an edge's ends, from its square d2. The slope of log q,
 * -2ab d^2(b-1) / (1 + a d^2b). */
static SPOT_HD inline float spot_umap_pull(float d2, float a, float b)
{
    float safe = d2 > 1e-30f ? d2 : 1e-30f, power = spot_umap_power(safe, b);      /* equal points: no 0 / 0 */

    return -2.0f * a * b * power / (safe * (1.0f + a * power));
}

/* Repulsion: the same factor for a pair without an edge. The slope of log(1 - q), 2b / (d^2 (1 + a d^2b)), with 0.001 added to
 * d^2 as in the reference implementation: it is what points that meet are divided by. */
static SPOT_HD inline float spot_umap_push(float d2, float a, float b)
{
    float safe = d2 > 1e-30f ? d2 : 1e-30f, power = spot_umap_power(safe, b);

    return 2.0f * b / ((0.001f + d2) * (1.0f + a * power));
}

static SPOT_HD inline float spot_umap_clip(float v)
{
    float low = v > -4.0f ? v : -4.0f;

    return low < 4.0f ? low : 4.0f;
}

/* A random point below n from a random word. */
static SPOT_HD inline int spot_umap_random_point(uint32_t word, int n) { return (int)((uint64_t)word * (uint32_t)n >> 32); }

/* Blocks of random words for one edge: four negatives use one block. */
static SPOT_HD inline int spot_umap_blocks(const spot_umap_layout *u) { return (u->negatives + 3) / 4; }

/* The first block of row i. The row's due edges use the blocks one after the other. */
static SPOT_HD inline uint32_t spot_umap_draw(const spot_umap_layout *u, int i)
{
    return (uint32_t)u->start[i] * (uint32_t)spot_umap_blocks(u);
}

/* The search for sigma: most steps; the error of the sum that ends it; sigma's least value, in mean distances. The reference
 * implementation's. */
enum { SPOT_UMAP_BISECTIONS = 64 };
#define SPOT_UMAP_TOLERANCE 1e-5
#define SPOT_UMAP_LEAST     1e-3

static SPOT_HD inline float spot_umap_strength(float near, float rho, float sigma)
{
    float above = sqrtf(near) - rho;

    return above > 0 ? spot_expf(-above / sigma) : 1.0f;
}

/* rho, sigma and strengths of a row: bisection, doubling while there is no upper bound. */
static SPOT_HD inline void spot_umap_row_strengths(const spot_umap_row *r, int i, double wanted)
{
    const int k = r->near.cols;
    const float *near = r->near.v + (size_t)i * k;
    double low = 0, high = INFINITY, middle = 1, total = 0;
    float rho = INFINITY, sigma;

    for (int j = 0; j < k; j++) {
        float d = sqrtf(near[j]);
        rho = d > 0 && d < rho ? d : rho;
        total += d;
    }
    if (isinf(rho)) rho = 0;
    for (int tries = 0; tries < SPOT_UMAP_BISECTIONS; tries++) {
        double sum = 0;
        for (int j = 0; j < k; j++) sum += spot_umap_strength(near[j], rho, (float)middle);
        if (fabs(sum - wanted) < SPOT_UMAP_TOLERANCE) break;
        if (sum > wanted) {
            high = middle;
            middle = (low + high) / 2;
        } else {
            low = middle;
            middle = isinf(high) ? middle * 2 : (low + high) / 2;
        }
    }
    total *= SPOT_UMAP_LEAST / (k + 1);        /* k + 1: the row itself, at distance 0, is one of the neighbours there */
    sigma = (float)(middle > total ? middle : total);
    if (!(sigma > 1e-30f)) sigma = 1e-30f;      /* all neighbours equal the row: strengths are 1 for any sigma */
    r->rho[i] = rho;
    r->sigma[i] = sigma;
    for (int j = 0; j < k; j++) r->p[(size_t)i * k + j] = spot_umap_strength(near[j], rho, sigma);
}

#endif
