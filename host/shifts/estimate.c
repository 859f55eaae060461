/* estimate.c - impact and slope of shifts from counts, and their bootstrap over classes and models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/philox.h"
#include "shifts/draws.h"
#include "stats/statistics.h"

/* Accuracies of all models side by side, so that a class is one contiguous row. */
typedef struct {
    int     n, *cls;           /* used classes, ascending */
    double *base, *shift;      /* (n, models) */
    double  limit_base, limit_shift;       /* 1/2n of the pictures behind a mean */
} used_classes;

typedef struct {
    const spot_shift_table *t;
    const spot_shift_rule  *rule;
    used_classes *used;           /* (shifts) */
    int       *any, classes;   /* classes that any shift uses: what a draw draws from */
    spot_shift_draws draws;
} estimator;

spot_shift_rule spot_shift_rule_defaults(void)
{
    return (spot_shift_rule){ .axes = SPOT_AXES_LINEAR, .least = 5, .least_base = 1, .draws = 1000, .seed = 1 };
}

/* ---- accuracies ---- */

double spot_shift_on_axis(int axes, double accuracy, double limit)
{
    const double p = accuracy < limit ? limit : accuracy > 1 - limit ? 1 - limit : accuracy;

    return axes == SPOT_AXES_LINEAR ? accuracy : axes == SPOT_AXES_PROBIT ? spot_normal_quantile(p) : log(p / (1 - p));
}

double spot_shift_from_axis(int axes, double place)
{
    return axes == SPOT_AXES_LINEAR ? place : axes == SPOT_AXES_PROBIT ? spot_normal_tail(-place) : 1 / (1 + exp(-place));
}

static double place_on_axis(double accuracy, double limit, int axes, int *limited)
{
    *limited += axes != SPOT_AXES_LINEAR && (accuracy < limit || accuracy > 1 - limit);
    return spot_shift_on_axis(axes, accuracy, limit);
}

/* Weighted least squares of y on x; weights are counts of draws. False: x does not vary. */
static bool fit_line(const double *x, const double *y, const int *weight, int n, double *slope, double *intercept, double *r)
{
    double sum = 0, mx = 0, my = 0, xx = 0, xy = 0, yy = 0;

    for (int i = 0; i < n; i++) {
        const double w = weight ? weight[i] : 1;
        sum += w, mx += w * x[i], my += w * y[i];
    }
    mx /= sum, my /= sum;
    for (int i = 0; i < n; i++) {
        const double w = weight ? weight[i] : 1, dx = x[i] - mx, dy = y[i] - my;
        xx += w * dx * dx, xy += w * dx * dy, yy += w * dy * dy;
    }
    if (!(xx > 1e-18 * sum)) return false;
    *slope = xy / xx;
    *intercept = my - *slope * mx;
    *r = yy > 0 ? xy / sqrt(xx * yy) : NAN;
    return true;
}

/* Sums of accuracies over classes: base and shift (models), and the number of classes in them. */
typedef struct { double *base, *shift; int classes; } class_sum;

static void add_class(class_sum *sum, const used_classes *u, int k, int models, int weight)
{
    const double *b = u->base + (size_t)k * models, *s = u->shift + (size_t)k * models;

    sum->classes += weight;
    for (int m = 0; m < models; m++) sum->base[m] += weight * b[m], sum->shift[m] += weight * s[m];
}

static void clear_sum(class_sum *sum, int models)
{
    memset(sum->base, 0, (size_t)models * sizeof *sum->base);
    memset(sum->shift, 0, (size_t)models * sizeof *sum->shift);
    sum->classes = 0;
}

static void divide_sum(class_sum *sum, int models)
{
    for (int m = 0; m < models; m++) sum->base[m] /= sum->classes, sum->shift[m] /= sum->classes;
}

/* Shift accuracy against base accuracy; `limited` of these lay at an end of the axis. */
typedef struct { double impact, slope, intercept, correlation; int limited; } models_line;

