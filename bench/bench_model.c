/* bench_model.c - training steps, whole epochs and inference. Peers: bench/peers/resnet_torch.py on the CPU,
 * bench/peers/gpu_torch.py on a GPU. There a step's images are on the device, in the renderer's format, and the step is
 * recorded once and replayed, as in training; an epoch draws its images, too. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "core/device.h"
#include "image/raster.h"
#include "image/sample.h"
#include "models/trainer.h"

enum { TRAIN, LOOK };

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
    void      *graph;                                  /* a recorded step on a GPU, after the first */
    int        what, batch, t;
} model_state;

/* All memory, in the same calls for counting and for use. */
static spot_status lay(spot_ctx *c, model_state *s, spot_arena *host, spot_arena *device, spot_net_shape n)
{
    size_t rows = (size_t)n.rows;

    SPOT_TRY(spot_model_take(c, host, &s->m, n.arch, n.width, n.outputs));
    SPOT_TRY(spot_net_open(c, device, &s->net, n));
    if (s->what == LOOK) SPOT_TRY(spot_look_open(c, device, &s->look, n));
    SPOT_TRY(SPOT_TAKE(c, device, s->image, rows));
    SPOT_TRY(SPOT_TAKE(c, device, s->pixels, rows * n.size * n.size * 3));
    SPOT_TRY(SPOT_TAKE(c, device, s->target, rows));
    SPOT_TRY(SPOT_TAKE(c, device, s->feature, rows * spot_model_features(n.arch, n.width)));
    SPOT_TRY(SPOT_TAKE(c, device, s->logit, rows));
    return SPOT_TAKE(c, device, s->loss, 1);
}

/* Image numbers -> targets and the net's input, as on a GPU it has them. */
static spot_status draw(spot_ctx *c, model_state *s, void *planes)
{
    spot_sample sample = { .ec = &s->ec, .split = SPOT_TRAIN, .n = s->batch, .image = s->image, .target = s->target };
    spot_conv_shape stem = spot_unit_shape(0, s->net.s, true);

    SPOT_TRY(spot_sample_images(c, 1, &sample));
    return spot_raster_input(c, planes, spot_conv_inputs(c, &stem), s->net.s.precision, s->image, s->batch,
                                &s->scene);
}

/* Two operations for each product of every convolution; training does each three times, the stem's twice. */
static double flops_of(spot_net_shape n, int what)
{
    double sum = 0;

    for (int u = 0; u < spot_architecture_of(n.arch).units; u++) {
        spot_conv_shape s = spot_unit_shape(u, n, true);
        double out = spot_conv_out(&s);
        sum += (what == LOOK ? 1 : u ? 3 : 2) * 2.0 * s.rows * out * out * s.co * s.ci * s.k * s.k;
    }
    if (n.arch == SPOT_ARCH_ALEXNET) sum += (what == LOOK ? 1 : 3) * 2.0 * n.rows * 208 * 64 * n.width * n.width;
    return sum;
}

/* size: width, pixels a side, batch, precision, what, architecture. On the CPU two lanes: pieces of 8 images at 224 px, of 32
 * at 64. */
static spot_status open_state(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    spot_net_shape n = { .arch = size[5], .width = size[0], .outputs = 1, .size = size[1], .rows = size[2], .lanes = 2,
                         .precision = (spot_precision)size[3] };
    spot_arena host = spot_arena_counting(), device = spot_arena_counting();
    model_state *s = *out = calloc(1, sizeof *s);
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
    for (int t = 0; t < spot_model_tensors(s->m.arch); t++) spot_model_start(&s->m, t, 1, 0);
    SPOT_TRY(spot_net_put(c, &s->net, &s->m));
    SPOT_TRY(spot_noise_fill(c, s->pixels, 0, (size_t)n.rows * n.size * n.size * 3, SPOT_FP32));
    for (int i = 0; i < n.rows; i++) {
        float y = (float)(i % 2);
        SPOT_TRY(spot_device_copy(c, s->target + i, &y, sizeof y));
    }
    if (s->what == LOOK) SPOT_TRY(spot_look_put(c, &s->look, &s->m));
    if (s->what == LOOK && c->device) SPOT_TRY(draw(c, s, s->look.planes));
    return c->device ? draw(c, s, s->net.planes) : SPOT_OK;
}

static void close_state(spot_ctx *c, void *p)
{
    model_state *s = p;

    spot_device_forget(c, s->graph);
    spot_net_close(c, &s->net);
    spot_look_close(c, &s->look);
    spot_arena_close(&s->device);
    spot_arena_close(&s->host);
    free(s);
}

static spot_status step(spot_ctx *c, model_state *s)
{
    spot_optim_rule rule = { .kind = SPOT_OPTIM_ADAM, .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .t = ++s->t,
                             .rounded = s->net.rounded };

    SPOT_TRY(spot_net_forward(c, &s->net, c->device ? NULL : s->pixels, s->batch, true));
    SPOT_TRY(spot_net_backward(c, &s->net, s->target, s->batch, s->loss));
    return spot_optim_step(c, s->net.param, s->net.grad, s->net.moment, s->net.square, s->net.params, &rule);
}

