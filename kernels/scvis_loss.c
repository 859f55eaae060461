/* scvis_loss.c - the terms of scvis' loss and their slopes, for the rows of one tile. */
#include "scvis_net.h"
#include "vmath.h"

enum { TILE = SPOT_SCVIS_TILE, LANES = 16 };

#define LEAST_VARIANCE 1e-6f
#define MOST_VARIANCE 1e10f
#define LEAST_FREEDOM 0.1f
#define MOST_FREEDOM 10.0f

/* log Gamma and digamma of x > 0: Stirling's series beyond 8, recurrence below. libm's lgamma writes a global. */
static double log_gamma(double x, double *digamma)
{
    double shift = 0, below = 0;

    for (; x < 8; x++) {
        shift += log(x);
        below += 1 / x;
    }
    double r = 1 / x, r2 = r * r;
    *digamma = log(x) - r / 2 - r2 * (1 / 12.0 - r2 * (1 / 120.0 - r2 * (1 / 252.0 - r2 * (1 / 240.0 - r2 / 132)))) - below;
    return (x - 0.5) * log(x) - x + 0.91893853320467274 - shift
           + r * (1 / 12.0 - r2 * (1 / 360.0 - r2 * (1 / 1260.0 - r2 * (1 / 1680.0 - r2 / 1188))));
}

void spot_scvis_refresh_freedom(spot_scvis_net *net)
{
    for (int j = 0; j < net->d; j++) {
        float raw = net->theta[net->freedom + j];
        float nu = raw < LEAST_FREEDOM ? LEAST_FREEDOM : raw > MOST_FREEDOM ? MOST_FREEDOM : raw;
        double high, low;
        double norm = log_gamma((nu + 1.0) / 2, &high) - log_gamma(nu / 2.0, &low) - 0.5 * log(3.14159265358979324 * nu);
        net->nu[j] = nu;
        net->log_norm[j] = (float)norm;
        net->nu_slope[j] = (float)(0.5 * (high - low - 1.0 / nu));
    }
}

/* Outside its limits a clipped variance has no slope. */
static inline float clip_variance(float v, float *slope)
{
    float up = v < LEAST_VARIANCE ? LEAST_VARIANCE : v, in = up > MOST_VARIANCE ? MOST_VARIANCE : up;

    *slope = in == v ? *slope : 0.0f;
    return in;
}

float spot_scvis_variance(float raw, float *slope)
{
    float soft = spot_softplusf(raw, slope);

    return clip_variance(soft, slope);
}

/* q = 1 / (1 + d2/f) of point i and the point at lane j. */
static inline float closeness(const spot_scvis_net *net, int i, int j, int dim, float inverse)
{
    float a = 1.0f;

    for (int k = 0; k < dim; k++) {
        float u = net->places[(size_t)k * net->stride + i] - net->places[(size_t)k * net->stride + j];
        a = fmaf(u * inverse, u, a);
    }
    return 1.0f / a;
}

static inline __attribute__((always_inline)) void row_sums(spot_scvis_net *net, int r, int n, int dim)
{
    int f = dim > 2 ? dim - 1 : 1;

    for (int i = r; i < r + n; i++) {
        float s[LANES] = { 0 }, sum;
        for (int j = 0; j < net->stride; j += LANES)
            for (int l = 0; l < LANES; l++) {
                float w = spot_student(closeness(net, i, j + l, dim, 1.0f / (float)f), f);
                s[l] += j + l == i ? 0.0f : w;
            }
        sum = spot_fold(s);
        net->shares[i] = 1.0f / (sum > 1e-30f ? sum : 1e-30f);
    }
}

/* Column sums of P, and P' + its transpose, rows r .. r+n. A row of P + 0.1/n sums to 1.1. */
static void symmetrise(spot_scvis_net *net, int r, int n)
{
    float flat = 0.1f / (float)net->rows, column[TILE] = { 0 };
    size_t stride = net->stride;

    for (int j0 = 0; j0 < net->rows; j0 += LANES) {
        int j1 = j0 + LANES < net->rows ? j0 + LANES : net->rows;
        for (int i = r; i < r + n; i++)
            for (int j = j0; j < j1; j++)
                net->both[i * stride + j] = (net->p[i * stride + j] + net->p[j * stride + i] + 2 * flat) / 1.1f;
    }
    for (int j = 0; j < net->rows; j++)
        for (int i = 0; i < n; i++) column[i] += net->p[j * stride + r + i];
    for (int i = 0; i < n; i++) {
        float w = column[i] < 0.01f ? 0.01f : column[i] > 2.0f ? 2.0f : column[i];
        net->weight[r + i] = net->cfg->compat.column_weight ? w : 1.0f;
        for (size_t j = net->rows; j < stride; j++) net->both[(r + i) * stride + j] = 0;
    }
}

