/* zoo_models.c - small ResNet-18s of known reliance on the background. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background/zoo_make.h"
#include "core/device.h"
#include "image/photo.h"
#include "model/trainer.h"
#include "spotter/store.h"
#include "work/workers.h"

enum { BATCH = 32, WIDTH = 16, POOL = 150 };

static const char *const kind_name[SPOT_ZOO_KINDS] = { "plain", "short", "few", "mislabelled", "black" };

const char *spot_zoo_kind_name(spot_zoo_kind kind) { return kind_name[kind]; }

/* rho grows from model to model, and the kinds take turns, so that neither follows from the other. Few models are all plain. */
spot_zoo_recipe spot_zoo_recipe_of(const spot_background_zoo *cfg, int model)
{
    spot_zoo_recipe r = { .number = model, .train = cfg->train, .epochs = cfg->epochs };

    r.kind = cfg->models < 2 * SPOT_ZOO_KINDS ? SPOT_ZOO_PLAIN : model % SPOT_ZOO_KINDS;
    r.rho = cfg->models > 1 ? (double)model / (cfg->models - 1) : 0;
    if (r.kind == SPOT_ZOO_SHORT) r.epochs = (cfg->epochs + 2) / 3;
    if (r.kind == SPOT_ZOO_FEW) r.train = (cfg->train + 5) / 6, r.epochs = 6 * cfg->epochs;
    if (r.kind == SPOT_ZOO_MISLABELLED) r.wrong = 0.25;
    if (r.kind == SPOT_ZOO_BLACK) r.black = 0.5;
    snprintf(r.name, sizeof r.name, "%s-rho%03.0f-%02d", kind_name[r.kind], 100 * r.rho, model);
    return r;
}

void spot_zoo_model_path(char path[SPOT_ZOO_PATH], const char *dir, const spot_zoo_recipe *r)
{
    snprintf(path, SPOT_ZOO_PATH, "%s/models/%s.safetensors", dir, r->name);
}

static spot_model_config config_of(const spot_zoo_recipe *r)
{
    spot_model_config cfg = spot_model_defaults();

    cfg.width = WIDTH;
    cfg.epochs = r->epochs;
    cfg.batch = BATCH;
    cfg.lr = 4e-3;
    cfg.schedule = SPOT_ONE_CYCLE;
    return cfg;
}

/* -- training ------------------------------------------------------------------------------------------------------- */

/* A batch on the host and on c's device; on the CPU the two are one. */
typedef struct {
    const spot_zoo_stock *stock;
    const spot_zoo_pool  *pool;
    const spot_zoo_recipe *recipe;
    spot_model_config how;
    spot_net net;
    uint32_t *order;                       /* (recipe->train) */
    uint8_t  *rgb, *rgb_there;             /* (rows, size, size, 3) */
    float    *target, *target_there, *pixels;
    double   *loss;
} pupil;

static spot_status open_pupil(spot_ctx *c, spot_arena *a, spot_arena *host, pupil *u)
{
    const int size = u->stock->cfg->size, classes = u->stock->cfg->classes;
    const spot_net_shape shape = spot_net_shape_of(&u->how, size, classes);
    const size_t rows = (size_t)shape.rows, pixels = rows * 3 * (size_t)size * (size_t)size;

    SPOT_TRY(spot_net_open(c, a, &u->net, shape));
    u->net.kind = SPOT_SOFTMAX;
    SPOT_TRY(SPOT_TAKE(c, a, u->pixels, pixels));
    SPOT_TRY(SPOT_TAKE(c, a, u->rgb_there, pixels));
    SPOT_TRY(SPOT_TAKE(c, a, u->target_there, rows * (size_t)classes));
    SPOT_TRY(SPOT_TAKE(c, a, u->loss, 1));
    SPOT_TRY(SPOT_TAKE(c, host, u->order, (size_t)u->recipe->train));
    u->rgb = u->rgb_there;
    u->target = u->target_there;
    if (!c->device) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, host, u->rgb, pixels));
    return SPOT_TAKE(c, host, u->target, rows * (size_t)classes);
}

