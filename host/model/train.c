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
        .momentum = 0.9, .schedule = SPOT_CONSTANT, .precision = SPOT_FP32, .keep_best = 1, .lanes = 2,
        .learned_outside = 0.99, .learned_inside = 0.05,
    };
}

typedef struct {
    spot_net    net;
    spot_image *image;        /* (rows): of the batch */
    uint8_t    *bytes;        /* (rows, size, size, 3): only on the way through JPEG */
    float      *pixels;       /* (rows, size, size, 3) */
    float      *target;       /* (rows): what the images are said to show */
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
    double start = cfg->lr / 25, least = start / 1e4, top = 0.3 * steps - 1, end = steps - 1.0;
    double from = start, to = cfg->lr, part;

    if (cfg->schedule == SPOT_CONSTANT) return cfg->lr;
    part = top > 0 ? step / top : 1;
    if (step > top) {
        from = cfg->lr;
        to = least;
        part = end > top ? (step - fmax(top, 0)) / (end - fmax(top, 0)) : 1;
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
                             .rows = (cfg->batch + cfg->lanes - 1) / cfg->lanes * cfg->lanes };
}

static spot_status open_trainer(spot_ctx *c, spot_arena *a, trainer *t, const spot_scene_config *scene, int train_images,
                                const spot_model_config *cfg)
{
    spot_net_shape s = spot_net_shape_of(cfg, scene->size, 1);
    size_t rows = (size_t)s.rows, pixels = rows * 3 * scene->size * scene->size;

    SPOT_TRY(check_config(c, cfg));
    SPOT_TRY(spot_net_open(c, a, &t->net, s));
    SPOT_TRY(SPOT_TAKE(c, a, t->image, rows));
    if (scene->jpeg_quality) SPOT_TRY(SPOT_TAKE(c, a, t->bytes, pixels));
    SPOT_TRY(SPOT_TAKE(c, a, t->pixels, pixels));
    SPOT_TRY(SPOT_TAKE(c, a, t->target, rows));
    return SPOT_TAKE(c, a, t->order, train_images);
}

/* Images -> normalised pixels. JPEG changes bytes, so then there are bytes. */
spot_status spot_model_render(spot_ctx *c, float *pixels, uint8_t *bytes, const spot_image *image, int n,
                              const spot_scene_config *scene)
{
    if (!scene->jpeg_quality) return spot_raster_input(c, pixels, image, n, scene);
    SPOT_TRY(spot_image_render(c, bytes, image, n, scene));
    return spot_raster_normalise(c, pixels, bytes, n, scene->size);
}

/* Images first..first+n of a split (in `order`, NULL: as they stand) into the batch. */
static spot_status load(spot_ctx *c, trainer *t, const spot_ec *ec, spot_split split, int first, int n)
{
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        uint32_t index = (uint32_t)(first + i);
        spot_image_draw(&t->image[i], ec, split, split == SPOT_TRAIN ? t->order[index] : index);
        t->target[i] = t->image[i].train_label;
    }
    return spot_model_render(c, t->pixels, t->bytes, t->image, n, &ec->scene);
}

/* One pass over the training images. */
static spot_status learn(spot_ctx *c, trainer *t, const spot_ec *ec, const spot_model_config *cfg, int epoch, double *mean)
{
    spot_rng rng = spot_rng_at(ec->seed, SPOT_RNG_SHUFFLE, ec->index, (uint32_t)epoch);
    int images = ec->images[SPOT_TRAIN], steps = (images + cfg->batch - 1) / cfg->batch;
    spot_optim_rule rule = { .adam = cfg->optimizer == SPOT_ADAM, .decay = cfg->weight_decay, .momentum = cfg->momentum,
                             .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8 };

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
            return spot_fail(c, SPOT_NUMERIC, "EC %u: the loss is %g in epoch %d, step %d, at learning rate %g; "
                             "a smaller model.lr may help", ec->index, loss, epoch + 1, step + 1, rule.lr);
        SPOT_TRY(spot_optim_step(c, t->net.param, t->net.grad, t->net.moment, t->net.square, t->net.params, &rule));
        *mean += loss * n / images;
        snprintf(note, sizeof note, "epoch %d loss %.4f", epoch + 1, loss);
        spot_tell(c, "train", (int)ec->index, epoch + (step + 1.0) / steps, cfg->epochs, note);
    }
    return SPOT_OK;
}

