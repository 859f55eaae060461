/* cost.c - what a sweep will take, before it starts: memory from the counting functions, images from the ECs, seconds
 * from a few steps of each stage at the first EC's real sizes. */
#include <math.h>
#include <string.h>

#include "device.h"
#include "spotter/rng.h"
#include "spotter/shards.h"
#include "spotter/source.h"
#include "spotter/sweep.h"
#include "sweep/album.h"
#include "sweep/embedding.h"
#include "sweep/keep.h"
#include "sweep/pipeline.h"

static size_t view_bytes(int features, int rows)
{
    return ((size_t)rows * (size_t)(features + 3) + (size_t)features) * 4 + ((size_t)1 << 16);
}

/* Of a wave of views. Those of another representation lie beside the classifier's. The points stay while the method
 * looks for blindspots in them. */
static spot_bytes method_needs(const spot_ctx *c, const spot_bdm_config *cfg, const int *rows, int wave, int features)
{
    int d = spot_embed_dim(&cfg->embed, *rows, features);
    size_t points = (size_t)wave * *rows * d * sizeof(float);
    size_t recalled = (size_t)wave * *rows * SPOT_MAX_HYPOTHESES * sizeof(int);     /* hypotheses may overlap */
    spot_bytes embed = spot_embed_needs(c, wave, rows, features, &cfg->embed);
    spot_bytes find = spot_bdm_needs(c, wave, rows, d, cfg);
    size_t own = cfg->representation == SPOT_BY_MODEL ? 0 : wave * view_bytes(features, *rows);

    find.host = points + (find.host > recalled ? find.host : recalled);
    return (spot_bytes){ own + (embed.host > find.host ? embed.host : find.host),
                         embed.device > find.device ? embed.device : find.device };
}

/* A head that is recalled passes through with the model it is of. */
static size_t model_bytes(const spot_config *cfg, int outputs)
{
    spot_model_tensor table[SPOT_RESNET18_TENSORS];

    return spot_model_layout(table, cfg->model.width, outputs) * sizeof(float) + 64;
}

/* Every view with `rows` rows. A picture may ask for a map when all else is there. */
static spot_bytes wave_needs(const spot_ctx *c, const spot_config *cfg, const spot_layout *l, int rows, int wave,
                             bool pictures)
{
    int all[SPOT_WIDEST_WAVE];
    spot_bytes most = { 0, 0 }, map = { 0, 0 };

    for (int p = 0; p < wave; p++) all[p] = rows;
    for (int b = 0; b < cfg->bdms; b++) {
        spot_bytes needs = method_needs(c, &cfg->bdm[b], all, wave, l->features[b]);
        if (needs.host > most.host) most.host = needs.host;
        if (needs.device > most.device) most.device = needs.device;
        if (pictures) {
            const spot_bdm_config of = spot_picture_map(cfg, b);
            needs = spot_embed_needs(c, 1, &rows, 8 * cfg->model.width, &of.embed);
            if (needs.host > map.host) map.host = needs.host;
            if (needs.device > most.device) most.device = needs.device;
        }
    }
    most.host += map.host + (size_t)wave * view_bytes(8 * cfg->model.width, rows) + model_bytes(cfg, 1);
    return most;
}

/* One that found its view in the store and not its lesson has it in the arena, too. */
static spot_status worker_needs(spot_ctx *c, spot_bytes *needs, const spot_config *cfg, const spot_source *source, int rows)
{
    SPOT_TRY(spot_model_needs(c, needs, &source->scene, &cfg->model, rows, spot_wants_robust(cfg)));
    needs->host += view_bytes(8 * cfg->model.width, rows) + model_bytes(cfg, 1);
    return SPOT_OK;
}

/* The lesser of two, but at least 1. */
static int within(int n, int most) { return n < most ? n : most > 1 ? most : 1; }

/* As wide as asked for or as suits the device; then as narrow as it must be. On the CPU nearly all of the time is
 * training, and one by one segments come sooner. A GPU trains two ECs at once, so that it has work while the model of one
 * is written to the disk. */
