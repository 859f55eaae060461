/* group_sums.c - see group_sums.h. */
#include "stats/group_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/rng.h"
#include "stats/statistics.h"

static const double EQUAL = 1e-9;      /* of the sum of sizes: sums as near as this are equal, rounded otherwise */

spot_status spot_group_sums_open(spot_ctx *c, spot_group_sums *g, int groups)
{
    const size_t n = (size_t)groups + 1;

    *g = (spot_group_sums){ .sum = malloc(n * sizeof *g->sum), .rows = malloc(n * sizeof *g->rows),
                            .place = malloc(n * sizeof *g->place), .group = malloc(n * sizeof *g->group) };
    if (!g->sum || !g->rows || !g->place || !g->group) {
        spot_group_sums_close(g);
        return spot_fail(c, SPOT_NOMEM, "no memory for the sums of %d groups", groups);
    }
    for (int i = 0; i < groups; i++) g->place[i] = -1;
    return SPOT_OK;
}

void spot_group_sums_close(spot_group_sums *g)
{
    free(g->sum);
    free(g->rows);
    free(g->place);
    free(g->group);
    *g = (spot_group_sums){ 0 };
}

void spot_group_sums_clear(spot_group_sums *g)
{
    for (int i = 0; i < g->n; i++) g->place[g->group[i]] = -1;
    g->n = 0;
}

/* `rows` rows of a group, which add the value together. */
static void add_rows(spot_group_sums *g, int group, double value, int rows)
{
    int *at = &g->place[group];

    if (*at < 0) {
        *at = g->n++;
        g->sum[*at] = g->rows[*at] = 0;
        g->group[*at] = group;
    }
    g->sum[*at] += value;
    g->rows[*at] += rows;
}

void spot_group_sums_add(spot_group_sums *g, int group, double value) { add_rows(g, group, value, 1); }

/* ---- signs ---- */

/* The parts that are not 0, to the front of x (g->n); their number. *sum and *size: of the parts and of their sizes. */
static int take_parts(const spot_group_sums *g, double *x, double *sum, double *size)
{
    int m = 0;

    *sum = *size = 0;
    for (int i = 0; i < g->n; i++) {
        *sum += g->sum[i];
        *size += fabs(g->sum[i]);
    }
    for (int i = 0; i < g->n; i++)
        if (fabs(g->sum[i]) > EQUAL * *size) x[m++] = fabs(g->sum[i]);
    return m;
}

/* Every choice of signs but the first differs from the one before in one sign (Gray's code). */
static double look_at_all(const double *x, int m, double least)
{
    double sum = 0;
    bool minus[SPOT_SIGNS_EXACT] = { false };
    int above;

    for (int i = 0; i < m; i++) sum += x[i];
    above = sum >= least;
    for (uint32_t k = 1; k < 1u << m; k++) {
        const int i = __builtin_ctz(k);
        sum += minus[i] ? 2 * x[i] : -2 * x[i];
        minus[i] = !minus[i];
        above += sum >= least;
    }
    return ldexp(above, -m);
}

static double draw_signs(const double *x, int m, double least, uint32_t address)
{
    int above = 0;

    for (int k = 0; k < SPOT_SIGNS_DRAWS; k++) {
        spot_rng r = spot_rng_at(0, SPOT_RNG_VERSIONS, address, (uint32_t)k);
        double sum = 0;
        uint32_t bits = 0;
        for (int i = 0; i < m; i++, bits >>= 1) {
            if (i % 32 == 0) bits = spot_rng_u32(&r);
            sum += bits & 1 ? x[i] : -x[i];
        }
        above += sum >= least;
    }
    return (1.0 + above) / (1 + SPOT_SIGNS_DRAWS);
}

static double tail_of(const spot_group_sums *g, double sign, uint32_t address)
{
    double sum, size, few[SPOT_SIGNS_EXACT + 1], *x = g->n <= SPOT_SIGNS_EXACT ? few : malloc((size_t)g->n * sizeof *x), p = 1;
    int m;

    if (!x) return 1;
    m = take_parts(g, x, &sum, &size);
    if (m) {
        const double least = sign * sum - EQUAL * size;
        p = m <= SPOT_SIGNS_EXACT ? look_at_all(x, m, least) : draw_signs(x, m, least, address);
    }
    if (x != few) free(x);
    return p;
}

double spot_signs_tail (const spot_group_sums *g, uint32_t address) { return tail_of(g, 1, address); }
double spot_signs_below(const spot_group_sums *g, uint32_t address) { return tail_of(g, -1, address); }

/* ---- the mean ---- */

static double mean_of(const spot_group_sums *g, double *rows)
{
    double sum = 0;

    *rows = 0;
    for (int i = 0; i < g->n; i++) sum += g->sum[i], *rows += g->rows[i];
    return *rows > 0 ? sum / *rows : NAN;
}

double spot_group_error(const spot_group_sums *g)
{
    double rows, square = 0;
    const double mean = mean_of(g, &rows);

    for (int i = 0; i < g->n; i++) square += pow(g->sum[i] - mean * g->rows[i], 2);
    return g->n < 2 ? 0 : sqrt(square * g->n / (g->n - 1)) / rows;
}

/* The mean with the degrees of freedom of `groups`. */
static spot_interval mean_by(const spot_group_sums *g, double tail, int groups)
{
    double rows, half;
    const double mean = mean_of(g, &rows);

    if (groups < 2) return (spot_interval){ mean, -1, 1 };
    half = spot_student_above(tail, groups - 1) * spot_group_error(g);
    return (spot_interval){ mean, fmax(-1, mean - half), fmin(1, mean + half) };
}

spot_interval spot_group_mean(const spot_group_sums *g, double tail) { return mean_by(g, tail, g->n); }

/* Groups of the classes' rows that are in, or not; of a class without a row that is in nothing counts. */
static int count_groups(spot_group_sums *g, const spot_group_row *row, int n, bool in)
{
    spot_group_sums_clear(g);
    for (int i = 0; i < n; i++)
        if (row[i].in == in && row[i].share > 0) add_rows(g, row[i].group, in ? row[i].beyond : 0, in);
    return g->n;
}

spot_interval spot_group_excess(spot_group_sums *g, const spot_group_row *row, int n, int *groups)
{
    const int others = count_groups(g, row, n, false);

    *groups = count_groups(g, row, n, true);
    for (int i = 0; i < n; i++)
        if (row[i].share > 0) add_rows(g, row[i].group, -row[i].share * row[i].beyond, 0);
    return mean_by(g, 0.025, others && others < *groups ? others : *groups);
}

spot_interval spot_wider(spot_interval a, spot_interval b)
{
    return (spot_interval){ a.value, fmin(a.low, b.low), fmax(a.high, b.high) };
}
