/* bench_model.c - training steps and inference. Peers: bench/peers/resnet_torch.py on the CPU, bench/peers/gpu_torch.py on a
 * GPU. There images lie on the device as the renderer leaves them, or are drawn within the step. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "device.h"
#include "model/train.h"
#include "raster.h"
#include "sample.h"

enum { TRAIN, TRAIN_RENDERED, LOOK };

typedef struct {
    spot_arena device, host;
    spot_model m;
    spot_net   net;
    spot_look  look;
    spot_scene_config scene;
    spot_ec    ec;
    spot_image *image;                                 /* (batch), and the pixels and all else on c's device */
    float     *pixels, *target, *feature, *logit;
    double    *loss;
    int        what, batch, t;
} state;

/* All memory, in the same calls for counting and for use. */
static spot_status lay(spot_ctx *c, state *s, spot_arena *host, spot_arena *device, spot_net_shape n)
{
    size_t rows = (size_t)n.rows;

    SPOT_TRY(spot_model_take(c, host, &s->m, n.width, n.outputs));
    SPOT_TRY(spot_net_open(c, device, &s->net, n));
    if (s->what == LOOK) SPOT_TRY(spot_look_open(c, device, &s->look, n));
    SPOT_TRY(SPOT_TAKE(c, device, s->image, rows));
    SPOT_TRY(SPOT_TAKE(c, device, s->pixels, rows * n.size * n.size * 3));
    SPOT_TRY(SPOT_TAKE(c, device, s->target, rows));
    SPOT_TRY(SPOT_TAKE(c, device, s->feature, rows * 8 * n.width));
    SPOT_TRY(SPOT_TAKE(c, device, s->logit, rows));
    return SPOT_TAKE(c, device, s->loss, 1);
}

/* Image numbers -> targets and the net's input, as a training on a GPU has them. */
static spot_status draw(spot_ctx *c, state *s)
{
    spot_sample sample = { .ec = &s->ec, .split = SPOT_TRAIN, .n = s->batch, .image = s->image, .target = s->target };
    spot_conv_shape stem = spot_unit_shape(0, s->net.s, true);

    SPOT_TRY(spot_sample_images(c, 1, &sample));
    return spot_raster_input_as(c, s->net.planes, spot_conv_inputs(c, &stem), s->net.s.precision, s->image, s->batch,
                                &s->scene);
}

/* 2 operations a product of every convolution; training does each three times, the stem's twice. */
static double flops_of(spot_net_shape n, int what)
{
    double sum = 0;

    for (int u = 0; u < SPOT_UNITS; u++) {
        spot_conv_shape s = spot_unit_shape(u, n, true);
        double out = s.size / s.stride;
        sum += (what == LOOK ? 1 : u ? 3 : 2) * 2.0 * s.rows * out * out * s.co * s.ci * s.k * s.k;
    }
    return sum;
}

/* size: width, pixels a side, batch, precision, what. On the CPU two lanes: pieces of 8 images at 224 px, of 32 at 64. */
static spot_status open_state(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    spot_net_shape n = { .width = size[0], .outputs = 1, .size = size[1], .rows = size[2], .lanes = 2,
                         .precision = (spot_precision)size[3] };
    spot_arena host = spot_arena_counting(), device = spot_arena_counting();
    state *s = *out = calloc(1, sizeof *s);
    spot_status e;

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->what = size[4], s->batch = size[2];
    s->scene = spot_scene_defaults();
    s->scene.size = size[1];
    *work = (spot_bench_work){ .items = n.rows, .flops = flops_of(n, s->what), .matrix = true };
    e = lay(c, s, &host, &device, n);
    spot_net_close(c, &s->net);
    spot_look_close(c, &s->look);
    SPOT_TRY(e);
    SPOT_TRY(spot_arena_open(c, &s->host, host.peak));
    SPOT_TRY(spot_arena_open_device(c, &s->device, device.peak));
    SPOT_TRY(lay(c, s, &s->host, &s->device, n));
    SPOT_TRY(spot_ec_draw(c, &s->ec, &s->scene, 1, 0));
    for (int t = 0; t < SPOT_RESNET18_TENSORS; t++) spot_model_start(&s->m, t, 1, 0);
    SPOT_TRY(spot_net_put(c, &s->net, &s->m));
    SPOT_TRY(spot_noise_fill(c, s->pixels, 0, (size_t)n.rows * n.size * n.size * 3, SPOT_FP32));
    for (int i = 0; i < n.rows; i++) {
        float y = (float)(i % 2);
        SPOT_TRY(spot_device_copy(c, s->target + i, &y, sizeof y));
    }
    if (s->what == LOOK) return spot_look_put(c, &s->look, &s->m);
    return c->device ? draw(c, s) : SPOT_OK;
}