static spot_status fit(spot_ctx *c, spot_layout *l, const spot_config *cfg, const spot_sweep_options *o, int ecs, int rows)
{
    int wide = o->wave ? o->wave : c->device ? 32 : 1, abreast = o->at_once ? o->at_once : c->device ? 2 : 1;
    size_t left, total;

    l->wave = wide = within(wide > o->at_once ? wide : o->at_once, ecs);
    l->at_once = abreast = within(abreast, wide);
    if (!c->device) return SPOT_OK;
    SPOT_TRY(spot_device_room(c, &left, &total));
    while (l->at_once > 1 && (size_t)l->at_once * l->worker.device > left) l->at_once--;
    while (l->wave > 1 && wave_needs(c, cfg, l, rows, l->wave, o->pictures).device > left) l->wave--;
    l->at_once = within(l->at_once, l->wave);
    if (l->wave < wide || l->at_once < abreast)
        spot_log(c, SPOT_LOG_INFO, "%s has %.1f GB of memory left: waves of %d instead of %d ECs, %d of them side by side",
                 spot_device_name(c), left / 1e9, l->wave, wide, l->at_once);
    return SPOT_OK;
}

static spot_status features_of(spot_ctx *c, int *features, const spot_config *cfg, const spot_bdm_config *bdm)
{
    *features = 8 * cfg->model.width;
    return bdm->representation == SPOT_BY_FILE ? spot_embedding_columns(c, features, bdm->embeddings) : SPOT_OK;
}

spot_status spot_layout_of(spot_ctx *c, spot_layout *l, const spot_config *cfg, const spot_source *source,
                           const spot_sweep_options *o, int ecs, int rows)
{
    size_t base = cfg->model.base.images ? model_bytes(cfg, SPOT_BASE_TARGETS) : 0, workers;
    spot_bytes wave;

    for (int b = 0; b < cfg->bdms; b++) SPOT_TRY(features_of(c, &l->features[b], cfg, &cfg->bdm[b]));
    SPOT_TRY(worker_needs(c, &l->worker, cfg, source, rows));
    SPOT_TRY(fit(c, l, cfg, o, ecs, rows));
    wave = wave_needs(c, cfg, l, rows, l->wave, o->pictures);
    l->arena = base + (wave.host > l->worker.host ? wave.host : l->worker.host);
    l->all.host = l->arena + (l->at_once > 1 ? (size_t)l->at_once * l->worker.host : 0);
    workers = (size_t)l->at_once * l->worker.device;
    l->all.device = wave.device > workers ? wave.device : workers;
    return SPOT_OK;
}

/* What the calibration measured. */
typedef struct {
    double image, robust;                      /* seconds to train on an image, and against an adversary */
    double method[SPOT_MAX_BDMS];              /* seconds of a method on `rows` rows */
    int    rows;
} pace;

enum { CALIBRATION_STEPS = 4 };

/* The faster of two short epochs, after a first one that also builds the kernels. */
static spot_status time_training(spot_ctx *c, spot_arena *a, double *image, const spot_config *cfg, const spot_ec *ec,
                                 bool robust)
{
    spot_status (*train)(spot_ctx *, spot_arena *, spot_model *, spot_lesson *, const spot_ec *, const spot_model_config *,
                         const spot_model *) = robust ? spot_model_robust : spot_model_train;
    spot_model_config few = cfg->model;
    spot_ec small = *ec;
    size_t mark = a->used;
    spot_lesson lesson;
    spot_model model;

    few.epochs = few.robust.epochs = 3;
    small.images[SPOT_TRAIN] = CALIBRATION_STEPS * few.batch < ec->images[SPOT_TRAIN] ? CALIBRATION_STEPS * few.batch
                                                                                     : ec->images[SPOT_TRAIN];
    small.images[SPOT_VAL] = (int)fmin(small.images[SPOT_TRAIN] / 8 + 1, ec->images[SPOT_VAL]);
    memset(&lesson, 0, sizeof lesson);
    SPOT_TRY(train(c, a, &model, &lesson, &small, &few, NULL));
    a->used = mark;
    *image = fmin(lesson.epoch[1].seconds, lesson.epoch[2].seconds) / small.images[SPOT_TRAIN];
    return SPOT_OK;
}

