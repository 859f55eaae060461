/* trainer.c - see trainer.h. */
#include "models/adversary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/device.h"
#include "image/sample.h"
#include "worlds/source_draw.h"

/* PyTorch's OneCycleLR with its defaults: cosine from peak/25 to the peak at 30 %, then to peak/25/1e4. */
double spot_learning_rate(const spot_model_config *cfg, int step, int steps)
{
    double start = cfg->lr / 25, least = start / 1e4, top = fmax(0.3 * steps - 1, 0), end = steps - 1.0;
    double from = start, to = cfg->lr, part;

    if (cfg->schedule == SPOT_CONSTANT) return cfg->lr;
    part = top > 0 ? step / top : 1;
    if (step > top) {
        from = cfg->lr;
        to = least;
        part = (step - top) / (end - top);
    }
    return to + (from - to) / 2 * (1 + cos(3.141592653589793 * part));
}

spot_optim_rule spot_optim_rule_of(const spot_model_config *cfg)
{
    static const spot_optim_kind kind[] = { [SPOT_ADAM] = SPOT_OPTIM_ADAM, [SPOT_SGD] = SPOT_OPTIM_SGD,
                                            [SPOT_RMSPROP] = SPOT_OPTIM_RMSPROP };

    return (spot_optim_rule){ .kind = kind[cfg->optimizer], .decay = cfg->weight_decay, .beta1 = 0.9, .epsilon = 1e-8,
                              .momentum = cfg->optimizer == SPOT_SGD ? cfg->momentum : 0,
                              .beta2 = cfg->optimizer == SPOT_RMSPROP ? 0.99 : 0.999 };
}

void spot_fill_strides(spot_optim_stride *to, const spot_model_config *cfg, int steps)
{
    const spot_optim_rule rule = spot_optim_rule_of(cfg);

    for (int i = 0; i < steps; i++) to[i] = spot_optim_stride_of(&rule, spot_learning_rate(cfg, i, steps), i + 1);
}

spot_net_shape spot_net_shape_of(const spot_model_config *cfg, int size, int outputs)
{
    return (spot_net_shape){ .arch = cfg->arch, .width = cfg->width, .outputs = outputs, .size = size, .lanes = cfg->lanes,
                             .rows = (cfg->batch + cfg->lanes - 1) / cfg->lanes * cfg->lanes,
                             .precision = (spot_precision)cfg->precision };
}

/* -- memory --------------------------------------------------------------------------------------------------- */

static int batches_of(int images, int batch) { return (images + batch - 1) / batch; }

/* Numbers in the order of an epoch. A device draws whole batches, and one behind the last, whose images nobody sees. */
static size_t order_of(const spot_ctx *c, const spot_trainer *t)
{
    return c->device ? ((size_t)t->steps + 1) * (size_t)t->cfg->batch : (size_t)t->images;
}

static spot_status take_val(spot_ctx *c, spot_arena *a, spot_val *v, int images, int targets, int batch)
{
    SPOT_TRY(SPOT_TAKE(c, a, v->image, images));
    SPOT_TRY(SPOT_TAKE(c, a, v->target, (size_t)images * targets));
    SPOT_TRY(SPOT_TAKE(c, a, v->logit, (size_t)images * targets));
    return SPOT_TAKE(c, a, v->loss, batches_of(images, batch));
}

static spot_status take_course(spot_ctx *c, spot_arena *a, spot_trainer *t, size_t steps)
{
    spot_optim_stride *strides;

    SPOT_TRY(SPOT_TAKE(c, a, strides, steps));
    SPOT_TRY(SPOT_TAKE(c, a, t->loss, 1));
    SPOT_TRY(SPOT_TAKE(c, a, t->course.losses, steps));
    SPOT_TRY(SPOT_TAKE(c, a, t->course.made, 1));
    SPOT_TRY(SPOT_TAKE(c, a, t->course.seen, 1));
    t->course.strides = t->strides = strides;
    t->course.loss = t->loss;
    t->course.batch = (uint32_t)t->cfg->batch;
    t->losses = t->course.losses;
    return SPOT_OK;
}

/* The CPU's one batch, a device's two. The first is drawn into the net's input, unless an adversary moves it from its own place
 * to there. */
