/* bench_alexnet.c - what AlexNet has beside convolutions: bias, ReLU, pools and linear layers that learn. Their problems for
 * the tests, and the passes on a GPU. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "op_net.h"

enum { CHECKED = 24, MEANS = SPOT_POOL_MEAN * SPOT_POOL_MEAN };

/* Entry e of a few among n, the last one first. */
static size_t chosen(size_t e, size_t n) { return e ? e * 2654435761u % n : n - 1; }

static spot_status check_float(spot_op_run *r, const char *what, const float *v, size_t i, double want, double off)
{
    float got;

    SPOT_TRY(spot_op_fetch(r, &got, v + i, sizeof got));
    return spot_bench_near(r->c, what, i, got, want, off);
}

/* -- bias, ReLU, pools ---------------------------------------------------------------------------------------- */

enum { Y, BIAS, X, DA, DMEAN, POOL_IDS };           /* noise of a problem, from its id */

/* Number i of (rows, pixels, channels) of y. Of whole numbers most windows have equals. */
static float y_of(const spot_op_pooled *p, size_t i)
{
    const float v = spot_noise(p->id + Y, i, p->precision);

    if (p->kind == SPOT_OP_POOL_NAN && i == 0) return NAN;
    return p->kind == SPOT_OP_POOL_TIES ? (float)((int)(8 + 2 * v) % 3 - 1) : v;
}

static void *make_y(spot_op_run *r, const spot_op_pooled *p)
{
    const spot_op_tensor t = spot_op_plane(p->p);
    const size_t n = spot_op_numbers(&t), live = n / (size_t)t.rows * (size_t)t.live;
    float *v = p->kind ? malloc(n * sizeof *v) : NULL;
    void *to;

    if (!v) return spot_op_tensor_noise(r, t, p->id + Y);
    for (size_t i = 0; i < n; i++) v[i] = i < live ? y_of(p, i) : NAN;
    to = spot_op_tensor_of(r, t, v);
    free(v);
    return to;
}

/* The mean and its gradient have an input of their own, which both devices round alike. */
static void make_pooling(spot_op_run *r, void *problem, const int *size)
{
    spot_op_pooled *p = problem;
    const double off = size[5] == SPOT_BF16 ? 0x1p-8 : 1e-6;
    spot_op_tensor in, out;

    *p = (spot_op_pooled){ .max = size[4], .precision = (spot_precision)size[5], .kind = (spot_op_pool_kind)size[6],
                           .id = POOL_IDS * r->number };
    p->p = p->q = (spot_plane){ size[0], size[1], size[2], size[3], p->precision };
    p->q.size = spot_pool_side(p->p.size, p->max);
    in = spot_op_plane(p->p), out = spot_op_plane(p->q);
    p->y = make_y(r, p);
    p->bias = spot_op_noise(r, p->id + BIAS, (size_t)in.channels);
    p->x = spot_op_tensor_noise(r, in, p->id + X);
    p->da = spot_op_tensor_noise(r, out, p->id + DA);
    p->dmean = spot_op_noise(r, p->id + DMEAN, (size_t)in.live * in.channels * MEANS);
    p->out = spot_op_tensor_blank(r, out, SPOT_OP_FLOAT);
    p->bare = spot_op_tensor_blank(r, out, SPOT_OP_FLOAT);
    if (p->max) p->at = spot_op_tensor_blank(r, out, SPOT_OP_BYTE);
    p->dx = spot_op_tensor_blank(r, in, SPOT_OP_FLOAT);
    spot_op_tensor_part(r, "out", p->out, out, SPOT_OP_FLOAT, 0, 0);
    spot_op_tensor_part(r, "out without bias and winners", p->bare, out, SPOT_OP_FLOAT, 0, 0);
    if (p->at) spot_op_tensor_part(r, "winners", p->at, out, SPOT_OP_BYTE, 0, 0);
    spot_op_tensor_part(r, "y, then its gradient", p->y, in, SPOT_OP_FLOAT, off, 0);
    p->dbias = spot_op_out(r, "dbias", SPOT_OP_FLOAT, (size_t)in.channels, 1e-6);
    p->mean = spot_op_out(r, "mean", SPOT_OP_FLOAT, (size_t)in.live * in.channels * MEANS, 1e-6);
    spot_op_tensor_part(r, "gradient of the mean", p->dx, in, SPOT_OP_FLOAT, off, 0);
    p->scratch = spot_op_room(r, spot_pool_scratch(p->p));
    if (!r->c->device) p->p.precision = p->q.precision = SPOT_FP32;
}

