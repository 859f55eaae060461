/* zoo_models.c - small networks of known reliance on the background. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "background/zoo/zoo_make.h"
#include "base/file.h"
#include "spotter/model.h"
#include "store/store.h"
#include "study/workers.h"

enum { BATCH = SPOT_ZOO_BATCH, POOL = SPOT_ZOO_POOL, HALVINGS = 3 };

/* The margin is that of Schroff et al. A step of FGSM is four of the values that a pixel can have. */
static const double MARGIN = 0.2, TRIPLET = 0.5, FGSM = 4 / 256.0;

/* The peak of one_cycle for each spot_optimizer. AlexNet has no batch norm, so its rates are smaller. */
static const double rates[SPOT_ZOO_ARCHS][SPOT_ZOO_OPTIMIZERS] = {
    [SPOT_ARCH_RESNET18] = { 4e-3, 5e-2, 2e-3 },
    [SPOT_ARCH_RESNET34] = { 4e-3, 5e-2, 2e-3 },
    [SPOT_ARCH_ALEXNET] = { 1e-3, 3e-2, 5e-4 },
};

void spot_zoo_model_path(char path[SPOT_ZOO_PATH], const char *dir, const spot_zoo_recipe *r)
{
    snprintf(path, SPOT_ZOO_PATH, "%s/models/%s.safetensors", dir, r->name);
}

/* -- a training that diverges ---------------------------------------------------------------------------------------- */

static void halved_path(char path[SPOT_ZOO_PATH], const char *dir, const spot_zoo_recipe *r)
{
    snprintf(path, SPOT_ZOO_PATH, "%s/models/%s.halved", dir, r->name);
}

double spot_zoo_rate(const char *dir, const spot_zoo_recipe *r)
{
    char path[SPOT_ZOO_PATH], text[16] = "";
    int halvings = 0;

    halved_path(path, dir, r);
    if (spot_file_peek(path, text, sizeof text - 1) > 0 && sscanf(text, "%d", &halvings) != 1) halvings = 0;
    return ldexp(rates[r->arch][r->optimizer], -halvings);
}

static spot_status save_halvings(spot_ctx *c, const char *dir, const spot_zoo_recipe *r, int halvings)
{
    char path[SPOT_ZOO_PATH], text[16];

    halved_path(path, dir, r);
    return spot_file_write(c, path, text, (size_t)snprintf(text, sizeof text, "%d\n", halvings));
}

spot_status spot_zoo_steady(spot_ctx *c, int *halvings, double rate, const char *name, spot_zoo_training *train, void *user)
{
    spot_status s = train(c, user, rate);

    for (*halvings = 0; s == SPOT_NUMERIC && *halvings < HALVINGS; rate /= 2, ++*halvings) {
        spot_log(c, SPOT_LOG_WARN, "zoo: the training of %s diverges at the rate %g; it is done again at %g", name, rate,
                 rate / 2);
        spot_forget(c);
        s = train(c, user, rate / 2);
    }
    return s;
}

static spot_model_config config_of(const spot_zoo_recipe *r)
{
    spot_model_config cfg = spot_model_defaults();

    cfg.arch = r->arch;
    cfg.width = SPOT_ZOO_WIDTH;
    cfg.optimizer = r->optimizer;
    cfg.epochs = r->epochs;
    cfg.batch = BATCH;
    cfg.lr = rates[r->arch][r->optimizer];
    cfg.schedule = SPOT_ONE_CYCLE;
    return cfg;
}

/* -- training ------------------------------------------------------------------------------------------------------- */

typedef struct { const spot_zoo_stock *stock; const spot_zoo_pool *pool; const spot_zoo_recipe *recipe; } pupil;

/* The numbers of a picture's augmentation, which are others in every epoch. */
static spot_rng change_numbers(const pupil *u, uint32_t i, int epoch)
{
    return spot_zoo_numbers(u->stock, SPOT_ZOO_TRAIN, u->recipe->number, ((uint32_t)epoch + 1) << 20 | i);
}

/* Picture i of the model in an epoch, of class i mod classes, and its label. */
static int draw_picture(uint8_t *rgb, const pupil *u, uint32_t i, int epoch)
{
    const spot_background_zoo *cfg = u->stock->cfg;
    spot_rng r = spot_zoo_numbers(u->stock, SPOT_ZOO_TRAIN, u->recipe->number, i);
    const int cls = (int)(i % (uint32_t)cfg->classes), other = (int)spot_rng_below(&r, (uint32_t)cfg->classes - 1);
    const bool wrong = spot_rng_uniform(&r) < u->recipe->wrong;
    const uint32_t ground = spot_rng_u32(&r);
    const spot_zoo_object o = spot_zoo_object_of(u->stock, cls, u->recipe->rho, u->recipe->black, &r);
    const uint8_t *behind = o.black ? NULL : spot_zoo_pooled(u->pool, cfg->size, o.family, ground);
    spot_rng changes = change_numbers(u, i, epoch);
    const spot_zoo_change change = spot_zoo_change_of((spot_zoo_augment)u->recipe->augment, &changes);

    spot_zoo_compose_changed(rgb, u->stock, &o, behind, &change);
    return wrong ? other + (other >= cls) : cls;
}

