/* bench_conv.c - the convolutions of ResNet-18 on a GPU, each shape once, forward and both gradients. A few entries of every
 * result are compared with sums in double. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "core/device.h"
#include "net/conv.h"
#include "net/optim.h"

enum { X, Y, W, READ, DW, NONE, SCRATCH, PARTS };   /* NONE: an optimizer's state */
enum { CHECKED = 24 };

typedef struct {
    spot_conv_shape s;
    spot_conv *plan;
    int out;                   /* pixels a side of y */
    void *part[PARTS];         /* on c's device; X and Y hold tensors X and Y of spot_noise until a run writes one */
    float *oihw;               /* on the host, tensor W */
} layer;

static void close_layer(spot_ctx *c, void *state)
{
    layer *b = state;

    for (int i = 0; i < PARTS; i++) spot_device_give(c, b->part[i]);
    spot_conv_close(c, b->plan);
    free(b->oihw);
    free(b);
}

/* Pads the images' three channels like a network's input. */
static spot_status fill_x(spot_ctx *c, layer *b, size_t pixels)
{
    spot_precision p = b->s.precision;
    void *three;
    spot_status e;

    SPOT_TRY(spot_device_take(c, &b->part[X], pixels * spot_conv_inputs(c, &b->s) * spot_precision_bytes(p)));
    if (b->s.ci > 3) return spot_noise_fill(c, b->part[X], X, pixels * b->s.ci, p);
    SPOT_TRY(spot_device_take(c, &three, pixels * 3 * sizeof(float)));
    e = spot_noise_fill(c, three, X, pixels * 3, SPOT_FP32);
    if (e == SPOT_OK) e = spot_conv_planes(c, b->part[X], three, b->s.rows, b->s.rows, b->s.size * b->s.size, p);
    if (e == SPOT_OK) e = spot_device_wait(c);
    spot_device_give(c, three);
    return e;
}

/* Weights in the optimizer's output format, which the convolution reads. */
static spot_status fill_w(spot_ctx *c, layer *b)
{
    size_t n = (size_t)b->s.co * b->s.ci * b->s.k * b->s.k, packed = spot_conv_packed(c, b->plan);
    spot_optim_rule stay = { .t = 1 };

    b->oihw = malloc(n * sizeof *b->oihw);
    if (!b->oihw) return spot_fail(c, SPOT_NOMEM, "no memory for the weights of a bench");
    for (size_t i = 0; i < n; i++) b->oihw[i] = spot_noise(W, i, b->s.precision);
    for (int i = W; i <= NONE; i++) SPOT_TRY(spot_device_take(c, &b->part[i], packed * sizeof(float)));
    SPOT_TRY(spot_device_copy(c, b->part[DW], b->oihw, n * sizeof *b->oihw));           /* packed weights are no fewer */
    SPOT_TRY(spot_conv_pack(c, b->plan, b->part[W], b->part[DW]));
    for (int i = DW; i <= NONE; i++) SPOT_TRY(spot_device_clear(c, b->part[i], packed * sizeof(float)));
    stay.rounded = b->s.precision == SPOT_BF16 ? b->part[READ] : NULL;
    SPOT_TRY(spot_optim_step(c, b->part[W], b->part[DW], b->part[NONE], NULL, packed, &stay));
    return stay.rounded ? SPOT_OK : spot_device_copy(c, b->part[READ], b->part[W], packed * sizeof(float));
}

/* size: channels in and out, kernel, stride, pixels a side of x, images, precision; whether the data gradient adds to dx. */
static spot_status open_layer(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    layer *b = *state = calloc(1, sizeof *b);
    size_t pixels;

    if (!b) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    b->s = (spot_conv_shape){ .rows = size[5], .lanes = 1, .ci = size[0], .co = size[1], .k = size[2], .stride = size[3],
                              .size = size[4], .train = true, .add = size[7], .precision = (spot_precision)size[6] };
    b->out = b->s.size / b->s.stride;
    pixels = (size_t)b->s.rows * b->s.size * b->s.size;
    work->items = b->s.rows;
    work->matrix = true;
    work->flops = 2.0 * b->s.rows * b->out * b->out * b->s.co * b->s.ci * b->s.k * b->s.k;
    SPOT_TRY(spot_conv_open(c, &b->plan, &b->s));
    SPOT_TRY(fill_x(c, b, pixels));
    pixels = (size_t)b->s.rows * b->out * b->out;
    SPOT_TRY(spot_device_take(c, &b->part[Y], pixels * b->s.co * spot_precision_bytes(b->s.precision)));
    SPOT_TRY(spot_noise_fill(c, b->part[Y], Y, pixels * b->s.co, b->s.precision));
    SPOT_TRY(spot_device_take(c, &b->part[SCRATCH], spot_conv_scratch(c, b->plan) + 1));
    return fill_w(c, b);
}

