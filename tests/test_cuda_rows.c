/* test_cuda_rows.c - kernels/map/rows: ends of warps and blocks, one row, one column, nothing at all; each way to pick. */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "map/rows.h"
#include "noise.h"

enum { PLAIN, SCALED, CHOSEN, TURNED };

/* rows, columns, how they are picked */
static const int pick_sizes[][SPOT_OP_SIZES] = {
    { 33, 7, PLAIN }, { 1, 1, SCALED }, { 257, 5, SCALED }, { 0, 4, SCALED }, { 31, 128, CHOSEN }, { 64, 3, TURNED },
    { 9, 0, PLAIN },
};

/* The source has a row and a column more, the result two columns more, which nobody writes. */
typedef struct { spot_rows_pick_problem pick; int way; } pick_case;

static spot_rows_column column_of(const spot_rows_pick_problem *p, int j)
{
    return (spot_rows_column){ p->d - j, 0.25 * j, j % 3 ? 1 : 1e-4, j % 4 == 3 ? 0 : 1.5 + j };
}

static int row_of(const spot_rows_pick_problem *p, int i) { return (i * 7 + 3) % (p->n + 1); }

static void make_pick(spot_op_run *r, void *problem, const int *size)
{
    pick_case *k = problem;
    spot_rows_pick_problem *p = &k->pick;
    size_t n = (size_t)size[0], d = (size_t)size[1];
    spot_rows_column column[128];
    int row[257];

    k->way = size[2];
    *p = (spot_rows_pick_problem){ .n = size[0], .d = size[1], .x = spot_op_noise(r, r->number, (n + 1) * (d + 1)),
                                   .x_row = d + 1, .x_column = 1, .y_row = d + 2, .y_column = 1 };
    for (int j = 0; j < p->d; j++) column[j] = column_of(p, j);
    for (int i = 0; i < p->n; i++) row[i] = row_of(p, i);
    if (k->way == TURNED) p->y_row = 1, p->y_column = n + 2;
    if (k->way != PLAIN) p->column = spot_op_input(r, column, d * sizeof *column);
    if (k->way == CHOSEN) p->row = spot_op_input(r, row, n * sizeof *row);
    p->y = spot_op_out(r, "picked", SPOT_OP_FLOAT, (n + 2) * (d + 2), 0);
}

static spot_status run_pick(spot_op_run *r, void *problems, int count)
{
    pick_case *p = problems;

    SPOT_OP(r, spot_rows_pick(r->c, count, SPOT_OP_ALL(r, p, pick, count)));
    return SPOT_OK;
}

static spot_status check_pick(spot_op_run *r, void *problem)
{
    const pick_case *k = problem;
    const spot_rows_pick_problem *p = &k->pick;
    size_t from = (size_t)(p->n + 1) * (p->d + 1), to = (size_t)(p->n + 2) * (p->d + 2);
    float *x = malloc(from * sizeof *x), *y = malloc(to * sizeof *y);

    SPOT_TRY(spot_op_fetch(r, x, p->x, from * sizeof *x));
    SPOT_TRY(spot_op_fetch(r, y, p->y, to * sizeof *y));
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->d; j++) {
            const spot_rows_column u = column_of(p, j);
            double v = x[(k->way == CHOSEN ? row_of(p, i) : i) * (p->d + 1) + (k->way == PLAIN ? j : u.from)];
            if (k->way != PLAIN) v = u.over == 0 ? 0 : (v - u.minus) * u.times / u.over;
            assert_true(y[k->way == TURNED ? j * (p->n + 2) + i : i * (p->d + 2) + j] == (float)v);
        }
    free(x), free(y);
    return SPOT_OK;
}

static const spot_op pick = { "rows_pick", sizeof(pick_case), make_pick, run_pick, check_pick, false };

/* rows, features, normalised, with a head */
static const int prepare_sizes[][SPOT_OP_SIZES] = {
    { 1, 1, 1, 0 }, { 65, 33, 1, 0 }, { 64, 9, 0, 1 }, { 129, 128, 1, 1 }, { 3, 512, 0, 0 },
};

static void make_prepare(spot_op_run *r, void *problem, const int *size)
{
    spot_rows_prepare_problem *p = problem;
    size_t n = (size_t)size[0], d = (size_t)size[1];
    float head[512] = { 0 };
    double squares = 0;

    for (size_t k = 0; k < d; k++) {
        head[k] = (float)((int)k % 7 - 2);
        squares += (double)head[k] * head[k];
    }
    *p = (spot_rows_prepare_problem){ .n = size[0], .d = size[1], .normalise = size[2],
                                      .x = spot_op_noise(r, r->number, n * d), .length = sqrt(squares) };
    p->y = spot_op_out(r, "prepared", SPOT_OP_FLOAT, n * d, 0);
    if (!size[3]) return;
    p->head = spot_op_input(r, head, d * sizeof *head);
    p->along = spot_op_out(r, "along", SPOT_OP_FLOAT, n, 0);
}

