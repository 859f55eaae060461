/* bench_norm.c - batch norm, ReLU, residual and pooling on a GPU: kernels bound by memory. Each tensor's bytes count once a
 * pass. A few entries and whole sums of a channel are compared with double. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "core/device.h"
#include "net/norm.h"

enum { Y, OTHER, OUT, DA, DB, DZ, AT, TENSORS };    /* numbers of spot_noise, too */
enum { NUMBERS = 10, CHECKED = 24 };                /* of a spot_norm */

typedef struct {
    spot_plane p;
    void *tensor[TENSORS], *scratch;                /* on c's device, as the numbers of the layer are */
    float *number;
    spot_norm l;
    double mean, invstd, weight, bias;              /* of the checked channel, in double */
    int channel;
} layer;

static void close_layer(spot_ctx *c, void *state)
{
    layer *b = state;

    for (int i = 0; i < TENSORS; i++) spot_device_give(c, b->tensor[i]);
    spot_device_give(c, b->scratch);
    spot_device_give(c, b->number);
    free(b);
}

static size_t numbers(const layer *b) { return (size_t)b->p.rows * b->p.channels * b->p.size * b->p.size; }

static spot_norm numbers_of(float *v, int channels)
{
    float *at[NUMBERS];

    for (int i = 0; i < NUMBERS; i++) at[i] = v + (size_t)i * channels;
    return (spot_norm){ .weight = at[0], .bias = at[1], .running_mean = at[2], .running_var = at[3], .mean = at[4],
                        .invstd = at[5], .scale = at[6], .shift = at[7], .dweight = at[8], .dbias = at[9] };
}

/* The number of the checked channel at a pixel of the batch. */
static double value(const layer *b, int id, size_t pixel)
{
    return spot_noise(id, pixel * b->p.channels + b->channel, b->p.precision);
}

static double normed(const layer *b, size_t pixel)
{
    return (value(b, Y, pixel) - b->mean) * b->invstd * b->weight + b->bias;
}

/* The statistics of the channel, by two passes. */
static void own_statistics(layer *b)
{
    size_t pixels = numbers(b) / b->p.channels;
    double sum = 0, square = 0;

    b->channel = b->p.channels - 1;
    b->weight = spot_noise(TENSORS, (size_t)b->channel, SPOT_FP32);
    b->bias = spot_noise(TENSORS, (size_t)(b->p.channels + b->channel), SPOT_FP32);
    for (size_t i = 0; i < pixels; i++) sum += value(b, Y, i);
    b->mean = sum / (double)pixels;
    for (size_t i = 0; i < pixels; i++) square += pow(value(b, Y, i) - b->mean, 2);
    b->invstd = 1 / sqrt(square / (double)pixels + 1e-5);
}

/* size: channels, pixels a side, images, precision. The layer's statistics are those of Y. */
static spot_status open_layer(spot_ctx *c, void **state, const int *size, spot_bench_work *work, double passes)
{
    layer *b = *state = calloc(1, sizeof *b);
    size_t each;

    if (!b) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    b->p = (spot_plane){ size[2], size[2], size[0], size[1], (spot_precision)size[3] };
    each = spot_precision_bytes(b->p.precision);
    work->items = b->p.rows;
    work->bytes = passes * (double)(numbers(b) * each);
    SPOT_TRY(spot_device_take(c, &b->scratch, spot_norm_scratch(b->p)));
    SPOT_TRY(spot_device_take(c, (void **)&b->number, NUMBERS * (size_t)b->p.channels * sizeof(float)));
    SPOT_TRY(spot_noise_fill(c, b->number, TENSORS, NUMBERS * (size_t)b->p.channels, SPOT_FP32));
    b->l = numbers_of(b->number, b->p.channels);
    for (int i = 0; i < TENSORS; i++) {
        SPOT_TRY(spot_device_take(c, &b->tensor[i], numbers(b) * (i == AT ? 1 : each)));
        if (i != AT) SPOT_TRY(spot_noise_fill(c, b->tensor[i], i, numbers(b), b->p.precision));
    }
    own_statistics(b);
    return spot_norm_stats(c, &b->l, b->tensor[Y], b->p, b->scratch);
}

/* -- timed passes ---------------------------------------------------------------------------------------------- */

static spot_status stats(spot_ctx *c, void *state)
{
    layer *b = state;

    return spot_norm_stats(c, &b->l, b->tensor[Y], b->p, b->scratch);
}