static spot_status record(spot_ctx *c, model_state *s)
{
    spot_status e, ended;

    SPOT_TRY(spot_device_record(c));
    e = step(c, s);
    ended = spot_device_recorded(c, e ? NULL : &s->graph);
    return e ? e : ended;
}

/* On a GPU the first step runs kernel by kernel; the others are replays of the second. */
static spot_status run_step(spot_ctx *c, void *p)
{
    model_state *s = p;

    if (!c->device || !s->t) return step(c, s);
    if (!s->graph) SPOT_TRY(record(c, s));
    return spot_device_replay(c, s->graph);
}

/* Three steps on one batch must reduce its loss. */
static spot_status check_step(spot_ctx *c, void *p)
{
    model_state *s = p;
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
    model_state *s = p;

    return spot_look_run(c, &s->look, s->feature, s->logit, c->device ? NULL : s->pixels, s->batch);
}

/* Compares the folded net with the training net, with fixed statistics. */
static spot_status check_look(spot_ctx *c, void *p)
{
    model_state *s = p;
    double most = 0, off = s->net.s.precision == SPOT_FP32 ? 1e-4 : 0.05, got, want;

    SPOT_TRY(run_look(c, p));
    SPOT_TRY(spot_net_forward(c, &s->net, c->device ? NULL : s->pixels, s->batch, false));
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

/* -- an epoch as spot_model_train has it ------------------------------------------------------------------------- */

typedef struct {
    spot_arena device, host;
    spot_ec ec;
    spot_model_config cfg;
    spot_model m;
    spot_trainer t;
    int epoch;
    double loss;
} school;

static void close_school(spot_ctx *c, void *p)
{
    school *s = p;

    spot_trainer_close(c, &s->t);
    spot_arena_close(&s->device);
    spot_arena_close(&s->host);
    free(s);
}

static spot_status lay_school(spot_ctx *c, school *s, spot_arena *host, spot_arena *device)
{
    SPOT_TRY(spot_model_take(c, host, &s->m, s->cfg.arch, s->cfg.width, 1));
    return spot_trainer_open(c, device, host, &s->t, &s->ec, &s->cfg, s->cfg.robust.steps ? &s->cfg.robust : NULL);
}

/* size: width, pixels a side, batch, precision, steps of an epoch, steps of an adversary: of these each goes forward, and back
 * but for the weights. */
static spot_status open_school(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    spot_arena host = spot_arena_counting(), device = spot_arena_counting();
    school *s = *out = calloc(1, sizeof *s);
    spot_scene_config scene = spot_scene_defaults();
    spot_status e;

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->cfg = spot_model_defaults();
    s->cfg.width = size[0], s->cfg.batch = size[2], s->cfg.precision = size[3], s->cfg.epochs = SPOT_MAX_EPOCHS;
    s->cfg.robust.steps = size[5];
    scene.size = size[1];
    SPOT_TRY(spot_ec_draw(c, &s->ec, &scene, 1, 0));
    s->ec.images[SPOT_TRAIN] = size[2] * size[4];
    s->ec.images[SPOT_VAL] = size[2];
    e = lay_school(c, s, &host, &device);
    work->items = s->ec.images[SPOT_TRAIN];
    work->flops = flops_of(spot_net_shape_of(&s->cfg, size[1], 1), TRAIN) * size[4] * (1 + 2 / 3.0 * size[5]);
    work->matrix = true;
    spot_trainer_close(c, &s->t);
    SPOT_TRY(e);
    SPOT_TRY(spot_arena_open(c, &s->host, host.peak));
    SPOT_TRY(spot_arena_open_device(c, &s->device, device.peak));
    SPOT_TRY(lay_school(c, s, &s->host, &s->device));
    for (int t = 0; t < spot_model_tensors(s->m.arch); t++) spot_model_start(&s->m, t, 1, 0);
    return spot_trainer_start(c, &s->t, &s->m);
}

/* Restarts a finished training. */
static spot_status run_epoch(spot_ctx *c, void *p)
{
    school *s = p;

    if (s->epoch == SPOT_MAX_EPOCHS) {
        s->epoch = 0;
        SPOT_TRY(spot_trainer_start(c, &s->t, &s->m));
    }
    return spot_trainer_learn(c, &s->t, s->epoch++, &s->loss);
}

/* A restart gives the same losses to the bit: steps one by one, recorded and replayed. With enough images they must fall. */
static spot_status check_epoch(spot_ctx *c, void *p)
{
    school *s = p;
    double first;

    SPOT_TRY(run_epoch(c, p));
    first = s->loss;
    s->epoch = SPOT_MAX_EPOCHS;
    SPOT_TRY(run_epoch(c, p));
    SPOT_TRY(spot_bench_near(c, "the loss of epoch", 0, s->loss, first, 0));
    if (s->t.images < 1000) return SPOT_OK;
    SPOT_TRY(run_epoch(c, p));
    return s->loss < first ? SPOT_OK : spot_fail(c, SPOT_CHECK, "a loss of %g became %g in an epoch", first, s->loss);
}

static const spot_bench_kind epochs = { open_school, check_epoch, run_epoch, close_school };
static const spot_bench_kind trains = { open_state, check_step, run_step, close_state };
static const spot_bench_kind looks = { open_state, check_look, run_look, close_state };

#define CPU(op, kind, what, text, ...) \
    { op, text, "images", SPOT_ON_CPU, &kind, { __VA_ARGS__, SPOT_FP32, what }, { 16, 32, 4, SPOT_FP32, what } }
#define HALF(op, kind, what, text, ...) \
    { op, text ", bf16", "images", SPOT_ON_CPU, &kind, { __VA_ARGS__, SPOT_BF16, what }, { 16, 32, 4, SPOT_BF16, what } }
#define CUDA(op, kind, what, text, ...) \
    { op, text, "images", SPOT_ON_CUDA, &kind, { __VA_ARGS__, SPOT_BF16, what }, { 16, 32, 4, SPOT_BF16, what } }

/* Training and looking of the other architectures; small: pixels a side with --small. */
#define OTHER(text, arch, width, small)                                                                    \
    { "train", text ", 64 px, batch 64", "images", SPOT_ON_CPU, &trains,                                     \
      { width, 64, 64, SPOT_FP32, TRAIN, arch }, { 16, small, 4, SPOT_FP32, TRAIN, arch } },                 \
    { "infer", text ", 64 px, batch 64", "images", SPOT_ON_CPU, &looks,                                      \
      { width, 64, 64, SPOT_FP32, LOOK, arch }, { 16, small, 4, SPOT_FP32, LOOK, arch } }

const spot_bench_row spot_bench_model[] = {
    CPU("train", trains, TRAIN, "width 64, 64 px, batch 64",  64, 64, 64),
    CPU("train", trains, TRAIN, "width 64, 224 px, batch 16", 64, 224, 16),
    CPU("train", trains, TRAIN, "width 32, 64 px, batch 64",  32, 64, 64),
    HALF("train", trains, TRAIN, "width 64, 64 px, batch 64",  64, 64, 64),
    HALF("train", trains, TRAIN, "width 64, 224 px, batch 16", 64, 224, 16),
    HALF("train", trains, TRAIN, "width 32, 64 px, batch 64",  32, 64, 64),
    { "train", "width 32, 64 px, batch 64, epoch of 5 steps", "images", SPOT_ON_CPU, &epochs, { 32, 64, 64, SPOT_FP32, 5 },
      { 16, 32, 4, SPOT_FP32, 2 } },
    { "train", "the same against an adversary of 1 step", "images", SPOT_ON_CPU, &epochs, { 32, 64, 64, SPOT_FP32, 5, 1 },
      { 16, 32, 4, SPOT_FP32, 2, 1 } },
    CPU("infer", looks,  LOOK,  "width 64, 64 px, batch 64",  64, 64, 64),
    CPU("infer", looks,  LOOK,  "width 64, 224 px, batch 16", 64, 224, 16),
    CPU("infer", looks,  LOOK,  "width 32, 64 px, batch 64",  32, 64, 64),
    HALF("infer", looks,  LOOK,  "width 64, 64 px, batch 64",  64, 64, 64),
    HALF("infer", looks,  LOOK,  "width 64, 224 px, batch 16", 64, 224, 16),
    HALF("infer", looks,  LOOK,  "width 32, 64 px, batch 64",  32, 64, 64),
    OTHER("ResNet-34, width 16", SPOT_ARCH_RESNET34, 16, 32),
    OTHER("ResNet-34, width 32", SPOT_ARCH_RESNET34, 32, 32),
    OTHER("AlexNet, width 16", SPOT_ARCH_ALEXNET, 16, 64),
    OTHER("AlexNet, width 32", SPOT_ARCH_ALEXNET, 32, 64),
    CUDA("train", trains, TRAIN, "224 px, batch 256, bf16", 64, 224, 256),
    { "train", "224 px, batch 256, bf16, epoch of 20 steps", "images", SPOT_ON_CUDA, &epochs, { 64, 224, 256, SPOT_BF16, 20 },
      { 16, 32, 4, SPOT_BF16, 2 } },
    CUDA("train", trains, TRAIN, "64 px, batch 256, bf16", 64, 64, 256),
    { "train", "64 px, batch 256, bf16, epoch of 40 steps", "images", SPOT_ON_CUDA, &epochs, { 64, 64, 256, SPOT_BF16, 40 },
      { 16, 32, 4, SPOT_BF16, 2 } },
    { "train", "the same against an adversary of 1 step", "images", SPOT_ON_CUDA, &epochs, { 64, 64, 256, SPOT_BF16, 40, 1 },
      { 16, 32, 4, SPOT_BF16, 2, 1 } },
    CUDA("infer", looks,  LOOK,  "224 px, batch 256, bf16", 64, 224, 256),
    CUDA("infer", looks,  LOOK,  "64 px, batch 256, bf16",  64, 64, 256),
    { 0 },
};
