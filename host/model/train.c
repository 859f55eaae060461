/* train.c - an EC's images through the net until it has learned them, and whether it learned the blindspots. */
#include "model/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "model/resnet18.h"
#include "raster.h"
#include "spotter/rng.h"

spot_model_config spot_model_defaults(void)
{
    return (spot_model_config){
        .arch = SPOT_ARCH_RESNET18, .width = 64, .epochs = 10, .batch = 64, .optimizer = SPOT_ADAM, .lr = 1e-4,
        .momentum = 0.9, .schedule = SPOT_CONSTANT, .precision = SPOT_FP32, .base = { 0, 4, 2e-3 }, .keep_best = 1, .lanes = 2,
        .learned_outside = 0.99, .learned_inside = 0.05,
    };
}

typedef struct {
    spot_net    net;
    spot_image *image;        /* (rows): of the batch */
    float      *pixels;       /* (rows, size, size, 3) */
    float      *target;       /* (rows, ec->targets): what the images are said to show */
    uint32_t   *order;        /* (train images): this epoch's */
} trainer;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + t.tv_nsec * 1e-9;
}

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

static spot_status check_config(spot_ctx *c, const spot_model_config *cfg)
{
    if (cfg->arch != SPOT_ARCH_RESNET18) return spot_fail(c, SPOT_INVALID, "model.arch: resnet18 is the one there is");
    if (cfg->precision != SPOT_FP32 && c->ops == &spot_ops_cpu)
        return spot_fail(c, SPOT_UNSUPPORTED, "model.precision: the CPU computes in fp32 only; set it, or take --device cuda");
    if (cfg->epochs < 1 || cfg->epochs > SPOT_MAX_EPOCHS || cfg->batch < 1 || cfg->batch > 65536)
        return spot_fail(c, SPOT_INVALID, "model: %d epochs of batch %d; 1 to %d of 1 to 65536 are possible", cfg->epochs,
                         cfg->batch, SPOT_MAX_EPOCHS);
    if (!(cfg->lr > 0) || !isfinite(cfg->lr) || !(cfg->momentum >= 0 && cfg->momentum < 1)
        || !(cfg->weight_decay >= 0) || !isfinite(cfg->weight_decay))
        return spot_fail(c, SPOT_INVALID, "model: lr %g, momentum %g, weight_decay %g; positive, 0 to 1 and not negative "
                         "are wanted", cfg->lr, cfg->momentum, cfg->weight_decay);
    if (cfg->lanes < 1 || cfg->lanes > SPOT_MAX_LANES)
        return spot_fail(c, SPOT_INVALID, "model.lanes is %d; 1 to %d are possible", cfg->lanes, SPOT_MAX_LANES);
    return SPOT_OK;
}

spot_net_shape spot_net_shape_of(const spot_model_config *cfg, int size, int outputs)
{
    return (spot_net_shape){ .width = cfg->width, .outputs = outputs, .size = size, .lanes = cfg->lanes,
                             .rows = (cfg->batch + cfg->lanes - 1) / cfg->lanes * cfg->lanes,
                             .precision = (spot_precision)cfg->precision };
}

static spot_status open_trainer(spot_ctx *c, spot_arena *a, trainer *t, const spot_ec *ec, const spot_model_config *cfg)
{
    spot_net_shape s = spot_net_shape_of(cfg, ec->scene.size, ec->targets);
    size_t rows = (size_t)s.rows;

    SPOT_TRY(check_config(c, cfg));
    SPOT_TRY(spot_net_open(c, a, &t->net, s));
    SPOT_TRY(SPOT_TAKE(c, a, t->image, rows));
    SPOT_TRY(SPOT_TAKE(c, a, t->pixels, rows * 3 * s.size * s.size));
    SPOT_TRY(SPOT_TAKE(c, a, t->target, rows * s.outputs));
    return SPOT_TAKE(c, a, t->order, ec->images[SPOT_TRAIN]);
}

/* Images first..first+n of a split (in `order`, NULL: as they stand) into the batch. */
static spot_status load(spot_ctx *c, trainer *t, const spot_ec *ec, spot_split split, int first, int n)
{
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        uint32_t index = (uint32_t)(first + i);
        spot_image_draw(&t->image[i], ec, split, split == SPOT_TRAIN ? t->order[index] : index);
        spot_image_targets(t->target + (size_t)i * ec->targets, &t->image[i], ec);
    }
    return spot_image_input(c, t->pixels, t->image, n, &ec->scene);
}