static spot_status forward(spot_ctx *c, void *state)
{
    layer *b = state;

    return spot_conv_forward(c, b->plan, b->part[Y], &(spot_conv_terms){ b->part[X], b->part[READ], NULL, NULL }, b->s.rows,
                             b->part[SCRATCH]);
}

static spot_status data(spot_ctx *c, void *state)
{
    layer *b = state;

    return spot_conv_backward_data(c, b->plan, b->part[X], b->part[Y], b->part[READ], b->s.rows, b->part[SCRATCH]);
}

static spot_status weights(spot_ctx *c, void *state)
{
    layer *b = state;

    return spot_conv_backward_weights(c, b->plan, b->part[DW], b->part[X], b->part[Y], b->s.rows, b->part[SCRATCH]);
}

/* Number `channel` of pixel (row, column) of image n, 0 beside it. */
static double at(const layer *b, int id, int n, int row, int column, int channel)
{
    int side = id == X ? b->s.size : b->out, channels = id == X ? b->s.ci : b->s.co;
    bool inside = row >= 0 && row < side && column >= 0 && column < side;

    return inside ? spot_noise(id, (((size_t)n * side + row) * side + column) * channels + channel, b->s.precision) : 0;
}

static double weight(const layer *b, int o, int i, int tap)
{
    return b->oihw[((size_t)o * b->s.ci + i) * b->s.k * b->s.k + tap];
}

/* Random places of the result and the last one: image, row, column, channel. Tolerance: a bf16's last place, and the rounding
 * of sums of `terms` products of normal numbers. */
static spot_status check_entries(spot_ctx *c, layer *b, int id, double (*sum)(const layer *, int, int, int, int), double terms)
{
    int side = id == X ? b->s.size : b->out, channels = id == X ? b->s.ci : b->s.co;
    size_t count = (size_t)b->s.rows * side * side * channels;

    for (size_t e = 0; e < CHECKED; e++) {
        size_t i = e ? (size_t)(e * 2654435761u) % count : count - 1, pixel = i / channels;
        double want = sum(b, (int)(pixel / side / side), (int)(pixel / side % side), (int)(pixel % side), (int)(i % channels));
        double got;
        SPOT_TRY(spot_number_at(c, &got, b->part[id], i, b->s.precision));
        SPOT_TRY(spot_bench_near(c, "entry", i, got, want, 0x1p-8 * fabs(want) + 1e-3 * sqrt(terms)));
    }
    return SPOT_OK;
}

static double forward_sum(const layer *b, int n, int row, int column, int o)
{
    double sum = 0;

    for (int tap = 0; tap < b->s.k * b->s.k; tap++)
        for (int i = 0; i < b->s.ci; i++)
            sum += weight(b, o, i, tap) * at(b, X, n, row * b->s.stride + tap / b->s.k - b->s.k / 2,
                                             column * b->s.stride + tap % b->s.k - b->s.k / 2, i);
    return sum;
}

static double data_sum(const layer *b, int n, int row, int column, int i)
{
    double sum = 0;

    for (int tap = 0; tap < b->s.k * b->s.k; tap++) {
        int y = row + b->s.k / 2 - tap / b->s.k, x = column + b->s.k / 2 - tap % b->s.k;
        if (y < 0 || x < 0 || y % b->s.stride || x % b->s.stride) continue;
        for (int o = 0; o < b->s.co; o++) sum += weight(b, o, i, tap) * at(b, Y, n, y / b->s.stride, x / b->s.stride, o);
    }
    return b->s.add ? sum + at(b, X, n, row, column, i) : sum;
}

static spot_status check_forward(spot_ctx *c, void *state)
{
    layer *b = state;

    SPOT_TRY(forward(c, state));
    return check_entries(c, b, Y, forward_sum, b->s.ci * b->s.k * b->s.k);
}

static spot_status check_data(spot_ctx *c, void *state)
{
    layer *b = state;

    SPOT_TRY(data(c, state));
    return check_entries(c, b, X, data_sum, b->s.co * b->s.k * b->s.k);
}