/* From mean accuracies. x: scratch (2 models). */
static models_line summarise(const class_sum *mean, const used_classes *u, int axes, const int *weight, int models, double *x)
{
    models_line l = { .limited = 0 };
    double drop = 0, sum = 0, *y = x + models;

    for (int m = 0; m < models; m++) {
        const double w = weight ? weight[m] : 1;
        drop += w * (mean->base[m] - mean->shift[m]), sum += w;
        x[m] = place_on_axis(mean->base[m], u->limit_base, axes, &l.limited);
        y[m] = place_on_axis(mean->shift[m], u->limit_shift, axes, &l.limited);
    }
    l.impact = drop / sum;
    if (models < 2 || !fit_line(x, y, weight, models, &l.slope, &l.intercept, &l.correlation))
        l.slope = l.intercept = l.correlation = NAN;
    return l;
}

/* ---- one shift as it is ---- */

static const spot_shift_tally *base_of(const spot_shift_table *t, int s) { return t->own_base ? &t->own_base[s] : &t->base; }

static void count_classes(spot_shift_estimate *e, used_classes *u, int *marks, const spot_shift_table *t, int s,
                          const spot_shift_rule *rule)
{
    const int *base = base_of(t, s)->pictures;

    for (int k = 0; k < t->classes; k++) {
        const int n = t->shift[s].pictures[k];
        e->lost += !n;
        e->few += n && n < rule->least;
        if (!n || n < rule->least) continue;
        e->few_base += !base[k] || base[k] < rule->least_base;
        if (!base[k] || base[k] < rule->least_base) continue;
        u->cls[u->n++] = k;
        marks[k] = 1;
    }
    e->used = u->n;
}

static void fill_accuracies(used_classes *u, const spot_shift_table *t, int s)
{
    const spot_shift_tally *of = base_of(t, s);
    double base = 0, shift = 0;

    for (int i = 0; i < u->n; i++) {
        const int k = u->cls[i];
        base += of->pictures[k], shift += t->shift[s].pictures[k];
        for (int m = 0; m < t->models; m++) {
            const size_t at = (size_t)m * t->classes + k;
            u->base[(size_t)i * t->models + m] = (double)of->right[at] / of->pictures[k];
            u->shift[(size_t)i * t->models + m] = (double)t->shift[s].right[at] / t->shift[s].pictures[k];
        }
    }
    u->limit_base = 0.5 / base, u->limit_shift = 0.5 / shift;
}

static void estimate_shift(spot_shift_estimate *e, const used_classes *u, int models, int axes, double *x)
{
    const spot_interval none = { NAN, NAN, NAN };
    class_sum sum = { e->base, e->shift, 0 };
    models_line line;

    e->impact = e->slope = none;
    e->intercept = e->correlation = NAN;
    for (int k = 0; k < u->n; k++) add_class(&sum, u, k, models, 1);
    divide_sum(&sum, models);                  /* without classes: NaN */
    if (!u->n) return;
    e->limit_base = u->limit_base, e->limit_shift = u->limit_shift;
    line = summarise(&sum, u, axes, NULL, models, x);
    e->impact.value = line.impact, e->slope.value = line.slope;
    e->intercept = line.intercept, e->correlation = line.correlation, e->limited += line.limited;
}

/* ---- the bootstrap ---- */

/* Weights of a draw: how often each of n things is drawn in n. */
static void draw_counts(int *count, const int *thing, int n, uint64_t seed, uint32_t what, int draw)
{
    spot_rng r = spot_philox_at(seed, SPOT_RNG_BOOTSTRAP, what, (uint32_t)draw);

    for (int i = 0; i < n; i++) {
        const int k = (int)spot_philox_below(&r, (uint32_t)n);
        count[thing ? thing[k] : k]++;
    }
}

/* Draws that are computed together, so that a class's accuracies are loaded once for all of them. */
enum { BLOCK = 16 };