void spot_scvis_pair(spot_scvis_net *net, int r, int n)
{
    symmetrise(net, r, n);
    if (net->dim == 2) row_sums(net, r, n, 2);
    else               row_sums(net, r, n, net->dim);
}

/* dz = slope of A tsne at rows r .. r+n; returns the rows' part of tsne times n. The sum over j of -P'_ij log s_ij is taken
 * as half of that over P' + transpose, which summed over i is the same. */
static inline __attribute__((always_inline)) double forces(spot_scvis_net *net, int r, int n, int dim, float scale)
{
    int f = dim > 2 ? dim - 1 : 1;
    float power = 0.5f * (float)(f + 1), inverse = 1.0f / (float)f;
    double cost = 0;

    for (int i = r; i < r + n; i++) {
        float sum[dim][LANES], part[LANES] = { 0 };
        memset(sum, 0, sizeof sum);
        for (int j = 0; j < net->stride; j += LANES)
            for (int l = 0; l < LANES; l++) {
                float q = closeness(net, i, j + l, dim, inverse), s = spot_student(q, f);
                float both = net->both[(size_t)i * net->stride + j + l];
                float pull = q * fmaf(-s, net->shares[i] + net->shares[j + l], both);
                part[l] = fmaf(both, spot_logf(q), part[l]);
                for (int k = 0; k < dim; k++) {
                    const float *place = net->places + (size_t)k * net->stride;
                    sum[k][l] = fmaf(pull, place[i] - place[j + l], sum[k][l]);
                }
            }
        cost -= 0.5 * power * spot_fold(part) + log(net->shares[i]);
        for (int k = 0; k < dim; k++) net->dz[i * dim + k] = scale * 2 * power * inverse * spot_fold(sum[k]);
    }
    return cost;
}

double spot_scvis_forces(spot_scvis_net *net, int r, int n, float scale)
{
    return net->dim == 2 ? forces(net, r, n, 2, scale) : forces(net, r, n, net->dim, scale);
}

/* Log-likelihood of row i under the decoder's Student-t, and its slopes: into delta of MEAN and VARIANCE and, summed over
 * rows, `freedom`. `scale` is -w_i / n. With e = x - mean, v the variance, nu the degrees of freedom:
 *   log t = log_norm(nu) - log(v)/2 - (nu+1)/2 log(1 + e^2 / (nu v)) */
double spot_scvis_likelihood(spot_scvis_net *net, int i, float scale, float *freedom)
{
    size_t at = (size_t)i * net->d;
    const float *x = net->x + at, *mean = net->layer[MEAN].act + at, *raw = net->layer[VARIANCE].act + at;
    float *dmean = net->layer[MEAN].delta + at, *draw = net->layer[VARIANCE].delta + at;
    const float *nus = net->nu, *norm = net->log_norm, *slopes = net->nu_slope;
    double sum = 0;

    for (int j0 = 0; j0 < net->d; j0 += 128) {
        float part[128];
        int width = net->d - j0 < 128 ? net->d - j0 : 128;
#pragma omp simd
        for (int l = 0; l < width; l++) {
            int j = j0 + l;
            float slope, soft = spot_softplusf(raw[j], &slope);
            float v = clip_variance(soft, &slope);
            float e = x[j] - mean[j], nu = nus[j], part_of = 1.0f / fmaf(nu, v, e * e), half = 0.5f * (nu + 1.0f);
            float tail = spot_logf(1.0f + e * e / (nu * v)), pull = e * part_of;
            part[l] = norm[j] - 0.5f * spot_logf(v) - half * tail;
            dmean[j] = scale * (nu + 1.0f) * pull;
            draw[j] = scale * slope * (half * e * pull - 0.5f) / v;
            freedom[j] = fmaf(scale, slopes[j] - 0.5f * tail + half * e * pull / nu, freedom[j]);
        }
        for (int l = 0; l < width; l++) sum += part[l];
    }
    return sum;
}

/* The sample's slope goes to mu and s2, the KL term joins; returns the rows' KL. `scale` is K / n. */
double spot_scvis_through_sample(spot_scvis_net *net, int r, int n, float scale)
{
    double kl = 0;

    for (int e = r * net->dim; e < (r + n) * net->dim; e++) {
        float mu = net->layer[MU].act[e], slope, s2 = spot_scvis_variance(net->layer[SIGMA].act[e], &slope);
        net->layer[MU].delta[e] = fmaf(scale, mu, net->dz[e]);
        net->layer[SIGMA].delta[e] = slope * (0.5f * scale * (1.0f - 1.0f / s2)
                                              + 0.5f * net->dz[e] * net->noise[e] / sqrtf(s2));
        kl += 0.5 * ((double)mu * mu + s2 - spot_logf(s2) - 1);
    }
    return kl;
}
