/* bench_norm.c - batch norm, ReLU, residual and pooling: their problems for the tests, and the passes on a GPU, which are bound
 * by memory. Each tensor's bytes count once a pass. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "op_net.h"

enum { Y, OTHER, DA, DB, NUMBERS };                 /* noise of a problem, from its id; NUMBERS: of its layers */
enum { IDS = 40, PARTS = 10, CHECKED = 24 };

/* The CPU's variance is the one that is off: by 7e-6 in the worst channels of the tests, whose first pixel, around which it is
 * summed, lies four deviations from the mean. CUDA's, summed in shorter pieces, is within 1e-7 of double there. */
#define CPU_STATS 1e-5

/* Number i of (rows, pixels, channels). In bf16 dz = da + db is rounded where it is written, and dy = a dz + ... once more.
 * Gradients that are multiples of 1/16, at most 4, have a sum that bf16 holds, so that dy is rounded once. */
static float value(const spot_op_normed *p, int which, size_t i)
{
    float v = spot_noise(p->id + which, i, p->precision);

    if (p->plain) return v;
    if (p->broken && which == Y && i == 0) return NAN;
    if (which == Y) return spot_op_rounded(1 + spot_noise(p->id + which, i, SPOT_FP32) / 2, p->precision);
    if (which == OTHER || p->precision != SPOT_BF16) return v;
    return fminf(fmaxf(rintf(16 * v) / 16, -4), 4);
}

spot_norm spot_op_layer(spot_op_run *r, int channels, int id, double off)
{
    static const char *const name[PARTS] = { "weight", "bias", "running mean", "running variance", "mean", "1/deviation",
                                             "scale", "shift", "dweight", "dbias" };
    const spot_op_tensor t = { 1, 1, 1, channels, 1, SPOT_FP32, 0 };
    float *part[PARTS];

    for (int i = 0; i < PARTS; i++) {
        part[i] = spot_op_noise(r, id + i, (size_t)channels);
        spot_op_tensor_part(r, name[i], part[i], t, SPOT_OP_FLOAT, i < 8 ? CPU_STATS : off, 0);
    }
    return (spot_norm){ .weight = part[0], .bias = part[1], .running_mean = part[2], .running_var = part[3], .mean = part[4],
                        .invstd = part[5], .scale = part[6], .shift = part[7], .dweight = part[8], .dbias = part[9] };
}

static void *make_tensor(spot_op_run *r, const spot_op_normed *p, spot_plane plane, int which)
{
    spot_op_tensor t = spot_op_plane(plane);
    size_t n = spot_op_numbers(&t), live = n / (size_t)t.rows * t.live;
    float *v = p->plain ? NULL : malloc(n * sizeof *v);
    void *to;

    if (!v) return spot_op_tensor_noise(r, t, p->id + which);
    for (size_t i = 0; i < n; i++) v[i] = i < live ? value(p, which, i) : NAN;
    to = spot_op_tensor_of(r, t, v);
    free(v);
    return to;
}

static void make_norm(spot_op_run *r, void *problem, const int *size)
{
    spot_op_normed *p = problem;
    double off = size[6] == SPOT_BF16 ? 0x1p-8 : CPU_STATS, off_dy = off;
    spot_op_tensor in, out;
    bool joins;

    *p = (spot_op_normed){ .kind = (spot_op_join)size[0], .plain = size[7] == SPOT_OP_PLAIN,
                           .broken = size[7] == SPOT_OP_BROKEN, .id = IDS * r->number,
                           .precision = (spot_precision)size[6] };
    p->p = p->q = (spot_plane){ size[1], size[2], size[3], size[4], p->precision };
    if (p->kind == SPOT_OP_POOLED) p->q.size /= 2;
    joins = p->kind == SPOT_OP_IDENTITY || p->kind == SPOT_OP_SHORTCUT;
    if (joins && p->plain && size[5] && size[6] == SPOT_BF16) off_dy *= 2;
    in = spot_op_plane(p->p), out = spot_op_plane(p->q);
    for (int i = 0; i < 1 + (p->kind == SPOT_OP_SHORTCUT); i++)
        p->l[i] = spot_op_layer(r, in.channels, p->id + NUMBERS + i * PARTS, off);
    p->y = make_tensor(r, p, p->p, Y);
    spot_op_tensor_part(r, "y, then its gradient", p->y, in, SPOT_OP_FLOAT, off_dy, 0);
    if (joins) p->y2 = make_tensor(r, p, p->p, OTHER);
    if (p->kind == SPOT_OP_SHORTCUT) spot_op_tensor_part(r, "y2, then its gradient", p->y2, in, SPOT_OP_FLOAT, off_dy, 0);
    p->out = spot_op_tensor_blank(r, out, SPOT_OP_FLOAT);
    spot_op_tensor_part(r, "out", p->out, out, SPOT_OP_FLOAT, off, 0);
    p->da = make_tensor(r, p, p->q, DA);
    if (size[5]) p->db = make_tensor(r, p, p->q, DB);
    p->dz = !joins ? NULL : p->db ? p->db : p->plain || r->number % 2 ? p->da : spot_op_tensor_blank(r, in, SPOT_OP_FLOAT);
    if (joins) spot_op_tensor_part(r, "dz", p->dz, in, SPOT_OP_FLOAT, off, 0);
    if (p->kind == SPOT_OP_POOLED) p->at = spot_op_tensor_blank(r, out, SPOT_OP_BYTE);
    if (p->at) spot_op_tensor_part(r, "winners", p->at, out, SPOT_OP_BYTE, 0, 0);
    p->scratch = spot_op_room(r, spot_norm_scratch(p->p));
    if (!r->c->device) p->p.precision = p->q.precision = SPOT_FP32;
}

