/* rows_depend.c - see rows_depend.h. */
#include "discover/subject/rows_depend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/search/vote.h"
#include "spotter/rng.h"

enum { BANDS = 6, STEPS = 4, NEAREST = 32,         /* 2^(BANDS - 1) */
       LAGS = 8, STRETCH = 25, LEAST_ORDERED = 40, LEAST_PLACED = 2 * NEAREST + 2, FEW = 200 };

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

/* The stretches that stay. keep (stretches). */
static void keep_stretches(uint8_t *keep, const uint8_t *wrong, int stretches)
{
    int of[STRETCH + 1] = { 0 }, limit = STRETCH, drop = (stretches + 4) / 5, above = 0;

    if (stretches < 5) drop = 0;
    for (int k = 0; k < stretches; k++) of[keep[k] = (uint8_t)count_wrong(wrong + k * STRETCH, STRETCH)]++;
    while (limit >= 0 && above + of[limit] <= drop) above += of[limit--];
    drop -= above;                     /* of those with `limit` wrong rows, the first ones */
    for (int k = 0; k < stretches; k++) {
        const bool ends = keep[k] > limit || (keep[k] == limit && drop > 0);
        drop -= keep[k] == limit;
        keep[k] = !ends;
    }
}

/* Adds the products of one class: at distance 1, and at 1 to LAGS. keep: scratch, (n / STRETCH). */
static void add_products(double sum[2], const uint8_t *wrong, int n, uint8_t *keep)
{
    const int stretches = n / STRETCH;
    int rows = 0, all = 0;
    double mean;

    keep_stretches(keep, wrong, stretches);
    for (int k = 0; k < stretches; k++) {
        const int own = k + 1 < stretches ? STRETCH : n - k * STRETCH;
        if (!keep[k]) continue;
        rows += own;
        all += count_wrong(wrong + k * STRETCH, own);
    }
    mean = (double)all / rows;
    for (int k = 0, end; k < stretches; k = end) {
        end = k + 1;
        if (!keep[k]) continue;
        while (end < stretches && keep[end]) end++;
        const int last = end < stretches ? end * STRETCH : n;
        for (int lag = 1; lag <= LAGS; lag++) {
            double t = 0;
            for (int i = k * STRETCH; i + lag < last; i++) t += (wrong[i] - mean) * (wrong[i + lag] - mean);
            sum[0] += lag == 1 ? t : 0;
            sum[1] += t;
        }
    }
}

/* Rows of class k that are looked at; 0: it says nothing. */
static int ordered_rows(const agreement *v, int k)
{
    const int n = v->start[k + 1] - v->start[k], share = SPOT_DEPEND_ORDERED / v->classes, most = share > FEW ? share : FEW;
    const int rows = n < most ? n : most, wrong = count_wrong(v->wrong + v->start[k], rows);

    return rows < LEAST_ORDERED || !wrong || wrong == rows ? 0 : rows;
}

/* The sums in another order of each class's errors; draw 0: in their own. room: scratch for the rows of a class. */
typedef struct { uint8_t *wrong, *keep; uint32_t *order; } order_room;

static void sum_order(const agreement *v, int draw, double sum[2], const order_room *room)
{
    sum[0] = sum[1] = 0;
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
        add_products(sum, wrong, n, room->keep);
    }
}

static double order_p(const agreement *v, bool *room)
{
    double own[2];
    int above[2] = { 0, 0 }, failed = 0;

#pragma omp parallel num_threads(v->c->threads)
    {
        const size_t n = (size_t)v->rows + 1;
        const order_room r = { malloc(n), malloc(n), malloc(n * sizeof(uint32_t)) };
        const bool fits = r.wrong && r.keep && r.order;
#pragma omp single
        if (fits) sum_order(v, 0, own, &r);
#pragma omp for reduction(+ : above[:2]) schedule(static)
        for (int i = 1; i <= SPOT_DEPEND_DRAWS; i++) {
            double t[2];
            if (!fits) continue;
            sum_order(v, i, t, &r);
            for (int h = 0; h < 2; h++) above[h] += t[h] >= own[h] - 1e-9;
        }
#pragma omp critical
        failed += !fits;
        free(r.wrong);
        free(r.keep);
        free(r.order);
    }
    *room = !failed;
    return (1.0 + (above[0] < above[1] ? above[0] : above[1])) / (1 + SPOT_DEPEND_DRAWS);
}

/* ---- place ---- */

typedef struct { double sum[STEPS], squares[STEPS]; } step_sums;

/* The errors, less their mean, of row i's neighbours, by band. near (NEAREST + 1): the row itself may be among them. */
static void band_means(double mean[BANDS], const uint8_t *wrong, const int *near, int i, double rate)
{
    int rank = 0, band = 0, end = 1, rows = 0;

    for (int b = 0; b < BANDS; b++) mean[b] = 0;
    for (int t = 0; t <= NEAREST && rank < NEAREST; t++) {
        if (near[t] == i) continue;
        mean[band] += wrong[near[t]] - rate;
        rows++;
        if (++rank < end) continue;
        mean[band++] /= rows;
        rows = 0;
        end *= 2;
    }
}

static void add_steps(step_sums *z, const uint8_t *wrong, const int *near, int i, double rate)
{
    double mean[BANDS];

    band_means(mean, wrong, near, i, rate);
    for (int b = 0; b < STEPS; b++) {
        const double step = (wrong[i] - rate) * (0.75 * mean[b] - 2 * mean[b + 1] + mean[b + 2]);
        z->sum[b] += step;
        z->squares[b] += step * step;
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
    SPOT_TRY(spot_arena_open(v->c, &a, a.peak + (size_t)asked * (NEAREST + 2) * sizeof *near + 256));
    how = SPOT_TAKE(v->c, &a, near, (size_t)asked * (NEAREST + 1));
    if (how == SPOT_OK) how = SPOT_TAKE(v->c, &a, row, asked);
    for (int i = 0; i < asked && how == SPOT_OK; i++) row[i] = of.row[i * every];
    x.row = row;
    if (how == SPOT_OK) how = spot_nearest_rows(v->c, &a, near, x, of, v->s->d, NEAREST + 1);
    for (int i = 0; i < asked && how == SPOT_OK; i++)
        add_steps(z, wrong, near + (size_t)i * (NEAREST + 1), i * every, (double)errors / n);
    spot_arena_close(&a);
    return how;
}

static spot_status place_rows(const agreement *v, double *most)
{
    const int every = (v->rows + SPOT_DEPEND_PLACED - 1) / SPOT_DEPEND_PLACED;
    step_sums z = { 0 };

    for (int k = 0; k < v->classes; k++) {
        SPOT_TRY(spot_check_stop(v->c));
        SPOT_TRY(place_class(v, k, every, &z));
    }
    *most = 0;
    for (int b = 0; b < STEPS; b++)
        if (z.squares[b] > 0) *most = fmax(*most, z.sum[b] / sqrt(2 * z.squares[b]));
    return SPOT_OK;
}

/* ---- both ---- */

static spot_status test_rows(agreement *v, spot_rows_agreement *a)
{
    bool room = true;

    SPOT_TRY(list_rows(v));
    for (int k = 0; k < v->classes && a->order == 1; k++)
        if (ordered_rows(v, k)) a->order = order_p(v, &room);
    if (!room) return spot_fail(v->c, SPOT_NOMEM, "no memory for other orders of %d rows", v->rows);
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
