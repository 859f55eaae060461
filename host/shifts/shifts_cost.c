/* shifts_cost.c - the pictures, the memory and the disk of a run, before it starts. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/picture.h"
#include "shifts/plant_make.h"
#include "shifts/shift_answers.h"
#include "shifts/shift_encoding.h"
#include "study/process_memory.h"

/* Sums over the units. */
typedef struct {
    size_t most, names, decoding;          /* of a unit's similarities; of all names; of the pictures that are largest */
    int    largest;                        /* pictures of a unit */
} unit_sums;

/* The greatest square that a picture becomes. */
static int largest_crop(const spot_shifts_config *cfg, int side)
{
    int most = side;

    for (int m = 0; m < cfg->models; m++)
        if (cfg->model[m].weights[0] && cfg->model[m].crop > most) most = cfg->model[m].crop;
    return most;
}

static spot_status add_decoding(spot_ctx *c, unit_sums *sum, const spot_shifts_config *cfg, const spot_shift_pictures *p,
                                int crop)
{
    char **path;

    if (!crop) return SPOT_OK;
    path = spot_shift_paths(p, 0, p->list.n);
    if (!path) return spot_fail(c, SPOT_NOMEM, "no memory for the names of %d pictures", p->list.n);
    const size_t bytes = spot_pictures_bytes(c, (const char *const *)path, p->list.n, &cfg->data.reading, crop, crop);
    sum->decoding = bytes > sum->decoding ? bytes : sum->decoding;
    free(path);
    return spot_check_stop(c);
}

/* A unit's similarities twice, and its names. */
static spot_status add_unit(spot_ctx *c, unit_sums *sum, spot_shifts_cost *cost, const spot_shifts_config *cfg,
                            const spot_shift_classes *k, spot_shift_unit unit, int crop)
{
    spot_shift_pictures p;
    spot_shift_column column[SPOT_SHIFT_COLUMNS];
    const int columns = spot_shift_columns(column, cfg, unit);
    spot_status s = spot_shift_pictures_open(c, &p, cfg, k, unit, NULL);
    const size_t own = (size_t)p.list.n * (2 * (size_t)columns * sizeof(float) + 64) + spot_shift_embedding_bytes(cfg, p.id);

    sum->most = own > sum->most ? own : sum->most;
    sum->largest = p.list.n > sum->largest ? p.list.n : sum->largest;
    cost->pictures += p.list.n;
    for (int i = 0; i < p.list.n && s == SPOT_OK; i++) sum->names += strlen(p.list.path[i]) + 1;
    if (s == SPOT_OK) s = add_decoding(c, sum, cfg, &p, crop);
    spot_shift_pictures_close(&p);
    return s;
}

/* The encoder's memory, its side, and that of its squares. Where it cannot be opened the run says why. */
static void encoder_bytes(spot_ctx *c, size_t *bytes, size_t *squares, int *side, const spot_shifts_config *cfg)
{
    const spot_encoder_options o = spot_shift_encoder_options(cfg);
    spot_encoder *e;

    *bytes = *squares = 0, *side = 0;
    if (!spot_shifts_encode(cfg) || !cfg->encoder.weights[0]) return;
    if (spot_encoder_open(c, &e, cfg->encoder.weights, &o)) return;
    const spot_encoder_info *about = spot_encoder_about(e);
    *bytes = about->bytes, *side = about->side;
    *squares = (size_t)about->picture_block * (3 * (size_t)about->side * (size_t)about->side + (size_t)about->dim * 4);
    spot_encoder_close(c, e);
}

/* A file of weights is hashed as a whole. */
static size_t largest_file(const spot_shifts_config *cfg)
{
    size_t most = 0;

    for (int m = 0; m < cfg->models; m++) {
        const char *path = cfg->model[m].predictions[0] ? cfg->model[m].predictions : cfg->model[m].weights;
        struct stat st;
        if (!stat(path, &st) && (size_t)st.st_size > most) most = (size_t)st.st_size;
    }
    return most;
}