/* x: scratch, 2 (models); sum: (BLOCK); count: (BLOCK, classes + models). */
static void compute_block(estimator *v, int first, int n, double *x, class_sum *sum, int *count)
{
    enum { CLASSES = 0x53480000, MODELS };         /* addresses that no other bootstrap has */
    const spot_shift_table *t = v->t;
    const int models = t->models;
    const size_t wide = (size_t)t->classes + models;

    memset(count, 0, (size_t)n * wide * sizeof *count);
    for (int d = 0; d < n; d++) {
        draw_counts(count + d * wide, v->any, v->classes, v->rule->seed, CLASSES, first + d);
        draw_counts(count + d * wide + t->classes, NULL, models, v->rule->seed, MODELS, first + d);
    }
    for (int s = 0; s < t->shifts; s++) {
        const used_classes *u = &v->used[s];
        for (int d = 0; d < n; d++) clear_sum(&sum[d], models);
        for (int k = 0; k < u->n; k++)
            for (int d = 0; d < n; d++)
                if (count[d * wide + u->cls[k]]) add_class(&sum[d], u, k, models, count[d * wide + u->cls[k]]);
        for (int d = 0; d < n; d++) {
            const size_t at = (size_t)s * v->draws.n + first + d;
            models_line line;
            v->draws.impact[at] = v->draws.slope[at] = NAN;
            if (!sum[d].classes) continue;
            divide_sum(&sum[d], models);
            line = summarise(&sum[d], u, v->rule->axes, count + d * wide + t->classes, models, x);
            v->draws.impact[at] = line.impact, v->draws.slope[at] = line.slope;
        }
    }
}

/* The memory of a thread: 2 BLOCK sums and scratch, then counts. */
static double *open_block(class_sum *sum, int models, size_t wide)
{
    double *x = malloc((2 * BLOCK + 2) * (size_t)models * sizeof *x + BLOCK * wide * sizeof(int));

    for (int d = 0; d < BLOCK && x; d++) sum[d] = (class_sum){ x + (2 + 2 * d) * models, x + (3 + 2 * d) * models, 0 };
    return x;
}

static spot_status compute_draws(spot_ctx *c, estimator *v)
{
    const spot_shift_table *t = v->t;
    const size_t wide = (size_t)t->classes + t->models;
    bool missing = false, stopped = false;

    if (!v->classes) {
        for (size_t i = 0; i < (size_t)t->shifts * v->draws.n; i++) v->draws.impact[i] = v->draws.slope[i] = NAN;
        return SPOT_OK;
    }
#pragma omp parallel num_threads(c->threads) reduction(|| : missing, stopped)
    {
        class_sum sum[BLOCK];
        double *x = open_block(sum, t->models, wide);
        missing = !x;
#pragma omp for schedule(static)
        for (int d = 0; d < v->draws.n; d += BLOCK) {
            stopped = stopped || (c->stop && *c->stop);
            if (x && !stopped)
                compute_block(v, d, v->draws.n - d < BLOCK ? v->draws.n - d : BLOCK, x, sum,
                              (int *)(void *)(x + (2 * BLOCK + 2) * t->models));
        }
        free(x);
    }
    if (missing) return spot_fail(c, SPOT_NOMEM, "no memory for a bootstrap over %d classes", t->classes);
    return stopped ? spot_check_stop(c) : SPOT_OK;
}

/* ---- memory ---- */

static spot_status check_table(spot_ctx *c, const spot_shift_table *t, const spot_shift_rule *rule)
{
    if (t->classes < 1 || t->models < 1 || t->shifts < 0 || t->shifts > SPOT_MAX_SHIFTS || t->categories < 0)
        return spot_fail(c, SPOT_INVALID, "shifts: %d classes, %d models, %d shifts", t->classes, t->models, t->shifts);
    if (rule->draws < 0 || rule->least < 1 || rule->least_base < 1 || rule->axes < 0 || rule->axes > SPOT_AXES_LOGIT)
        return spot_fail(c, SPOT_INVALID, "{shift.sizes} shifts: %d draws, %d and %d pictures at least", rule->draws,
                         rule->least, rule->least_base);
    for (int i = 0; i < 2 * t->shifts; i++) {
        const int s = i / 2;
        const spot_shift_tally *y = i % 2 ? base_of(t, s) : &t->shift[s];
        if ( t->categories && (t->category[s] < 0 || t->category[s] >= t->categories))
            return spot_fail(c, SPOT_INVALID, "shift %d has category %d of %d", s, t->category[s], t->categories);
        for (int m = 0; m < t->models; m++)
            for (int k = 0; k < t->classes; k++)
                if (y->right[(size_t)m * t->classes + k] < 0 || y->right[(size_t)m * t->classes + k] > y->pictures[k])
                    return spot_fail(c, SPOT_INVALID, "{shift.counts} shift %d, model %d, class %d: %d right of %d", s, m, k,
                                     y->right[(size_t)m * t->classes + k], y->pictures[k]);
    }
    return SPOT_OK;
}