static spot_status apply(spot_ctx *c, void *state)
{
    layer *b = state;

    return spot_norm_apply(c, b->tensor[OUT], b->tensor[Y], &b->l, b->tensor[OTHER], NULL, b->p);
}

static spot_status inner(spot_ctx *c, void *state)
{
    layer *b = state;
    spot_norm_back back = { .da = b->tensor[DA], .y = b->tensor[Y], .a = &b->l };

    return spot_norm_backward(c, &back, b->p, b->scratch);
}

static spot_status join(spot_ctx *c, void *state)
{
    layer *b = state;
    spot_norm_back back = { .da = b->tensor[DA], .db = b->tensor[DB], .out = b->tensor[OUT], .dz = b->tensor[DZ],
                            .y = b->tensor[Y], .a = &b->l };

    return spot_norm_backward(c, &back, b->p, b->scratch);
}

static spot_status pool(spot_ctx *c, void *state)
{
    layer *b = state;

    return spot_norm_pool(c, b->tensor[OUT], b->tensor[AT], b->tensor[Y], &b->l, b->p);
}

static spot_status pool_back(spot_ctx *c, void *state)
{
    layer *b = state;

    return spot_norm_pool_back(c, b->tensor[Y], b->tensor[DA], b->tensor[DB], b->tensor[OUT], b->tensor[AT], &b->l, b->p,
                               b->scratch);
}

/* Tensors that a pass reads or writes, each as often as it does; a pooled one is a quarter, the winners an eighth in bf16. */
static spot_status open_stats(spot_ctx *c, void **s, const int *n, spot_bench_work *w) { return open_layer(c, s, n, w, 1); }
static spot_status open_apply(spot_ctx *c, void **s, const int *n, spot_bench_work *w) { return open_layer(c, s, n, w, 3); }
static spot_status open_inner(spot_ctx *c, void **s, const int *n, spot_bench_work *w) { return open_layer(c, s, n, w, 5); }
static spot_status open_join(spot_ctx *c, void **s, const int *n, spot_bench_work *w) { return open_layer(c, s, n, w, 8); }
static spot_status open_pool(spot_ctx *c, void **s, const int *n, spot_bench_work *w)
{
    return open_layer(c, s, n, w, 1.375);
}
static spot_status open_pool_back(spot_ctx *c, void **s, const int *n, spot_bench_work *w)
{
    SPOT_TRY(open_layer(c, s, n, w, 0.75 + 0.125 + 0.25 + 0.75 + 0.125 + 2));    /* both gradients, out, the winners: twice;
                                                                                    y where it won; y read and written */
    return pool(c, *s);
}

/* -- checks ---------------------------------------------------------------------------------------------------- */

static spot_status number(spot_ctx *c, const layer *b, const char *what, const float *v, double want, double off)
{
    double got;

    SPOT_TRY(spot_number_at(c, &got, v, (size_t)b->channel, SPOT_FP32));
    return spot_bench_near(c, what, (size_t)b->channel, got, want, off);
}

/* wanted(b, pixel) for a few pixels of a plane of `pixels` and its last. */
static spot_status entries(spot_ctx *c, layer *b, int id, size_t pixels, double (*wanted)(const layer *, size_t), double off)
{
    for (size_t e = 0; e < CHECKED; e++) {
        size_t i = e ? e * 2654435761u % pixels : pixels - 1;
        double want = wanted(b, i), got;
        SPOT_TRY(spot_number_at(c, &got, b->tensor[id], i * b->p.channels + b->channel, b->p.precision));
        SPOT_TRY(spot_bench_near(c, "pixel", i, got, want, off + 0x1p-8 * fabs(want)));
    }
    return SPOT_OK;
}

static spot_status check_stats(spot_ctx *c, void *state)
{
    layer *b = state;

    SPOT_TRY(stats(c, state));
    SPOT_TRY(number(c, b, "mean", b->l.mean, b->mean, 1e-5));
    return number(c, b, "1/deviation", b->l.invstd, b->invstd, 1e-5);
}

static double applied(const layer *b, size_t i) { return fmax(normed(b, i) + value(b, OTHER, i), 0); }

static spot_status check_apply(spot_ctx *c, void *state)
{
    SPOT_TRY(apply(c, state));
    return entries(c, state, OUT, numbers(state) / ((layer *)state)->p.channels, applied, 1e-5);
}

