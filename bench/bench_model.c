/* bench_model.c - training steps and inference; bench/peers/resnet_torch.py times the same in PyTorch. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>

#include "model/train.h"

typedef struct { int width, size, batch; } shape;     /* two lanes: pieces of 8 images at 224 px, of 32 at 64 px */

typedef struct {
    spot_arena a;
    spot_model m;
    spot_net   net;
    spot_look  look;
    float     *pixels, *target, *feature, *logit;
    int        batch, t;
} state;

static spot_status fill(spot_ctx *c, state *s, spot_arena *a, const shape *k, bool train)
{
    spot_net_shape n = { .width = k->width, .outputs = 1, .size = k->size, .rows = k->batch, .lanes = 2 };

    SPOT_TRY(spot_model_init(c, a, &s->m, k->width, 1, 1, 0));
    SPOT_TRY(spot_net_open(c, a, &s->net, n));
    if (!train) SPOT_TRY(spot_look_open(c, a, &s->look, n));
    SPOT_TRY(SPOT_TAKE(c, a, s->pixels, (size_t)k->batch * k->size * k->size * 3));
    SPOT_TRY(SPOT_TAKE(c, a, s->target, k->batch));
    SPOT_TRY(SPOT_TAKE(c, a, s->feature, (size_t)k->batch * 8 * k->width));
    return SPOT_TAKE(c, a, s->logit, k->batch);
}

/* The memory is asked for by counting first, with the same calls. */
static spot_status open_state(spot_ctx *c, void **out, shape k, bool train)
{
    state *s = calloc(1, sizeof *s);
    spot_arena count = spot_arena_counting();

    *out = s;
    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->batch = k.batch;
    SPOT_TRY(fill(c, s, &count, &k, train));
    spot_net_close(c, &s->net);
    spot_look_close(c, &s->look);
    SPOT_TRY(spot_arena_open_device(c, &s->a, count.peak));
    SPOT_TRY(fill(c, s, &s->a, &k, train));
    for (int i = 0; i < k.batch * k.size * k.size * 3; i++) s->pixels[i] = (float)sin(i * 0.37 + i % 101);
    for (int i = 0; i < k.batch; i++) s->target[i] = (float)(i % 2);
    SPOT_TRY(spot_net_put(c, &s->net, &s->m));
    return train ? SPOT_OK : spot_look_put(c, &s->look, &s->m);
}

static void close_state(void *p)
{
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = 1 };
    state *s = p;

    if (!s) return;
    spot_net_close(&c, &s->net);
    spot_look_close(&c, &s->look);
    spot_arena_close(&s->a);
    free(s);
}

static spot_status step(spot_ctx *c, state *s, double *loss)
{
    spot_optim_rule rule = { .adam = 1, .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .t = ++s->t };

    SPOT_TRY(spot_net_forward(c, &s->net, s->pixels, s->batch, true));
    SPOT_TRY(spot_net_backward(c, &s->net, s->target, s->batch, loss));
    return spot_optim_step(c, s->net.param, s->net.grad, s->net.moment, s->net.square, s->net.params, &rule);
}

static spot_status run_step(spot_ctx *c, void *p)
{
    double loss;

    return step(c, p, &loss);
}

/* Three steps on one batch must make its loss smaller. */
static spot_status check_step(spot_ctx *c, void *p)
{
    double first, last = 0;

    SPOT_TRY(step(c, p, &first));
    for (int i = 0; i < 3; i++) SPOT_TRY(step(c, p, &last));
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
    double most = 0;

    SPOT_TRY(run_look(c, p));
    SPOT_TRY(spot_net_forward(c, &s->net, s->pixels, s->batch, false));
    for (int i = 0; i < s->batch; i++) most = fmax(most, fabs(s->logit[i]));
    for (int i = 0; i < s->batch; i++)
        if (!(fabs(s->logit[i] - s->net.logit[i]) <= 1e-4 * most))
            return spot_fail(c, SPOT_CHECK, "logit %d: %g folded, %g not", i, s->logit[i], s->net.logit[i]);
    return SPOT_OK;
}

#define OPEN(name, width, size, batch, train) \
    static spot_status name(spot_ctx *c, void **s) { return open_state(c, s, (shape){ width, size, batch }, train); }
OPEN(train_64,      64,  64, 64, true)
OPEN(train_224,     64, 224, 16, true)
OPEN(train_half_64, 32,  64, 64, true)
OPEN(look_64,       64,  64, 64, false)
OPEN(look_224,      64, 224, 16, false)
OPEN(look_half_64,  32,  64, 64, false)

const spot_bench_row spot_bench_model[] = {
    { "train", "width 64, 64 px, batch 64",  64, "images", train_64,      check_step, run_step, close_state },
    { "train", "width 64, 224 px, batch 16", 16, "images", train_224,     check_step, run_step, close_state },
    { "train", "width 32, 64 px, batch 64",  64, "images", train_half_64, check_step, run_step, close_state },
    { "infer", "width 64, 64 px, batch 64",  64, "images", look_64,       check_look, run_look, close_state },
    { "infer", "width 64, 224 px, batch 16", 16, "images", look_224,      check_look, run_look, close_state },
    { "infer", "width 32, 64 px, batch 64",  64, "images", look_half_64,  check_look, run_look, close_state },
    { 0 },
};