/* One pass over the training images. */
static spot_status learn(spot_ctx *c, trainer *t, const spot_ec *ec, const spot_model_config *cfg, int epoch, double *mean)
{
    spot_rng rng = spot_rng_at(ec->seed, SPOT_RNG_SHUFFLE, ec->index, (uint32_t)epoch);
    int images = ec->images[SPOT_TRAIN], steps = (images + cfg->batch - 1) / cfg->batch;
    spot_optim_rule rule = { .adam = cfg->optimizer == SPOT_ADAM, .decay = cfg->weight_decay, .momentum = cfg->momentum,
                             .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .rounded = t->net.rounded };

    *mean = 0;
    spot_rng_shuffle(&rng, t->order, (uint32_t)images);
    for (int step = 0; step < steps; step++) {
        int first = step * cfg->batch, n = images - first < cfg->batch ? images - first : cfg->batch;
        double loss;
        char note[64];

        SPOT_TRY(spot_check_stop(c));
        rule.lr = spot_learning_rate(cfg, epoch * steps + step, cfg->epochs * steps);
        rule.t = epoch * steps + step + 1;
        SPOT_TRY(load(c, t, ec, SPOT_TRAIN, first, n));
        SPOT_TRY(spot_net_forward(c, &t->net, t->pixels, n, true));
        SPOT_TRY(spot_net_backward(c, &t->net, t->target, n, &loss));
        if (!isfinite(loss))
            return spot_fail(c, SPOT_NUMERIC, "the loss is %g in epoch %d, step %d, at learning rate %g; a smaller model.lr "
                             "may help", fabs(loss), epoch + 1, step + 1, rule.lr);
        SPOT_TRY(spot_optim_step(c, t->net.param, t->net.grad, t->net.moment, t->net.square, t->net.params, &rule));
        *mean += loss * n / images;
        snprintf(note, sizeof note, "epoch %d loss %.4f", epoch + 1, loss);
        spot_tell(c, ec->targets > 1 ? "base" : "train", (int)ec->index, epoch + (step + 1.0) / steps, cfg->epochs, note);
    }
    return SPOT_OK;
}

/* Adds n val images to the lesson: accuracy against the truth, in no blindspot and in each; of a base model, over all
 * that is to be seen. */
static void mark(spot_lesson *l, const trainer *t, const spot_ec *ec, int n, double right[1 + SPOT_MAX_BLINDSPOTS])
{
    for (int i = 0; ec->targets > 1 && i < n * ec->targets; i++) {
        if (t->target[i] == 0.5f) continue;
        right[0] += (t->net.logit[i] > 0) == (t->target[i] > 0);
        l->outside_count++;
    }
    for (int i = 0; ec->targets == 1 && i < n; i++) {
        int good = (t->net.logit[i] > 0) == t->image[i].label;
        if (!t->image[i].blindspots) right[0] += good, l->outside_count++;
        for (int b = 0; b < ec->blindspot_count; b++)
            if (t->image[i].blindspots >> b & 1) right[1 + b] += good, l->inside_count[b]++;
    }
}

/* One pass over the val images: the loss against what training is told, and the marks. */
static spot_status watch(spot_ctx *c, trainer *t, const spot_ec *ec, const spot_model_config *cfg, double *mean,
                         spot_lesson *l)
{
    double right[1 + SPOT_MAX_BLINDSPOTS] = { 0 };
    int images = ec->images[SPOT_VAL];

    *mean = 0;
    l->outside_count = 0;
    memset(l->inside_count, 0, sizeof l->inside_count);
    for (int first = 0; first < images; first += cfg->batch) {
        int n = images - first < cfg->batch ? images - first : cfg->batch;
        double loss;

        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(load(c, t, ec, SPOT_VAL, first, n));
        SPOT_TRY(spot_net_forward(c, &t->net, t->pixels, n, false));
        SPOT_TRY(spot_head_loss(c, &loss, NULL, t->net.logit, t->target, n * ec->targets));
        *mean += loss * n / images;
        mark(l, t, ec, n, right);
    }
    l->outside = l->outside_count ? right[0] / l->outside_count : NAN;
    for (int b = 0; b < SPOT_MAX_BLINDSPOTS; b++)
        l->inside[b] = l->inside_count[b] ? right[1 + b] / l->inside_count[b] : NAN;
    return SPOT_OK;
}

/* A blindspot without val images is not known to be learned: its NaN fails the comparison. */
static bool was_learned(const spot_lesson *l, const spot_model_config *cfg)
{
    bool learned = l->outside >= cfg->learned_outside;

    for (int b = 0; b < l->blindspots; b++) learned = learned && l->inside[b] <= cfg->learned_inside;
    return learned;
}

