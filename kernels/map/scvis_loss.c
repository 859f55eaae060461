/* scvis_loss.c - the terms of scvis' loss and their slopes, for the rows of one tile. */
#include "map/scvis_step.h"
#include "map/scvis_net.h"

enum { TILE = SPOT_SCVIS_TILE, LANES = 16, BLOCK = 128, ABREAST = SPOT_SCVIS_ABREAST };

void spot_scvis_refresh_freedom(spot_scvis_net *net)
{
    for (int j = 0; j < net->d; j++)
        net->nu[j] = spot_scvis_freedom(net->theta[net->freedom + j], &net->log_norm[j], &net->nu_slope[j]);
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

/* dz = slope of A tsne at rows r .. r+n; returns the rows' part of tsne times n. The sum over j of -P'_ij log s_ij is
 * half of the sum over P' + transpose; summed over i, both are equal. */
static inline __attribute__((always_inline)) double forces_of_rows(spot_scvis_net *net, int r, int n, int dim, float scale)
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
    return net->dim == 2 ? forces_of_rows(net, r, n, 2, scale) : forces_of_rows(net, r, n, net->dim, scale);
}

/* Columns j0 .. of row i; the log-densities go into part. Two loops are faster than one: each is a short chain of operations,
 * of which the processor has more under way. */
static void likelihood_of(spot_scvis_net *net, int i, int j0, int width, float scale, float *freedom, float *restrict part)
{
    size_t at = (size_t)i * net->d + j0;
    const float *x = net->x + at, *mean = net->layer[MEAN].act + at, *raw = net->layer[VARIANCE].act + at;
    float *dmean = net->layer[MEAN].delta + at, *draw = net->layer[VARIANCE].delta + at;
    const float *nu = net->nu + j0, *norm = net->log_norm + j0, *slope = net->nu_slope + j0;
    float v[BLOCK], by_raw[BLOCK];

#pragma omp simd
    for (int j = 0; j < width; j++) {
        spot_scvis_spread s = spot_scvis_spread_of(raw[j]);
        v[j] = s.v;
        by_raw[j] = s.slope;
    }
#pragma omp simd
    for (int j = 0; j < width; j++) {
        spot_scvis_spread s = { v[j], by_raw[j] };
        spot_scvis_density t = spot_scvis_student(x[j], mean[j], s, nu[j], norm[j], slope[j], scale);
        part[j] = t.log;
        dmean[j] = t.mean;
        draw[j] = t.raw;
        freedom[j0 + j] = fmaf(scale, t.nu, freedom[j0 + j]);
    }
}

void spot_scvis_likelihood(spot_scvis_net *net, int r, int n, double *loss, float *freedom)
{
    double sum[ABREAST] = { 0 };
    float part[ABREAST][BLOCK];

    for (int j0 = 0; j0 < net->d; j0 += BLOCK) {
        int width = net->d - j0 < BLOCK ? net->d - j0 : BLOCK;
        for (int i = 0; i < n; i++)
            likelihood_of(net, r + i, j0, width, -net->weight[r + i] / (float)net->rows, freedom, part[i]);
        for (int i = n; i < ABREAST; i++) memset(part[i], 0, sizeof part[i]);
        for (int j = 0; j < width; j++)
            for (int i = 0; i < ABREAST; i++) sum[i] += part[i][j];
    }
    for (int i = 0; i < n; i++) *loss += net->weight[r + i] * sum[i];
}

/* The slopes of mu and s2: the sample's, plus the KL term's. Returns the rows' KL. `scale` is K / n. */
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