static spot_status take_stats(spot_op_run *r, spot_op_normed *p)
{
    SPOT_OP(r, spot_norm_stats(r->c, &p->l[0], p->y, p->p, p->scratch));
    if (p->kind == SPOT_OP_SHORTCUT) SPOT_OP(r, spot_norm_stats(r->c, &p->l[1], p->y2, p->p, p->scratch));
    return SPOT_OK;
}

static spot_status go_forward(spot_op_run *r, spot_op_normed *p)
{
    if (p->kind == SPOT_OP_POOLED) SPOT_OP(r, spot_norm_pool(r->c, p->out, p->at, p->y, &p->l[0], p->p));
    else SPOT_OP(r, spot_norm_apply(r->c, p->out, p->y, &p->l[0], p->y2, p->kind == SPOT_OP_SHORTCUT ? &p->l[1] : NULL, p->p));
    return SPOT_OK;
}

static spot_status go_back(spot_op_run *r, spot_op_normed *p)
{
    bool two = p->kind == SPOT_OP_SHORTCUT;
    spot_norm_back back = { .da = p->da, .db = p->db, .out = p->dz ? p->out : NULL, .dz = p->dz, .y = p->y,
                            .y2 = two ? p->y2 : NULL, .a = &p->l[0], .b = two ? &p->l[1] : NULL };

    if (p->kind == SPOT_OP_POOLED)
        SPOT_OP(r, spot_norm_pool_back(r->c, &(spot_norm_pooled){ p->y, p->da, p->db, p->out, p->at }, &p->l[0], p->p,
                                       p->scratch));
    else
        SPOT_OP(r, spot_norm_backward(r->c, &back, p->p, p->scratch));
    return SPOT_OK;
}

static spot_status run_norm(spot_op_run *r, void *problems, int count)
{
    spot_op_normed *p = problems;

    for (int q = 0; q < count; q++) {
        SPOT_TRY(take_stats(r, &p[q]));
        SPOT_TRY(go_forward(r, &p[q]));
        SPOT_TRY(go_back(r, &p[q]));
    }
    return SPOT_OK;
}

/* -- the last channel in double ---------------------------------------------------------------------------------- */

typedef struct {
    const spot_op_normed *p;
    int channel;
    size_t pixels;                                  /* of the live rows */
    double mean[2], invstd[2], weight[2], bias[2];  /* of y, of y2 */
} column;

static double at(const column *k, int which, size_t i) { return value(k->p, which, i * k->p->p.channels + k->channel); }

/* The statistics, by two passes. */
static column column_of(const spot_op_normed *p)
{
    column k = { .p = p, .channel = p->p.channels - 1, .pixels = (size_t)p->p.live * p->p.size * p->p.size };

    for (int j = 0; j < 2; j++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < k.pixels; i++) sum += at(&k, Y + j, i);
        k.mean[j] = sum / (double)k.pixels;
        for (size_t i = 0; i < k.pixels; i++) square += pow(at(&k, Y + j, i) - k.mean[j], 2);
        k.invstd[j] = 1 / sqrt(square / (double)k.pixels + 1e-5);
        k.weight[j] = spot_noise(p->id + NUMBERS + j * PARTS, (size_t)k.channel, SPOT_FP32);
        k.bias[j] = spot_noise(p->id + NUMBERS + j * PARTS + 1, (size_t)k.channel, SPOT_FP32);
    }
    return k;
}

