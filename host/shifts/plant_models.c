/* plant_models.c - small ResNet-18s of different robustness, trained on planted pictures.
 *
 * Each class has a sigmoid of its own; the answer of a model is its greatest output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/idle_cores.h"
#include "models/network.h"
#include "shifts/plant_make.h"
#include "spotter/model.h"
#include "spotter/rng.h"
#include "store/store.h"

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

typedef struct { uint8_t *rgb; int *cls; int n; } lessons;

static void close_lessons(lessons *l)
{
    free(l->cls);
    free(l->rgb);
    memset(l, 0, sizeof *l);
}

static spot_status open_lessons(spot_ctx *c, lessons *l, const spot_plant_config *cfg, const spot_plant_recipe *r)
{
    size_t n = (size_t)r->train, bytes = 3 * (size_t)cfg->size * (size_t)cfg->size;
    spot_plant_picture *p = malloc(n * sizeof *p);
    spot_status s = SPOT_OK;

    *l = (lessons){ .n = r->train };
    l->rgb = malloc(n * bytes);
    l->cls = malloc(n * sizeof *l->cls);
    if (!p || !l->rgb || !l->cls) s = spot_fail(c, SPOT_NOMEM, "no memory for %d training pictures", r->train);
    for (int i = 0; i < r->train && !s; i++) {
        draw_training(&p[i], cfg, r, i);
        l->cls[i] = p[i].cls;
    }
    if (!s) s = spot_plant_render(c, l->rgb, p, r->train, cfg);
    free(p);
    if (s) close_lessons(l);
    return s;
}

/* The last models have many times the work of the first: the time left follows work, and no numbers of models. */
#define STAGE "plant: models"
static double work_of(const spot_plant_recipe *r) { return (double)r->train * r->epochs * r->width * r->width; }

/* -- training ------------------------------------------------------------------------------------------------------ */

static spot_pixel_training training_of(const lessons *l, const spot_plant_config *cfg, const spot_plant_recipe *r)
{
    return (spot_pixel_training){ .size = cfg->size, .classes = cfg->classes, .images = l->n, .loss = SPOT_SIGMOID,
                                  .rgb = l->rgb, .cls = l->cls, .seed = cfg->seed, .number = (uint32_t)r->number };
}

/* Trains a model, with memory of its own. before, total: the work before it and of all models. */
static spot_status train_model(spot_ctx *c, const char *path, const spot_plant_config *cfg, const spot_plant_recipe *r,
                               double before, double total)
{
    const spot_model_config how = config_of(r);
    spot_arena a = spot_arena_counting();
    lessons l;
    spot_status s = open_lessons(c, &l, cfg, r);
    spot_pixel_training training = training_of(&l, cfg, r);
    spot_model m;

    training.stage = STAGE, training.before = before, training.part = work_of(r), training.total = total;
    if (!s) s = spot_model_train_pixels(c, &a, &m, NULL, &training, &how, NULL);
    if (!s) s = spot_arena_open(c, &a, a.peak);
    if (!s) s = spot_model_train_pixels(c, &a, &m, NULL, &training, &how, NULL);
    if (!s) s = spot_model_save(c, path, &m);
    spot_arena_close(&a);
    close_lessons(&l);
    return s;
}

spot_status spot_plant_models(spot_ctx *c, const char *dir, const spot_plant_config *cfg)
{
    char path[SPOT_PLANT_PATH];
    double done = 0, total = 0;
    bool missing = false;

    snprintf(path, sizeof path, "%s/models", dir);
    SPOT_TRY(spot_folder_make(c, path));
    for (int k = 0; k < cfg->models; k++) {
        const spot_plant_recipe r = spot_plant_recipe_of(cfg, k);
        spot_plant_model_path(path, dir, &r);
        missing |= access(path, F_OK) != 0;
        total += work_of(&r);
    }
    if (missing) spot_warn_of_fp32_alone(c, "the planted models");
    for (int k = 0; k < cfg->models; k++) {
        const spot_plant_recipe r = spot_plant_recipe_of(cfg, k);
        spot_plant_model_path(path, dir, &r);
        spot_tell(c, STAGE, -1, done, total, r.name);
        if (access(path, F_OK)) SPOT_TRY(train_model(c, path, cfg, &r, done, total));
        done += work_of(&r);
    }
    spot_tell(c, STAGE, -1, total, total, "");
    return SPOT_OK;
}