/* One pass over the val images: the loss against what training is told, accuracy against the truth. */
static spot_status watch(spot_ctx *c, trainer *t, const spot_ec *ec, const spot_model_config *cfg, double *mean,
                         spot_lesson *l)
{
    int images = ec->images[SPOT_VAL], right_outside = 0, right_inside[SPOT_MAX_BLINDSPOTS] = { 0 };

    *mean = 0;
    l->outside_count = 0;
    memset(l->inside_count, 0, sizeof l->inside_count);
    for (int first = 0; first < images; first += cfg->batch) {
        int n = images - first < cfg->batch ? images - first : cfg->batch;
        double loss;

        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(load(c, t, ec, SPOT_VAL, first, n));
        SPOT_TRY(spot_net_forward(c, &t->net, t->pixels, n, false));
        SPOT_TRY(spot_head_loss(c, &loss, NULL, t->net.logit, t->target, n));
        *mean += loss * n / images;
        for (int i = 0; i < n; i++) {
            int right = (t->net.logit[i] > 0) == t->image[i].label;
            if (!t->image[i].blindspots) right_outside += right, l->outside_count++;
            for (int b = 0; b < ec->blindspot_count; b++)
                if (t->image[i].blindspots >> b & 1) right_inside[b] += right, l->inside_count[b]++;
        }
    }
    l->outside = l->outside_count ? (double)right_outside / l->outside_count : NAN;
    for (int b = 0; b < SPOT_MAX_BLINDSPOTS; b++)
        l->inside[b] = l->inside_count[b] ? (double)right_inside[b] / l->inside_count[b] : NAN;
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
            return spot_fail(c, SPOT_NUMERIC, "EC %u: the validation loss is %g after epoch %d; a smaller model.lr may "
                             "help", ec->index, now->val_loss, e + 1);
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

static spot_status start_model(spot_ctx *c, spot_arena *a, spot_model *m, const spot_ec *ec, const spot_model_config *cfg)
{
    if (!cfg->init[0]) return spot_model_init(c, a, m, cfg->width, 1, ec->seed, ec->index);
    SPOT_TRY(spot_model_load(c, a, m, cfg->init, 1, ec->seed));
    if (m->width != cfg->width)
        return spot_fail(c, SPOT_USAGE, "model.init: %s holds a network of width %d, model.width is %d", cfg->init,
                         m->width, cfg->width);
    return SPOT_OK;
}

spot_status spot_model_train(spot_ctx *c, spot_arena *a, spot_model *m, spot_lesson *lesson, const spot_ec *ec,
                             const spot_model_config *cfg)
{
    trainer t = { 0 };
    spot_status s;
    size_t mark;

    memset(lesson, 0, sizeof *lesson);
    lesson->blindspots = ec->blindspot_count;
    if (ec->images[SPOT_TRAIN] < 1 || ec->images[SPOT_VAL] < 1)
        return spot_fail(c, SPOT_INVALID, "EC %u has %d train and %d val images; training needs both", ec->index,
                         ec->images[SPOT_TRAIN], ec->images[SPOT_VAL]);
    SPOT_TRY(start_model(c, a, m, ec, cfg));
    mark = a->used;
    s = open_trainer(c, a, &t, &ec->scene, ec->images[SPOT_TRAIN], cfg);
    if (!s) s = spot_net_put(c, &t.net, m);
    if (!s) s = run_epochs(c, &t, m, lesson, ec, cfg);
    spot_net_close(c, &t.net);
    a->used = mark;
    return s;
}

size_t spot_model_train_bytes(const spot_scene_config *scene, const spot_model_config *cfg)
{
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = 1 };
    spot_arena a = spot_arena_counting();
    trainer t = { 0 };
    spot_model m;
    int most = scene->per_bucket[SPOT_TRAIN] << scene->rollable[1];
    spot_status s = spot_model_init(&c, &a, &m, cfg->width, 1, 0, 0);

    if (!s) s = open_trainer(&c, &a, &t, scene, most, cfg);
    spot_net_close(&c, &t.net);
    return s ? 0 : a.peak;
}
