/* plant_models.c - small ResNet-18s of different robustness, trained on planted pictures.
 *
 * The loss of Spotter's networks is a sigmoid's for each output (net/head.h), so each class has one; the answer of a model is
 * its greatest output. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/device.h"
#include "image/photo.h"
#include "model/trainer.h"
#include "shifts/plant_make.h"
#include "spotter/store.h"

enum { BATCH = 32 };

static const char *const augment_name[SPOT_AUGMENTS] = { "plain", "camera", "grounds", "all" };

/* Share of augmented training pictures. */
static const double augment_share = 0.4;

/* Widths change slowest, so that few models differ in augmentation and number of pictures first. */
spot_plant_recipe spot_plant_recipe_of(const spot_plant_config *cfg, int model)
{
    spot_plant_recipe r = { .number = model, .augment = model % SPOT_AUGMENTS, .epochs = cfg->epochs };

    r.train = cfg->train >> (2 - model / SPOT_AUGMENTS % 3);
    r.width = model / (3 * SPOT_AUGMENTS) % 2 ? 32 : 16;
    snprintf(r.name, sizeof r.name, "w%d-n%d-%s-%02d", r.width, r.train, augment_name[r.augment], model);
    return r;
}

void spot_plant_model_path(char path[SPOT_PLANT_PATH], const char *dir, const spot_plant_recipe *r)
{
    snprintf(path, SPOT_PLANT_PATH, "%s/models/%s.safetensors", dir, r->name);
}

static spot_model_config config_of(const spot_plant_recipe *r)
{
    spot_model_config cfg = spot_model_defaults();

    cfg.width = r->width;
    cfg.epochs = r->epochs;
    cfg.batch = BATCH;
    cfg.lr = 2e-3;
    cfg.schedule = SPOT_ONE_CYCLE;
    return cfg;
}

/* -- training pictures --------------------------------------------------------------------------------------------- */

/* A shift that the recipe trains on. */
static spot_plant_shift draw_shift(const spot_plant_config *cfg, int augment, spot_rng *r)
{
    static const spot_plant_shift camera[] = { SPOT_PLANT_NOISE, SPOT_PLANT_BLUR, SPOT_PLANT_FOG, SPOT_PLANT_NIGHT },
                                  grounds[] = { SPOT_PLANT_GREEN, SPOT_PLANT_CHECKER, SPOT_PLANT_RED, SPOT_PLANT_CROSS };
    uint32_t k = spot_rng_below(r, 4), any = spot_rng_below(r, (uint32_t)cfg->shifts);

    if (augment == SPOT_AUGMENT_CAMERA)  return camera[k];
    if (augment == SPOT_AUGMENT_GROUNDS) return grounds[k];
    return (spot_plant_shift)(1 + any);
}

/* Picture i of the model: class i mod classes. */
static void draw_training(spot_plant_picture *p, const spot_plant_config *cfg, const spot_plant_recipe *r, int i)
{
    uint32_t unit = (uint32_t)SPOT_PLANT_TRAIN << 16 | 0xff00u;        /* a folder that no picture has */
    spot_rng coin = spot_rng_at(cfg->seed, SPOT_RNG_PLANT, unit + (uint32_t)r->number, (uint32_t)i);
    bool shifted = spot_rng_uniform(&coin) < augment_share && r->augment != SPOT_AUGMENT_NONE;
    spot_plant_shift shift = draw_shift(cfg, r->augment, &coin);

    spot_plant_draw(p, cfg, SPOT_PLANT_TRAIN, shifted ? shift : SPOT_PLANT_BASE, i % cfg->classes,
                    (uint32_t)(i / cfg->classes) + (uint32_t)r->number * 100000u);
}

typedef struct { uint8_t *rgb; int *cls; uint32_t *order; int n; size_t bytes; } lessons;

static void close_lessons(lessons *l)
{
    free(l->order);
    free(l->cls);
    free(l->rgb);
    memset(l, 0, sizeof *l);
}