static spot_status run_epochs(spot_ctx *c, trainer *t, spot_model *m, spot_lesson *lesson, const spot_ec *ec,
                              const spot_model_config *cfg)
{
    double best = INFINITY;

    for (int e = 0; e < cfg->epochs; e++) {
        double start = seconds();
        spot_epoch *now = &lesson->epoch[e];
        spot_lesson seen = *lesson;

        SPOT_TRY(learn(c, t, ec, cfg, e, &now->train_loss));
        SPOT_TRY(watch(c, t, ec, cfg, &now->val_loss, &seen));
        if (!isfinite(now->val_loss))
            return spot_fail(c, SPOT_NUMERIC, "the validation loss is %g after epoch %d; a smaller model.lr may help",
                             fabs(now->val_loss), e + 1);
        seen.epoch[e] = *now;
        if (now->val_loss < best || !cfg->keep_best) {
            best = now->val_loss;
            *lesson = seen;
            lesson->best_epoch = e;
            m->batches_tracked = (int64_t)(e + 1) * ((ec->images[SPOT_TRAIN] + cfg->batch - 1) / cfg->batch);
            SPOT_TRY(spot_net_get(c, m, &t->net));
        }
        now->seconds = seconds() - start;
        lesson->epochs = e + 1;
    }
    lesson->learned = was_learned(lesson, cfg);
    return SPOT_OK;
}

/* As another model is, but for a head that answers another number of questions. */
static spot_status copy_model(spot_ctx *c, spot_arena *a, spot_model *m, const spot_model *from, const spot_ec *ec)
{
    spot_model_tensor table[SPOT_RESNET18_TENSORS];

    SPOT_TRY(spot_model_init(c, a, m, from->width, ec->targets, ec->seed, ec->index));
    spot_model_layout(table, m->width, m->outputs);
    if (!a->counting)
        memcpy(m->value, from->value, (m->outputs == from->outputs ? m->floats : table[120].offset) * sizeof(float));
    return SPOT_OK;
}

static spot_status start_model(spot_ctx *c, spot_arena *a, spot_model *m, const spot_ec *ec, const spot_model_config *cfg,
                               const spot_model *start)
{
    if (!start && !cfg->init[0]) return spot_model_init(c, a, m, cfg->width, ec->targets, ec->seed, ec->index);
    if (start) SPOT_TRY(copy_model(c, a, m, start, ec));
    else SPOT_TRY(spot_model_load(c, a, m, cfg->init, ec->targets, ec->seed));
    if (m->width != cfg->width)
        return spot_fail(c, SPOT_USAGE, "model.init: %s holds a network of width %d, model.width is %d",
                         start ? "the base model" : cfg->init, m->width, cfg->width);
    return SPOT_OK;
}

spot_status spot_model_train(spot_ctx *c, spot_arena *a, spot_model *m, spot_lesson *lesson, const spot_ec *ec,
                             const spot_model_config *cfg, const spot_model *start)
{
    trainer t = { 0 };
    spot_status s;
    size_t mark;

    memset(lesson, 0, sizeof *lesson);
    lesson->blindspots = ec->blindspot_count;
    if (ec->images[SPOT_TRAIN] < 1 || ec->images[SPOT_VAL] < 1)
        return spot_fail(c, SPOT_INVALID, "%d train and %d val images; training needs both",
                         ec->images[SPOT_TRAIN], ec->images[SPOT_VAL]);
    SPOT_TRY(start_model(c, a, m, ec, cfg, start));
    mark = a->used;
    s = open_trainer(c, a, &t, ec, cfg);
    if (!s) s = spot_net_put(c, &t.net, m);
    if (!s) s = run_epochs(c, &t, m, lesson, ec, cfg);
    spot_net_close(c, &t.net);
    a->used = mark;
    return s;
}

/* As many val images as tell the accuracy of twenty attributes to a tenth of a percent. */
static spot_ec base_ec(const spot_scene_config *scene, const spot_model_config *cfg, uint64_t seed)
{
    spot_ec ec;

    spot_ec_base(&ec, scene, seed, cfg->base.images, 2048);
    return ec;
}

spot_status spot_model_base(spot_ctx *c, spot_arena *a, spot_model *m, spot_lesson *lesson, const spot_scene_config *scene,
                            const spot_model_config *cfg, uint64_t seed)
{
    const spot_ec ec = base_ec(scene, cfg, seed);
    spot_model_config how = *cfg;

    how.epochs = cfg->base.epochs;
    how.lr = cfg->base.lr;
    return spot_model_train(c, a, m, lesson, &ec, &how, NULL);
}

/* Of the larger of the two trainings. */
size_t spot_model_train_bytes(const spot_scene_config *scene, const spot_model_config *cfg)
{
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = 1 };
    size_t most = 0;

    for (int base = 0; base <= (cfg->base.images > 0); base++) {
        spot_arena a = spot_arena_counting();
        spot_ec ec = base_ec(scene, cfg, 0);
        trainer t = { 0 };
        spot_model m;
        spot_status s;

        if (!base) {
            ec.images[SPOT_TRAIN] = scene->per_bucket[SPOT_TRAIN] << scene->rollable[1];
            ec.targets = 1;
        }
        s = spot_model_init(&c, &a, &m, cfg->width, ec.targets, 0, 0);
        if (!s) s = open_trainer(&c, &a, &t, &ec, cfg);
        spot_net_close(&c, &t.net);
        if (s) return 0;
        most = a.peak > most ? a.peak : most;
    }
    return most;
}
