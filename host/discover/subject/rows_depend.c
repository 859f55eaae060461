/* rows_depend.c - see rows_depend.h. */
#include "discover/subject/rows_depend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/search/vote.h"
#include "spotter/rng.h"

enum { STEPS = 4, NEAREST = 32,
       REACHES = 3, LEAST_ORDERED = 40, LEAST_PLACED = 2 * NEAREST + 2, FEW = 200,
       AT_ONCE = 64 };                             /* draws between two looks at the stop flag */

static const int reach[REACHES] = { 1, 8, 24 };    /* rows */

/* Rows of the classes that are looked at. */
typedef struct {
    spot_ctx           *c;
    const spot_subject *s;
    int      classes, rows;
    int     *row, *start;              /* (rows): class by class, in the files' order; (classes + 1) */
    uint8_t *wrong;                    /* (rows) */
} agreement;

static spot_status list_rows(agreement *v)
{
    const spot_subject *s = v->s;
    int seen = 0;

    v->classes = s->classes;
    v->row = malloc((size_t)s->n * sizeof *v->row);
    v->wrong = malloc((size_t)s->n);
    v->start = calloc((size_t)s->classes + 2, sizeof *v->start);
    if (!v->row || !v->wrong || !v->start) return spot_fail(v->c, SPOT_NOMEM, "no memory to compare %d rows", s->n);
    for (int i = 0; i < s->n; i++)
        if (!s->group || s->group[i] == seen) {
            v->start[s->target[i] + 2]++;
            seen++;
        }
    for (int k = 0; k < s->classes; k++) v->start[k + 2] += v->start[k + 1];
    seen = 0;
    for (int i = 0; i < s->n; i++) {
        if (s->group && s->group[i] != seen) continue;
        const int at = v->start[s->target[i] + 1]++;
        v->row[at] = i;
        v->wrong[at] = spot_subject_wrong(s, i, s->target[i]);
        seen++;
    }
    v->rows = seen;
    return SPOT_OK;
}

static int count_wrong(const uint8_t *wrong, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) sum += wrong[i];
    return sum;
}

/* ---- order ---- */

/* The first row of the fifth that has the most errors among all fifths of consecutive rows. */
static int worst_fifth(const uint8_t *wrong, int n, int fifth)
{
    int errors = count_wrong(wrong, fifth), most = errors, at = 0;

    for (int i = 1; i + fifth <= n; i++) {
        errors += wrong[i + fifth - 1] - wrong[i - 1];
        if (errors > most) {
            most = errors;
            at = i;
        }
    }
    return at;
}

/* Adds the products of one class. before: scratch, (n + 1): sums of the rows before each. */
static void add_products(double sum[REACHES], const uint8_t *wrong, int n, double *before)
{
    const int fifth = n / 5, from = worst_fifth(wrong, n, fifth);
    const double mean = (double)(count_wrong(wrong, n) - count_wrong(wrong + from, fifth)) / (n - fifth);

    before[0] = 0;
    for (int i = 0; i < n; i++) before[i + 1] = before[i] + (i >= from && i < from + fifth ? 0 : wrong[i] - mean);
    for (int h = 0; h < REACHES; h++)
        for (int i = 0; i + 1 < n; i++)
            sum[h] += (before[i + 1] - before[i]) * (before[i + reach[h] + 1 < n ? i + reach[h] + 1 : n] - before[i + 1]);
}

/* Rows of class k that are looked at; 0: it says nothing. */
static int ordered_rows(const agreement *v, int k)
{
    const int n = v->start[k + 1] - v->start[k], share = SPOT_DEPEND_ORDERED / v->classes, most = share > FEW ? share : FEW;
    const int rows = n < most ? n : most, wrong = count_wrong(v->wrong + v->start[k], rows);

    return rows < LEAST_ORDERED || !wrong || wrong == rows ? 0 : rows;
}

/* Scratch for the rows of a class. */
typedef struct { uint8_t *wrong; uint32_t *order; double *before; } order_room;

/* The sums in another order of each class's errors; draw 0: in their own. */
static void sum_order(const agreement *v, int draw, double sum[REACHES], const order_room *room)
{
    memset(sum, 0, REACHES * sizeof *sum);
    for (int k = 0; k < v->classes; k++) {
        const uint8_t *wrong = v->wrong + v->start[k];
        const int n = ordered_rows(v, k);
        if (!n) continue;
        if (draw) {
            spot_rng r = spot_rng_at(0, SPOT_RNG_DEPEND, (uint32_t)k, (uint32_t)draw);
            spot_rng_shuffle(&r, room->order, (uint32_t)n);
            for (int i = 0; i < n; i++) room->wrong[i] = wrong[room->order[i]];
            wrong = room->wrong;
        }
        add_products(sum, wrong, n, room->before);
    }
}

