/* zoo_models.c - small ResNet-18s of known reliance on the background. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "background/zoo_make.h"
#include "spotter/model.h"
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

typedef struct { const spot_zoo_stock *stock; const spot_zoo_pool *pool; const spot_zoo_recipe *recipe; } pupil;

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

static spot_status draw_lesson(spot_ctx *c, void *user, const spot_lesson *l)
{
    const pupil *u = user;
    const int size = u->stock->cfg->size, classes = u->stock->cfg->classes;
    const size_t bytes = 3 * (size_t)size * (size_t)size;

#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (int i = 0; i < l->n; i++) l->target[i * classes + draw_picture(l->rgb + (size_t)i * bytes, u, l->index[i])] = 1;
    return SPOT_OK;
}

/* Trains a model, with memory of its own. */
static spot_status train_model(spot_ctx *c, const char *path, const spot_zoo_stock *stock, const spot_zoo_pool *pool,
                               const spot_zoo_recipe *r)
{
    const spot_model_config cfg = config_of(r);
    pupil u = { stock, pool, r };
    const spot_pixel_training how = { .size = stock->cfg->size, .classes = stock->cfg->classes, .images = r->train,
                                      .loss = SPOT_SOFTMAX, .draw = draw_lesson, .user = &u, .seed = stock->cfg->seed,
                                      .number = 1u << 30 | (uint32_t)r->number };      /* no EC has it */
    spot_arena a = spot_arena_counting();
    spot_model m;
    spot_status s;

    SPOT_TRY(spot_model_train_pixels(c, &a, &m, NULL, &how, &cfg, NULL));
    SPOT_TRY(spot_arena_open(c, &a, a.peak));
    s = spot_model_train_pixels(c, &a, &m, NULL, &how, &cfg, NULL);
    if (!s) s = spot_model_save(c, path, &m);
    spot_arena_close(&a);
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
