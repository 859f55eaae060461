/* information.c - mutual information on the CPU: threads own 16 columns, whose rows share cache lines. Each class of a column
 * is a sorted list; neighbours are found by walking along both lists at once. */
#include "core/lanes.h"

#include "fit/information_step.h"

#include <math.h>
#include <omp.h>

#include "core/column_sums.h"
#include "core/problems.h"
#include "core/sort.h"

enum { COLUMNS = 16, DRAWN = 64 };

/* Divisor of each column, and factor of its noise. scale 0: the column has one value. */
typedef struct { double scale[COLUMNS], noise[COLUMNS]; } scales;

/* Sums go row by row, like numpy's. */
static scales scales_of(const spot_information_problem *p, int j0, int columns)
{
    double mean[COLUMNS], square[COLUMNS], size[COLUMNS] = { 0 };
    int varies[COLUMNS] = { 0 };
    const float *x = p->x + j0;
    scales s = { { 0 }, { 0 } };

    spot_column_means(mean, p->x, p->n, p->d, j0, columns);
    spot_column_squares(square, mean, p->x, p->n, p->d, j0, columns);
    for (int j = 0; j < columns; j++) s.scale[j] = spot_information_scale(square[j] / p->n);
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < columns; j++) {
            size[j] += fabs(x[(size_t)i * p->d + j] / s.scale[j]);
            varies[j] |= x[(size_t)i * p->d + j] != x[j];
        }
    for (int j = 0; j < columns; j++) {
        s.noise[j] = spot_information_noise(size[j] / p->n);
        if (!varies[j]) s.scale[j] = 0;
    }
    return s;
}

/* Normal numbers first .. first+127 of an address: those of spot_philox_normal, 64 blocks of the generator side by side, which
 * takes a sixth of the time. */
static void draw_normals(double z[2 * DRAWN], const spot_rng *r, int first)
{
    uint32_t word[4][DRAWN];
    double pair[2][DRAWN];

    for (int b = 0; b < DRAWN; b++) {
        uint32_t at[4] = { (uint32_t)(first / 2 + b), r->counter[1], r->counter[2], r->counter[3] }, w[4];
        spot_philox4x32_10(w, at, r->seed);
        for (int i = 0; i < 4; i++) word[i][b] = w[i];
    }
    for (int h = 0; h < 2; h++)
        for (int b = 0; b < DRAWN; b++) {
            double u = (word[2 * h][b] + 0.5) * (1.0 / 4294967296), v = (word[2 * h + 1][b] + 0.5) * (1.0 / 4294967296);
            pair[h][b] = sqrt(-2 * spot_philox_log(u)) * spot_philox_cos(v);
        }
    for (int i = 0; i < 2 * DRAWN; i++) z[i] = pair[i % 2][i / 2];
}

/* The values of column j into value: those of class 0 ascending, then those of class 1. */
static void list_column(double *value, uint64_t *key, const spot_information_problem *p, int j, const int count[2],
                        double scale, double noise)
{
    const spot_rng r = spot_philox_at(p->seed.seed, SPOT_RNG_INFORMATION, p->seed.ec, (uint32_t)j);
    uint64_t *spare = key + p->n, *to[] = { key, key + count[0] };
    double z[2 * DRAWN];

    for (int i = 0; i < p->n; i++) {
        if (!p->noise && i % (2 * DRAWN) == 0) draw_normals(z, &r, i);
        double by = p->noise ? p->noise[(size_t)i * p->d + j] : z[i % (2 * DRAWN)];
        *to[p->y[i]]++ = spot_sort_key(p->x[(size_t)i * p->d + j] / scale + noise * by);
    }
    for (int y = 0, at = 0; y < 2; at += count[y], y++) {
        const uint64_t *sorted = spot_sort(key + at, spare, count[y], 0);
        for (int i = 0; i < count[y]; i++) value[at + i] = spot_of_key(sorted[i]);
    }
}

/* Values of a sorted list that are nearer than `reach` to `at`; from and to are the bounds of the last call. Both move
 * upwards, except for rounding. */