static spot_status pool(spot_op_run *r, const spot_op_pooled *p)
{
    SPOT_OP(r, spot_pool_forward(r->c, p->out, p->at, p->y, p->bias, p->p, p->max));
    return SPOT_OK;
}

static spot_status pool_back(spot_op_run *r, const spot_op_pooled *p)
{
    SPOT_OP(r, spot_pool_back(r->c, &(spot_pool_gradients){ p->y, p->dbias, p->da, p->out, p->at }, p->p, p->max, p->scratch));
    return SPOT_OK;
}

static spot_status run_pooling(spot_op_run *r, void *problems, int count)
{
    spot_op_pooled *p = problems;

    for (int q = 0; q < count; q++, p++) {
        SPOT_OP(r, spot_pool_forward(r->c, p->bare, NULL, p->y, NULL, p->p, p->max));
        SPOT_TRY(pool(r, p));
        SPOT_TRY(pool_back(r, p));
        SPOT_OP(r, spot_pool_mean(r->c, p->mean, p->x, p->p));
        SPOT_OP(r, spot_pool_mean_back(r->c, p->dx, p->dmean, p->p));
    }
    return SPOT_OK;
}

/* Window w of (rows, side, side) in channel ch: its largest number behind bias and ReLU; of equals the first one's pixel. */
static double largest(const spot_op_pooled *p, size_t w, int ch, size_t *pixel)
{
    const int side = p->q.size, size = p->p.size, step = p->max ? 2 : 1;
    const size_t image = w / ((size_t)side * side) * (size_t)size * size;
    const int row = (int)(w / (size_t)side) % side * step, col = (int)(w % (size_t)side) * step;
    float best = -1, bias = spot_noise(p->id + BIAS, (size_t)ch, SPOT_FP32);

    for (int k = 0; k < (p->max ? 9 : 1); k++) {
        const size_t at = image + (size_t)(row + k / 3) * size + col + k % 3;
        const float v = y_of(p, at * p->p.channels + ch) + bias, passed = v <= 0 ? 0 : v;
        if (!k || passed > best || isnan(passed)) best = passed, *pixel = at;
    }
    return best;
}

static spot_status check_windows(spot_op_run *r, const spot_op_pooled *p, double *dy, double *all)
{
    const int ch = p->p.channels - 1;
    const size_t windows = (size_t)p->q.live * p->q.size * p->q.size;
    const spot_op_tensor t = spot_op_plane(p->q);
    const double last_place = p->precision == SPOT_BF16 ? 0x1p-8 : 1e-6;

    for (size_t w = 0, pixel; w < windows; w++) {
        const double want = largest(p, w, ch, &pixel), d = spot_noise(p->id + DA, w * t.channels + ch, p->precision);
        double got;
        SPOT_TRY(spot_op_number(r, &got, p->out, &t, w * t.channels + ch));
        SPOT_TRY(spot_bench_near(r->c, "window", w, got, want, last_place * fabs(want)));
        if (want > 0) dy[pixel] += d, *all += d;
    }
    return SPOT_OK;
}

