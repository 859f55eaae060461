/* mixture_start.c - k-means++ (Arthur & Vassilvitskii 2007, with greedy trials) and Lloyd's iterations on the CPU. */
#include <stdbool.h>
#include <string.h>

#include "fit/mixture_cpu.h"

enum { LLOYD = 300 };

static double coordinate(const spot_mixture_work *w, int column, int i)
{
    return ((const double *)(w->x + (size_t)column * w->blocks))[i];
}

VD_INLINE vd squared_distance(const spot_mixture_work *w, int d, int b, const double *centre)
{
    vd sum = { 0 };

    for (int a = 0; a < d; a++) {
        vd diff = w->x[(size_t)a * w->blocks + b] - centre[a];
        sum = vd_fma(diff, diff, sum);
    }
    return sum;
}

VD_INLINE double potential_of(spot_mixture_work *w, int d, const double *centre, bool keep)
{
    vd sum = { 0 };

    for (int b = 0; b < w->blocks; b++) {
        vd dist = squared_distance(w, d, b, centre), nearer = vd_pick(dist < w->near[b], dist, w->near[b]);
        if (keep) w->near[b] = nearer;
        sum += nearer * w->live[b];
    }
    return vd_sum(sum);
}

/* Sum of squared distances to the nearest centre if `centre` joined those of w->near; keep: it joins. */
static double potential(spot_mixture_work *w, const double *centre, bool keep)
{
    return w->d == 3 ? potential_of(w, 3, centre, keep) : potential_of(w, w->d, centre, keep);   /* PlaneSpot's 3 */
}

static void set_centre(spot_mixture_work *w, int k, int i)
{
    for (int a = 0; a < w->d; a++) w->centre[k * w->d + a] = coordinate(w, a, i);
}

/* A point drawn in proportion to w->near. */
static int draw_point(const spot_mixture_work *w, spot_rng *r)
{
    double want = spot_rng_uniform(r) * w->prefix[w->n - 1];
    int lo = 0, hi = w->n - 1;

    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (w->prefix[mid] < want) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

static void plus_plus(spot_mixture_work *w, spot_rng *r)
{
    int trials = 2 + (int)log(w->k);

    for (int b = 0; b < w->blocks; b++) w->near[b] = vd_all(INFINITY);
    set_centre(w, 0, (int)spot_rng_below(r, (uint32_t)w->n));
    potential(w, w->centre, true);
    for (int k = 1; k < w->k; k++) {
        double sum = 0, least = INFINITY;
        int best = 0;
        for (int i = 0; i < w->n; i++) w->prefix[i] = sum += ((const double *)w->near)[i];
        for (int t = 0; t < trials; t++) {
            int i = draw_point(w, r);
            set_centre(w, k, i);
            double p = potential(w, w->centre + k * w->d, false);
            if (p < least) { least = p; best = i; }
        }
        set_centre(w, k, best);
        potential(w, w->centre + k * w->d, true);
    }
}

/* Labels every point with its nearest centre, of equals the first. True if a label changed. A tile at a time, because one
 * vector's comparisons wait for each other and those of different vectors do not. */
VD_INLINE bool assign_points(spot_mixture_work *w, int d)
{
    vi changed = { 0 };

    for (int from = 0; from < w->blocks; from += TILE) {
        vd near[TILE];
        vi label[TILE] = { { 0 } };
        for (int b = 0; b < TILE; b++) near[b] = vd_all(INFINITY);
        for (int k = 0; k < w->k; k++)
            for (int b = 0; b < TILE; b++) {
                vd dist = squared_distance(w, d, from + b, w->centre + k * d);
                label[b] = vi_pick(dist < near[b], (vi){ 0 } + k, label[b]);
                near[b] = vd_pick(dist < near[b], dist, near[b]);
            }
        for (int b = 0; b < TILE; b++) {
            changed |= label[b] != w->label[from + b];
            w->label[from + b] = label[b];
            w->near[from + b] = near[b];
        }
    }
    for (int i = 0; i < LANES; i++) if (changed[i]) return true;
    return false;
}

static bool assign_labels(spot_mixture_work *w) { return BY_DIMENSION(assign_points, w); }

/* An empty cluster takes the point farthest from its centre, as scikit-learn's does. */
static void fill_empty(spot_mixture_work *w, double *count)
{
    double *near = (double *)w->near;

    for (int k = 0; k < w->k; k++) {
        int far = 0, old;
        if (count[k] > 0) continue;
        for (int i = 1; i < w->n; i++) if (near[i] > near[far]) far = i;
        near[far] = -1;
        old = (int)((int64_t *)w->label)[far];
        for (int a = 0; a < w->d; a++) {
            w->sum[old * w->d + a] -= coordinate(w, a, far);
            w->sum[k * w->d + a] = coordinate(w, a, far);
        }
        count[old]--;
        count[k] = 1;
    }
}

/* Moves centres to the means of their points. Returns the sum of squared moves. */
VD_INLINE double recentre_points(spot_mixture_work *w, int d)
{
    double count[SPOT_MAX_COMPONENTS] = { 0 }, moved = 0;
    const int64_t *label = (const int64_t *)w->label;
    const double *x = (const double *)w->x;
    size_t stride = (size_t)w->blocks * LANES;

    memset(w->sum, 0, (size_t)w->k * d * sizeof *w->sum);
    for (int i = 0; i < w->n; i++) {
        double *sum = w->sum + label[i] * d;
        count[label[i]]++;
        for (int a = 0; a < d; a++) sum[a] += x[(size_t)a * stride + i];
    }
    fill_empty(w, count);
    for (int k = 0; k < w->k; k++)
        for (int a = 0; a < d && count[k] > 0; a++) {
            double *centre = &w->centre[k * d + a], mean = w->sum[k * d + a] / count[k];
            moved += (mean - *centre) * (mean - *centre);
            *centre = mean;
        }
    return moved;
}

static double recentre(spot_mixture_work *w) { return BY_DIMENSION(recentre_points, w); }

static double mean_variance(const spot_mixture_work *w)
{
    double total = 0;

    for (int a = 0; a < w->d; a++) {
        double mean = 0, square = 0;
        for (int i = 0; i < w->n; i++) mean += coordinate(w, a, i);
        mean /= w->n;
        for (int i = 0; i < w->n; i++) square += (coordinate(w, a, i) - mean) * (coordinate(w, a, i) - mean);
        total += square / w->n;
    }
    return total / w->d;
}

void spot_mixture_start(spot_mixture_work *w, spot_rng *r)
{
    double tolerance = 1e-4 * mean_variance(w);

    for (int b = 0; b < w->blocks; b++) w->label[b] = (vi){ 0 } - 1;
    plus_plus(w, r);
    for (int i = 0; i < LLOYD; i++)
        if (!assign_labels(w) || recentre(w) <= tolerance) break;
    assign_labels(w);
}