/* A pixel behind layer j, without weight and bias. */
static double bare(const column *k, int j, size_t i) { return (at(k, Y + j, i) - k->mean[j]) * k->invstd[j]; }

static double normed(const column *k, size_t i)
{
    double z = bare(k, 0, i) * k->weight[0] + k->bias[0];

    if (k->p->kind == SPOT_OP_IDENTITY) z += at(k, OTHER, i);
    if (k->p->kind == SPOT_OP_SHORTCUT) z += bare(k, 1, i) * k->weight[1] + k->bias[1];
    return z;
}

static double gradient(const column *k, size_t i) { return at(k, DA, i) + (k->p->db ? at(k, DB, i) : 0); }

/* The pixel that wins window i: the first of equal values; none if no value is above 0. */
static size_t winner(const column *k, size_t i, bool *any)
{
    int size = k->p->p.size, half = size / 2, row = (int)(i / half % half), col = (int)(i % half);
    size_t image = i / half / half * size * size, best = 0;
    double most = 0;

    *any = false;
    for (int y = 2 * row - 1; y <= 2 * row + 1; y++)
        for (int x = 2 * col - 1; x <= 2 * col + 1; x++) {
            size_t pixel = image + (size_t)y * size + x;
            double v = y >= 0 && x >= 0 ? normed(k, pixel) : 0;      /* size is even: no window leaves below or right */
            if (v > most) most = v, best = pixel, *any = true;
        }
    return best;
}

static double joined(const column *k, size_t i)
{
    bool any = true;
    size_t from = k->p->kind == SPOT_OP_POOLED ? winner(k, i, &any) : i;

    return any ? fmax(normed(k, from), 0) : 0;
}

/* The gradient of a pixel through the ReLU, the pool or both. */
static double dz(const column *k, size_t i)
{
    int size = k->p->p.size, half = size / 2, row = (int)(i / size % size), col = (int)(i % size);
    double sum = 0;

    if (k->p->kind != SPOT_OP_POOLED) return normed(k, i) > 0 ? gradient(k, i) : 0;
    for (int y = row / 2; y <= (row + 1) / 2 && y < half; y++)
        for (int x = col / 2; x <= (col + 1) / 2 && x < half; x++) {
            size_t window = (i / size / size * half + y) * half + x;
            bool any;
            if (winner(k, window, &any) == i && any) sum += gradient(k, window);
        }
    return sum;
}

static spot_status check_number(spot_op_run *r, const column *k, const char *what, const float *v, double want, double off)
{
    float got;

    SPOT_TRY(spot_op_fetch(r, &got, v + k->channel, sizeof got));
    return spot_bench_near(r->c, what, (size_t)k->channel, got, want, off);
}

/* Entry e of a few among `pixels`, the last one first. */
static size_t chosen(size_t e, size_t pixels) { return e ? e * 2654435761u % pixels : pixels - 1; }

/* The sums of layer j, and dy = weight/deviation * (dz - mean(dz) - x mean(dz x)), x = bare(y). */
static spot_status check_back(spot_op_run *r, const column *k, int j)
{
    const spot_op_normed *p = k->p;
    const spot_op_tensor t = spot_op_plane(p->p);
    double sum = 0, with_x = 0, n = (double)k->pixels;
    bool exact = p->precision == SPOT_FP32;

    for (size_t i = 0; i < k->pixels; i++) {
        double d = dz(k, i);
        sum += d;
        with_x += d * bare(k, j, i);
    }
    SPOT_TRY(check_number(r, k, "dbias", p->l[j].dbias, sum, (exact ? 1e-5 : 1e-3) * sqrt(n)));
    SPOT_TRY(check_number(r, k, "dweight", p->l[j].dweight, with_x, (exact ? 1e-5 : 1e-3) * sqrt(n)));
    for (size_t e = 0; e < CHECKED; e++) {
        size_t i = chosen(e, k->pixels);
        double want = k->weight[j] * k->invstd[j] * (dz(k, i) - sum / n - bare(k, j, i) * with_x / n), got;
        SPOT_TRY(spot_op_number(r, &got, j ? p->y2 : p->y, &t, i * t.channels + k->channel));
        SPOT_TRY(spot_bench_near(r->c, "gradient of pixel", i, got, want, (exact ? 1e-4 : 0.02) * (1 + fabs(want))));
    }
    return SPOT_OK;
}