static spot_status open_lessons(spot_ctx *c, lessons *l, const spot_plant_config *cfg, const spot_plant_recipe *r)
{
    size_t n = (size_t)r->train;
    spot_plant_picture *p = malloc(n * sizeof *p);
    spot_status s = SPOT_OK;

    *l = (lessons){ .n = r->train, .bytes = 3 * (size_t)cfg->size * (size_t)cfg->size };
    l->rgb = malloc(n * l->bytes);
    l->cls = malloc(n * sizeof *l->cls);
    l->order = malloc(n * sizeof *l->order);
    if (!p || !l->rgb || !l->cls || !l->order) s = spot_fail(c, SPOT_NOMEM, "no memory for %d training pictures", r->train);
    for (int i = 0; i < r->train && !s; i++) {
        draw_training(&p[i], cfg, r, i);
        l->cls[i] = p[i].cls;
    }
    if (!s) s = spot_plant_render(c, l->rgb, p, r->train, cfg);
    free(p);
    if (s) close_lessons(l);
    return s;
}

/* -- training ------------------------------------------------------------------------------------------------------ */

/* A batch on the host and on c's device; on the CPU the two are one. */
typedef struct {
    spot_net net;
    uint8_t *rgb, *rgb_there;              /* (rows, size, size, 3) */
    float   *target, *target_there, *pixels;
    double  *loss;
} pupil;

static spot_status open_pupil(spot_ctx *c, spot_arena *a, spot_arena *host, pupil *u, const spot_model_config *how, int size,
                              int classes)
{
    spot_net_shape shape = spot_net_shape_of(how, size, classes);
    size_t rows = (size_t)shape.rows, pixels = rows * 3 * (size_t)size * (size_t)size;

    memset(u, 0, sizeof *u);
    SPOT_TRY(spot_net_open(c, a, &u->net, shape));
    SPOT_TRY(SPOT_TAKE(c, a, u->pixels, pixels));
    SPOT_TRY(SPOT_TAKE(c, a, u->rgb_there, pixels));
    SPOT_TRY(SPOT_TAKE(c, a, u->target_there, rows * (size_t)classes));
    SPOT_TRY(SPOT_TAKE(c, a, u->loss, 1));
    u->rgb = u->rgb_there;
    u->target = u->target_there;
    if (!c->device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, host, u->rgb, pixels));
    return SPOT_TAKE(c, host, u->target, rows * (size_t)classes);
}

static spot_status put_batch(spot_ctx *c, pupil *u, const lessons *l, int first, int n, int size, int classes)
{
    spot_photo_set set = { .pictures = n, .size = size, .rgb = u->rgb_there };

    memset(u->target, 0, (size_t)n * (size_t)classes * sizeof *u->target);
    for (int i = 0; i < n; i++) {
        size_t from = l->order[first + i];
        memcpy(u->rgb + (size_t)i * l->bytes, l->rgb + from * l->bytes, l->bytes);
        u->target[i * classes + l->cls[from]] = 1;
    }
    SPOT_TRY(spot_device_copy(c, u->rgb_there, u->rgb, (size_t)n * l->bytes));
    SPOT_TRY(spot_device_copy(c, u->target_there, u->target, (size_t)n * (size_t)classes * sizeof *u->target));
    return spot_photo_input(c, u->pixels, 3, SPOT_FP32, &set, NULL, n);
}