static spot_status check_weights(spot_ctx *c, void *state)
{
    layer *b = state;
    int taps = b->s.k * b->s.k, weights_all = b->s.co * b->s.ci * taps;

    SPOT_TRY(weights(c, state));
    SPOT_TRY(spot_conv_unpack(c, b->plan, b->part[NONE], b->part[DW]));
    SPOT_TRY(spot_device_copy(c, b->oihw, b->part[NONE], (size_t)weights_all * sizeof *b->oihw));
    for (int e = 0; e < 6; e++) {
        int i = e ? (int)(e * 2654435761u % (unsigned)weights_all) : weights_all - 1, tap = i % taps;
        double want = 0, terms = (double)b->s.rows * b->out * b->out;
        for (int n = 0; n < b->s.rows; n++)
            for (int row = 0; row < b->out; row++)
                for (int column = 0; column < b->out; column++)
                    want += at(b, Y, n, row, column, i / taps / b->s.ci)
                          * at(b, X, n, row * b->s.stride + tap / b->s.k - b->s.k / 2,
                               column * b->s.stride + tap % b->s.k - b->s.k / 2, i / taps % b->s.ci);
        SPOT_TRY(spot_bench_near(c, "gradient", (size_t)i, b->oihw[i], want, 0x1p-8 * fabs(want) + 1e-3 * sqrt(terms)));
    }
    return SPOT_OK;
}

static const spot_bench_kind forwards = { open_layer, check_forward, forward, close_layer };
static const spot_bench_kind datas = { open_layer, check_data, data, close_layer };
static const spot_bench_kind weightses = { open_layer, check_weights, weights, close_layer };

/* Batch 256 in bf16, as the paper's networks train; tensors of the last two stages fit into an H100's L2 cache. */
#define ROW(words, kind, text, ci, co, k, stride, px, add)                                                      \
    { "conv", words ", " text, "images", SPOT_ON_CUDA, &kind, { ci, co, k, stride, px, 256, SPOT_BF16, add },   \
      { (ci) > 3 ? 32 : 3, 16, k, stride, 6, 2, SPOT_BF16, add } }
#define PASS(words, kind, text, ...) ROW(words, kind, text, __VA_ARGS__, false)
#define ADDED(text, ...) ROW("added data gradient", datas, text, __VA_ARGS__, true)
/* A block's first layer adds its data gradient to the shortcut's. FIRST: the shape has no other place in the network. */
#define LAYER(text, ...)                                  \
    PASS("forward", forwards, text, __VA_ARGS__),         \
    PASS("data gradient", datas, text, __VA_ARGS__),      \
    PASS("weight gradient", weightses, text, __VA_ARGS__)
#define FIRST(text, ...)                                  \
    PASS("forward", forwards, text, __VA_ARGS__),         \
    ADDED(text, __VA_ARGS__),                             \
    PASS("weight gradient", weightses, text, __VA_ARGS__)

const spot_bench_row spot_bench_conv[] = {
    PASS("forward", forwards, "3 to 64, 7x7/2, 224 px", 3, 64, 7, 2, 224),
    PASS("weight gradient", weightses, "3 to 64, 7x7/2, 224 px", 3, 64, 7, 2, 224),
    LAYER("64 to 64, 3x3, 56 px",      64,  64,  3, 1, 56),
    ADDED("64 to 64, 3x3, 56 px",      64,  64,  3, 1, 56),
    FIRST("64 to 128, 3x3/2, 56 px",   64,  128, 3, 2, 56),
    LAYER("64 to 128, 1x1/2, 56 px",   64,  128, 1, 2, 56),
    LAYER("128 to 128, 3x3, 28 px",    128, 128, 3, 1, 28),
    ADDED("128 to 128, 3x3, 28 px",    128, 128, 3, 1, 28),
    FIRST("128 to 256, 3x3/2, 28 px",  128, 256, 3, 2, 28),
    LAYER("128 to 256, 1x1/2, 28 px",  128, 256, 1, 2, 28),
    LAYER("256 to 256, 3x3, 14 px",    256, 256, 3, 1, 14),
    ADDED("256 to 256, 3x3, 14 px",    256, 256, 3, 1, 14),
    FIRST("256 to 512, 3x3/2, 14 px",  256, 512, 3, 2, 14),
    LAYER("256 to 512, 1x1/2, 14 px",  256, 512, 1, 2, 14),
    LAYER("512 to 512, 3x3, 7 px",     512, 512, 3, 1, 7),
    ADDED("512 to 512, 3x3, 7 px",     512, 512, 3, 1, 7),
    { 0 },
};