static spot_status run_prepare(spot_op_run *r, void *problems, int count)
{
    SPOT_OP(r, spot_rows_prepare(r->c, count, problems));
    return SPOT_OK;
}

/* A prepared row has no part along the head; what was taken out and what is left have length 1, or the row's. */
static spot_status check_prepare(spot_op_run *r, void *problem)
{
    const spot_rows_prepare_problem *p = problem;
    size_t n = (size_t)p->n, d = (size_t)p->d;
    float *x = malloc(n * d * sizeof *x), *y = malloc(n * d * sizeof *y), along[129] = { 0 }, head[512] = { 0 };

    SPOT_TRY(spot_op_fetch(r, x, p->x, n * d * sizeof *x));
    SPOT_TRY(spot_op_fetch(r, y, p->y, n * d * sizeof *y));
    if (p->head) SPOT_TRY(spot_op_fetch(r, head, p->head, d * sizeof *head));
    if (p->head) SPOT_TRY(spot_op_fetch(r, along, p->along, n * sizeof *along));
    for (size_t i = 0; i < n; i++) {
        double given = 0, left = (double)along[i] * along[i], part = 0;
        for (size_t k = 0; k < d; k++) {
            given += (double)x[i * d + k] * x[i * d + k];
            left += (double)y[i * d + k] * y[i * d + k];
            part += y[i * d + k] * (double)head[k];
        }
        CHECK_NEAR(left, p->normalise ? 1 : given, 1e-5 * (1 + given));
        if (p->head) CHECK_NEAR(part / p->length, 0, 1e-5 * (1 + sqrt(given)));
    }
    free(x), free(y);
    return SPOT_OK;
}

static const spot_op prepare = { "rows_prepare", sizeof(spot_rows_prepare_problem), make_prepare, run_prepare, check_prepare,
                                 false };

static const int square_sizes[][SPOT_OP_SIZES] = { { 1, 1 }, { 300, 2 }, { 31, 65 }, { 64, 3 } };

static void make_squares(spot_op_run *r, void *problem, const int *size)
{
    *(spot_rows_squares_problem *)problem = (spot_rows_squares_problem){ size[0], size[1],
        spot_op_noise(r, r->number, (size_t)size[0] * size[1]), spot_op_out(r, "squares", SPOT_OP_DOUBLE, (size_t)size[1], 0) };
}

static spot_status run_squares(spot_op_run *r, void *problems, int count)
{
    SPOT_OP(r, spot_rows_squares(r->c, count, problems));
    return SPOT_OK;
}

static spot_status check_squares(spot_op_run *r, void *problem)
{
    const spot_rows_squares_problem *p = problem;
    float x[31 * 65];
    double square[65];

    SPOT_TRY(spot_op_fetch(r, x, p->x, (size_t)p->n * p->d * sizeof *x));
    SPOT_TRY(spot_op_fetch(r, square, p->square, (size_t)p->d * sizeof *square));
    for (int j = 0; j < p->d; j++) {
        double sum = 0;
        for (int i = p->n - 1; i >= 0; i--) sum += (double)x[i * p->d + j] * x[i * p->d + j];
        CHECK_NEAR(square[j], sum, 1e-12 * (1 + sum));
    }
    return SPOT_OK;
}

static const spot_op squares = { "rows_squares", sizeof(spot_rows_squares_problem), make_squares, run_squares, check_squares,
                                 false };

static const int fade_sizes[][SPOT_OP_SIZES] = { { 1 }, { 257 }, { 31 } };

/* Weights are the losses before, whose greatest is 3. */
static void make_fade(spot_op_run *r, void *problem, const int *size)
{
    double loss[257];

    for (int i = 0; i < size[0]; i++) loss[i] = i % 4;
    *(spot_rows_fade_problem *)problem = (spot_rows_fade_problem){ size[0], 3, spot_op_input(r, loss, sizeof *loss * size[0]),
        spot_op_both(r, "losses", loss, SPOT_OP_DOUBLE, (size_t)size[0], 0) };
}

static spot_status run_fade(spot_op_run *r, void *problems, int count)
{
    SPOT_OP(r, spot_rows_fade(r->c, count, problems));
    return SPOT_OK;
}

static spot_status check_fade(spot_op_run *r, void *problem)
{
    static const double wanted[] = { 0, 2 / 3.0, 2 / 3.0, 0 };
    const spot_rows_fade_problem *p = problem;
    double loss[257];

    SPOT_TRY(spot_op_fetch(r, loss, p->loss, (size_t)p->n * sizeof *loss));
    for (int i = 0; i < p->n; i++) CHECK_NEAR(loss[i], wanted[i % 4], 1e-15);
    return SPOT_OK;
}