static spot_status take_batches(spot_ctx *c, spot_arena *a, spot_trainer *t)
{
    size_t rows = (size_t)t->net.s.rows, bytes = spot_net_image_bytes(c, &t->net);
    int size = t->net.s.size;

    for (int i = 0; i < (c->device ? 2 : 1); i++) {
        spot_batch_drawn *b = &t->batch[i];
        SPOT_TRY(SPOT_TAKE(c, a, b->image, rows));
        SPOT_TRY(SPOT_TAKE(c, a, b->target, rows * t->net.s.outputs));
        if (i) SPOT_TRY(spot_arena_take(c, a, &b->planes, bytes));
        else b->planes = t->robust ? t->foe.clean : t->net.planes;
    }
    if (!c->device) return SPOT_TAKE(c, a, t->pixels, rows * 3 * size * size);
    return t->ec->scene.jpeg_quality ? spot_arena_take(c, a, &t->spare, spot_ec_input_spare((int)rows, size)) : SPOT_OK;
}

/* The host's arrays; on the CPU the device's own. */
static spot_status take_copies(spot_ctx *c, spot_arena *host, spot_trainer *t, size_t steps)
{
    t->here = t->val;
    if (!c->device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, host, t->strides, steps));
    SPOT_TRY(SPOT_TAKE(c, host, t->losses, steps));
    return take_val(c, host, &t->here, t->ec->images[SPOT_VAL], t->ec->targets, t->cfg->batch);
}

spot_status spot_trainer_open(spot_ctx *c, spot_arena *a, spot_arena *host, spot_trainer *t, const spot_ec *ec,
                              const spot_model_config *cfg, const spot_robust_config *robust)
{
    spot_net_shape s = spot_net_shape_of(cfg, ec->scene.size, ec->targets);
    size_t steps;

    memset(t, 0, sizeof *t);
    t->ec = ec;
    t->cfg = cfg;
    t->robust = robust;
    s.attacked = robust != NULL;
    t->images = ec->images[SPOT_TRAIN];
    t->steps = batches_of(t->images, cfg->batch);
    t->ahead = SPOT_STEPS_AHEAD;
    steps = (size_t)t->steps * (size_t)cfg->epochs;
    SPOT_TRY(spot_net_open(c, a, &t->net, s));
    if (robust) SPOT_TRY(spot_adversary_open(c, a, &t->foe, &t->net));
    SPOT_TRY(take_batches(c, a, t));
    SPOT_TRY(SPOT_TAKE(c, a, t->order, order_of(c, t)));
    SPOT_TRY(SPOT_TAKE(c, a, t->best, t->net.state));
    SPOT_TRY(take_course(c, a, t, steps));
    spot_net_drop(&t->net, SPOT_DROPOUT, ec->seed, ec->index, t->course.made);
    SPOT_TRY(take_val(c, a, &t->val, ec->images[SPOT_VAL], ec->targets, cfg->batch));
    return take_copies(c, host, t, steps);
}

void spot_trainer_close(spot_ctx *c, spot_trainer *t)
{
    for (int i = 0; i < 2; i++) spot_device_forget(c, t->graph[i]);
    spot_net_close(c, &t->net);
    memset(t, 0, sizeof *t);
}

/* Copies between host and device; nothing to do on the CPU. */
static spot_status copy_between(spot_ctx *c, void *to, const void *from, size_t bytes)
{
    return to == from ? SPOT_OK : spot_device_copy(c, to, from, bytes);
}

spot_status spot_trainer_start(spot_ctx *c, spot_trainer *t, const spot_model *m)
{
    int val = t->ec->images[SPOT_VAL], steps = t->steps * t->cfg->epochs;
    spot_sample s = { .ec = t->ec, .split = SPOT_VAL, .n = val, .image = t->val.image, .target = t->val.target };

    spot_fill_strides(t->strides, t->cfg, steps);
    SPOT_TRY(copy_between(c, (void *)t->course.strides, t->strides, (size_t)steps * sizeof *t->strides));
    SPOT_TRY(spot_device_clear(c, t->course.made, sizeof *t->course.made));
    if (t->robust) SPOT_TRY(spot_adversary_start(c, &t->foe, &t->net));
    if (c->device) SPOT_TRY(spot_device_clear(c, t->order, order_of(c, t) * sizeof *t->order));
    SPOT_TRY(spot_ec_images(c, &s));
    SPOT_TRY(copy_between(c, t->here.image, t->val.image, (size_t)val * sizeof *t->val.image));
    SPOT_TRY(copy_between(c, t->here.target, t->val.target, (size_t)val * t->ec->targets * sizeof *t->val.target));
    return spot_net_put_from(c, &t->net, m, t->from, t->new_head);
}

/* -- steps ---------------------------------------------------------------------------------------------------- */

/* Draws n images into planes; on the CPU into t->pixels, from which a net or an adversary takes them. */
static spot_status draw_images(spot_ctx *c, spot_trainer *t, void *planes, const spot_image *image, int n)
{
    return spot_net_draw(c, t->pixels, planes, t->net.s.precision, image, n, t->ec, t->spare);
}