/* Sums of draws from `from` on. sum (draws, REACHES). False: no memory. */
static bool sum_draws(const agreement *v, int from, int draws, double (*sum)[REACHES])
{
    int failed = 0;

#pragma omp parallel num_threads(v->c->threads) reduction(+ : failed)
    {
        const size_t n = (size_t)v->rows + 1;
        const order_room r = { malloc(n), malloc(n * sizeof(uint32_t)), malloc(n * sizeof(double)) };
        failed = !r.wrong || !r.order || !r.before;
#pragma omp for schedule(static)
        for (int i = 0; i < draws; i++)
            if (!failed) sum_order(v, from + i, sum[i], &r);
        free(r.wrong);
        free(r.order);
        free(r.before);
    }
    return !failed;
}

/* How far a draw lies above the mean of all draws in standard deviations, by the sum in which it lies farthest. */
static void rate_draws(double *rate, double (*sum)[REACHES], int draws)
{
    for (int i = 0; i < draws; i++) rate[i] = -INFINITY;
    for (int h = 0; h < REACHES; h++) {
        double mean = 0, squares = 0;
        for (int i = 0; i < draws; i++) mean += sum[i][h] / draws;
        for (int i = 0; i < draws; i++) squares += (sum[i][h] - mean) * (sum[i][h] - mean);
        for (int i = 0; i < draws && squares > 0; i++) rate[i] = fmax(rate[i], (sum[i][h] - mean) / sqrt(squares / draws));
    }
}

static spot_status order_p(const agreement *v, double *p)
{
    static const int draws = 1 + SPOT_DEPEND_DRAWS;            /* the first is the order of the files */
    double (*sum)[REACHES] = malloc(draws * sizeof *sum), *rate = malloc(draws * sizeof *rate);
    bool room = sum && rate;
    spot_status how = SPOT_OK;
    int above = 0;

    for (int from = 0; from < draws && room && how == SPOT_OK; from += AT_ONCE) {
        how = spot_check_stop(v->c);
        if (how == SPOT_OK) room = sum_draws(v, from, from + AT_ONCE < draws ? AT_ONCE : draws - from, sum + from);
    }
    if (room && how == SPOT_OK) {
        rate_draws(rate, sum, draws);
        for (int i = 0; i < draws; i++) above += rate[i] >= rate[0] - 1e-9;
        *p = (double)above / draws;
    }
    free(sum);
    free(rate);
    return room ? how : spot_fail(v->c, SPOT_NOMEM, "no memory for other orders of %d rows", v->rows);
}

/* ---- place ---- */

/* Weights of a row's neighbours in each step, nearest first; sums of the steps, and their variances. */
typedef struct { double weight[STEPS][NEAREST], sum[STEPS], variance[STEPS]; } step_sums;

/* The last step has no neighbours that are far enough, so the next ones count more. */
static void weigh(step_sums *z)
{
    for (int b = 0; b < STEPS; b++) {
        const int m = 1 << b, last = 8 * m > NEAREST;
        const double near = last ? 0.75 : 1, next = last ? -2 : -1.5, far = last ? 1 : 0.5;
        for (int t = 0; t < NEAREST; t++)
            z->weight[b][t] = t < m ? near / m : t < 2 * m ? next / m
                            : last ? far / (NEAREST - 2 * m) : t >= 4 * m && t < 8 * m ? far / (4 * m) : 0;
    }
}

/* The place of row i among the neighbours of a row, the row itself left out; NEAREST: it is none. */
static int rank_of(const int *near, int own, int i)
{
    int rank = 0;

    for (int t = 0; t <= NEAREST && rank < NEAREST; t++) {
        if (near[t] == i) return rank;
        rank += near[t] != own;
    }
    return NEAREST;
}

/* Adds the steps of every `every`th row: near (asked, NEAREST + 1), a row itself may be among its neighbours. Where errors are
 * independent, products of different pairs are not correlated; a pair that is asked from both of its rows is one. */