/* Picture i of the model, of class i mod classes, and its label. */
static int draw_picture(uint8_t *rgb, const pupil *u, uint32_t i)
{
    const spot_background_zoo *cfg = u->stock->cfg;
    spot_rng r = spot_zoo_numbers(u->stock, SPOT_ZOO_TRAIN, u->recipe->number, i);
    const int cls = (int)(i % (uint32_t)cfg->classes), other = (int)spot_rng_below(&r, (uint32_t)cfg->classes - 1);
    const bool wrong = spot_rng_uniform(&r) < u->recipe->wrong;
    const uint32_t ground = spot_rng_u32(&r);
    const spot_zoo_object o = spot_zoo_object_of(u->stock, cls, u->recipe->rho, u->recipe->black, &r);

    spot_zoo_compose(rgb, NULL, u->stock, &o, o.black ? NULL : spot_zoo_pooled(u->pool, cfg->size, o.family, ground));
    return wrong ? other + (other >= cls) : cls;
}

static spot_status put_batch(spot_ctx *c, pupil *u, int first, int n)
{
    const int size = u->stock->cfg->size, classes = u->stock->cfg->classes;
    const size_t bytes = 3 * (size_t)size * (size_t)size;
    const spot_photo_set set = { .pictures = n, .size = size, .rgb = u->rgb_there };

    memset(u->target, 0, (size_t)n * (size_t)classes * sizeof *u->target);
#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        const int label = draw_picture(u->rgb + (size_t)i * bytes, u, u->order[first + i]);
        u->target[i * classes + label] = 1;
    }
    SPOT_TRY(spot_device_copy(c, u->rgb_there, u->rgb, (size_t)n * bytes));
    SPOT_TRY(spot_device_copy(c, u->target_there, u->target, (size_t)(n * classes) * sizeof *u->target));
    return spot_photo_input(c, u->pixels, 3, SPOT_FP32, &set, NULL, n);
}

static spot_status run_steps(spot_ctx *c, pupil *u)
{
    const int train = u->recipe->train, batches = (train + BATCH - 1) / BATCH, steps = batches * u->how.epochs;
    double loss = 0;

    for (int k = 0; k < steps; k++) {
        const int first = k % batches * BATCH, n = train - first < BATCH ? train - first : BATCH;
        const spot_optim_rule rule = { .adam = 1, .lr = spot_learning_rate(&u->how, k, steps), .beta1 = 0.9, .beta2 = 0.999,
                                       .epsilon = 1e-8, .t = k + 1 };
        SPOT_TRY(spot_check_stop(c));
        if (!first) {
            spot_rng shuffle = spot_rng_at(u->stock->cfg->seed, SPOT_RNG_SHUFFLE, 1u << 30 | (uint32_t)u->recipe->number,
                                           (uint32_t)(k / batches));
            spot_rng_shuffle(&shuffle, u->order, (uint32_t)train);
        }
        SPOT_TRY(put_batch(c, u, first, n));
        SPOT_TRY(spot_net_forward(c, &u->net, u->pixels, n, true));
        SPOT_TRY(spot_net_backward(c, &u->net, u->target_there, n, u->loss));
        SPOT_TRY(spot_optim_step(c, u->net.param, u->net.grad, u->net.moment, u->net.square, u->net.params, &rule));
    }
    SPOT_TRY(spot_device_copy(c, &loss, u->loss, sizeof loss));
    if (isfinite(loss)) return SPOT_OK;
    return spot_fail(c, SPOT_NUMERIC, "the loss of the planted model %s is not finite", u->recipe->name);
}

static spot_status train_in(spot_ctx *c, spot_arena *on, spot_arena *host, spot_model *m, const pupil *of)
{
    pupil u = *of;
    spot_status s = open_pupil(c, on, host, &u);

    if (!s && !host->counting) s = spot_net_put(c, &u.net, m);
    if (!s && !host->counting) s = run_steps(c, &u);
    if (!s && !host->counting) s = spot_net_get(c, m, &u.net);
    spot_net_close(c, &u.net);
    return s;
}

