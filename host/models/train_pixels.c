/* train_pixels.c - trains a net on pixels that the caller has or draws, a batch at a time. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ahead.h"
#include "core/device.h"
#include "image/photo.h"
#include "models/adversary.h"
#include "spotter/rng.h"

/* A batch on the host. */
typedef struct {
    spot_lesson lesson;
    uint8_t *rgb;                          /* (rows, size, size, 3) */
    float   *target;                       /* (rows, classes) */
} train_pixels_batch;

typedef struct {
    const spot_pixel_training *how;
    const spot_model_config *cfg;
    int       batches, steps;              /* of an epoch, of all */
    spot_net  net;
    spot_adversary foe;                    /* where how->fgsm is above 0 */
    uint32_t *order;                       /* (images): of this epoch */
    train_pixels_batch     drawn[2];                    /* in turn; the second only where one is drawn ahead */
    uint8_t  *rgb;                         /* the step's batch in the memory of c's device, on the CPU drawn[].rgb itself */
    float    *target, *pixels;             /* likewise; (rows, size, size, 3) normalised */
    spot_optim_course course;              /* in that memory */
    spot_optim_stride *strides;            /* (steps) on the host, on the CPU the course's own */
    double   *losses, *loss;               /* likewise; (1) of the step */
} pupil;

/* -- memory -------------------------------------------------------------------------------------------------------- */

static spot_status take_batches(spot_ctx *c, spot_arena *host, pupil *u, size_t rows, size_t pixels)
{
    for (int i = 0; i < (u->how->ahead ? 2 : 1); i++) {
        SPOT_TRY(SPOT_TAKE(c, host, u->drawn[i].rgb, pixels));
        SPOT_TRY(SPOT_TAKE(c, host, u->drawn[i].target, rows * (size_t)u->how->classes));
    }
    return SPOT_TAKE(c, host, u->order, u->how->images);
}

static spot_status take_course(spot_ctx *c, spot_arena *on, spot_arena *host, pupil *u)
{
    spot_optim_stride *strides;

    SPOT_TRY(SPOT_TAKE(c, on, strides, u->steps));
    SPOT_TRY(SPOT_TAKE(c, on, u->course.losses, u->steps));
    SPOT_TRY(SPOT_TAKE(c, on, u->loss, 1));
    SPOT_TRY(SPOT_TAKE(c, on, u->course.made, 1));
    SPOT_TRY(SPOT_TAKE(c, on, u->course.seen, 1));
    u->course.strides = u->strides = strides;
    u->losses = u->course.losses;
    u->course.loss = u->loss;
    if (!c->device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, host, u->strides, u->steps));
    return SPOT_TAKE(c, host, u->losses, u->steps);
}

static spot_status open_pupil(spot_ctx *c, spot_arena *on, spot_arena *host, pupil *u, const spot_pixel_training *how,
                              const spot_model_config *cfg)
{
    spot_net_shape shape = spot_net_shape_of(cfg, how->size, how->classes);
    const bool attacked = how->fgsm > 0;
    size_t rows = (size_t)shape.rows, pixels = rows * 3 * (size_t)how->size * (size_t)how->size;

    *u = (pupil){ .how = how, .cfg = cfg, .batches = (how->images + cfg->batch - 1) / cfg->batch };
    u->steps = u->batches * cfg->epochs;
    shape.attacked = attacked;
    SPOT_TRY(spot_net_open(c, on, &u->net, shape));
    u->net.kind = (spot_loss)how->loss;
    if (how->triplet > 0) SPOT_TRY(spot_net_add_triplets(c, on, &u->net, how->triplet, how->margin));
    if (attacked) SPOT_TRY(spot_adversary_open(c, on, &u->foe, &u->net));
    SPOT_TRY(take_batches(c, host, u, rows, pixels));
    SPOT_TRY(take_course(c, on, host, u));
    spot_net_drop(&u->net, SPOT_DROPOUT, how->seed, 1u << 31 | how->number, u->course.made);
    SPOT_TRY(SPOT_TAKE(c, on, u->pixels, pixels));
    if (!c->device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, on, u->rgb, pixels));
    return SPOT_TAKE(c, on, u->target, rows * (size_t)how->classes);
}

/* -- batches ------------------------------------------------------------------------------------------------------- */

/* Pictures and classes that lie in memory. */
static spot_status copy_pictures(spot_ctx *c, const spot_pixel_training *how, const spot_lesson *l)
{
    const size_t each = 3 * (size_t)how->size * (size_t)how->size;

    for (int i = 0; i < l->n; i++) {
        const size_t from = l->index[i];
        if (how->cls[from] < 0 || how->cls[from] >= how->classes)
            return spot_fail(c, SPOT_INVALID, "{training.class} picture %zu is of class %d of %d", from, how->cls[from],
                             how->classes);
        memcpy(l->rgb + (size_t)i * each, how->rgb + from * each, each);
        l->target[i * how->classes + how->cls[from]] = 1;
    }
    return SPOT_OK;
}

