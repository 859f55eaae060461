/* silhouette.c - silhouettes on the CPU: a thread owns 32 points, whose distances to 64 others at a time lie side by side in
 * vectors; every labelling adds them to the sums of its clusters, 32 at once, because only j decides the cluster. */
#include "fit/silhouette.h"

#include <math.h>
#include <string.h>

#include "core/lanes.h"

enum { OWN = 32, OTHERS = 64, DEPTH = 64, SUMS = SPOT_SILHOUETTE_CLUSTERS };   /* sums: 256 kB of a thread's stack at most */

/* Distances of the points i0.. to those from j0 on. Points past the last repeat it. */
static void fill_distances(double at[OTHERS][OWN], const spot_silhouette_job *p, int i0, int j0, int others)
{
    double own[DEPTH][OWN];

    memset(at, 0, (size_t)others * sizeof *at);
    for (int k0 = 0; k0 < p->d; k0 += DEPTH) {
        int depth = p->d - k0 < DEPTH ? p->d - k0 : DEPTH;
        for (int i = 0; i < OWN; i++) {
            const float *x = p->x + (size_t)(i0 + i < p->n ? i0 + i : p->n - 1) * p->d + k0;
            for (int k = 0; k < depth; k++) own[k][i] = x[k];
        }
        for (int j = 0; j < others; j++) {
            const float *x = p->x + (size_t)(j0 + j) * p->d + k0;
            double sum[OWN];
            memcpy(sum, at[j], sizeof sum);
            for (int k = 0; k < depth; k++) {
                double other = x[k];
#pragma omp simd
                for (int i = 0; i < OWN; i++) sum[i] = fma(own[k][i] - other, own[k][i] - other, sum[i]);
            }
            memcpy(at[j], sum, sizeof sum);
        }
    }
    for (int j = 0; j < others; j++)
#pragma omp simd
        for (int i = 0; i < OWN; i++) at[j][i] = sqrt(at[j][i]);
}

static double silhouette(double own, double other)
{
    double more = own > other ? own : other;

    return more > 0 ? (other - own) / more : 0;
}

/* Silhouettes of points i0.. from their sums of distances to each cluster. */
static void finish_points(const spot_silhouette_job *p, double sum[][OWN], int i0)
{
    int count[SPOT_SILHOUETTE_CLUSTERS] = { 0 };

    for (int j = 0; j < p->n; j++) count[p->label[j]]++;
    for (int i = 0; i < OWN && i0 + i < p->n; i++) {
        int own = p->label[i0 + i];
        double least = INFINITY;
        for (int k = 0; k < p->k; k++)
            if (k != own && count[k]) least = fmin(least, sum[k][i] / count[k]);
        p->silhouette[i0 + i] = count[own] > 1 && least < INFINITY ? silhouette(sum[own][i] / (count[own] - 1), least) : 0;
    }
}

/* Points i0.. of `count` jobs on the same points, with at most SUMS clusters together. */
static void sum_points(const spot_silhouette_job *jobs, int count, int i0)
{
    double at[OTHERS][OWN], sum[SUMS][OWN], (*own)[OWN] = sum;
    int n = jobs->n, sums = 0;

    for (int q = 0; q < count; q++) sums += jobs[q].k;
    memset(sum, 0, (size_t)sums * sizeof *sum);
    for (int j0 = 0; j0 < n; j0 += OTHERS) {
        int others = n - j0 < OTHERS ? n - j0 : OTHERS;
        fill_distances(at, jobs, i0, j0, others);
        own = sum;
        for (int q = 0; q < count; own += jobs[q++].k)
            for (int j = 0; j < others; j++) {
                double *to = own[jobs[q].label[j0 + j]];
#pragma omp simd
                for (int i = 0; i < OWN; i++) to[i] += at[j][i];
            }
    }
    own = sum;
    for (int q = 0; q < count; own += jobs[q++].k) finish_points(&jobs[q], own, i0);
}

static spot_status samples_cpu(spot_ctx *c, const spot_silhouette_job *jobs, int count)
{
    for (int q = 0, next; q < count; q = next) {
        int sums = jobs[q].k;

        SPOT_TRY(spot_check_stop(c));
        for (next = q + 1; next < count && jobs[next].x == jobs[q].x && jobs[next].n == jobs[q].n &&
                           jobs[next].d == jobs[q].d && sums + jobs[next].k <= SUMS; next++)
            sums += jobs[next].k;
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
        for (int i0 = 0; i0 < jobs[q].n; i0 += OWN) sum_points(jobs + q, next - q, i0);
    }
    return SPOT_OK;
}

const spot_silhouette_ops spot_silhouette_cpu = { .samples = samples_cpu };

spot_status spot_silhouette_samples(spot_ctx *c, const spot_silhouette_job *jobs, int count)
{
    for (int q = 0; q < count; q++)
        if (jobs[q].n < 1 || jobs[q].d < 1 || jobs[q].k < 1 || jobs[q].k > SPOT_SILHOUETTE_CLUSTERS)
            return spot_fail(c, SPOT_INVALID, "{silhouette.sizes} silhouette.samples, job %d: %d clusters of (%d,%d) points; 1 "
                             "to %d clusters", q, jobs[q].k, jobs[q].n, jobs[q].d, SPOT_SILHOUETTE_CLUSTERS);
    SPOT_DISPATCH(c, silhouette, samples, jobs, count);
}