spot_status spot_plant_models_bytes(spot_ctx *c, size_t *training, size_t *looking, const spot_plant_config *cfg)
{
    static uint8_t nothing;                /* a counting arena reads no picture */
    static int none;
    const int block = cfg->size > 96 ? 64 : 256, most = cfg->truth * cfg->classes, n = most > block ? most : block;
    size_t weights = 0;

    *training = *looking = 0;
    for (int k = 0; k < cfg->models; k++) {
        const spot_plant_recipe r = spot_plant_recipe_of(cfg, k);
        const spot_model_config how = config_of(&r);
        const lessons l = { &nothing, &none, r.train };
        const spot_pixel_training lesson = training_of(&l, cfg, &r);
        spot_arena a = spot_arena_counting(), scratch = spot_arena_counting(), loaded = spot_arena_counting();
        spot_model m;
        SPOT_TRY(spot_model_train_pixels(c, &a, &m, NULL, &lesson, &how, NULL));
        SPOT_TRY(spot_model_infer(c, &scratch, NULL, NULL, &m, NULL, n, cfg->size));
        const size_t all = a.peak + (size_t)r.train * (3 * (size_t)cfg->size * (size_t)cfg->size + sizeof(spot_plant_picture));
        *training = all > *training ? all : *training;
        *looking = scratch.peak > *looking ? scratch.peak : *looking;
        SPOT_TRY(spot_model_take(c, &loaded, &m, SPOT_ARCH_RESNET18, r.width, cfg->classes));
        weights += loaded.peak;
    }
    *looking += weights;
    return SPOT_OK;
}

/* ---- the pace ---- */

/* The second of two equal calls, since the first warms up. */
static spot_status time_look(spot_ctx *c, double *seconds, const spot_model *m, const lessons *l, const spot_plant_config *cfg)
{
    float *logit = malloc((size_t)l->n * (size_t)cfg->classes * sizeof *logit);
    spot_arena a = spot_arena_counting();
    spot_status s = logit ? spot_model_infer(c, &a, logit, NULL, m, l->rgb, l->n, cfg->size)
                          : spot_fail(c, SPOT_NOMEM, "no memory to time a model");

    if (s == SPOT_OK) s = spot_arena_open(c, &a, a.peak);
    for (int turn = 0; turn < 2 && s == SPOT_OK; turn++) {
        const double since = spot_clock();
        a.used = 0;
        s = spot_model_infer(c, &a, logit, NULL, m, l->rgb, l->n, cfg->size);
        *seconds = (spot_clock() - since) / l->n;
    }
    spot_arena_close(&a);
    free(logit);
    return s;
}

/* Two passes more cost what two passes cost: what comes once is left out. */
static spot_status time_training(spot_ctx *c, spot_plant_pace *pace, const lessons *l, const spot_plant_config *cfg,
                                 const spot_plant_recipe *r)
{
    const spot_pixel_training training = training_of(l, cfg, r);
    spot_model_config how = config_of(r);
    spot_arena a = spot_arena_counting();
    double spent[2] = { 0 };
    spot_model m;
    spot_status s;

    how.epochs = 3;
    s = spot_model_train_pixels(c, &a, &m, NULL, &training, &how, NULL);
    if (s == SPOT_OK) s = spot_arena_open(c, &a, a.peak);
    for (int turn = 0; turn < 2 && s == SPOT_OK; turn++) {
        const double since = spot_clock();
        a.used = 0, how.epochs = 1 + 2 * turn;
        s = spot_model_train_pixels(c, &a, &m, NULL, &training, &how, NULL);
        spent[turn] = spot_clock() - since;
    }
    pace->learn = (spent[1] - spent[0]) / (2.0 * l->n);
    if (pace->learn <= 0) pace->learn = spent[1] / (3.0 * l->n);
    if (s == SPOT_OK) s = time_look(c, &pace->look, &m, l, cfg);
    spot_arena_close(&a);
    return s;
}

spot_status spot_plant_time(spot_ctx *c, spot_plant_pace *pace, const spot_plant_config *cfg, const spot_plant_recipe *r)
{
    spot_plant_recipe few = *r;
    const double since = spot_clock();
    lessons l;
    spot_status s;

    *pace = (spot_plant_pace){ 0 };
    if (few.train > 4 * BATCH) few.train = 4 * BATCH;
    s = open_lessons(c, &l, cfg, &few);
    pace->draw = (spot_clock() - since) / few.train;
    if (s == SPOT_OK) s = time_training(c, pace, &l, cfg, &few);
    close_lessons(&l);
    return s;
}