static spot_status open_estimator(spot_ctx *c, estimator *v, spot_shift_estimates *e)
{
    const spot_shift_table *t = v->t;
    const size_t models = (size_t)t->models, shifts = (size_t)t->shifts, groups = (size_t)t->categories;

    e->shifts = t->shifts, e->categories = t->categories;
    e->shift = calloc(shifts + 1, sizeof *e->shift);
    e->between = calloc(shifts * shifts + 1, sizeof *e->between);
    e->category = calloc(groups + 1, sizeof *e->category);
    e->across = calloc(groups * groups + 1, sizeof *e->across);
    e->owned = calloc(2 * shifts * models + 2 * models + 1, sizeof *e->owned);
    v->used = calloc(shifts + 1, sizeof *v->used);
    v->any = calloc((size_t)t->classes * 2, sizeof *v->any);
    v->draws.impact = malloc((2 * shifts * (size_t)v->draws.n + 1) * sizeof(double));
    if (!e->shift || !e->between || !e->category || !e->across || !e->owned || !v->used || !v->any || !v->draws.impact)
        return spot_fail(c, SPOT_NOMEM, "no memory to evaluate %d shifts of %d models", t->shifts, t->models);
    v->draws.slope = v->draws.impact + shifts * (size_t)v->draws.n;
    for (int s = 0; s < t->shifts; s++) {
        e->shift[s].base = e->owned + 2 * models * (size_t)s;
        e->shift[s].shift = e->shift[s].base + models;
    }
    return SPOT_OK;
}

static spot_status open_used(spot_ctx *c, used_classes *u, const spot_shift_table *t)
{
    u->cls = malloc((size_t)t->classes * sizeof *u->cls);
    u->base = malloc(2 * (size_t)t->classes * t->models * sizeof *u->base);
    if (!u->cls || !u->base) return spot_fail(c, SPOT_NOMEM, "no memory for the accuracies of %d models", t->models);
    u->shift = u->base + (size_t)t->classes * t->models;
    return SPOT_OK;
}

static void close_estimator(estimator *v)
{
    for (int s = 0; v->used && s < v->t->shifts; s++) {
        free(v->used[s].cls);
        free(v->used[s].base);
    }
    free(v->used);
    free(v->any);
    free(v->draws.impact);
}

void spot_shift_estimates_close(spot_shift_estimates *e)
{
    free(e->shift);
    free(e->between);
    free(e->category);
    free(e->across);
    free(e->owned);
    *e = (spot_shift_estimates){ 0 };
}

/* ---- all ---- */

static spot_status evaluate(spot_ctx *c, estimator *v, spot_shift_estimates *e)
{
    const spot_shift_table *t = v->t;
    int *marks;

    SPOT_TRY(open_estimator(c, v, e));
    marks = v->any + t->classes;
    for (int s = 0; s < t->shifts; s++) {
        SPOT_TRY(open_used(c, &v->used[s], t));
        count_classes(&e->shift[s], &v->used[s], marks, t, s, v->rule);
        fill_accuracies(&v->used[s], t, s);
        estimate_shift(&e->shift[s], &v->used[s], t->models, v->rule->axes, e->owned + 2 * (size_t)t->shifts * t->models);
    }
    for (int k = 0; k < t->classes; k++)
        if (marks[k]) v->any[v->classes++] = k;
    SPOT_TRY(compute_draws(c, v));
    return spot_shift_compare(c, e, t, &v->draws);
}

spot_status spot_shift_evaluate(spot_ctx *c, spot_shift_estimates *e, const spot_shift_table *t, const spot_shift_rule *rule)
{
    estimator v = { .t = t, .rule = rule, .draws.n = rule->draws };
    spot_status s;

    *e = (spot_shift_estimates){ 0 };
    SPOT_TRY(check_table(c, t, rule));
    s = evaluate(c, &v, e);
    close_estimator(&v);
    return s;
}
