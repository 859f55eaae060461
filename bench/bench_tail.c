/* bench_tail.c - the ends of a training step on a GPU: head and loss, forward and backward, and the optimizer. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "core/device.h"
#include "net/head.h"
#include "net/optim.h"

enum { PARTS = 12 };

typedef struct {
    spot_plane p;              /* head */
    size_t count;              /* optimizer: parameters */
    void *part[PARTS];         /* on c's device */
} tail;

static void close_tail(spot_ctx *c, void *state)
{
    tail *s = state;

    for (int i = 0; i < PARTS; i++) spot_device_give(c, s->part[i]);
    free(s);
}

/* Takes part[i], filled with tensor i unless it is only written. */
static spot_status part(spot_ctx *c, tail *s, int i, size_t count, spot_precision p, bool filled)
{
    SPOT_TRY(spot_device_take(c, &s->part[i], count * spot_precision_bytes(p) + 8));
    return filled ? spot_noise_fill(c, s->part[i], i, count, p) : SPOT_OK;
}

/* -- head ------------------------------------------------------------------------------------------------------- */

enum { X, W, B, TARGET, DX, FEATURE, LOGIT, DLOGIT, DW, DB, LOSS };

/* size: channels, pixels a side, images, precision; one output, whose target is a random number. */
static spot_status open_head(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    tail *s = *state = calloc(1, sizeof *s);
    size_t rows = (size_t)size[2], channels = (size_t)size[0], numbers = rows * channels * (size_t)size[1] * (size_t)size[1];
    spot_precision p = (spot_precision)size[3];

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->p = (spot_plane){ size[2], size[2], size[0], size[1], p };
    work->items = s->p.rows;
    work->bytes = 2.0 * (double)(numbers * spot_precision_bytes(p));
    SPOT_TRY(part(c, s, X, numbers, p, true));
    SPOT_TRY(part(c, s, W, channels, SPOT_FP32, true));
    SPOT_TRY(part(c, s, B, 1, SPOT_FP32, true));
    SPOT_TRY(part(c, s, TARGET, rows, SPOT_FP32, true));
    SPOT_TRY(part(c, s, DX, numbers, p, false));
    SPOT_TRY(part(c, s, FEATURE, rows * channels, SPOT_FP32, false));
    SPOT_TRY(part(c, s, LOGIT, rows, SPOT_FP32, false));
    SPOT_TRY(part(c, s, DLOGIT, rows, SPOT_FP32, false));
    SPOT_TRY(part(c, s, DW, channels, SPOT_FP32, false));
    SPOT_TRY(part(c, s, DB, 1, SPOT_FP32, false));
    return part(c, s, LOSS, 2, SPOT_FP32, false);
}

static spot_status head(spot_ctx *c, void *state)
{
    tail *s = state;

    SPOT_TRY(spot_head_forward(c, s->part[FEATURE], s->part[LOGIT], s->part[X], s->part[W], s->part[B], s->p, 1));
    SPOT_TRY(spot_head_loss(c, s->part[LOSS], s->part[DLOGIT], s->part[LOGIT], s->part[TARGET], s->p.rows));
    return spot_head_backward(c, s->part[DX], s->part[DW], s->part[DB], s->part[DLOGIT], s->part[FEATURE], s->part[W], s->p, 1);
}

/* NHWC: the mean over pixels of channel k of image n. */
static double mean(const tail *s, int n, int k)
{
    int pixels = s->p.size * s->p.size;
    double sum = 0;

    for (int i = 0; i < pixels; i++)
        sum += spot_noise(X, ((size_t)n * pixels + i) * s->p.channels + k, s->p.precision) / pixels;
    return sum;
}