/* Initialises and trains a model, with memory of its own. */
static spot_status train_model(spot_ctx *c, const char *path, const spot_zoo_stock *stock, const spot_zoo_pool *pool,
                               const spot_zoo_recipe *r)
{
    const pupil u = { .stock = stock, .pool = pool, .recipe = r, .how = config_of(r) };
    const uint32_t start = 1u << 30 | (uint32_t)r->number;
    spot_arena host = spot_arena_counting(), on = host, *device = c->device ? &on : &host;
    spot_model m;
    spot_status s;

    SPOT_TRY(spot_model_init(c, &host, &m, WIDTH, stock->cfg->classes, stock->cfg->seed, start));
    SPOT_TRY(train_in(c, device, &host, &m, &u));
    s = c->device ? spot_arena_open_device(c, &on, on.peak) : SPOT_OK;
    SPOT_TRY(s);
    s = spot_arena_open(c, &host, host.peak);
    if (!s) s = spot_model_init(c, &host, &m, WIDTH, stock->cfg->classes, stock->cfg->seed, start);
    if (!s) s = train_in(c, device, &host, &m, &u);
    if (!s) m.batches_tracked = (int64_t)r->epochs * ((r->train + BATCH - 1) / BATCH);
    if (!s) s = spot_model_save(c, path, &m);
    spot_arena_close(&host);
    if (c->device) spot_arena_close(&on);
    return s;
}

/* Models are trained side by side, each on its share of the threads: a net this small gains little from several. */
typedef struct { const char *dir; const spot_zoo_stock *stock; const spot_zoo_pool *pool; int *missing, trained; } school;

static spot_status train_missing(spot_ctx *c, spot_arena *a, void *user, int task)
{
    school *l = user;
    const int models = l->stock->cfg->models;
    const spot_zoo_recipe r = spot_zoo_recipe_of(l->stock->cfg, l->missing[task]);
    char path[SPOT_ZOO_PATH];

    (void)a;
    spot_zoo_model_path(path, l->dir, &r);
    SPOT_TRY(train_model(c, path, l->stock, l->pool, &r));
    spot_tell(c, "zoo: models", -1, __atomic_add_fetch(&l->trained, 1, __ATOMIC_RELAXED), models, r.name);
    return SPOT_OK;
}

static spot_status train_all(spot_ctx *c, school *l, int missing)
{
    spot_arena none = { 0 };
    spot_workers *workers = calloc(1, sizeof *workers);
    spot_status s;

    if (!workers) return spot_fail(c, SPOT_NOMEM, "no memory for the training of %d models", missing);
    s = spot_workers_run(c, &none, workers, c->threads, 4096, missing, train_missing, l);
    spot_workers_close(workers);
    free(workers);
    return s;
}

spot_status spot_zoo_models(spot_ctx *c, const char *dir, const spot_zoo_stock *stock)
{
    const int models = stock->cfg->models;
    char path[SPOT_ZOO_PATH];
    int missing[SPOT_ZOO_MODELS], n = 0;
    spot_zoo_pool pool = { 0 };
    spot_status s;

    snprintf(path, sizeof path, "%s/models", dir);
    SPOT_TRY(spot_folder_make(c, path));
    for (int k = 0; k < models; k++) {
        const spot_zoo_recipe r = spot_zoo_recipe_of(stock->cfg, k);
        spot_zoo_model_path(path, dir, &r);
        if (access(path, F_OK)) missing[n++] = k;
    }
    if (!n) return SPOT_OK;
    s = spot_zoo_pool_open(c, &pool, stock, SPOT_ZOO_TRAIN, POOL);
    spot_tell(c, "zoo: models", -1, models - n, models, "");
    if (!s) s = train_all(c, &(school){ dir, stock, &pool, missing, models - n }, n);
    spot_zoo_pool_close(&pool);
    return s;
}
