/* failure_shares.c - the share of the variance of p that each factor explains alone (failures.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examine/failure_parts.h"
#include "stats/statistics.h"

enum { BINS = 16, LEAST_BINS = 2, EACH = 16 };         /* bins of a factor; renders of a bin, on average */

static const double TAIL = 0.025;      /* beyond each end of an interval */

/* Renders of a bin or of an object: their number, the sums of p and of its square. */
typedef struct { double n, sum, square; } moments;

/* p of every object in every bin. */
typedef struct {
    int objects, dims, bins;
    double middle;                 /* p is counted from here, so that sums of squares lose no digits */
    moments *in;                   /* (objects, dims, bins) */
} table;

static void add(moments *to, const moments *more)
{
    to->n += more->n, to->sum += more->sum, to->square += more->square;
}

/* S where groups of renders have the sum `squares` of sum * sum / n, and all of them the moments `all`. */
static double share_of(double squares, int groups, const moments *all)
{
    const double mean = all->sum * all->sum / all->n, total = all->square - mean, between = squares - mean;

    if (!(total > 1e-9 * all->n) || all->n <= groups) return NAN;
    return (between - (groups - 1) * (total - between) / (all->n - groups)) / total;
}

/* Adds a group to those of share_of. */
static void count_group(const moments *one, double *squares, int *groups)
{
    if (one->n > 0) *squares += one->sum * one->sum / one->n, ++*groups;
}

/* The shares of the factors, then of the objects, into out (dims + 1), without the object `without`; -1: of all. */
static void shares_of(double *out, const table *t, int without)
{
    moments bin[SPOT_FACTORS][BINS], all = { 0, 0, 0 };
    double squares = 0;
    int groups = 0;

    memset(bin, 0, sizeof bin);
    for (int i = 0; i < t->objects; i++) {
        const moments *in = t->in + (size_t)i * (size_t)t->dims * (size_t)t->bins;
        moments object = { 0, 0, 0 };
        if (i == without) continue;
        for (int k = 0; k < t->bins; k++) add(&object, &in[k]);
        for (int d = 0; d < t->dims; d++)
            for (int k = 0; k < t->bins; k++) add(&bin[d][k], &in[d * t->bins + k]);
        add(&all, &object);
        count_group(&object, &squares, &groups);
    }
    out[t->dims] = share_of(squares, groups, &all);
    for (int d = 0; d < t->dims; d++) {
        squares = 0, groups = 0;
        for (int k = 0; k < t->bins; k++) count_group(&bin[d][k], &squares, &groups);
        out[d] = share_of(squares, groups, &all);
    }
}

/* The intervals by a jackknife over objects. A bootstrap would count an object twice, and with it what chance puts between
 * bins, which the estimate takes away only once. */
static void put_intervals(spot_interval *v, const table *t)
{
    double without[SPOT_FACTORS + 1], sum[SPOT_FACTORS + 1] = { 0 }, square[SPOT_FACTORS + 1] = { 0 };
    const int n = t->objects;

    for (int i = 0; i < n; i++) {
        shares_of(without, t, i);
        for (int k = 0; k <= t->dims; k++) {
            const double gap = without[k] - v[k].value;
            sum[k] += gap, square[k] += gap * gap;
        }
    }
    for (int k = 0; k <= t->dims && n > 1; k++) {
        const double apart = square[k] - sum[k] * sum[k] / n, error = apart <= 0 ? 0 : sqrt((n - 1.0) / n * apart);
        const double half = spot_student_above(TAIL, n - 1) * error;
        v[k].low = v[k].value - half, v[k].high = v[k].value + half;
    }
}

/* ---- the table ---- */

static spot_status fill_table(spot_ctx *c, table *t, const spot_random_renders *r, const spot_factor_space *s)
{
    int object = -1, valid = 0;
    double sum = 0;

    for (int i = 0; i < r->n; i++) {
        t->objects += !i || r->number[i] <= r->number[i - 1];
        if (r->valid[i]) valid++, sum += (double)r->p[i];
    }
    t->dims = s->dims;
    t->bins = valid / EACH < BINS ? valid / EACH : BINS;
    t->middle = valid ? sum / valid : 0;
    if (t->bins < LEAST_BINS) return SPOT_OK;
    t->in = calloc((size_t)t->objects * (size_t)t->dims * (size_t)t->bins, sizeof *t->in);
    if (!t->in) return spot_fail(c, SPOT_NOMEM, "no memory for the variance of %d renders", r->n);
    for (int i = 0; i < r->n; i++) {
        const double p = (double)r->p[i] - t->middle;
        double x[SPOT_FACTORS];
        object += !i || r->number[i] <= r->number[i - 1];
        if (!r->valid[i]) continue;
        spot_factor_space_point(x, s, &r->at[i]);
        for (int d = 0; d < s->dims; d++) {
            const int k = (int)(x[d] * t->bins), last = t->bins - 1;
            const size_t own = ((size_t)object * (size_t)t->dims + (size_t)d) * (size_t)t->bins;
            add(&t->in[own + (size_t)(k < last ? k : last)], &(moments){ 1, p, p * p });
        }
    }
    return SPOT_OK;
}

/* ---- all ---- */

static int greatest_first(const void *a, const void *b)
{
    const spot_failure_share *x = a, *y = b;

    if (x->share.value != y->share.value) return x->share.value > y->share.value ? -1 : 1;
    return x->factor - y->factor;
}

static void measure(spot_failure_share *share, int *n, const table *t, const spot_factor_space *s)
{
    double value[SPOT_FACTORS + 1];
    spot_interval v[SPOT_FACTORS + 1];

    shares_of(value, t, -1);
    for (int k = 0; k <= t->dims; k++) v[k] = (spot_interval){ value[k], NAN, NAN };
    put_intervals(v, t);
    for (int k = 0; k <= t->dims; k++)
        if (isfinite(v[k].value) && (k < t->dims || t->objects > 1))
            share[(*n)++] = (spot_failure_share){ 0, k < t->dims ? s->factor[k] : SPOT_SHARE_OF_OBJECT, v[k] };
    if (*n) qsort(share, (size_t)*n, sizeof *share, greatest_first);
}

spot_status spot_failure_shares(spot_ctx *c, spot_failure_share *share, int *n, const spot_random_renders *r,
                                const spot_factor_space *s)
{
    table t = { 0 };
    spot_status how = fill_table(c, &t, r, s);

    *n = 0;
    if (how == SPOT_OK && t.in) measure(share, n, &t, s);
    free(t.in);
    return how;
}
