/* background_cost.c - the pictures to look at, the memory and the disk of a run, before it starts. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "background/background_inputs.h"
#include "background/background_unit.h"
#include "background/look/look_batch.h"
#include "background/suite/suite.h"
#include "background/suite/suite_encoders.h"
#include "background/zoo/zoo_make.h"
#include "formats/picture.h"
#include "models/network.h"
#include "models/predictor_memory.h"
#include "spotter/model.h"
#include "study/process_memory.h"

/* The memory that all runs of a config share: of a network, and of its weights alone; of the process itself with the encoders;
 * of decoding. company: the most other targets of a class, whose backgrounds a target gets. dim: numbers of an encoded
 * picture. */
typedef struct { size_t network, weights, others, decoding; int company, dim; } shared_memory;

static size_t greater(size_t a, size_t b) { return a > b ? a : b; }

/* Pictures and masks are decoded one after the other, so that the larger of both counts. */
static size_t decoding_of(spot_ctx *c, const spot_background_config *cfg, const spot_background_inputs *in)
{
    const int size = cfg->data.size;
    const spot_picture_reading *how = &cfg->data.reading;
    size_t most = spot_pictures_bytes(c, in->path, in->pictures, how, size, size);

    if (in->mask) most = greater(most, spot_pictures_bytes(c, in->mask, in->pictures, how, size, size));
    return greater(most, spot_pictures_bytes(c, in->back_path, in->backgrounds, how, size, size));
}

/* Images of a target: the classes may have fewer backgrounds than the settings allow. */
static int images_of(const spot_background_config *cfg, int company)
{
    const int own = spot_background_own(cfg);

    return spot_look_images(cfg) - own + (own < company ? own : company);
}

static int largest_class(const spot_background_inputs *in)
{
    int *size = calloc((size_t)in->classes + 1, sizeof *size), most = 0;

    for (int i = 0; size && i < in->pictures; i++) size[in->cls[i]]++;
    for (int k = 0; size && k < in->classes; k++) most = size[k] > most ? size[k] : most;
    free(size);
    return size ? most : in->pictures;
}

/* Pictures and backgrounds of all. A planted world that is not made yet has those of its settings. */
static spot_status count_files(spot_ctx *c, const spot_background_config *cfg, spot_background_cost *cost, shared_memory *m)
{
    const spot_background_zoo *z = &cfg->zoo;
    spot_background_inputs in;
    spot_status s;

    cost->units = cfg->models;
    if (z->models && access(cfg->data.images, F_OK)) {
        cost->units = cfg->models > z->models ? cfg->models : z->models;
        cost->targets = z->classes * z->targets, cost->backgrounds = (z->families + 1) * z->backgrounds;
        m->company = z->targets - 1;
        return SPOT_OK;
    }
    s = spot_background_inputs_open(c, &in, cfg);
    cost->targets = in.pictures, cost->backgrounds = in.backgrounds;
    if (s == SPOT_OK) m->decoding = decoding_of(c, cfg, &in), m->company = largest_class(&in) - 1;
    spot_background_inputs_close(&in);
    return s;
}

/* A network of a planted world that is not made yet: each has the memory of its architecture. */
static spot_status planted_network(spot_ctx *c, size_t *bytes, const spot_background_zoo *cfg, int pictures)
{
    for (int k = 0; k < cfg->models; k++) {
        spot_arena a = spot_arena_counting();
        spot_model m;
        SPOT_TRY(spot_model_take(c, &a, &m, spot_zoo_recipe_of(cfg, k).arch, SPOT_ZOO_WIDTH, cfg->classes));
        SPOT_TRY(spot_model_infer(c, &a, NULL, NULL, &m, NULL, pictures, cfg->size));
        *bytes = greater(*bytes, a.peak);
    }
    return SPOT_OK;
}

/* Measured, at most 1.9 MB a ResNet-18: what oneDNN compiles for a network, and what the heap rounds up. */
#define KERNELS ((size_t)2 << 20)

/* The memory of the models' networks, and of the encoders, which stay open while the models look. */
static spot_status count_networks(spot_ctx *c, const spot_background_config *cfg, int targets, shared_memory *m)
{
    const int most = spot_look_together(c, cfg), images = (most < targets ? most : targets) * images_of(cfg, m->company);
    const char **path = malloc(((size_t)cfg->models + 1) * sizeof *path);
    spot_ctx quiet = spot_quiet_of(c);
    spot_suite_encoders e;

    if (!path) return spot_fail(c, SPOT_NOMEM, "no memory for %d models", cfg->models);
    for (int i = 0; i < cfg->models; i++) path[i] = cfg->model[i].weights;
    m->network = spot_predictor_memory(&quiet, path, cfg->models,
                                       &(spot_predictor_work){ cfg->data.size, cfg->measure.precision, images });
    m->weights = 2 * spot_largest_file(path, cfg->models);
    m->others += m->weights / 2;
    free(path);
    if (!m->network) SPOT_TRY(planted_network(c, &m->network, &cfg->zoo, images));
    m->network += KERNELS;
    if (cfg->encoders && spot_suite_encoders_open(&quiet, &e, cfg) == SPOT_OK)
        for (int i = 0; i < e.n; i++) m->others += e.net[i] ? spot_encoder_about(e.net[i])->bytes : 0, m->dim = e.dim;
    if (cfg->encoders) spot_suite_encoders_close(&quiet, &e);
    return spot_check_stop(c);
}

