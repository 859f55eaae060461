/* zoo_models.c - small networks of known reliance on the background. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "background/zoo/zoo_make.h"
#include "models/network.h"
#include "spotter/model.h"
#include "store/store.h"
#include "study/workers.h"

enum { BATCH = 32, POOL = 150 };

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

/* Trains a model, with memory of its own. path NULL: it is not kept. */
static spot_status train_model(spot_ctx *c, const char *path, const spot_zoo_stock *stock, const spot_zoo_pool *pool,
                               const spot_zoo_recipe *r)
{
    const spot_model_config cfg = config_of(r);
    pupil u = { stock, pool, r };
    const spot_pixel_training how = training_of(&u);
    spot_arena a = spot_arena_counting();
    spot_model m;
    spot_status s;

    SPOT_TRY(spot_model_train_pixels(c, &a, &m, NULL, &how, &cfg, NULL));
    SPOT_TRY(spot_arena_open(c, &a, a.peak));
    s = spot_model_train_pixels(c, &a, &m, NULL, &how, &cfg, NULL);
    if (!s && path) s = spot_model_save(c, path, &m);
    spot_arena_close(&a);
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

/* -- time ------------------------------------------------------------------------------------------------------------- */

/* One recipe, learned by several workers at once, as the models are. */
typedef struct { const spot_zoo_stock *stock; const spot_zoo_pool *pool; spot_zoo_recipe recipe; } rehearsal;

static spot_status rehearse(spot_ctx *c, spot_arena *a, void *user, int task)
{
    const rehearsal *l = user;

    (void)a, (void)task;
    return train_model(c, NULL, l->stock, l->pool, &l->recipe);
}

/* Seconds of one pass over `images` pictures by each of the workers. */
static spot_status time_pass(spot_ctx *c, spot_workers *workers, rehearsal *l, int at_once, int images, double *seconds)
{
    const double since = spot_clock();
    spot_arena none = { 0 };

    l->recipe.train = images, l->recipe.epochs = 1;
    SPOT_TRY(spot_workers_run(c, &none, workers, c->threads, 4096, at_once, rehearse, l));
    *seconds = spot_clock() - since;
    return SPOT_OK;
}

/* Seconds of a picture of a model's training, where as many are trained as there are threads: two passes differ by it alone. */
static spot_status time_learning(spot_ctx *c, rehearsal *l, double *pace)
{
    const int models = l->stock->cfg->models, at_once = c->threads < models ? c->threads : models;
    enum { FEW = 2 * BATCH, MORE = 18 * BATCH };
    spot_workers *workers = calloc(1, sizeof *workers);
    double few = 0, more = 0;
    spot_status s = workers ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to time a training");

    if (s == SPOT_OK) s = time_pass(c, workers, l, at_once, FEW, &few);
    if (s == SPOT_OK) s = time_pass(c, workers, l, at_once, FEW, &few);       /* the first warms up */
    if (s == SPOT_OK) s = time_pass(c, workers, l, at_once, MORE, &more);
    *pace = more > few ? (more - few) / ((MORE - FEW) * at_once) : 0;
    if (workers) spot_workers_close(workers);
    free(workers);
    return s;
}

/* Seconds of a look of a network at a blank picture. */
static spot_status time_asking(spot_ctx *c, double *pace, const spot_background_zoo *cfg, int arch)
{
    enum { FEW = 256, MORE = 768 };
    const size_t bytes = 3 * (size_t)cfg->size * (size_t)cfg->size;
    spot_arena a = spot_arena_counting();
    uint8_t *rgb = calloc(MORE, bytes);
    float *logit = malloc((size_t)MORE * (size_t)cfg->classes * sizeof *logit);
    double took[3] = { 0 };
    spot_model m;
    spot_status s = rgb && logit ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to time a look");

    for (int turn = 0; turn < 2 && s == SPOT_OK; turn++) {         /* the first counts the memory */
        if (turn) s = spot_arena_open(c, &a, a.peak);
        if (s == SPOT_OK) s = spot_model_take(c, &a, &m, arch, SPOT_ZOO_WIDTH, cfg->classes);
        for (int t = 0; t < spot_model_tensors(arch) && turn && s == SPOT_OK; t++) spot_model_start(&m, t, cfg->seed, 0);
        for (int k = 0; k < (turn ? 3 : 1) && s == SPOT_OK; k++) {
            const double since = spot_clock();
            s = spot_model_infer(c, &a, turn ? logit : NULL, NULL, &m, turn ? rgb : NULL, k == 2 || !turn ? MORE : FEW,
                                 cfg->size);
            took[k] = spot_clock() - since;
        }
    }
    *pace = took[2] > took[1] ? (took[2] - took[1]) / (MORE - FEW) : 0;
    spot_arena_close(&a);
    free(rgb), free(logit);
    return s;
}

static spot_status add_models(spot_ctx *c, double *seconds, rehearsal *l, double looks)
{
    const spot_background_zoo *cfg = l->stock->cfg;
    double learn[SPOT_ZOO_ARCHS][SPOT_ZOO_LOSSES] = { { 0 } }, ask[SPOT_ZOO_ARCHS] = { 0 };

    for (int k = 0; k < cfg->models; k++) {
        const spot_zoo_recipe r = l->recipe = spot_zoo_recipe_of(cfg, k);
        if (!(learn[r.arch][r.loss] > 0)) SPOT_TRY(time_learning(c, l, &learn[r.arch][r.loss]));
        if (!(ask[r.arch] > 0)) SPOT_TRY(time_asking(c, &ask[r.arch], cfg, r.arch));
        *seconds += (double)r.train * r.epochs * learn[r.arch][r.loss] + (looks + spot_zoo_asked(cfg)) * ask[r.arch];
        SPOT_TRY(spot_check_stop(c));
    }
    return SPOT_OK;
}

spot_status spot_zoo_time(spot_ctx *c, double *seconds, const spot_background_zoo *cfg, double looks)
{
    const double since = spot_clock();
    spot_zoo_stock stock = { 0 };
    spot_zoo_pool pool = { 0 };
    spot_status s = spot_zoo_stock_open(c, &stock, cfg);
    const double opened = spot_clock();

    if (!s) s = spot_zoo_pool_open(c, &pool, &stock, SPOT_ZOO_TRAIN, POOL);
    *seconds = opened - since + 2 * (spot_clock() - opened);       /* the truth has a pool of its own */
    if (!s) s = add_models(c, seconds, &(rehearsal){ .stock = &stock, .pool = &pool }, looks);
    spot_zoo_pool_close(&pool);
    spot_zoo_stock_close(&stock);
    return s;
}