/* Noise in the shape of a view: two thirds of the rows right, one third wrong. */
static spot_status make_view(spot_ctx *c, spot_arena *a, spot_view *v, uint64_t seed, int rows, int features)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_BOOTSTRAP, 0, 0);

    *v = (spot_view){ .n = rows, .d = features };
    SPOT_TRY(SPOT_TAKE(c, a, v->feature, (size_t)v->n * (size_t)v->d));
    SPOT_TRY(SPOT_TAKE(c, a, v->head, v->d));
    for (int j = 0; j < v->d; j++) v->head[j] = (float)spot_rng_normal(&r);
    SPOT_TRY(SPOT_TAKE(c, a, v->confidence, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, v->image, v->n));
    for (size_t i = 0; i < (size_t)v->n * (size_t)v->d; i++) v->feature[i] = (float)spot_rng_normal(&r);
    for (int i = 0; i < v->n; i++) {
        v->confidence[i] = (float)(i % 3 ? 1 - 0.1 * spot_rng_uniform(&r) : 0.1 * spot_rng_uniform(&r));
        v->image[i] = i;
    }
    return SPOT_OK;
}

static int *iterations_of(spot_embed_config *cfg)
{
    return cfg->method == SPOT_REDUCE_TSNE ? &cfg->tsne.iterations
         : cfg->method == SPOT_REDUCE_SCVIS ? &cfg->scvis.iterations : NULL;
}

/* The original's rule for scvis; embed.h. */
static int iterations_meant(const spot_embed_config *cfg, int rows)
{
    int batch, n;

    if (cfg->method == SPOT_REDUCE_TSNE) return cfg->tsne.iterations;
    if (cfg->scvis.iterations) return cfg->scvis.iterations;
    batch = cfg->scvis.batch < rows ? cfg->scvis.batch : rows;
    n = 100 * (int)lround((double)rows / batch);
    return n < 3000 ? 3000 : n > 30000 ? 30000 : n;
}

static spot_status time_embedding(spot_ctx *c, spot_arena *a, spot_points *points, double *seconds,
                                  const spot_view *view, const spot_embed_config *cfg)
{
    enum { FEW = 5, MORE = 25 };
    const spot_seed seed = { 0, 0 };
    spot_embed_config one = *cfg;
    int *iterations = iterations_of(&one);
    double few, more, start = spot_clock();

    if (!iterations) {
        SPOT_TRY(spot_embed_fit(c, a, 1, points, view, &seed, cfg));
        *seconds = spot_clock() - start;
        return SPOT_OK;
    }
    *iterations = FEW;
    SPOT_TRY(spot_embed_fit(c, a, 1, points, view, &seed, &one));
    few = spot_clock() - start;
    *iterations = MORE;
    start = spot_clock();
    SPOT_TRY(spot_embed_fit(c, a, 1, points, view, &seed, &one));
    more = spot_clock() - start;
    *seconds = few + fmax(0, more - few) / (MORE - FEW) * (iterations_meant(cfg, view->n) - FEW);
    return SPOT_OK;
}

/* A method that shares its points with an earlier one pays for finding alone. */
static bool has_points_before(const spot_config *cfg, int b)
{
    spot_key k = spot_key_of_reduction(&cfg->bdm[b]);

    for (int i = 0; i < b; i++) {
        spot_key other = spot_key_of_reduction(&cfg->bdm[i]);
        if (other.hi == k.hi && other.lo == k.lo) return true;
    }
    return false;
}

static spot_status time_methods(spot_ctx *c, spot_arena *a, pace *p, const spot_config *cfg, const spot_layout *l)
{
    const spot_seed seed = { 0, 0 };
    spot_view view;

    for (int b = 0; b < cfg->bdms; b++) {
        size_t mark = a->used;
        double embed, start;
        char name[80];
        spot_points points;
        spot_hypotheses found;
        spot_status s;
        SPOT_TRY(make_view(c, a, &view, cfg->seed, p->rows, l->features[b]));
        c->who = spot_bdm_name(&cfg->bdm[b], name, sizeof name);
        s = time_embedding(c, a, &points, &embed, &view, &cfg->bdm[b].embed);
        start = spot_clock();
        if (s == SPOT_OK) s = spot_bdm_find(c, a, 1, &found, &view, &points, &seed, &cfg->bdm[b]);
        c->who = NULL;
        SPOT_TRY(s);
        p->method[b] = spot_clock() - start + (has_points_before(cfg, b) ? 0 : embed);
        a->used = mark;
        SPOT_TRY(spot_check_stop(c));
    }
    return SPOT_OK;
}

/* Training and looking grow with the images (a forward pass is a third of a step), t-SNE with the square of the rows,
 * all others with the rows. */