/* The squares of all pictures with their masks, and of all backgrounds; each kind has half of the cache. *kept: all stay. */
static size_t squares_bytes(const spot_background_config *cfg, int files, int backgrounds, bool *kept)
{
    const size_t square = 3 * (size_t)cfg->data.size * (size_t)cfg->data.size;
    const size_t half = spot_background_memory(SPOT_MOST_SQUARES) / 2;
    const size_t pictures = square / 3 * 4 * (size_t)files, backs = square * (size_t)backgrounds;

    *kept = pictures <= half && backs <= half;
    return (pictures < half ? pictures : half) + (backs < half ? backs : half);
}

static int together_of(const spot_background_config *cfg, int units)
{
    return spot_background_batch(cfg) < units ? spot_background_batch(cfg) : units;
}

/* The networks that are open together, with what they look at and what they answer. */
static size_t looking_bytes(const spot_ctx *c, const spot_background_config *cfg, double targets, const shared_memory *m,
                            int units)
{
    const size_t together = (size_t)together_of(cfg, units), networks = together * m->network;
    const size_t enough = spot_background_memory(SPOT_MOST_NETWORKS) + m->network;
    const double images = targets * (cfg->suite.n + 1);
    const size_t cells = (size_t)cfg->measure.grid * (size_t)cfg->measure.grid * (SPOT_BACKGROUND_MATRICES + 1) * sizeof(float);

    return (networks < enough ? networks : enough) + spot_look_memory(c, cfg, (int)fmin(targets, INT_MAX))
         + (size_t)images * (13 + together * 20) + together * cells;
}

/* Adds the run of one config. Pictures are not decoded, so targets are all pictures of the part. The suite decodes all that the
 * models look at. Only where that does not stay, or where an earlier run has made the suite, pictures are decoded beside
 * networks: those of the first batch before the networks have looked, so that of these only the weights are there. */
static void add_run(const spot_ctx *c, const spot_background_config *cfg, int files, int known, const shared_memory *m,
                    spot_background_cost *cost)
{
    const double targets = ((double)files * cfg->data.part + 99) / 100, images = targets * (cfg->suite.n + 1);
    const double cells = (double)cfg->measure.grid * cfg->measure.grid;
    bool kept;
    const size_t held = m->others + squares_bytes(cfg, files, cost->backgrounds, &kept);
    const size_t suite = m->decoding + spot_suite_memory(c, cfg, m->dim, (int)targets, cost->backgrounds);
    const size_t look = looking_bytes(c, cfg, targets, m, cost->units);
    const size_t first = m->decoding + (size_t)together_of(cfg, cost->units) * m->weights;
    const size_t again = kept && targets < spot_look_together(c, cfg) + 1 ? greater(first, look) : m->decoding + look;

    cost->runs++;
    cost->memory = greater(cost->memory, held + greater(suite, known || !kept ? again : look));
    cost->again = greater(cost->again, held + greater(suite, again));
    cost->disk += cost->units * 4.0 * (images * (SPOT_BACKGROUND_MATRICES + 1) + targets * SPOT_BACKGROUND_SETS
                                       + cells * (SPOT_BACKGROUND_MATRICES + 1));
    if (!known) cost->looks += (double)(int)targets * images_of(cfg, m->company) * cost->units;
}

static void add_all(spot_ctx *c, const spot_background_config *cfg, spot_background_config *one, int files,
                    const shared_memory *m, spot_background_cost *cost)
{
    add_run(c, one, files, false, m, cost);
    for (int k = 0; k < cfg->variants; k++) {
        const int same = spot_background_same_look(cfg, k);
        spot_background_vary(one, cfg, k);
        if (cfg->zoo.models) one->data.size = cfg->zoo.size;
        add_run(c, one, files, same < k, m, cost);
    }
}

/* A backward pass has two products where a forward pass has one. FGSM takes a forward pass and the half of a backward one. */
static double multiplications_of(const spot_background_zoo *cfg, const spot_zoo_recipe *r)
{
    const double forward = spot_model_multiplications(r->arch, SPOT_ZOO_WIDTH, cfg->classes, cfg->size);

    return (r->loss == SPOT_ZOO_LOSS_FGSM ? 5 : 3) * forward;
}

/* Adds the making of the planted world. */
static spot_status add_world(spot_ctx *c, const spot_background_zoo *cfg, size_t process, spot_background_cost *cost)
{
    size_t training, truth;

    if (!cfg->models) return SPOT_OK;
    for (int k = 0; k < cfg->models; k++) {
        const spot_zoo_recipe r = spot_zoo_recipe_of(cfg, k);
        const double pictures = (double)r.train * r.epochs;
        cost->trained += pictures, cost->multiplied += pictures * multiplications_of(cfg, &r);
    }
    SPOT_TRY(spot_zoo_models_needs(c, &training, cfg));
    SPOT_TRY(spot_zoo_measure_needs(c, &truth, cfg));
    cost->world = process + spot_zoo_stock_bytes(cfg) + (training > truth ? training : truth);
    return SPOT_OK;
}

spot_status spot_background_cost_of(spot_ctx *c, const spot_background_config *cfg, spot_background_cost *cost)
{
    spot_background_config *one = malloc(sizeof *one);
    const size_t process = spot_process_memory();
    shared_memory m = { .others = process };
    spot_status s;
    int files;

    *cost = (spot_background_cost){ 0 };
    if (!one) return spot_fail(c, SPOT_NOMEM, "no memory for a config");
    *one = *cfg;
    if (cfg->zoo.models) one->data.size = cfg->zoo.size;
    s = count_files(c, cfg, cost, &m);
    files = cost->targets;
    cost->targets = (int)(((long long)files * cfg->data.part + 99) / 100);
    if (s == SPOT_OK) s = add_world(c, &cfg->zoo, process, cost);
    if (s == SPOT_OK) s = count_networks(c, one, cost->targets, &m);
    if (s == SPOT_OK) add_all(c, cfg, one, files, &m, cost);
    free(one);
    return s;
}
