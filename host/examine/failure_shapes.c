/* failure_shapes.c - counts over spheres, mixtures of failures, and the points along the factors at which failure begins. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examine/failure_parts.h"
#include "spotter/cluster.h"

/* ---- maps ---- */

static bool is_in(const spot_factor_space *s, int factor)
{
    for (int d = 0; d < s->dims; d++)
        if (s->factor[d] == factor) return true;
    return false;
}

/* The means hold sums until end_count. */
static void count_render(spot_failure_count *k, float p, bool valid, spot_failure_cut cut)
{
    const bool failed = spot_failure_is(cut, p);

    k->renders++, k->failing += failed, k->mean += p;
    if (valid) k->valid++, k->failing_valid += failed, k->mean_valid += p;
}

static void end_count(spot_failure_count *k)
{
    k->mean = k->renders ? k->mean / k->renders : NAN;
    k->mean_valid = k->valid ? k->mean_valid / k->valid : NAN;
}

void spot_failure_count_map(spot_failure_map *m, const spot_random_renders *r, const spot_factor_space *s,
                            spot_failure_cut cut)
{
    static const int azimuth[] = { SPOT_CAMERA_AZIMUTH, SPOT_LAMP_AZIMUTH };
    static const int elevation[] = { SPOT_CAMERA_ELEVATION, SPOT_LAMP_ELEVATION };

    for (int k = 0; k < SPOT_SPHERES; k++) m->has[k] = is_in(s, azimuth[k]) && is_in(s, elevation[k]);
    for (int i = 0; i < r->n; i++) {
        count_render(&m->all, r->p[i], r->valid[i], cut);
        for (int k = 0; k < SPOT_SPHERES; k++) {
            const int cell = spot_sphere_find(r->at[i].value[azimuth[k]], r->at[i].value[elevation[k]]);
            if (m->has[k]) count_render(&m->cell[k][cell], r->p[i], r->valid[i], cut);
        }
    }
    end_count(&m->all);
    for (int k = 0; k < SPOT_SPHERES; k++)
        for (int i = 0; i < SPOT_SPHERE_CELLS; i++) end_count(&m->cell[k][i]);
}

/* ---- mixtures ---- */

enum { EACH = 4 };                     /* points for each number of a centre, at least */

/* The floor of a variance: a cluster is not narrower than 2 % of a range, so that a short piece of a turn, which is an arc,
 * is one. */
static const double RIDGE = 4e-4;

/* Numbers of a point; to NULL: only counts them. */
static int put_point(float *to, const spot_factor_space *s, const spot_conditions *at)
{
    double x[SPOT_FACTORS];
    int n = 0;

    if (to) spot_factor_space_point(x, s, at);
    for (int d = 0; d < s->dims; d++, n++) {
        if (to) to[n] = (float)(s->turns[d] ? 0.5 * cos(2 * acos(-1) * x[d]) : x[d]);
        if (!s->turns[d]) continue;
        n++;
        if (to) to[n] = (float)(0.5 * sin(2 * acos(-1) * x[d]));
    }
    return n;
}

static void describe(spot_failure_component *to, const spot_mixture *m, int k, const spot_factor_space *s)
{
    const double *mean = m->mean + (size_t)k * (size_t)m->d, *var = m->covariance + (size_t)k * (size_t)m->d * (size_t)m->d;

    to->weight = m->weight[k];
    for (int f = 0; f < SPOT_FACTORS; f++) to->centre[f] = to->spread[f] = NAN;
    for (int d = 0, n = 0; d < s->dims; d++, n++) {
        const double width = s->most[d] - s->least[d];
        const int f = s->factor[d];
        if (!s->turns[d]) {
            to->centre[f] = s->least[d] + mean[n] * width;
            to->spread[f] = sqrt(fmax(0, var[(size_t)n * (size_t)m->d + (size_t)n] - RIDGE)) * width;
            continue;
        }
        const double turn = atan2(mean[n + 1], mean[n]) / (2 * acos(-1)), length = fmin(1, 2 * hypot(mean[n], mean[n + 1]));
        to->centre[f] = s->least[d] + (turn - floor(turn)) * width;
        to->spread[f] = fmin(width / 2, sqrt(-2 * log(length)) / (2 * acos(-1)) * width);
        n++;
    }
}