static spot_status check_head(spot_ctx *c, void *state)
{
    tail *s = state;
    int pixels = s->p.size * s->p.size, k = s->p.channels - 1;
    double loss = 0, dw = 0, got, dz = 0;

    SPOT_TRY(head(c, state));
    for (int n = 0; n < s->p.rows; n++) {
        double z = spot_noise(B, 0, SPOT_FP32), t = spot_noise(TARGET, (size_t)n, SPOT_FP32);
        for (int j = 0; j < s->p.channels; j++) z += mean(s, n, j) * spot_noise(W, (size_t)j, SPOT_FP32);
        loss += (fmax(z, 0) - z * t + log1p(exp(-fabs(z)))) / s->p.rows;
        dz = (1 / (1 + exp(-z)) - t) / s->p.rows;
        dw += dz * mean(s, n, k);
        SPOT_TRY(spot_number_at(c, &got, s->part[LOGIT], (size_t)n, SPOT_FP32));
        SPOT_TRY(spot_bench_near(c, "logit", (size_t)n, got, z, 1e-4));
    }
    SPOT_TRY(spot_device_copy(c, &got, s->part[LOSS], sizeof got));
    SPOT_TRY(spot_bench_near(c, "loss", 0, got, loss, 1e-4));
    SPOT_TRY(spot_number_at(c, &got, s->part[DW], (size_t)k, SPOT_FP32));
    SPOT_TRY(spot_bench_near(c, "gradient of weight", (size_t)k, got, dw, 1e-5));
    dz *= spot_noise(W, (size_t)k, SPOT_FP32) / pixels;      /* of the last image's last pixel */
    SPOT_TRY(spot_number_at(c, &got, s->part[DX], (size_t)s->p.rows * pixels * s->p.channels - 1, s->p.precision));
    return spot_bench_near(c, "gradient of the last number", 0, got, dz, 0x1p-7 * fabs(dz));
}

/* -- optimizer -------------------------------------------------------------------------------------------------- */

enum { P, G, M, V, ROUNDED };

static const spot_optim_rule adam = { .adam = 1, .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .t = 10 };

/* size: parameters. Read: p, g, m, v. Written: p, m, v and the bf16 weights for convolutions. */
static spot_status open_optim(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    tail *s = *state = calloc(1, sizeof *s);

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->count = (size_t)size[0];
    work->items = size[0];
    work->bytes = (4 * 4 + 3 * 4 + 2) * (double)size[0];
    SPOT_TRY(part(c, s, P, s->count, SPOT_FP32, true));
    SPOT_TRY(part(c, s, G, s->count, SPOT_FP32, true));
    SPOT_TRY(part(c, s, M, s->count, SPOT_FP32, true));
    SPOT_TRY(part(c, s, V, s->count, SPOT_FP32, false));
    SPOT_TRY(part(c, s, ROUNDED, s->count, SPOT_BF16, false));
    return spot_device_clear(c, s->part[V], s->count * sizeof(float));
}

static spot_status optim(spot_ctx *c, void *state)
{
    tail *s = state;
    spot_optim_rule rule = adam;

    rule.rounded = s->part[ROUNDED];
    return spot_optim_step(c, s->part[P], s->part[G], s->part[M], s->part[V], s->count, &rule);
}

static spot_status check_optim(spot_ctx *c, void *state)
{
    tail *s = state;

    SPOT_TRY(optim(c, state));
    for (size_t e = 0; e < 24; e++) {
        size_t i = e ? e * 2654435761u % s->count : s->count - 1;
        double g = spot_noise(G, i, SPOT_FP32), m = 0.9 * spot_noise(M, i, SPOT_FP32) + 0.1 * g, v = 0.001 * g * g + 1e-30, got;
        double rate = adam.lr / (1 - pow(0.9, adam.t)), root = sqrt(1 - pow(0.999, adam.t));
        double want = spot_noise(P, i, SPOT_FP32) - rate * m / (sqrt(v) / root + 1e-8);
        SPOT_TRY(spot_number_at(c, &got, s->part[P], i, SPOT_FP32));
        SPOT_TRY(spot_bench_near(c, "parameter", i, got, want, 1e-6 * fabs(want) + 1e-5 * fabs(rate * m * root) / sqrt(v)));
        SPOT_TRY(spot_number_at(c, &got, s->part[ROUNDED], i, SPOT_BF16));
        SPOT_TRY(spot_bench_near(c, "rounded parameter", i, got, want, 0x1p-8 * fabs(want) + 1e-6));
    }
    return SPOT_OK;
}

static const spot_bench_kind heads = { open_head, check_head, head, close_tail };
static const spot_bench_kind optims = { open_optim, check_optim, optim, close_tail };

const spot_bench_row spot_bench_tail[] = {
    { "head", "512 channels, 7 px, batch 256, bf16, there and back", "images", SPOT_ON_CUDA, &heads, { 512, 7, 256, SPOT_BF16 },
      { 32, 3, 4, SPOT_BF16 } },
    { "optim", "Adam, 11.2 million parameters, bf16 copies", "parameters", SPOT_ON_CUDA, &optims, { 11177537 }, { 1500 } },
    { 0 },
};
