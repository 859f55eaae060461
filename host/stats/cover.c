/* cover.c - see cover.h. All distances are computed once; halves and divisions choose rows and columns of them. */
#include "stats/cover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/gemm.h"

enum { SEED = 1, FEWEST = SPOT_COVER_LEAST / 2 };

/* Squared distances of the pictures in `row` to those in `column`, in a matrix of `ld` columns. */
typedef struct { const float *d; int ld; const int *row, *column; int rows, columns; } distances;

static float at(const distances *v, int i, int j) { return v->d[(size_t)v->row[i] * (size_t)v->ld + (size_t)v->column[j]]; }

typedef struct {
    int n, m;
    float *real, *made, *across;       /* (n, n), (m, m), (n, m) */
    float *wide, *narrow, *of_made;    /* squared radii: of real pictures by both k, of generated ones */
    int *order, *other;                /* (n), (m) */
} work;

/* radius (rows): the squared distance of each to its k-th nearest other one. */
static void find_radii(float *radius, const distances *own, int k)
{
    for (int i = 0; i < own->rows; i++) {
        float near[SPOT_COVER_K];
        int have = 0;
        for (int j = 0; j < own->columns; j++) {
            const float d = at(own, i, j);
            if (j == i || (have == k && !(d < near[k - 1]))) continue;
            int place = have < k ? have++ : k - 1;
            for (; place && near[place - 1] > d; place--) near[place] = near[place - 1];
            near[place] = d;
        }
        radius[i] = near[k - 1];
    }
}

/* Counts the pairs within the balls of rows; the rows with a column in their ball; of `columns` balls, the rows in one. */
static void count_rows(double out[SPOT_COVER_NUMBERS], const work *w, const distances *across)
{
    long pairs = 0, covered = 0, recalled = 0;

    for (int i = 0; i < across->rows; i++) {
        bool reached = false;
        long own = 0;
        for (int j = 0; j < across->columns; j++) {
            const float d = at(across, i, j);
            own += d < w->wide[i];
            reached |= d < w->of_made[j];
        }
        pairs += own, covered += own > 0, recalled += reached;
    }
    out[SPOT_COVER_DENSITY] = (double)pairs / SPOT_COVER_K / across->columns;
    out[SPOT_COVER_COVERAGE] = (double)covered / across->rows;
    out[SPOT_COVER_RECALL] = (double)recalled / across->rows;
}

static double precision_of(const work *w, const distances *across)
{
    int inside = 0;

    for (int j = 0; j < across->columns; j++) {
        int i = 0;
        while (i < across->rows && !(at(across, i, j) < w->narrow[i])) i++;
        inside += i < across->rows;
    }
    return (double)inside / across->columns;
}

/* The four numbers of the pictures in `real` and in `made`: two sets of the rows of all. */
static void measure(double out[SPOT_COVER_NUMBERS], const work *w, const distances *real, const distances *made,
                    const distances *across)
{
    find_radii(w->wide, real, SPOT_COVER_K);
    find_radii(w->narrow, real, SPOT_COVER_NARROW);
    find_radii(w->of_made, made, SPOT_COVER_NARROW);
    count_rows(out, w, across);
    out[SPOT_COVER_PRECISION] = precision_of(w, across);
}

static void measure_both(double out[SPOT_COVER_NUMBERS], const work *w, int n, int m)
{
    const distances real = { w->real, w->n, w->order, w->order, n, n }, made = { w->made, w->m, w->other, w->other, m, m };
    const distances across = { w->across, w->m, w->order, w->other, n, m };

    measure(out, w, &real, &made, &across);
}

/* The first n real pictures of the order, and the others in the place of generated ones. */
static void measure_chance(double out[SPOT_COVER_NUMBERS], const work *w, int n)
{
    const int *rest = w->order + n;
    const int m = w->n - n;
    const distances real = { w->real, w->n, w->order, w->order, n, n }, made = { w->real, w->n, rest, rest, m, m };
    const distances across = { w->real, w->n, w->order, rest, n, m };

    measure(out, w, &real, &made, &across);
}

/* order (n): 0 to n - 1, the first `some` of them drawn. */
static void draw_first(int *order, int n, int some, spot_rng *r)
{
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = 0; i < some; i++) {
        const int k = i + (int)spot_rng_below(r, (uint32_t)(n - i)), kept = order[i];
        order[i] = order[k], order[k] = kept;
    }
}