/* Means and their gradients, by weights of each pixel. */
static spot_status check_means(spot_op_run *r, const spot_op_pooled *p)
{
    const int size = p->p.size, n = p->p.live - 1, ch = p->p.channels - 1;
    const size_t row = ((size_t)n * p->p.channels + ch) * MEANS;
    const spot_op_tensor t = spot_op_plane(p->p);
    double got, dx = 0;

    for (int w = 0; w < MEANS; w++) {
        const int top = w / SPOT_POOL_MEAN * size / SPOT_POOL_MEAN, left = w % SPOT_POOL_MEAN * size / SPOT_POOL_MEAN;
        const int bottom = (int)ceil((w / SPOT_POOL_MEAN + 1.0) * size / SPOT_POOL_MEAN);
        const int right = (int)ceil((w % SPOT_POOL_MEAN + 1.0) * size / SPOT_POOL_MEAN);
        double sum = 0;
        for (int i = top; i < bottom; i++)
            for (int j = left; j < right; j++)
                sum += spot_noise(p->id + X, (((size_t)n * size + i) * size + j) * t.channels + ch, p->precision);
        sum /= (bottom - top) * (right - left);
        SPOT_TRY(check_float(r, "mean", p->mean, row + (size_t)w, sum, 1e-6 * (1 + fabs(sum))));
        if (bottom == size && right == size)
            dx += spot_noise(p->id + DMEAN, row + (size_t)w, SPOT_FP32) / (double)((bottom - top) * (right - left));
    }
    SPOT_TRY(spot_op_number(r, &got, p->dx, &t, ((size_t)(n + 1) * size * size - 1) * t.channels + ch));
    return spot_bench_near(r->c, "gradient of the mean's last pixel", 0, got, dx,
                           (p->precision == SPOT_BF16 ? 0x1p-8 : 1e-6) * (0.1 + fabs(dx)));
}

/* The last channel; the NaN is in the first. */
static spot_status check_channel(spot_op_run *r, const spot_op_pooled *p, double *dy)
{
    const spot_op_tensor t = spot_op_plane(p->p), out = spot_op_plane(p->q);
    const double off = p->precision == SPOT_BF16 ? 0x1p-7 : 1e-6;
    double all = 0, got;

    SPOT_TRY(check_windows(r, p, dy, &all));
    for (size_t i = 0; i < (size_t)t.live * t.pixels; i++) {
        SPOT_TRY(spot_op_number(r, &got, p->y, &t, i * t.channels + t.channels - 1));
        SPOT_TRY(spot_bench_near(r->c, "gradient of pixel", i, got, dy[i], off * (1 + fabs(dy[i]))));
    }
    SPOT_TRY(check_float(r, "dbias", p->dbias, (size_t)t.channels - 1, all, 1e-5 * (1 + fabs(all))));
    SPOT_TRY(check_means(r, p));
    if (p->kind != SPOT_OP_POOL_NAN) return SPOT_OK;
    SPOT_TRY(spot_op_number(r, &got, p->out, &out, 0));
    return isnan(got) ? SPOT_OK : spot_fail(r->c, SPOT_CHECK, "the largest of a NaN and others is %g", got);
}

static spot_status check_pooling(spot_op_run *r, void *problem)
{
    const spot_op_pooled *p = problem;
    double *dy = calloc((size_t)p->p.live * p->p.size * p->p.size, sizeof *dy);
    spot_status s = dy ? check_channel(r, p, dy) : spot_fail(r->c, SPOT_NOMEM, "no memory to check a pool");

    free(dy);
    return s;
}

const spot_op spot_op_pooling = { "pooling", sizeof(spot_op_pooled), make_pooling, run_pooling, check_pooling, true };

/* -- linear layers -------------------------------------------------------------------------------------------- */

enum { DX, DW, DB, DY, DROPPED, DENSE_IDS };        /* DX: x's noise; and so on */

static double x_of(const spot_op_densed *p, size_t i)
{
    return p->broken && i == 0 ? NAN : spot_noise(p->id + DX, i, p->precision);
}

/* An array in which all NaNs are one. */
static void name_result(spot_op_run *r, const char *what, void *v, size_t n, double off)
{
    spot_op_tensor_part(r, what, v, (spot_op_tensor){ 1, 1, 1, (int)n, 1, SPOT_FP32, 0 }, SPOT_OP_FLOAT, off, 0);
}

static void *blank_result(spot_op_run *r, const char *what, size_t n, double off)
{
    void *v = spot_op_tensor_blank(r, (spot_op_tensor){ 1, 1, 1, (int)n, 1, SPOT_FP32, 0 }, SPOT_OP_FLOAT);

    name_result(r, what, v, n, off);
    return v;
}