static size_t more(size_t a, size_t b) { return a > b ? a : b; }

/* The encoder stays open while one network after the other looks. */
static spot_status add_all(spot_ctx *c, spot_shifts_cost *cost, const spot_shifts_config *cfg, const spot_shift_classes *k)
{
    spot_ctx quiet = spot_quiet_of(c);
    unit_sums sum = { 0 };
    size_t encoder, squares, network;
    int side;

    encoder_bytes(&quiet, &encoder, &squares, &side, cfg);
    SPOT_TRY(spot_check_stop(c));
    for (int u = 0; u < cost->units; u++)
        SPOT_TRY(add_unit(c, &sum, cost, cfg, k, spot_shift_unit_at(cfg, u), largest_crop(cfg, side)));
    network = spot_shift_network_bytes(&quiet, cfg, sum.largest);
    const size_t lists = sum.most + sum.names + (size_t)cost->pictures * (48 + (size_t)cfg->models * sizeof(int))
                       + (size_t)cost->classes * (size_t)(1 + cfg->shifts) * (size_t)(1 + cfg->models) * 2 * sizeof(double);
    const size_t look = network + spot_shift_look_bytes(cfg, sum.largest) + sum.decoding;
    cost->memory = lists + encoder + more(more(look, squares + sum.decoding), largest_file(cfg));
    return SPOT_OK;
}

/* A planted world that is not made yet: pictures and memory by its settings. Its models are trained one after the other. */
static spot_status add_planted(spot_ctx *c, spot_shifts_cost *cost, const spot_shifts_config *cfg)
{
    const spot_plant_config *w = &cfg->plant;
    const size_t square = 3 * (size_t)w->size * (size_t)w->size;
    size_t encoder, squares, training, looking;
    spot_ctx quiet = spot_quiet_of(c);
    int side;

    cost->units = 1 + 2 * (1 + cfg->shifts), cost->classes = w->classes;
    cost->pictures = w->classes * (w->real + 2 * (1 + cfg->shifts) * w->pictures);
    cost->models += w->models;
    encoder_bytes(&quiet, &encoder, &squares, &side, cfg);
    SPOT_TRY(spot_plant_models_bytes(c, &training, &looking, w));
    const size_t truth = (size_t)w->truth * (size_t)w->classes * square + looking;
    const size_t unit = (size_t)w->classes * (size_t)more((size_t)w->real, (size_t)w->pictures) * square;
    cost->memory = more(more(training, truth), encoder + more(squares, looking) + unit) + (size_t)cost->pictures * 128;
    return SPOT_OK;
}

static double disk_of(const spot_shifts_config *cfg, const spot_shifts_cost *cost)
{
    const double square = 3.0 * cfg->plant.size * cfg->plant.size, made = cfg->data.root[0] ? 0 : cfg->plant.pictures ? 1 : 0;

    return cost->pictures * (80.0 + cost->models * sizeof(int)) + cost->units * 8192.0
         + made * (cost->pictures * square / 2 + cfg->plant.models * 3e6);
}

spot_status spot_shifts_cost_of(spot_ctx *c, const spot_shifts_config *cfg, spot_shifts_cost *cost)
{
    const size_t process = spot_process_memory();
    const bool planned = cfg->plant.pictures && !cfg->data.root[0];
    spot_shift_classes k = { 0 };
    spot_status s;

    *cost = (spot_shifts_cost){ .units = spot_shift_units(cfg), .models = cfg->models };
    s = planned ? add_planted(c, cost, cfg) : spot_shift_classes_open(c, &k, cfg);
    if (s == SPOT_OK && !planned) cost->classes = k.n;
    if (s == SPOT_OK && !planned) s = add_all(c, cost, cfg, &k);
    cost->memory += process;
    cost->disk = disk_of(cfg, cost);
    spot_shift_classes_close(&k);
    return s;
}