/* The components of the greatest weight first. */
static void fill_mixture(spot_failure_mixture *to, const spot_mixture *m, const spot_factor_space *s)
{
    bool used[SPOT_MAX_FAILURE_COMPONENTS] = { false };

    to->bic = m->bic;
    for (to->components = 0; to->components < m->k; to->components++) {
        int most = -1;
        for (int k = 0; k < m->k; k++)
            if (!used[k] && (most < 0 || m->weight[k] > m->weight[most])) most = k;
        used[most] = true;
        describe(&to->component[to->components], m, most, s);
    }
}

spot_status spot_failure_fit_mixture(spot_ctx *c, spot_failure_mixture *m, const spot_random_renders *r,
                                     const spot_factor_space *s, spot_failure_cut cut)
{
    const int d = put_point(NULL, s, NULL);
    spot_mixture_config cfg = spot_mixture_defaults();
    const spot_seed seed = { 1, 0 };
    spot_mat x = { malloc(((size_t)r->n + 1) * (size_t)d * sizeof(float)), 0, d };
    spot_arena a = { 0 };
    spot_mixture best;
    int *label;
    spot_status how;

    m->components = 0, m->bic = NAN;
    if (!x.v) return spot_fail(c, SPOT_NOMEM, "no memory for %d renders", r->n);
    for (int i = 0; i < r->n; i++)
        if (r->valid[i] && spot_failure_is(cut, r->p[i])) put_point(x.v + (size_t)x.rows++ * (size_t)d, s, &r->at[i]);
    m->failures = x.rows;
    cfg.k_min = 1, cfg.k_max = x.rows / (EACH * d), cfg.ridge = RIDGE;
    if (cfg.k_max > SPOT_MAX_FAILURE_COMPONENTS) cfg.k_max = SPOT_MAX_FAILURE_COMPONENTS;
    if (cfg.k_max < 1) return free(x.v), SPOT_OK;
    how = spot_arena_open(c, &a, spot_mixture_needs(c, 1, &x.rows, d, &cfg).host);
    if (how == SPOT_OK) how = spot_mixture_fit(c, &a, &(spot_mixture_data){ 1, &x, NULL, &seed }, &best, &label, NULL, &cfg);
    if (how == SPOT_OK) fill_mixture(m, &best, s);
    if (how == SPOT_NUMERIC) spot_forget(c), how = SPOT_OK;            /* no mixture fits: none is shown */
    spot_arena_close(&a);
    free(x.v);
    return how;
}

/* ---- along the factors ---- */

/* From x at p (in the cube, on the side `way`) to the first render that is not looked for. NaN: there is none. */
static double find_end(const spot_failure_axis *a, double x, double p, int way, bool turns, spot_failure_cut cut)
{
    const int last = SPOT_SCAN_STEPS - 1, first = way > 0 ? (int)floor(x * last) + 1 : (int)ceil(x * last) - 1;

    if (!spot_failure_is(cut, p)) return NAN;
    for (int k = first; turns ? abs(k - first) < last / 2 : k >= 0 && k <= last; k += way) {
        const double to = (double)k / last, q = a->p[turns ? (k + last) % last : k];
        if (!spot_failure_is(cut, q)) return x + (to - x) * (cut.p - p) / (q - p);
        x = to, p = q;
    }
    return NAN;
}

static double value_at(const spot_factor_space *s, int d, double x)
{
    if (s->turns[d]) x -= floor(x);
    return s->least[d] + x * (s->most[d] - s->least[d]);
}

void spot_failure_axes(spot_failure_scan *scan, const spot_factor_space *s, const double from[SPOT_FACTORS],
                       spot_failure_cut cut, const float *p, const uint8_t *valid)
{
    scan->axes = s->dims;
    for (int d = 0; d < s->dims; d++) {
        spot_failure_axis *a = &scan->axis[d];
        const double x = (from[s->factor[d]] - s->least[d]) / (s->most[d] - s->least[d]);
        a->factor = s->factor[d];
        for (int k = 0; k < SPOT_SCAN_STEPS; k++) {
            a->at[k] = s->least[d] + (s->most[d] - s->least[d]) * k / (SPOT_SCAN_STEPS - 1);
            a->p[k] = p[d * SPOT_SCAN_STEPS + k], a->valid[k] = valid[d * SPOT_SCAN_STEPS + k];
        }
        a->below = value_at(s, d, find_end(a, x, scan->p, -1, s->turns[d], cut));
        a->above = value_at(s, d, find_end(a, x, scan->p, 1, s->turns[d], cut));
    }
}