/* fp32 numbers that the precision holds exactly. */
static float *given_noise(spot_op_run *r, int id, size_t n, spot_precision precision)
{
    float *v = malloc(n * sizeof *v);

    for (size_t i = 0; v && i < n; i++) v[i] = spot_noise(id, i, precision);
    return spot_op_given(r, v, n * sizeof *v);
}

/* Sums of either device are off by 4e-6 of the largest number. TF32 drops 13 bits of each factor, on a GPU. */
static double off_of(spot_precision precision) { return precision == SPOT_TF32 ? 5e-3 : 8e-6; }

static void make_dense(spot_op_run *r, void *problem, const int *size)
{
    spot_op_densed *p = problem;
    const size_t rows = (size_t)size[0], in = (size_t)size[1], out = (size_t)size[2];
    const int made = 7;
    float *x = malloc(rows * in * sizeof *x);

    *p = (spot_op_densed){ .s = { size[0], size[1], size[2], size[3], spot_dense_reads(r->c, (spot_precision)size[6]) },
                           .precision = (spot_precision)size[6],
                           .rule = { .p = size[4] / 100.0, .seed = 5, .number = 9 }, .broken = size[5],
                           .id = DENSE_IDS * r->number };
    for (size_t i = 0; x && i < rows * in; i++) x[i] = (float)x_of(p, i);
    p->x = spot_op_given(r, x, rows * in * sizeof *x);
    p->w = spot_op_tensor_noise(r, (spot_op_tensor){ 1, 1, 1, (int)(in * out), 1, p->precision, 0 }, p->id + DW);
    p->b = spot_op_noise(r, p->id + DB, out);
    p->dy = given_noise(r, p->id + DY, rows * out, p->precision);
    p->dropped = spot_op_noise(r, p->id + DROPPED, rows * in);
    p->rule.made = spot_op_input(r, &made, sizeof made);
    name_result(r, "dy, then dz", p->dy, rows * out, 0);
    name_result(r, "dropped", p->dropped, rows * in, 0);
    p->y = blank_result(r, "y", rows * out, off_of(p->precision));
    p->dx = blank_result(r, "dx", rows * in, off_of(p->precision));
    p->bare = blank_result(r, "dx alone", rows * in, off_of(p->precision));
    p->dw = blank_result(r, "dw", in * out, off_of(p->precision));
    p->db = blank_result(r, "db", out, 0);
    p->scratch = spot_op_room(r, spot_dense_scratch(r->c, &p->s));
}

static spot_status go_forward(spot_op_run *r, const spot_op_densed *p)
{
    SPOT_OP(r, spot_dense_forward(r->c, p->y, p->x, p->w, p->b, &p->s, p->scratch));
    return SPOT_OK;
}

static spot_status go_back(spot_op_run *r, const spot_op_densed *p)
{
    SPOT_OP(r, spot_dense_back(r->c, &(spot_dense_gradients){ p->dx, p->dw, p->db, p->dy, p->y, p->x, p->w }, &p->s,
                               p->scratch));
    return SPOT_OK;
}

static spot_status drop(spot_op_run *r, const spot_op_densed *p)
{
    if (p->rule.p > 0)
        SPOT_OP(r, spot_dense_drop(r->c, p->dropped, (size_t)p->s.rows * (size_t)p->s.in, &p->rule, 1));
    return SPOT_OK;
}

/* A second way back leaves dz as it is. */
static spot_status run_dense(spot_op_run *r, void *problems, int count)
{
    spot_op_densed *p = problems;

    for (int q = 0; q < count; q++, p++) {
        SPOT_TRY(go_forward(r, p));
        SPOT_TRY(go_back(r, p));
        SPOT_OP(r, spot_dense_back(r->c, &(spot_dense_gradients){ p->bare, NULL, NULL, p->dy, p->y, p->x, p->w }, &p->s,
                                   p->scratch));
        SPOT_TRY(drop(r, p));
    }
    return SPOT_OK;
}

static double w_of(const spot_op_densed *p, size_t o, size_t k)
{
    return spot_noise(p->id + DW, o * (size_t)p->s.in + k, p->precision);
}