static int count_near(const double *of, int count, double at, double reach, int *from, int *to)
{
    while (*from > 0 && at - of[*from - 1] < reach) --*from;
    while (*from < count && at - of[*from] >= reach) ++*from;
    if (*to < *from) *to = *from;
    while (*to > *from && of[*to - 1] - at >= reach) --*to;
    while (*to < count && of[*to] - at < reach) ++*to;
    return *to - *from;
}

/* The sum of psi(m) over the rows of both classes. */
static double sum_of_psi(const double *value, const int count[2], const double *psi)
{
    double lane[SPOT_INFORMATION_LANES] = { 0 }, sum = 0;
    const double *list_of[] = { value, value + count[0] };

    for (int y = 0; y < 2; y++) {
        const double *own = list_of[y], *other = list_of[!y];
        int bound[4] = { 0 }, others = count[!y] > 1 ? count[!y] : 0;
        for (int i = 0; i < count[y] && count[y] > 1; i++) {
            double reach = spot_information_reach(own, count[y], i);
            int m = count_near(own, count[y], own[i], reach, &bound[0], &bound[1]) +
                    count_near(other, others, own[i], reach, &bound[2], &bound[3]);
            lane[i % SPOT_INFORMATION_LANES] += psi[m];
        }
    }
    for (int l = 0; l < SPOT_INFORMATION_LANES; l++) sum += lane[l];
    return sum;
}

/* Columns j0 .. j0+15. work: 3 n numbers. */
static void columns_from(const spot_information_problem *p, int j0, const double *psi, double *work)
{
    int columns = p->d - j0 < COLUMNS ? p->d - j0 : COLUMNS, count[2] = { 0 };
    scales s = scales_of(p, j0, columns);

    for (int i = 0; i < p->n; i++) count[p->y[i]]++;
    for (int j = 0; j < columns; j++) {
        double *out = &p->information[j0 + j];
        *out = 0;
        if (s.scale[j] == 0) continue;
        list_column(work, (uint64_t *)(work + p->n), p, j0 + j, count, s.scale[j], s.noise[j]);
        *out = spot_information_total(psi, count, sum_of_psi(work, count, psi));
    }
}

static spot_status mutual_cpu(spot_ctx *c, spot_arena *scratch, int problems, const spot_information_problem *p)
{
    size_t mark = scratch->used;
    double *psi, *work;
    int n = SPOT_MOST(problems, p, n), tiles = (SPOT_MOST(problems, p, d) + COLUMNS - 1) / COLUMNS;

    SPOT_TRY(SPOT_TAKE(c, scratch, psi, n + 1));
    SPOT_TRY(SPOT_TAKE(c, scratch, work, (size_t)c->threads * 3 * n));
    spot_information_psi(psi, n);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int t = 0; t < problems * tiles; t++) {
        const spot_information_problem *one = &p[t / tiles];
        int j0 = t % tiles * COLUMNS;
        if (j0 < one->d) columns_from(one, j0, psi, work + (size_t)omp_get_thread_num() * 3 * n);
    }
    scratch->used = mark;
    return SPOT_OK;
}

const spot_information_ops spot_information_cpu = { .mutual = mutual_cpu };

spot_status spot_information_mutual(spot_ctx *c, spot_arena *scratch, int problems, const spot_information_problem *p)
{
    for (int q = 0; q < problems; q++)
        if (p[q].n < 1 || p[q].d < 1)
            return spot_fail(c, SPOT_INVALID, "{information.sizes} information.mutual, problem %d: (%d,%d)", q, p[q].n, p[q].d);
    SPOT_DISPATCH(c, information, mutual, scratch, problems, p);
}

size_t spot_information_scratch(int problems, int n, int d, int threads)
{
    const size_t number = sizeof(double), rows = (size_t)n, psi = spot_arena_room((rows + 1) * number);

    if (threads) return psi + spot_arena_room((size_t)threads * 3 * rows * number);
    return psi + spot_arena_room(SPOT_INFORMATION_LISTS * rows * number)
         + spot_arena_room(2 * (size_t)problems * (size_t)d * number);
}