/* Draws the batch of a step. c: the caller's context, or one of a thread that draws ahead. */
static spot_status draw_batch(spot_ctx *c, pupil *u, train_pixels_batch *b, int step)
{
    const spot_pixel_training *how = u->how;
    const int first = step % u->batches * u->cfg->batch, left = how->images - first;
    spot_lesson *l = &b->lesson;

    if (!first) {
        spot_rng shuffle = spot_rng_at(how->seed, SPOT_RNG_SHUFFLE, 1u << 31 | how->number, (uint32_t)(step / u->batches));
        spot_rng_shuffle(&shuffle, u->order, (uint32_t)how->images);
    }
    *l = (spot_lesson){ .step = step, .epoch = step / u->batches, .n = left < u->cfg->batch ? left : u->cfg->batch,
                        .index = u->order + first, .rgb = b->rgb, .target = b->target };
    memset(l->target, 0, (size_t)l->n * (size_t)how->classes * sizeof *l->target);
    return how->draw ? how->draw(c, how->user, l) : copy_pictures(c, how, l);
}

/* The thread that draws the next batch during a step. */
typedef struct {
    spot_ctx c;
    pupil *u;
    train_pixels_batch *b;
    int step;
    spot_status status;
    spot_ahead ahead;
} drawer;

static void draw_next(void *user)
{
    drawer *d = user;

    d->status = draw_batch(&d->c, d->u, d->b, d->step);
}

static void start_drawing(spot_ctx *c, drawer *d, pupil *u, train_pixels_batch *b, int step)
{
    *d = (drawer){ .c = { .ops = &spot_ops_cpu, .threads = 1, .stop = c->stop }, .u = u, .b = b, .step = step };
    if (step < u->steps && !spot_ahead_start(&d->ahead, draw_next, d)) draw_next(d);    /* it is drawn before the step */
}