/* Output o of row n before the ReLU. */
static double sum_of(const spot_op_densed *p, size_t n, size_t o)
{
    double sum = spot_noise(p->id + DB, o, SPOT_FP32);

    for (size_t k = 0; k < (size_t)p->s.in; k++) sum += x_of(p, n * p->s.in + k) * w_of(p, o, k);
    return sum;
}

static double dz_of(const spot_op_densed *p, size_t n, size_t o)
{
    return p->s.relu && sum_of(p, n, o) <= 0 ? 0 : spot_noise(p->id + DY, n * p->s.out + o, p->precision);
}

/* The error of a sum of n products, as a share of its numbers. */
static double share_of(const spot_op_densed *p, size_t n)
{
    return (p->precision == SPOT_TF32 ? 1e-3 : 1e-6) * sqrt((double)n);
}

static spot_status check_output(spot_op_run *r, const spot_op_densed *p, size_t e)
{
    const size_t i = chosen(e, (size_t)p->s.rows * p->s.out), n = i / p->s.out, o = i % p->s.out;
    double y = sum_of(p, n, o);
    float got;

    if (p->s.relu && y <= 0) y = 0;
    SPOT_TRY(spot_op_fetch(r, &got, p->y + i, sizeof got));
    if (isnan(y)) return isnan(got) ? SPOT_OK : spot_fail(r->c, SPOT_CHECK, "output %zu of a NaN is %g", i, got);
    return spot_bench_near(r->c, "output", i, got, y, share_of(p, p->s.in) * (4 + fabs(y)));
}

static spot_status check_gradients(spot_op_run *r, const spot_op_densed *p, size_t e)
{
    const size_t rows = (size_t)p->s.rows, in = (size_t)p->s.in, out = (size_t)p->s.out;
    const size_t at = chosen(e, rows * in), weight = chosen(e, in * out), o = weight / in;
    double dx = 0, dw = 0, db = 0;

    for (size_t j = 0; j < out; j++) dx += dz_of(p, at / in, j) * w_of(p, j, at % in);
    for (size_t n = 0; n < rows; n++) {
        dw += dz_of(p, n, o) * x_of(p, n * in + weight % in);
        db += dz_of(p, n, o);
    }
    SPOT_TRY(check_float(r, "dx", p->dx, at, dx, share_of(p, out) * (4 + fabs(dx))));
    SPOT_TRY(check_float(r, "dx alone", p->bare, at, dx, share_of(p, out) * (4 + fabs(dx))));
    SPOT_TRY(check_float(r, "dw", p->dw, weight, dw, share_of(p, rows) * (4 + fabs(dw))));
    return check_float(r, "db", p->db, o, db, 1e-6 * (1 + fabs(db)));
}

/* Kept numbers are divided by their probability. The number of the dropped is within six deviations. */
static spot_status check_dropped(spot_op_run *r, const spot_op_densed *p)
{
    const size_t n = (size_t)p->s.rows * p->s.in;
    double zeros = 0;

    for (size_t i = 0; i < n && p->rule.p > 0; i++) {
        const double kept = spot_noise(p->id + DROPPED, i, SPOT_FP32) / (1 - p->rule.p);
        float got;
        SPOT_TRY(spot_op_fetch(r, &got, p->dropped + i, sizeof got));
        zeros += got == 0;
        if (got != 0) SPOT_TRY(spot_bench_near(r->c, "kept", i, got, kept, 1e-6 * fabs(kept)));
    }
    return spot_bench_near(r->c, "dropped numbers", n, zeros, (double)n * p->rule.p,
                           6 * sqrt((double)n * p->rule.p * (1 - p->rule.p)));
}

static spot_status check_dense(spot_op_run *r, void *problem)
{
    const spot_op_densed *p = problem;

    for (size_t e = 0; e < CHECKED; e++) {
        SPOT_TRY(check_output(r, p, e));
        if (!p->broken) SPOT_TRY(check_gradients(r, p, e));
    }
    return check_dropped(r, p);
}

const spot_op spot_op_dense = { "dense", sizeof(spot_op_densed), make_dense, run_dense, check_dense, true };

/* -- timed passes --------------------------------------------------------------------------------------------- */