/* dz of a pixel: the gradient through the ReLU, the pool or both. */
static double inner_dz(const layer *b, size_t i) { return normed(b, i) > 0 ? value(b, DA, i) : 0; }

static double join_dz(const layer *b, size_t i)
{
    return value(b, OUT, i) > 0 ? value(b, DA, i) + value(b, DB, i) : 0;
}

/* The pixel that wins window i: the first of equal values; none if no value is above 0. */
static size_t winner(const layer *b, size_t i, bool *any)
{
    int half = b->p.size / 2, row = (int)(i / half % half), column = (int)(i % half);
    size_t image = i / half / half * b->p.size * b->p.size, best = 0;
    double most = 0;

    *any = false;
    for (int r = 2 * row - 1; r <= 2 * row + 1; r++)
        for (int k = 2 * column - 1; k <= 2 * column + 1; k++) {
            size_t at = image + (size_t)r * b->p.size + k;
            double v = r >= 0 && k >= 0 ? normed(b, at) : 0;      /* size is even: no window leaves below or right */
            if (v > most) most = v, best = at, *any = true;
        }
    return best;
}

static double pool_dz(const layer *b, size_t i)
{
    int half = b->p.size / 2, row = (int)(i / b->p.size % b->p.size), column = (int)(i % b->p.size);
    double sum = 0;

    for (int r = row / 2; r <= (row + 1) / 2 && r < half; r++)
        for (int k = column / 2; k <= (column + 1) / 2 && k < half; k++) {
            size_t window = (i / b->p.size / b->p.size * half + r) * half + k;
            bool any;
            if (winner(b, window, &any) == i && any) sum += value(b, DA, window) + value(b, DB, window);
        }
    return sum;
}

/* After a pass back: the channel's sums, and dy = weight/deviation * (dz - mean(dz) - x mean(dz x)), x = bn(y) bare. */
static spot_status check_back(spot_ctx *c, layer *b, double (*dz)(const layer *, size_t))
{
    size_t pixels = numbers(b) / b->p.channels;
    double sum = 0, with_x = 0, off = 1e-3 * sqrt((double)pixels);

    for (size_t i = 0; i < pixels; i++) {
        double d = dz(b, i);
        sum += d;
        with_x += d * (value(b, Y, i) - b->mean) * b->invstd;
    }
    SPOT_TRY(number(c, b, "dbias", b->l.dbias, sum, off));
    SPOT_TRY(number(c, b, "dweight", b->l.dweight, with_x, off));
    for (size_t e = 0; e < CHECKED; e++) {
        size_t i = e ? e * 2654435761u % pixels : pixels - 1;
        double x = (value(b, Y, i) - b->mean) * b->invstd, got;
        double want = b->weight * b->invstd * (dz(b, i) - sum / (double)pixels - x * with_x / (double)pixels);
        SPOT_TRY(spot_number_at(c, &got, b->tensor[Y], i * b->p.channels + b->channel, b->p.precision));
        SPOT_TRY(spot_bench_near(c, "gradient of pixel", i, got, want, 0.02 * (1 + fabs(want))));
    }
    return SPOT_OK;
}

static spot_status check_inner(spot_ctx *c, void *state)
{
    SPOT_TRY(inner(c, state));
    return check_back(c, state, inner_dz);
}

static spot_status check_join(spot_ctx *c, void *state)
{
    SPOT_TRY(join(c, state));
    return check_back(c, state, join_dz);
}

static double pooled(const layer *b, size_t i)
{
    bool any;
    size_t best = winner(b, i, &any);

    return any ? normed(b, best) : 0;
}

static spot_status check_pool(spot_ctx *c, void *state)
{
    SPOT_TRY(pool(c, state));
    return entries(c, state, OUT, numbers(state) / 4 / ((layer *)state)->p.channels, pooled, 1e-5);
}

static spot_status check_pool_back(spot_ctx *c, void *state)
{
    SPOT_TRY(pool_back(c, state));
    return check_back(c, state, pool_dz);
}

#define KIND(name) static const spot_bench_kind kind_##name = { open_##name, check_##name, name, close_layer }
KIND(stats);
KIND(apply);
KIND(inner);
KIND(join);
KIND(pool);
KIND(pool_back);

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