static spot_status end_drawing(spot_ctx *c, drawer *d)
{
    spot_ahead_join(&d->ahead);
    return d->status ? spot_fail_from(c, d->status, &d->c) : SPOT_OK;
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

/* FGSM: one step of length epsilon by the gradient's signs, from u->pixels to the net's input. */
static spot_status attack_pixels(spot_ctx *c, pupil *u, const float *target, int n)
{
    const spot_attack_rule rule = { .epsilon = u->how->fgsm, .length = u->how->fgsm, .signs = true, .made = u->course.made };
    const spot_net_shape *s = &u->net.s;

    SPOT_TRY(spot_conv_planes(c, u->foe.clean, u->pixels, n, n, s->size * s->size, s->precision));
    return spot_adversary_attack(c, &u->foe, &u->net, u->foe.clean, target, n, &rule, 1);
}

static spot_status learn(spot_ctx *c, pupil *u, const train_pixels_batch *b)
{
    const bool attacked = u->how->fgsm > 0;
    spot_optim_rule rule = spot_optim_rule_of(u->cfg);
    const int n = b->lesson.n, size = u->how->size;
    const size_t targets = (size_t)n * (size_t)u->how->classes;
    spot_photo_set set = { .pictures = n, .size = size, .rgb = c->device ? u->rgb : b->rgb };
    const float *target = c->device ? u->target : b->target;

    rule.course = &u->course;
    rule.rounded = u->net.rounded;
    if (c->device) SPOT_TRY(spot_device_copy(c, u->rgb, b->rgb, (size_t)n * 3 * (size_t)size * (size_t)size));
    if (c->device) SPOT_TRY(spot_device_copy(c, u->target, b->target, targets * sizeof *u->target));
    SPOT_TRY(spot_photo_input(c, u->pixels, 3, SPOT_FP32, &set, NULL, n));
    if (attacked) SPOT_TRY(attack_pixels(c, u, target, n));
    SPOT_TRY(spot_net_forward(c, &u->net, attacked ? NULL : u->pixels, n, true));
    SPOT_TRY(spot_net_backward(c, &u->net, target, n, u->loss));
    return spot_optim_step(c, u->net.param, u->net.grad, u->net.moment, u->net.square, u->net.params, &rule);
}

/* The mean loss of an epoch, whose steps have all been started. */
static spot_status judge_epoch(spot_ctx *c, pupil *u, int epoch, double *mean)
{
    const int first = epoch * u->batches, size = u->cfg->batch;

    if (c->device)
        SPOT_TRY(spot_device_copy(c, u->losses + first, u->course.losses + first, (size_t)u->batches * sizeof *u->losses));
    *mean = 0;
    for (int k = 0; k < u->batches; k++) {
        int left = u->how->images - k * size;
        if (!isfinite(u->losses[first + k]))
            return spot_fail(c, SPOT_NUMERIC, "{training.diverged} the loss is %g in epoch %d, step %d, at learning rate %g; a "
                             "smaller one may help", fabs(u->losses[first + k]), epoch + 1, k + 1,
                             spot_learning_rate(u->cfg, first + k, u->steps));
        *mean += u->losses[first + k] * (left < size ? left : size) / u->how->images;
    }
    return SPOT_OK;
}

static void report_progress(spot_ctx *c, const pupil *u, int step, double mean)
{
    const int epoch = step / u->batches;
    char note[64] = "";

    if (!u->how->stage) return;
    if (epoch) snprintf(note, sizeof note, "epoch %d loss %.4f", epoch, mean);
    const double epochs = (step + 1.0) / u->batches, share = epochs / u->cfg->epochs;
    if (u->how->total > 0) spot_tell(c, u->how->stage, -1, u->how->before + share * u->how->part, u->how->total, note);
    else spot_tell(c, u->how->stage, -1, epochs, u->cfg->epochs, note);
}

static spot_status run_step(spot_ctx *c, pupil *u, int step)
{
    train_pixels_batch *b = &u->drawn[u->how->ahead ? step % 2 : 0];
    drawer next;
    spot_status s, drew;

    if (!step || !u->how->ahead) SPOT_TRY(draw_batch(c, u, b, step));
    if (!u->how->ahead) return learn(c, u, b);
    start_drawing(c, &next, u, &u->drawn[(step + 1) % 2], step + 1);
    s = learn(c, u, b);
    drew = end_drawing(c, &next);
    return s ? s : drew;
}

static spot_status run_steps(spot_ctx *c, pupil *u, double *losses)
{
    double mean = NAN;

    spot_fill_strides(u->strides, u->cfg, u->steps);
    if (c->device) SPOT_TRY(spot_device_copy(c, (void *)u->course.strides, u->strides, (size_t)u->steps * sizeof *u->strides));
    SPOT_TRY(spot_device_clear(c, u->course.made, sizeof *u->course.made));
    SPOT_TRY(spot_device_clear(c, u->course.seen, sizeof *u->course.seen));
    if (u->how->fgsm > 0) SPOT_TRY(spot_adversary_start(c, &u->foe, &u->net));
    for (int k = 0; k < u->steps; k++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(run_step(c, u, k));
        if ((k + 1) % u->batches == 0) {
            SPOT_TRY(judge_epoch(c, u, k / u->batches, &mean));
            if (losses) losses[k / u->batches] = mean;
        }
        report_progress(c, u, k, mean);
    }
    return SPOT_OK;
}

static spot_status train_in(spot_ctx *c, spot_arena *on, spot_arena *host, spot_model *m, double *losses,
                            const spot_pixel_training *how, const spot_model_config *cfg)
{
    const bool counting = on->counting || host->counting;
    size_t mark = host->used;
    pupil u;
    spot_status s = open_pupil(c, on, host, &u, how, cfg);

    if (!s && !counting) s = spot_net_put(c, &u.net, m);
    if (!s && !counting) s = run_steps(c, &u, losses);
    if (!s && !counting) s = spot_net_get(c, m, &u.net);
    if (!s && !counting) m->batches_tracked += u.steps;
    spot_net_close(c, &u.net);
    host->used = mark;
    return s;
}

static spot_status check_training(spot_ctx *c, const spot_pixel_training *how)
{
    if (how->images < 1 || how->classes < 1 || (!how->draw && !(how->rgb && how->cls)))
        return spot_fail(c, SPOT_INVALID, "{training.sizes} a training on %d pictures of %d classes %s", how->images,
                         how->classes,
                         how->draw ? "that are drawn" : "in memory");
    if (how->loss != SPOT_SIGMOID && how->loss != SPOT_SOFTMAX)
        return spot_fail(c, SPOT_INVALID, "{training.loss} %d is no loss", how->loss);
    if (!(how->triplet >= 0 && how->margin >= 0 && how->fgsm >= 0) || !isfinite(how->triplet + how->margin + how->fgsm))
        return spot_fail(c, SPOT_INVALID, "a triplet loss of weight %g and margin %g, an adversary's step of %g: each is a "
                         "number of 0 or more", how->triplet, how->margin, how->fgsm);
    return SPOT_OK;
}

spot_status spot_model_train_pixels(spot_ctx *c, spot_arena *a, spot_model *m, double *losses, const spot_pixel_training *how,
                                    const spot_model_config *cfg, const spot_model *start)
{
    spot_arena on = spot_arena_counting(), host = on;
    spot_status s;

    SPOT_TRY(check_training(c, how));
    SPOT_TRY(spot_model_check(c, cfg));
    SPOT_TRY(spot_model_begin(c, a, m, how->classes, how->seed, how->number, cfg, start));
    if (!c->device) return train_in(c, a, a, m, losses, how, cfg);
    SPOT_TRY(train_in(c, &on, &host, m, losses, how, cfg));
    if (a->counting) return train_in(c, &on, a, m, losses, how, cfg);
    SPOT_TRY(spot_arena_open_device(c, &on, on.peak));
    s = train_in(c, &on, a, m, losses, how, cfg);
    spot_arena_close(&on);
    return s;
}