/* size: channels, pixels a side, images, precision. */
static spot_status open_pooling(spot_ctx *c, void **state, const int *size, spot_bench_work *work, bool back)
{
    const int of_op[1][SPOT_OP_SIZES] = { { size[2], size[2], size[0], size[1], true, size[3] } };
    const double side = spot_pool_side(size[1], true), out = side * side / ((double)size[1] * size[1]);
    const double number = (double)spot_precision_bytes((spot_precision)size[3]);
    spot_op_run *r = NULL;
    spot_status s = spot_op_open(c, &r, &spot_op_pooling, 1, of_op, 1, 1, false);

    work->items = size[2];
    work->bytes = ((1 + out + (back ? out : 0)) * number + out) * (double)size[2] * size[0] * size[1] * size[1];
    *state = r;
    return s;
}

/* size: rows, inputs, outputs, precision. Bytes and steps of the products; the way back has two. */
static spot_status open_linear(spot_ctx *c, void **state, const int *size, spot_bench_work *work, bool back)
{
    const int of_op[1][SPOT_OP_SIZES] = { { size[0], size[1], size[2], true, 0, false, size[3] } };
    const double rows = size[0], in = size[1], out = size[2], weight = (double)spot_precision_bytes((spot_precision)size[3]);
    spot_op_run *r = NULL;
    spot_status s = spot_op_open(c, &r, &spot_op_dense, 1, of_op, 1, 1, false);

    work->items = rows;
    work->flops = (back ? 4 : 2) * rows * in * out;
    work->bytes = weight * in * out + 4 * (back ? in * out + 2 * rows * in + 3 * rows * out : rows * in + rows * out);
    work->matrix = size[3] != SPOT_FP32;
    *state = r;
    return s;
}

#define KIND(name, pass, opener, back)                                                                               \
    static spot_status open_##name(spot_ctx *c, void **state, const int *size, spot_bench_work *work)                \
    {                                                                                                                \
        return opener(c, state, size, work, back);                                                                   \
    }                                                                                                                \
    static spot_status time_##name(spot_ctx *c, void *state)                                                         \
    {                                                                                                                \
        spot_op_run *r = state;                                                                                      \
        (void)c;                                                                                                     \
        return pass(r, r->problem);                                                                                  \
    }                                                                                                                \
    static const spot_bench_kind kind_##name = { open_##name, spot_op_bench_check, time_##name, spot_op_bench_close };
KIND(pool,       pool,       open_pooling, false)
KIND(pool_back,  pool_back,  open_pooling, true)
KIND(dense,      go_forward, open_linear,  false)
KIND(dense_back, go_back,    open_linear,  true)

/* The sizes of a batch of 256 at 224 px. */
#define POOL(words, kind, channels, px)                                                                            \
    { "pooling", words, "images", SPOT_ON_CUDA, &kind_##kind, { channels, px, 256, SPOT_BF16 }, { 16, 7, 2, SPOT_BF16 } }
#define LINEAR(words, kind, where, precision) \
    { "dense", words, "rows", where, &kind_##kind, { 256, 9216, 4096, precision }, { 5, 40, 24, precision } }

const spot_bench_row spot_bench_alexnet[] = {
    POOL("largest of 3x3, 64 channels, 55 px",        pool,      64, 55),
    POOL("largest of 3x3, back, 64 channels, 55 px",  pool_back, 64, 55),
    POOL("largest of 3x3, 192 channels, 27 px",       pool,      192, 27),
    POOL("largest of 3x3, back, 192 channels, 27 px", pool_back, 192, 27),
    LINEAR("9216 to 4096, 256 rows",             dense,      SPOT_ON_ALL,  SPOT_FP32),
    LINEAR("9216 to 4096, 256 rows, back",       dense_back, SPOT_ON_ALL,  SPOT_FP32),
    LINEAR("9216 to 4096, 256 rows, bf16",       dense,      SPOT_ON_CUDA, SPOT_BF16),
    LINEAR("9216 to 4096, 256 rows, back, bf16", dense_back, SPOT_ON_CUDA, SPOT_BF16),
    { 0 },
};