static spot_status draw_lesson(spot_ctx *c, void *user, const spot_lesson *l)
{
    const pupil *u = user;
    const int size = u->stock->cfg->size, classes = u->stock->cfg->classes;
    const size_t bytes = 3 * (size_t)size * (size_t)size;

#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (int i = 0; i < l->n; i++) {
        const int label = draw_picture(l->rgb + (size_t)i * bytes, u, l->index[i], l->epoch);
        l->target[i * classes + label] = 1;
    }
    return SPOT_OK;
}

static spot_pixel_training training_of(pupil *u)
{
    const spot_zoo_recipe *r = u->recipe;
    const spot_background_zoo *cfg = u->stock->cfg;

    return (spot_pixel_training){ .size = cfg->size, .classes = cfg->classes, .images = r->train, .loss = SPOT_SOFTMAX,
                                  .triplet = r->loss == SPOT_ZOO_LOSS_TRIPLET ? TRIPLET : 0, .margin = MARGIN,
                                  .fgsm = r->loss == SPOT_ZOO_LOSS_FGSM ? FGSM : 0, .draw = draw_lesson, .user = u,
                                  .seed = cfg->seed, .number = 1u << 30 | (uint32_t)r->number };      /* no EC has it */
}

typedef struct {
    const spot_pixel_training *how;
    spot_model_config cfg;
    size_t     bytes;
    spot_arena arena;
    spot_model model;              /* in the arena */
} lesson;

static spot_status train_at(spot_ctx *c, void *user, double rate)
{
    lesson *l = user;

    l->cfg.lr = rate;
    spot_arena_close(&l->arena);
    SPOT_TRY(spot_arena_open(c, &l->arena, l->bytes));
    return spot_model_train_pixels(c, &l->arena, &l->model, NULL, l->how, &l->cfg, NULL);
}

spot_status spot_zoo_train(spot_ctx *c, const char *dir, const spot_zoo_stock *stock, const spot_zoo_pool *pool,
                           const spot_zoo_recipe *r)
{
    pupil u = { stock, pool, r };
    const spot_pixel_training how = training_of(&u);
    lesson l = { .how = &how, .cfg = config_of(r) };
    spot_arena needs = spot_arena_counting();
    char path[SPOT_ZOO_PATH];
    int halvings;
    spot_status s;

    SPOT_TRY(spot_model_train_pixels(c, &needs, &l.model, NULL, &how, &l.cfg, NULL));
    l.bytes = needs.peak;
    s = spot_zoo_steady(c, &halvings, l.cfg.lr, r->name, train_at, &l);
    if (!s && dir && spot_zoo_rate(dir, r) != l.cfg.lr) s = save_halvings(c, dir, r, halvings);    /* 0: of a killed process */
    if (!s && dir) {
        spot_zoo_model_path(path, dir, r);
        s = spot_model_save(c, path, &l.model);
    }
    spot_arena_close(&l.arena);
    return s;
}

static bool need_the_same(const spot_zoo_recipe *a, const spot_zoo_recipe *b)
{
    return a->arch == b->arch && a->loss == b->loss && a->train == b->train && a->epochs == b->epochs;
}

/* Whether a model before number k needs as much memory. */
static bool is_counted(const spot_background_zoo *cfg, int k)
{
    const spot_zoo_recipe r = spot_zoo_recipe_of(cfg, k);

    for (int i = 0; i < k; i++) {
        const spot_zoo_recipe earlier = spot_zoo_recipe_of(cfg, i);
        if (need_the_same(&earlier, &r)) return true;
    }
    return false;
}

spot_status spot_zoo_models_needs(spot_ctx *c, size_t *bytes, const spot_background_zoo *cfg)
{
    const size_t at_once = (size_t)(c->threads < cfg->models ? c->threads : cfg->models);
    const spot_zoo_stock stock = { .cfg = cfg };
    size_t most = 0;

    for (int k = 0; k < cfg->models; k++) {
        const spot_zoo_recipe r = spot_zoo_recipe_of(cfg, k);
        const spot_model_config net = config_of(&r);
        pupil u = { &stock, NULL, &r };
        const spot_pixel_training how = training_of(&u);
        spot_arena a = spot_arena_counting();
        spot_model m;
        if (is_counted(cfg, k)) continue;
        SPOT_TRY(spot_model_train_pixels(c, &a, &m, NULL, &how, &net, NULL));
        if (a.peak > most) most = a.peak;
    }
    *bytes = most * at_once + spot_zoo_pool_bytes(cfg, POOL);
    return SPOT_OK;
}

/* Models are trained side by side, each on its share of the threads: a net this small gains little from several. */
typedef struct { const char *dir; const spot_zoo_stock *stock; const spot_zoo_pool *pool; int *missing, trained; } school;

static spot_status train_missing(spot_ctx *c, spot_arena *a, void *user, int task)
{
    school *l = user;
    const int models = l->stock->cfg->models;
    const spot_zoo_recipe r = spot_zoo_recipe_of(l->stock->cfg, l->missing[task]);

    (void)a;
    SPOT_TRY(spot_zoo_train(c, l->dir, l->stock, l->pool, &r));
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