static spot_status run_steps(spot_ctx *c, pupil *u, lessons *l, const spot_plant_config *cfg, const spot_plant_recipe *r,
                             const spot_model_config *how)
{
    int batches = (l->n + BATCH - 1) / BATCH, steps = batches * how->epochs;
    double loss = 0;

    for (int k = 0; k < steps; k++) {
        int first = k % batches * BATCH, n = l->n - first < BATCH ? l->n - first : BATCH;
        spot_optim_rule rule = { .adam = 1, .lr = spot_learning_rate(how, k, steps), .beta1 = 0.9, .beta2 = 0.999,
                                 .epsilon = 1e-8, .t = k + 1 };
        SPOT_TRY(spot_check_stop(c));
        if (!first) {
            spot_rng shuffle = spot_rng_at(cfg->seed, SPOT_RNG_SHUFFLE, 1u << 31 | (uint32_t)r->number,
                                           (uint32_t)(k / batches));
            spot_rng_shuffle(&shuffle, l->order, (uint32_t)l->n);
        }
        SPOT_TRY(put_batch(c, u, l, first, n, cfg->size, cfg->classes));
        SPOT_TRY(spot_net_forward(c, &u->net, u->pixels, n, true));
        SPOT_TRY(spot_net_backward(c, &u->net, u->target_there, n, u->loss));
        SPOT_TRY(spot_optim_step(c, u->net.param, u->net.grad, u->net.moment, u->net.square, u->net.params, &rule));
    }
    SPOT_TRY(spot_device_copy(c, &loss, u->loss, sizeof loss));
    return isfinite(loss) ? SPOT_OK : spot_fail(c, SPOT_NUMERIC, "the loss of the planted model %s is not finite", r->name);
}

static spot_status train_in(spot_ctx *c, spot_arena *on, spot_arena *host, spot_model *m, const spot_plant_config *cfg,
                            const spot_plant_recipe *r)
{
    const spot_model_config how = config_of(r);
    lessons l = { 0 };
    pupil u;
    spot_status s = open_pupil(c, on, host, &u, &how, cfg->size, cfg->classes);

    if (!s && !host->counting) s = open_lessons(c, &l, cfg, r);
    if (!s && !host->counting) s = spot_net_put(c, &u.net, m);
    if (!s && !host->counting) s = run_steps(c, &u, &l, cfg, r, &how);
    if (!s && !host->counting) s = spot_net_get(c, m, &u.net);
    spot_net_close(c, &u.net);
    close_lessons(&l);
    return s;
}

/* Initialises and trains a model, with memory of its own. */
static spot_status train_model(spot_ctx *c, const char *path, const spot_plant_config *cfg, const spot_plant_recipe *r)
{
    spot_arena host = spot_arena_counting(), on = host, *device = c->device ? &on : &host;
    spot_model m;
    spot_status s;

    SPOT_TRY(spot_model_init(c, &host, &m, r->width, cfg->classes, cfg->seed, (uint32_t)r->number));
    SPOT_TRY(train_in(c, device, &host, &m, cfg, r));
    s = c->device ? spot_arena_open_device(c, &on, on.peak) : SPOT_OK;
    SPOT_TRY(s);
    s = spot_arena_open(c, &host, host.peak);
    if (!s) s = spot_model_init(c, &host, &m, r->width, cfg->classes, cfg->seed, (uint32_t)r->number);
    if (!s) s = train_in(c, device, &host, &m, cfg, r);
    if (!s) m.batches_tracked = (int64_t)r->epochs * ((r->train + BATCH - 1) / BATCH);
    if (!s) s = spot_model_save(c, path, &m);
    spot_arena_close(&host);
    if (c->device) spot_arena_close(&on);
    return s;
}

spot_status spot_plant_models(spot_ctx *c, const char *dir, const spot_plant_config *cfg)
{
    char path[SPOT_PLANT_PATH];

    snprintf(path, sizeof path, "%s/models", dir);
    SPOT_TRY(spot_folder_make(c, path));
    for (int k = 0; k < cfg->models; k++) {
        const spot_plant_recipe r = spot_plant_recipe_of(cfg, k);
        spot_plant_model_path(path, dir, &r);
        spot_tell(c, "plant: models", -1, k, cfg->models, r.name);
        if (access(path, F_OK)) SPOT_TRY(train_model(c, path, cfg, &r));
    }
    spot_tell(c, "plant: models", -1, cfg->models, cfg->models, "");
    return SPOT_OK;
}