static const spot_op fade = { "rows_fade", sizeof(spot_rows_fade_problem), make_fade, run_fade, check_fade, false };

/* entries, choices, whether they are listed; values are few, so that many are equal */
static const int best_sizes[][SPOT_OP_SIZES] = { { 1, 1, 0 }, { 65, 7, 0 }, { 64, 25, 1 }, { 300, 2, 1 } };

static void make_best(spot_op_run *r, void *problem, const int *size)
{
    spot_rows_best_problem *p = problem;
    size_t numbers = (size_t)(size[1] + 1) * size[0];
    spot_rng rng = noise_at(6, r->number);
    double *value = malloc(numbers * sizeof *value);
    int choice[25];

    for (size_t e = 0; e < numbers; e++) value[e] = -0.5 * spot_rng_below(&rng, 4);
    for (int s = 0; s < size[1]; s++) choice[s] = size[1] - s;
    *p = (spot_rows_best_problem){ .n = size[0], .len = size[1], .value = spot_op_given(r, value, numbers * sizeof *value),
                                   .best = spot_op_out(r, "best", SPOT_OP_INT, (size_t)size[0], 0) };
    if (size[2]) p->choice = spot_op_input(r, choice, (size_t)size[1] * sizeof *choice);
}

static spot_status run_best(spot_op_run *r, void *problems, int count)
{
    SPOT_OP(r, spot_rows_best(r->c, count, problems));
    return SPOT_OK;
}

/* No choice is better, and none before it as good. */
static spot_status check_best(spot_op_run *r, void *problem)
{
    const spot_rows_best_problem *p = problem;
    double value[26 * 300];
    int best[300];

    SPOT_TRY(spot_op_fetch(r, value, p->value, (size_t)(p->len + 1) * p->n * sizeof *value));
    SPOT_TRY(spot_op_fetch(r, best, p->best, (size_t)p->n * sizeof *best));
    for (int i = 0; i < p->n; i++)
        for (int s = 0; s < p->len; s++) {
            double own = value[(p->choice ? p->len - best[i] : best[i]) * p->n + i];
            double other = value[(p->choice ? p->len - s : s) * p->n + i];
            assert_true(s < best[i] ? other < own : other <= own);
        }
    return SPOT_OK;
}

static const spot_op best = { "rows_best", sizeof(spot_rows_best_problem), make_best, run_best, check_best, false };

TEST(shapes_that_do_not_fit_are_refused)
{
    spot_ctx c = check_ctx(1);
    float x[2] = { 1, 2 }, y[2];
    double square;
    spot_rows_pick_problem picked = { .n = -1, .d = 1, .x = x, .y = y };
    spot_rows_prepare_problem prepared = { .n = 1, .d = 2, .x = x, .head = x, .y = y };
    spot_rows_squares_problem squared = { 1, 0, x, &square };
    spot_rows_fade_problem dark = { .n = 1, .most = 0 };
    spot_rows_best_problem none = { .n = 1, .len = 0 };

    CHECK_FAILS(&c, spot_rows_pick(&c, 1, &picked), SPOT_INVALID, "rows.pick_sizes: -1 | 1");
    CHECK_FAILS(&c, spot_rows_prepare(&c, 1, &prepared), SPOT_INVALID, "rows.prepare_sizes: length 0");
    CHECK_FAILS(&c, spot_rows_squares(&c, 1, &squared), SPOT_INVALID, "rows.squares_sizes: 1 | 0");
    CHECK_FAILS(&c, spot_rows_fade(&c, 1, &dark), SPOT_INVALID, "rows.fade_sizes: 1 | 0");
    CHECK_FAILS(&c, spot_rows_best(&c, 1, &none), SPOT_INVALID, "rows.best_sizes: 1 | 0");
}

/* A row that is shorter than the least length, 1e-6, is divided by that: a row of zeros stays one. */
TEST(rows_of_hardly_any_length_stay_finite)
{
    float x[] = { 0, 0, 3e-8f, 4e-8f, 3, 4 }, y[6];
    static const float want[] = { 0, 0, 0.03f, 0.04f, 0.6f, 0.8f };
    spot_rows_prepare_problem p = { .n = 3, .d = 2, .normalise = true, .x = x, .y = y };
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_rows_prepare(&c, 1, &p));
    for (int i = 0; i < LEN(y); i++) CHECK_NEAR(y[i], want[i], 1e-8 + 1e-7 * want[i]);
}

int main(void)
{
    static op_row rows[] = {      /* problems: more than go into one launch */
        OP_ROW(pick, pick_sizes, .problems = 35),
        OP_ROW(prepare, prepare_sizes, .problems = 33),
        OP_ROW(squares, square_sizes, .problems = 33),
        OP_ROW(fade, fade_sizes, .problems = 33),
        OP_ROW(best, best_sizes, .problems = 33),
    };

    return run_ops(rows, LEN(rows));
}
