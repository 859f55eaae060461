/* matrix_features.c - the 16 numbers of a variance matrix. */
#include <math.h>
#include <stdbool.h>

#include "spotter/verdict.h"

const char *const spot_variance_names[SPOT_VARIANCE_FEATURES] = {
    "mean", "mean square", "std", "error", "discontinuity", "asymmetry", "vertical mean", "vertical std", "vertical wstd",
    "horizontal mean", "horizontal std", "horizontal wstd", "diagonal mean", "diagonal std", "gradient", "sensitivity",
};

/* Mean and spread so far (Welford), without the values that are NaN. Equal values have no spread, not even a rounded one. */
typedef struct { double n, mean, squares; } moments;

static void add(moments *m, double x)
{
    double off = x - m->mean;

    if (isnan(x)) return;
    m->mean += off / ++m->n;
    m->squares += off * (x - m->mean);
}

static double std_of(const moments *m) { return m->n > 0 ? sqrt(m->squares / m->n) : 0; }
static double quotient(double a, double b) { return b != 0 ? a / b : 0; }

/* A matrix; a cell outside of the part b <= a has no value. */
typedef struct { const float *value; int grid; } matrix;

static double at(const matrix *m, int a, int b) { return (double)m->value[(size_t)a * (size_t)m->grid + (size_t)b]; }

static double below(const matrix *m, int a, int b)
{
    return a < m->grid && b >= 0 && b <= a ? at(m, a, b) : (double)NAN;
}

static void fill_values(double *feature, const matrix *m, const float *part)
{
    moments all = { 0 }, square = { 0 }, error = { 0 };
    double off = 0;

    for (int a = 0; a < m->grid; a++)
        for (int b = 0; b < m->grid; b++) {
            double v = at(m, a, b), other = (double)part[(size_t)a * (size_t)m->grid + (size_t)b];
            add(&all, v);
            add(&square, v * v);
            add(&error, isnan(v) ? v : v > SPOT_VARIANCE_ERROR);
            off += isnan(v - other) ? 0 : fabs(v - other);
        }
    feature[SPOT_VARIANCE_MEAN] = all.mean;
    feature[SPOT_VARIANCE_SQUARE] = square.mean;
    feature[SPOT_VARIANCE_STD] = std_of(&all);
    feature[SPOT_VARIANCE_ERRORS] = error.mean;
    feature[SPOT_VARIANCE_SENSITIVITY] = off;
}

static double discontinuity_of(const matrix *m)
{
    double sum = 0;

    for (int first = 0; first < m->grid - 1; first++) {          /* the line's first row */
        moments line = { 0 };
        for (int b = 0; first + b < m->grid; b++) add(&line, at(m, first + b, b));
        sum += line.n / m->grid * std_of(&line);
    }
    return sum;
}

static double asymmetry_of(const matrix *m)
{
    moments off = { 0 };

    for (int a = 0; a < m->grid - 1; a++)
        for (int b = 0; a + b < m->grid - 1; b++) add(&off, fabs(at(m, a, b) - at(m, m->grid - 1 - b, m->grid - 1 - a)));
    return off.mean;
}

/* Differences to the cell `down` rows below and `left` columns before, of all cells b <= a, and of each row or column. */
typedef struct { moments all, lines; } gradient;

static gradient gradient_of(const matrix *m, int down, int left, bool columns)
{
    gradient g = { 0 };

    for (int line = 0; line < m->grid; line++) {
        moments own = { 0 };
        for (int i = 0; i < m->grid; i++) {
            int a = columns ? i : line, b = columns ? line : i;
            double off = below(m, a + down, b - left) - below(m, a, b);
            add(&own, off);
            add(&g.all, off);
        }
        if (own.n > 1) add(&g.lines, std_of(&own));
    }
    return g;
}

static void fill_gradients(double *feature, const matrix *m)
{
    gradient v = gradient_of(m, 1, 0, false), h = gradient_of(m, 0, 1, true), d = gradient_of(m, 1, 1, false);

    feature[SPOT_VARIANCE_VERTICAL_MEAN] = v.all.mean;
    feature[SPOT_VARIANCE_VERTICAL_STD] = std_of(&v.all);
    feature[SPOT_VARIANCE_VERTICAL_WSTD] = v.lines.mean;
    feature[SPOT_VARIANCE_HORIZONTAL_MEAN] = h.all.mean;
    feature[SPOT_VARIANCE_HORIZONTAL_STD] = std_of(&h.all);
    feature[SPOT_VARIANCE_HORIZONTAL_WSTD] = h.lines.mean;
    feature[SPOT_VARIANCE_DIAGONAL_MEAN] = d.all.mean;
    feature[SPOT_VARIANCE_DIAGONAL_STD] = std_of(&d.all);
    feature[SPOT_VARIANCE_GRADIENT] = (quotient(v.all.mean, v.lines.mean) + quotient(h.all.mean, h.lines.mean) +
                                       quotient(d.all.mean, std_of(&d.all))) / 3;
}

static spot_status check_matrix(spot_ctx *c, const float *value, const char *which, int grid)
{
    bool any = false;

    for (int i = 0; i < grid * grid; i++) {
        if (isinf(value[i]))
            return spot_fail(c, SPOT_INVALID, "{variance.value} row %d, column %d of the variance matrix%s is %g; values are "
                             "finite or NaN", i / grid, i % grid, which, (double)value[i]);
        any = any || !isnan(value[i]);
    }
    if (!any)
        return spot_fail(c, SPOT_INVALID, "{variance.empty} the variance matrix%s has no value: no target has two images whose "
                         "distances lie on the axes", which);
    return SPOT_OK;
}

spot_status spot_variance_features(spot_ctx *c, double *feature, const float *value, const float *part, int grid)
{
    const matrix m = { value, grid };
    double mean;

    if (grid < 2 || grid > 32767)
        return spot_fail(c, SPOT_INVALID, "{variance.cells} a variance matrix has %d cells a side; from 2 to 32767", grid);
    SPOT_TRY(check_matrix(c, value, "", grid));
    SPOT_TRY(check_matrix(c, part, " of a part of the targets", grid));
    fill_values(feature, &m, part);
    fill_gradients(feature, &m);
    mean = feature[SPOT_VARIANCE_MEAN] * grid / (grid - 1);
    feature[SPOT_VARIANCE_DISCONTINUITY] = quotient(discontinuity_of(&m), mean);
    feature[SPOT_VARIANCE_ASYMMETRY] = quotient(asymmetry_of(&m), mean);
    return SPOT_OK;
}

int spot_variance_part(unsigned char *kept, int targets, spot_seed seed)
{
    spot_rng r = spot_rng_at(seed.seed, SPOT_RNG_VARIANCE, seed.ec, 0);
    int wanted = (int)(((int64_t)targets * 9 + 5) / 10);

    for (int t = 0, left = wanted; t < targets; t++) {           /* each subset of this size is as likely */
        kept[t] = spot_rng_below(&r, (uint32_t)(targets - t)) < (uint32_t)left;
        left -= kept[t];
    }
    return wanted;
}