/* Draws n images of the epoch from *seen + ahead on. */
static spot_status draw_batch(spot_ctx *c, spot_trainer *t, const spot_batch_drawn *b, int ahead, int n)
{
    spot_sample s = { .ec = t->ec, .split = SPOT_TRAIN, .n = n, .first = (uint32_t)ahead, .index = t->order,
                      .cursor = t->course.seen, .image = b->image, .target = b->target };

    SPOT_TRY(spot_ec_images(c, &s));
    return draw_images(c, t, b->planes, b->image, n);
}

/* The same beside the work that follows, until spot_device_join. */
static spot_status draw_beside(spot_ctx *c, spot_trainer *t, const spot_batch_drawn *b, int ahead, int n)
{
    spot_status s, ended;

    SPOT_TRY(spot_device_fork(c));
    s = draw_batch(c, t, b, ahead, n);
    ended = spot_device_unfork(c);
    return s ? s : ended;
}

/* The radius scales with the image's side, so that each pixel can change by the same amount. */
static spot_attack_rule rule_of(const spot_trainer *t)
{
    const spot_robust_config *how = t->robust;
    double epsilon = how->epsilon * t->ec->scene.size / 224;

    return (spot_attack_rule){ .epsilon = epsilon, .length = how->step * epsilon, .random = how->random,
                               .seed = t->ec->seed, .ec = t->ec->index, .made = t->course.made };
}

/* Moves n drawn images from `clean` into the net's input so that the loss grows. */
static spot_status attack_images(spot_ctx *c, spot_trainer *t, void *clean, const float *target, int n)
{
    const spot_attack_rule rule = rule_of(t);
    const spot_net_shape *s = &t->net.s;

    if (t->pixels) SPOT_TRY(spot_conv_planes(c, clean, t->pixels, n, n, s->size * s->size, s->precision));
    return spot_adversary_attack(c, &t->foe, &t->net, clean, target, n, &rule, t->robust->steps);
}

/* One step on the next n images of the epoch: a device has them in batch `turn`, and draws the next ones beside the step. The
 * optimizer moves *seen, so it comes after the drawing. */
static spot_status run_step(spot_ctx *c, spot_trainer *t, int turn, int n)
{
    const spot_model_config *cfg = t->cfg;
    const spot_batch_drawn *b = &t->batch[turn];
    spot_optim_rule rule = spot_optim_rule_of(cfg);
    spot_net net = t->net;

    rule.course = &t->course;
    rule.rounded = t->net.rounded;
    if (c->device) SPOT_TRY(draw_beside(c, t, &t->batch[!turn], cfg->batch, cfg->batch));
    else           SPOT_TRY(draw_batch(c, t, b, 0, n));
    if (t->robust) SPOT_TRY(attack_images(c, t, b->planes, b->target, n));
    else            net.planes = b->planes;
    SPOT_TRY(spot_net_forward(c, &net, t->robust ? NULL : t->pixels, n, true));
    SPOT_TRY(spot_net_backward(c, &net, b->target, n, t->loss));
    SPOT_TRY(spot_device_join(c));
    return spot_optim_step(c, net.param, net.grad, net.moment, net.square, net.params, &rule);
}

static spot_status record_step(spot_ctx *c, spot_trainer *t, int turn)
{
    spot_status s, ended;

    SPOT_TRY(spot_device_record(c));
    s = run_step(c, t, turn, t->cfg->batch);
    ended = spot_device_recorded(c, s ? NULL : &t->graph[turn]);
    return s ? s : ended;
}

/* The first whole batch is not recorded: it makes the libraries load their code, which a recording must not do. */
static spot_status run_or_replay_step(spot_ctx *c, spot_trainer *t, int turn, int n)
{
    bool whole = n == t->cfg->batch;

    if (!c->device || !whole || !t->warm) {
        t->warm |= whole;
        return run_step(c, t, turn, n);
    }
    for (int i = 0; i < 2 && !t->graph[i]; i++) SPOT_TRY(record_step(c, t, i));
    return spot_device_replay(c, t->graph[turn]);
}

static spot_status check_loss(spot_ctx *c, const spot_trainer *t, int epoch, int step)
{
    const int at = epoch * t->steps + step;
    double loss = t->losses[at];

    if (isfinite(loss)) return SPOT_OK;
    const double rate = spot_learning_rate(t->cfg, at, t->steps * t->cfg->epochs);
    return spot_fail(c, SPOT_NUMERIC, "{training.diverged} the loss is %g in epoch %d, step %d, at learning rate %g; a smaller "
                     "model.%slr may help", fabs(loss), epoch + 1, step + 1, rate, t->robust ? "robust." : "");
}