static double seconds_of(const spot_config *cfg, const spot_ec *ec, int rows, const pace *p)
{
    double seconds = p->image * ((ec->images[SPOT_TRAIN] + ec->images[SPOT_VAL] / 3.0) * cfg->model.epochs + rows / 3.0);
    double r = p->rows ? (double)rows / p->rows : 0;

    if (spot_wants_robust(cfg))
        seconds += p->robust * ec->images[SPOT_TRAIN] * cfg->model.robust.epochs
                 + p->image * (ec->images[SPOT_VAL] / 3.0 * cfg->model.robust.epochs + rows / 3.0);
    for (int b = 0; b < cfg->bdms; b++)
        seconds += p->method[b] * (cfg->bdm[b].embed.method == SPOT_REDUCE_TSNE ? r * r : r);
    return seconds;
}

static spot_status calibrate_on(spot_ctx *c, pace *p, const spot_config *cfg, const spot_source *source, const spot_ec *ec)
{
    const spot_sweep_options alone = { .wave = 1 };
    spot_layout layout;
    spot_arena a;
    spot_status s;

    SPOT_TRY(spot_layout_of(c, &layout, cfg, source, &alone, 1, p->rows));
    SPOT_TRY(spot_arena_open(c, &a, layout.arena));
    s = time_training(c, &a, &p->image, cfg, ec, false);
    if (s == SPOT_OK && spot_wants_robust(cfg)) s = time_training(c, &a, &p->robust, cfg, ec, true);
    if (s == SPOT_OK) s = time_methods(c, &a, p, cfg, &layout);
    spot_arena_close(&a);
    if (s == SPOT_OK)
        spot_log(c, SPOT_LOG_INFO, "calibrated on EC %u: training %.2f ms an image; methods on its %d rows", ec->index,
                 1e3 * p->image, p->rows);
    return s;
}

static spot_status cost_of(spot_ctx *c, const spot_config *cfg, const spot_source *source, const spot_sweep_options *o,
                           spot_sweep_cost *cost, bool calibrate)
{
    int ecs = o->limit && o->limit < cfg->ecs ? o->limit : cfg->ecs, from, to, most = 0;
    pace p = { .image = NAN };
    spot_layout layout;
    spot_ec ec;

    *cost = (spot_sweep_cost){ .seconds = calibrate ? 0 : NAN };
    cost->album = source->photos ? spot_album_bytes(source->photos) : 0;
    spot_shard_range(&from, &to, o->shard, o->shards > 0 ? o->shards : 1, ecs);
    for (int i = from; i < to; i++) {
        int rows;
        SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)i));
        cost->ecs++;
        rows = spot_ec_positives(NULL, &ec, SPOT_TEST);
        most = rows > most ? rows : most;
        cost->disk += spot_keep_bytes(cfg, rows, o->keep, o->pictures);
        cost->images += (double)cfg->model.epochs * (ec.images[SPOT_TRAIN] + ec.images[SPOT_VAL]) + rows;
        if (spot_wants_robust(cfg))
            cost->images += (double)cfg->model.robust.epochs * (ec.images[SPOT_TRAIN] * (1 + cfg->model.robust.steps)
                                                                + ec.images[SPOT_VAL]) + rows;
        if (!calibrate) continue;
        if (!p.rows) {
            p.rows = rows;
            SPOT_TRY(calibrate_on(c, &p, cfg, source, &ec));
            memcpy(cost->method, p.method, sizeof cost->method);
        }
        cost->seconds += seconds_of(cfg, &ec, rows, &p);
    }
    if (cost->images > 0) {
        double base = (double)cfg->model.base.images * cfg->model.base.epochs;
        cost->images += base;
        cost->seconds += base ? base * p.image : 0;
    }
    SPOT_TRY(spot_layout_of(c, &layout, cfg, source, o, cost->ecs, most));
    cost->memory = layout.all.host + (source->photos ? spot_photos_bytes(source->photos) : 0);
    cost->device_memory = layout.all.device;
    cost->wave = layout.wave;
    cost->disk += layout.wave * (spot_keep_bytes(cfg, most, SPOT_KEEP_ALL, false) - spot_keep_bytes(cfg, most, o->keep, false));
    return SPOT_OK;
}

spot_status spot_sweep_cost_of(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, spot_sweep_cost *cost,
                               bool calibrate)
{
    spot_source source;
    spot_status s = spot_source_open(c, &source, cfg);

    if (!s) s = cost_of(c, cfg, &source, o, cost, calibrate);
    spot_source_close(&source);
    return s;
}