static void add_steps(step_sums *z, const uint8_t *wrong, const int *near, int asked, int every, double rate)
{
    for (int q = 0; q < asked; q++) {
        const int i = q * every, *own = near + (size_t)q * (NEAREST + 1);
        for (int t = 0, rank = 0; t <= NEAREST && rank < NEAREST; t++) {
            const int j = own[t];
            const double product = (wrong[i] - rate) * (wrong[j] - rate);
            if (j == i) continue;
            const int back = j % every ? NEAREST : rank_of(near + (size_t)(j / every) * (NEAREST + 1), j, i);
            for (int b = 0; b < STEPS; b++) {
                const double w = z->weight[b][rank], also = back < NEAREST ? z->weight[b][back] : 0;
                z->sum[b] += w * product;
                z->variance[b] += w * (w + also) * product * product;
            }
            rank++;
        }
    }
}

/* Rows at equal distances of class k against all of its rows. */
static spot_status place_class(const agreement *v, int k, int every, step_sums *z)
{
    const uint8_t *wrong = v->wrong + v->start[k];
    const int n = v->start[k + 1] - v->start[k], asked = (n + every - 1) / every, errors = count_wrong(wrong, n);
    const spot_some_rows of = { v->s->feature, v->row + v->start[k], n };
    spot_arena a = spot_arena_counting();
    spot_some_rows x = { v->s->feature, NULL, asked };
    int *near, *row;
    spot_status how;

    if (n < LEAST_PLACED || errors < 2 || errors == n) return SPOT_OK;
    SPOT_TRY(spot_nearest_rows(v->c, &a, NULL, x, of, v->s->d, NEAREST + 1));
    SPOT_TRY(spot_arena_open(v->c, &a, a.peak + spot_arena_room((size_t)asked * (NEAREST + 1) * sizeof *near)
                             + spot_arena_room((size_t)asked * sizeof *row)));
    how = SPOT_TAKE(v->c, &a, near, (size_t)asked * (NEAREST + 1));
    if (how == SPOT_OK) how = SPOT_TAKE(v->c, &a, row, asked);
    for (int i = 0; i < asked && how == SPOT_OK; i++) row[i] = of.row[i * every];
    x.row = row;
    if (how == SPOT_OK) how = spot_nearest_rows(v->c, &a, near, x, of, v->s->d, NEAREST + 1);
    if (how == SPOT_OK) add_steps(z, wrong, near, asked, every, (double)errors / n);
    spot_arena_close(&a);
    return how;
}

static spot_status place_rows(const agreement *v, double *most)
{
    const int every = (v->rows + SPOT_DEPEND_PLACED - 1) / SPOT_DEPEND_PLACED;
    step_sums z = { 0 };

    weigh(&z);
    for (int k = 0; k < v->classes; k++) {
        SPOT_TRY(spot_check_stop(v->c));
        SPOT_TRY(place_class(v, k, every, &z));
    }
    *most = 0;
    for (int b = 0; b < STEPS; b++)
        if (z.variance[b] > 0) *most = fmax(*most, z.sum[b] / sqrt(z.variance[b]));
    return SPOT_OK;
}

/* ---- both ---- */

static spot_status test_rows(agreement *v, spot_rows_agreement *a)
{
    int k = 0;

    SPOT_TRY(list_rows(v));
    while (k < v->classes && !ordered_rows(v, k)) k++;
    if (k < v->classes) SPOT_TRY(order_p(v, &a->order));
    return place_rows(v, &a->step);
}

spot_status spot_rows_agree(spot_ctx *c, spot_rows_agreement *a, const spot_subject *s)
{
    agreement v = { .c = c, .s = s };
    spot_status how = SPOT_OK;

    *a = (spot_rows_agreement){ 1, 0 };
    if (s->target && !s->instance && !(s->group && (s->group_name || s->groups == s->n))) how = test_rows(&v, a);
    free(v.row);
    free(v.wrong);
    free(v.start);
    return how;
}

spot_status spot_rows_warn_of_dependence(spot_ctx *c, const spot_subject *s)
{
    spot_rows_agreement a;

    SPOT_TRY(spot_rows_agree(c, &a, s));
    if (a.order <= SPOT_DEPEND_LEVEL)
        spot_log(c, SPOT_LOG_WARN, "rows may depend on each other: those that follow one another in the files are wrong "
                 "together more often than chance explains (p = %.2g), as frames of a video are; what is confirmed may then be "
                 "chance; tell with --groups FILE which rows belong together", a.order);
    else if (a.step >= SPOT_DEPEND_STEP)
        spot_log(c, SPOT_LOG_WARN, "rows may depend on each other: those of nearest features are wrong together, and the next "
                 "ones are not (%.1f standard errors), as copies of a picture are; what is confirmed may then be chance; tell "
                 "with --groups FILE which rows belong together", a.step);
    return SPOT_OK;
}