static int limit(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

static void draw_all(spot_cover_draws *out, const work *w, uint32_t unit)
{
    const int part = limit((int)lround((double)w->n * w->n / (w->n + w->m)), FEWEST, w->n - FEWEST);

    for (int b = 0; b < SPOT_COVER_DRAWS; b++) {
        spot_rng r = spot_rng_at(SEED, SPOT_RNG_HOLDOUT, unit, (uint32_t)b);
        double chance[SPOT_COVER_NUMBERS];
        draw_first(w->order, w->n, w->n, &r);
        measure_chance(chance, w, part);
        for (int k = 0; k < SPOT_COVER_NUMBERS; k++) out->chance[k] += chance[k] / SPOT_COVER_DRAWS;
        draw_first(w->other, w->m, w->m / 2, &r);
        measure_both(out->draw[b], w, w->n / 2, w->m / 2);
    }
}

/* out (n, m): squared distances of the chosen rows of a to those of b, which are copied to near (m, d). */
static void fill_distances(float *out, float *near, const spot_mat *a, int n, const spot_mat *b, int m)
{
    const size_t d = (size_t)a->cols;

    for (int j = 0; j < m; j++)
        memcpy(near + (size_t)j * d, b->v + (size_t)((long)j * b->rows / m) * d, d * sizeof *near);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j += SPOT_GEMM_COLS)
            spot_gemm_squares(out + (size_t)i * (size_t)m + j, (size_t)m,
                              (spot_gemm_factor){ a->v + (size_t)((long)i * a->rows / n) * d, d, 1 },
                              (spot_gemm_factor){ near + (size_t)j * d, d, 1 }, 1,
                              m - j < SPOT_GEMM_COLS ? m - j : SPOT_GEMM_COLS, (int)d);
}

size_t spot_cover_bytes(int n, int m)
{
    const size_t a = (size_t)limit(n, 0, SPOT_COVER_MOST), b = (size_t)limit(m, 0, SPOT_COVER_MOST);

    return (a * a + b * b + a * b + 4 * (a + b)) * sizeof(float);
}

spot_status spot_cover_of(spot_ctx *c, spot_cover_draws *out, spot_mat real, spot_mat made, uint32_t unit)
{
    const int n = limit(real.rows, 0, SPOT_COVER_MOST), m = limit(made.rows, 0, SPOT_COVER_MOST);
    const size_t a = (size_t)n, b = (size_t)m, rows = (a > b ? a : b) * (size_t)real.cols;
    work w = { .n = n, .m = m };
    float *near;

    if (n < SPOT_COVER_LEAST || m < SPOT_COVER_LEAST || real.cols != made.cols)
        return spot_fail(c, SPOT_INVALID, "{cover.sizes} coverage of %d x %d by %d x %d features", real.rows, real.cols,
                         made.rows, made.cols);
    w.real = malloc(spot_cover_bytes(n, m) + rows * sizeof *near);
    if (!w.real) return spot_fail(c, SPOT_NOMEM, "no memory to compare %d pictures with %d", m, n);
    w.made = w.real + a * a, w.across = w.made + b * b;
    w.wide = w.across + a * b, w.narrow = w.wide + a, w.of_made = w.narrow + a;
    w.order = (int *)(void *)(w.of_made + a + b), w.other = w.order + a;
    near = (float *)(void *)(w.other + b);
    fill_distances(w.real, near, &real, n, &real, n);
    fill_distances(w.made, near, &made, m, &made, m);
    fill_distances(w.across, near, &real, n, &made, m);
    *out = (spot_cover_draws){ .real = n, .made = m };
    for (int i = 0; i < n; i++) w.order[i] = i;
    for (int j = 0; j < m; j++) w.other[j] = j;
    measure_both(out->value, &w, n, m);
    draw_all(out, &w, unit);
    free(w.real);
    return spot_check_stop(c);
}

spot_interval spot_cover_mean(const spot_cover_draws *of, int n, spot_cover_number number)
{
    double value = 0, mean = 0, square = 0, pictures = 0;

    for (int k = 0; k < n; k++) value += of[k].value[number] / n;
    for (int k = 0; k < n; k++) pictures += number == SPOT_COVER_PRECISION ? of[k].made : of[k].real;
    for (int b = 0; b < SPOT_COVER_DRAWS; b++) {
        double one = 0;
        for (int k = 0; k < n; k++) one += of[k].draw[b][number] / n;
        mean += one / SPOT_COVER_DRAWS, square += one * one / SPOT_COVER_DRAWS;
    }
    const double reach = 1.96 * sqrt(fmax(square - mean * mean, 0));
    spot_interval v = { value, fmax(value - reach, 0), value + reach };
    if (number == SPOT_COVER_DENSITY) return v;
    const spot_interval alone = spot_share_of((int)lround(value * pictures), (int)pictures);
    v.low = fmin(v.low, alone.low), v.high = fmin(fmax(v.high, alone.high), 1);
    return v;
}