static void close_state(spot_ctx *c, void *p)
{
    state *s = p;

    spot_net_close(c, &s->net);
    spot_look_close(c, &s->look);
    spot_arena_close(&s->device);
    spot_arena_close(&s->host);
    free(s);
}

static spot_status run_step(spot_ctx *c, void *p)
{
    state *s = p;
    spot_optim_rule rule = { .adam = 1, .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .t = ++s->t,
                             .rounded = s->net.rounded };

    if (s->what == TRAIN_RENDERED) SPOT_TRY(draw(c, s));
    SPOT_TRY(spot_net_forward(c, &s->net, c->device ? NULL : s->pixels, s->batch, true));
    SPOT_TRY(spot_net_backward(c, &s->net, s->target, s->batch, s->loss));
    return spot_optim_step(c, s->net.param, s->net.grad, s->net.moment, s->net.square, s->net.params, &rule);
}

/* Three steps on one batch must make its loss smaller. */
static spot_status check_step(spot_ctx *c, void *p)
{
    state *s = p;
    double first, last;

    SPOT_TRY(run_step(c, p));
    SPOT_TRY(spot_device_copy(c, &first, s->loss, sizeof first));
    for (int i = 0; i < 3; i++) SPOT_TRY(run_step(c, p));
    SPOT_TRY(spot_device_copy(c, &last, s->loss, sizeof last));
    if (!(last < first) || !(first < 3)) return spot_fail(c, SPOT_CHECK, "loss %g became %g in three steps", first, last);
    return SPOT_OK;
}

static spot_status run_look(spot_ctx *c, void *p)
{
    state *s = p;

    return spot_look_run(c, &s->look, s->feature, s->logit, s->pixels, s->batch);
}

/* The folded net against the one that trains, with the statistics fixed. */
static spot_status check_look(spot_ctx *c, void *p)
{
    state *s = p;
    double most = 0, off = s->net.s.precision == SPOT_FP32 ? 1e-4 : 0.05, got, want;

    SPOT_TRY(run_look(c, p));
    SPOT_TRY(spot_net_forward(c, &s->net, s->pixels, s->batch, false));
    for (size_t i = 0; i < (size_t)s->batch; i++) {
        SPOT_TRY(spot_number_at(c, &want, s->net.logit, i, SPOT_FP32));
        most = fmax(most, fabs(want));
    }
    for (size_t i = 0; i < (size_t)s->batch; i++) {
        SPOT_TRY(spot_number_at(c, &got, s->logit, i, SPOT_FP32));
        SPOT_TRY(spot_number_at(c, &want, s->net.logit, i, SPOT_FP32));
        SPOT_TRY(spot_bench_near(c, "logit", i, got, want, off * most));
    }
    return SPOT_OK;
}

static const spot_bench_kind trains = { open_state, check_step, run_step, close_state };
static const spot_bench_kind looks = { open_state, check_look, run_look, close_state };

#define CPU(op, kind, what, text, ...) \
    { op, text, "images", SPOT_ON_CPU, &kind, { __VA_ARGS__, SPOT_FP32, what }, { 16, 32, 4, SPOT_FP32, what } }
#define CUDA(op, kind, what, text, ...) \
    { op, text, "images", SPOT_ON_CUDA, &kind, { __VA_ARGS__, SPOT_BF16, what }, { 16, 32, 4, SPOT_BF16, what } }

const spot_bench_row spot_bench_model[] = {
    CPU("train", trains, TRAIN, "width 64, 64 px, batch 64",  64, 64, 64),
    CPU("train", trains, TRAIN, "width 64, 224 px, batch 16", 64, 224, 16),
    CPU("train", trains, TRAIN, "width 32, 64 px, batch 64",  32, 64, 64),
    CPU("infer", looks,  LOOK,  "width 64, 64 px, batch 64",  64, 64, 64),
    CPU("infer", looks,  LOOK,  "width 64, 224 px, batch 16", 64, 224, 16),
    CPU("infer", looks,  LOOK,  "width 32, 64 px, batch 64",  32, 64, 64),
    CUDA("train", trains, TRAIN,          "224 px, batch 256, bf16", 64, 224, 256),
    CUDA("train", trains, TRAIN_RENDERED, "224 px, batch 256, bf16, images drawn", 64, 224, 256),
    CUDA("train", trains, TRAIN,          "64 px, batch 256, bf16",  64, 64, 256),
    CUDA("infer", looks,  LOOK,           "224 px, batch 256, bf16", 64, 224, 256),
    CUDA("infer", looks,  LOOK,           "64 px, batch 256, bf16",  64, 64, 256),
    { 0 },
};