static int images_in_batch(int images, int batch, int k) { return images - k * batch < batch ? images - k * batch : batch; }

/* A GPU's losses arrive only after the epoch. */
static void report_progress(spot_ctx *c, const spot_trainer *t, int epoch, int step)
{
    char note[64];

    if (c->device) snprintf(note, sizeof note, "epoch %d", epoch + 1);
    else snprintf(note, sizeof note, "epoch %d loss %.4f", epoch + 1, t->losses[epoch * t->steps + step]);
    spot_tell(c, t->robust ? "robust" : t->ec->targets > 1 ? "base" : "train", (int)t->ec->index,
              epoch + (step + 1.0) / t->steps, t->cfg->epochs, note);
}

spot_status spot_trainer_learn(spot_ctx *c, spot_trainer *t, int epoch, double *mean)
{
    spot_shuffle order = { .seed = t->ec->seed, .ec = t->ec->index, .epoch = (uint32_t)epoch, .n = (uint32_t)t->images,
                           .order = t->order };
    size_t first = (size_t)epoch * (size_t)t->steps;

    SPOT_TRY(spot_sample_shuffle(c, 1, &order));
    SPOT_TRY(spot_device_clear(c, t->course.seen, sizeof *t->course.seen));
    if (c->device) SPOT_TRY(draw_batch(c, t, &t->batch[0], 0, t->cfg->batch));
    for (int k = 0; k < t->steps; k++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(run_or_replay_step(c, t, c->device ? k % 2 : 0, images_in_batch(t->images, t->cfg->batch, k)));
        if (!c->device) SPOT_TRY(check_loss(c, t, epoch, k));
        if (c->device && (k + 1) % t->ahead == 0) SPOT_TRY(spot_device_wait(c));
        report_progress(c, t, epoch, k);
    }
    SPOT_TRY(copy_between(c, t->losses + first, t->course.losses + first, (size_t)t->steps * sizeof *t->losses));
    *mean = 0;
    for (int k = 0; k < t->steps; k++) {
        SPOT_TRY(check_loss(c, t, epoch, k));
        *mean += t->losses[first + k] * images_in_batch(t->images, t->cfg->batch, k) / t->images;
    }
    return SPOT_OK;
}

/* -- val images ----------------------------------------------------------------------------------------------- */

static spot_status watch_batch(spot_ctx *c, spot_trainer *t, int k, bool attacked)
{
    int n = images_in_batch(t->ec->images[SPOT_VAL], t->cfg->batch, k), targets = t->ec->targets;
    size_t first = (size_t)k * t->cfg->batch;
    spot_net net = t->net;

    SPOT_TRY(draw_images(c, t, attacked ? t->batch[0].planes : net.planes, t->val.image + first, n));
    if (attacked) SPOT_TRY(attack_images(c, t, t->batch[0].planes, t->val.target + first * targets, n));
    net.logit = t->val.logit + first * targets;
    SPOT_TRY(spot_net_forward(c, &net, attacked ? NULL : t->pixels, n, false));
    return spot_head_loss(c, &t->val.loss[k], NULL, net.logit, t->val.target + first * targets, n * targets);
}

spot_status spot_trainer_watch(spot_ctx *c, spot_trainer *t, bool attacked, double *mean)
{
    int images = t->ec->images[SPOT_VAL], batch = t->cfg->batch, batches = batches_of(images, batch);

    for (int k = 0; k < batches; k++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(watch_batch(c, t, k, attacked));
    }
    SPOT_TRY(copy_between(c, t->here.loss, t->val.loss, (size_t)batches * sizeof *t->val.loss));
    SPOT_TRY(copy_between(c, t->here.logit, t->val.logit, (size_t)images * t->ec->targets * sizeof *t->val.logit));
    *mean = 0;
    for (int k = 0; k < batches; k++) *mean += t->here.loss[k] * images_in_batch(images, batch, k) / images;
    return SPOT_OK;
}

spot_status spot_trainer_keep(spot_ctx *c, spot_trainer *t)
{
    return spot_device_copy(c, t->best, t->net.param, t->net.state * sizeof *t->best);
}

spot_status spot_trainer_get(spot_ctx *c, spot_trainer *t, spot_model *m)
{
    SPOT_TRY(spot_device_copy(c, t->net.param, t->best, t->net.state * sizeof *t->best));
    return spot_net_get_to(c, m, &t->net, t->to);
}
