/* mixture_em.cuh - the steps of EM over a block's points, for mixture.cu and mixture_wide.cu.
 *
 * Points are read from global memory: a fit's few kilobytes stay in the cache, and the arithmetic takes far longer.
 * Responsibilities are not stored: the E step keeps each point's log-normaliser, the M step gives each component to a
 * warp, which computes its densities again. */
#ifndef SPOTTER_MIXTURE_EM_CUH
#define SPOTTER_MIXTURE_EM_CUH

#include <math.h>

#include "core/philox.h"
#include "core/vmath64.cuh"
#include "fit/mixture.cuh"
#include "fit/mixture_step.h"

typedef enum { FROM_LABELS, FROM_GIVEN, FROM_DENSITIES } source;

/* Functions of D dimensions keep their arrays in registers. D = 0 is any d, in slow local memory. */
#define SIZE(D) ((D) ? (D) : SPOT_MAX_MIXTURE_DIM)

/* Point i from the mean of a component. */
template <int D> static __device__ void differ(double *diff, const state *f, int i, const double *component)
{
    const int d = D ? D : f->d;

    for (int a = 0; a < d; a++) diff[a] = f->x[(size_t)i * d + a] - component[1 + a];
}

/* Log of weight times density at mean + diff. */
template <int D> static __device__ double log_density(const double *component, const double *diff, int any)
{
    const int d = D ? D : any;
    const double *factor = component + 1 + d;
    double square = 0;

    for (int i = 0; i < d; i++) {
        double y = 0;
        for (int j = 0; j <= i; j++) y = fma(*factor++, diff[j], y);
        square = fma(y, y, square);
    }
    return fma(-0.5, square, component[0]);
}

/* E step: the log-normaliser of each of the block's points into w->point; their sum. label: also the best component, of equals
 * the first. */
template <int D> static __device__ double expect(const state *f, const work *w, bool label)
{
    double total = 0;

    for (int i = w->first + thread(); i < w->last; i += THREADS) {
        double top = -INFINITY, sum = 0, diff[SIZE(D)];
        int best = 0;
        for (int k = 0; k < f->k; k++) {
            const double *component = f->component + k * f->stride;
            differ<D>(diff, f, i, component);
            double l = log_density<D>(component, diff, f->d), e = spot_exp64(-fabs(l - top));
            bool better = l > top;
            sum = better ? sum * e + 1 : sum + e;
            top = better ? l : top;
            best = better ? k : best;
        }
        w->point[i] = top + spot_philox_log(sum);
        total += w->point[i];
        if (label) f->label[i] = (uint8_t)best;
    }
    return spot_block_sum<THREADS>(total);
}

/* M step, first half: moments about the present means. */
template <int D> static __device__ void add_moments(const state *f, const work *w, source from)
{
    const int d = D ? D : f->d, stride = 1 + d + d * (d + 1) / 2;

    for (int k = warp(); k < f->k; k += WARPS) {
        const double *component = f->component + k * stride;
        double m[1 + SIZE(D) * (SIZE(D) + 3) / 2], diff[SIZE(D)];
        for (int s = 0; s < stride; s++) m[s] = 0;
        for (int i = w->first + lane(); i < w->last; i += WARP) {
            double r, *product = m + 1 + d;
            differ<D>(diff, f, i, component);
            if (from == FROM_DENSITIES) r = spot_exp64(log_density<D>(component, diff, d) - w->point[i]);
            else r = from == FROM_GIVEN ? f->resp[(size_t)i * f->k + k] : f->label[i] == k;
            m[0] += r;
            for (int a = 0; a < d; a++) {
                double weighted = r * diff[a];
                m[1 + a] += weighted;
                for (int b = 0; b <= a; b++, product++) *product = fma(weighted, diff[b], *product);
            }
        }
        for (int s = 0; s < stride; s++) {
            double sum = spot_warp_sum(m[s]);
            if (!lane()) w->moment[k * stride + s] = sum;
        }
    }
    __syncthreads();
}

/* M step, second half, of component k, which has nk of `all` points: see mixture.c. False when it has no factor. */
static __device__ bool maximise_one(const state *f, const double *moment, int k, double nk, double all, double ridge)
{
    const int d = f->d;
    const double count = moment[0], *first = moment + 1, *second = first + d;
    double *component = f->component + k * f->stride, *mean = component + 1, *factor = mean + d, *a = factor;
    double shift[SPOT_MAX_MIXTURE_DIM];

    for (int i = 0; i < d; i++) {
        double now = (first[i] + count * mean[i]) / nk;
        shift[i] = now - mean[i];
        mean[i] = f->mean[k * d + i] = now;
    }
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            double s = *second++ - shift[i] * first[j] - first[i] * shift[j] + count * shift[i] * shift[j];
            *a = s / nk + (i == j ? ridge : 0);
            f->covariance[(k * d + i) * d + j] = f->covariance[(k * d + j) * d + i] = *a++;
        }
    f->weight[k] = nk / all;
    if (!spot_mixture_inverse_cholesky(factor, d)) return false;
    component[0] = spot_philox_log(f->weight[k]) - 0.5 * d * 1.83787706640934548356;   /* log 2 pi */
    for (int i = 0; i < d; i++) component[0] += spot_philox_log(factor[i * (i + 3) / 2]);
    return true;
}

/* A thread a component. Returns the number without a factor. */
static __device__ int maximise(const state *f, const work *w, double ridge)
{
    const double more = 10 * 2.2204460492503131e-16;
    const int own = thread();
    double all = 0;
    bool ill = false;

    if (own < f->k) {
        for (int k = 0; k < f->k; k++) all += w->moment[k * f->stride] + more;
        ill = !maximise_one(f, w->moment + own * f->stride, own, w->moment[own * f->stride] + more, all, ridge);
    }
    return __syncthreads_count(ill);
}

static __device__ void begin_at_first(const state *f)
{
    for (int k = thread(); k < f->k; k += THREADS)
        for (int a = 0; a < f->d; a++) f->component[k * f->stride + 1 + a] = f->x[a];
    __syncthreads();
}

static __device__ source given_of(const state *f) { return f->resp ? FROM_GIVEN : FROM_LABELS; }

/* The first M step, about the first point. Twice: once to find the means, once to take the moments about them, so that no
 * digits cancel. */
template <int D> static __device__ int first_maximise(const state *f, const work *w, double ridge)
{
    int ill = 0;

    begin_at_first(f);
    for (int twice = 0; twice < 2; twice++) {
        add_moments<D>(f, w, given_of(f));
        ill = maximise(f, w, ridge);
    }
    return ill;
}

static __device__ bool has_ended(const state *f, const spot_mixture_config *cfg)
{
    return f->ill || f->converged || f->iterations >= cfg->max_iterations;
}

/* After an iteration with that mean log-likelihood. */
static __device__ void end_iteration(state *f, double now, const spot_mixture_config *cfg)
{
    f->iterations++;
    f->converged = fabs(now - f->before) < cfg->tol;
    f->before = now;
}

/* The template parameter D for d dimensions: the usual ones, 2 to 4, have kernels of their own. */
static inline __host__ __device__ int kernel_of(int d) { return d >= 2 && d <= 4 ? d : 0; }

template <int D> static bool has_dimension(const state *fit, int count)
{
    for (int j = 0; j < count; j++)
        if (kernel_of(fit[j].d) == D) return true;
    return false;
}

#endif