static spot_status check_norm(spot_op_run *r, void *problem)
{
    const spot_op_normed *p = problem;
    const spot_op_tensor t = spot_op_plane(p->q);
    const column k = column_of(p);
    const size_t places = (size_t)p->q.live * p->q.size * p->q.size;
    const double off = p->precision == SPOT_BF16 ? 0x1p-8 : 0;

    for (int j = 0; j < 1 + (p->kind == SPOT_OP_SHORTCUT); j++) {
        SPOT_TRY(check_number(r, &k, "mean", p->l[j].mean, k.mean[j], 1e-5));
        SPOT_TRY(check_number(r, &k, "1/deviation", p->l[j].invstd, k.invstd[j], 1e-5 * k.invstd[j]));
        SPOT_TRY(check_back(r, &k, j));
    }
    for (size_t e = 0; e < CHECKED; e++) {
        size_t i = chosen(e, places);
        double want = joined(&k, i), got;
        SPOT_TRY(spot_op_number(r, &got, p->out, &t, i * t.channels + k.channel));
        SPOT_TRY(spot_bench_near(r->c, "pixel", i, got, want, 1e-5 * (1 + fabs(want)) + off * fabs(want)));
    }
    return SPOT_OK;
}

const spot_op spot_op_norm = { "norm", sizeof(spot_op_normed), make_norm, run_norm, check_norm, true };

/* -- timed passes ---------------------------------------------------------------------------------------------- */

/* size: channels, pixels a side, images, precision. `passes`: tensors that a pass reads or writes, each as often as it does. */
static spot_status open_layer(spot_ctx *c, void **state, const int *size, spot_bench_work *work, spot_op_join kind, bool db,
                              double passes)
{
    const int of_op[1][SPOT_OP_SIZES] = { { kind, size[2], size[2], size[0], size[1], db, size[3], SPOT_OP_PLAIN } };
    spot_op_run *r = NULL;
    spot_status s = spot_op_open(c, &r, &spot_op_norm, 1, of_op, 1, 1, false);

    work->items = size[2];
    work->bytes = passes * (double)size[2] * size[0] * size[1] * size[1]
                * (double)spot_precision_bytes((spot_precision)size[3]);
    *state = r;
    return s;
}

/* A pooled tensor is a quarter, the winners an eighth in bf16. The pool's way back reads the gradient, out and the winners
 * twice, y where it won and once more, and writes y. On CUDA a gradient comes in one part (spot_conv_onto). */
#define POOL_BACK (0.5 + 0.125 + 0.25 + 0.5 + 0.125 + 2)
#define KIND(name, pass, kind, db, passes)                                                                            \
    static spot_status open_##name(spot_ctx *c, void **state, const int *size, spot_bench_work *work)                \
    {                                                                                                                \
        return open_layer(c, state, size, work, kind, db, passes);                                                   \
    }                                                                                                                \
    static spot_status name(spot_ctx *c, void *state)                                                                \
    {                                                                                                                \
        spot_op_run *r = state;                                                                                      \
        (void)c;                                                                                                     \
        return pass(r, r->problem);                                                                                  \
    }                                                                                                                \
    static const spot_bench_kind kind_##name = { open_##name, spot_op_bench_check, name, spot_op_bench_close };
KIND(stats,     take_stats, SPOT_OP_ALONE,    false, 1)
KIND(apply,     go_forward, SPOT_OP_IDENTITY, false, 3)
KIND(inner,     go_back,    SPOT_OP_ALONE,    false, 5)
KIND(join,      go_back,    SPOT_OP_IDENTITY, false, 7)
KIND(pool,      go_forward, SPOT_OP_POOLED,   false, 1.375)
KIND(pool_back, go_back,    SPOT_OP_POOLED,   false, POOL_BACK)

#define ROW(words, kind, text, channels, px)                                                                   \
    { "norm", words ", " text, "images", SPOT_ON_CUDA, &kind_##kind, { channels, px, 256, SPOT_BF16 }, { 16, 6, 2, SPOT_BF16 } }

const spot_bench_row spot_bench_norm[] = {
    ROW("statistics",            stats,     "64 channels, 112 px", 64, 112),
    ROW("pool",                  pool,      "64 channels, 112 px", 64, 112),
    ROW("pool, back",            pool_back, "64 channels, 112 px", 64, 112),
    ROW("statistics",            stats,     "64 channels, 56 px",  64, 56),
    ROW("apply with a residual", apply,     "64 channels, 56 px",  64, 56),
    ROW("back, within a block",  inner,     "64 channels, 56 px",  64, 56),
    ROW("back, behind a block",  join,      "64 channels, 56 px",  64, 56),
    ROW("back, behind a block",  join,      "256 channels, 14 px", 256, 14),
    { 0 },
};
