/* zoo_time.c - the time that a planted world takes, from learning some pictures and looking at some. */
#include <stdlib.h>

#include "background/zoo/zoo_make.h"
#include "models/network.h"
#include "spotter/model.h"
#include "study/workers.h"

/* One recipe, learned by several workers at once, as the models are. */
typedef struct { const spot_zoo_stock *stock; const spot_zoo_pool *pool; spot_zoo_recipe recipe; } rehearsal;

static spot_status rehearse(spot_ctx *c, spot_arena *a, void *user, int task)
{
    const rehearsal *l = user;

    (void)a, (void)task;
    return spot_zoo_train(c, NULL, l->stock, l->pool, &l->recipe);
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
    enum { FEW = 2 * SPOT_ZOO_BATCH, MORE = 18 * SPOT_ZOO_BATCH };
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

    if (!s) s = spot_zoo_pool_open(c, &pool, &stock, SPOT_ZOO_TRAIN, SPOT_ZOO_POOL);
    *seconds = opened - since + 2 * (spot_clock() - opened);       /* the truth has a pool of its own */
    if (!s) s = add_models(c, seconds, &(rehearsal){ .stock = &stock, .pool = &pool }, looks);
    spot_zoo_pool_close(&pool);
    spot_zoo_stock_close(&stock);
    return s;
}
