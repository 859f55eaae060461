/* shifts_cost.c - the pictures, the memory and the disk of a run, before it starts. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/picture.h"
#include "shifts/plant_make.h"
#include "shifts/shift_answers.h"
#include "shifts/shift_cover.h"
#include "shifts/shift_encoding.h"
#include "study/process_memory.h"

/* Sums over the units. */
typedef struct {
    size_t most, names, decoding;          /* of a unit's similarities; of all names; of the pictures that are largest */
    int    largest;                        /* pictures of a unit */
    size_t real, features;                 /* of the real pictures' features; of the most that a unit has */
    int    real_class, made_class;         /* the most pictures of a class */
    int    crop, dim;                      /* the greatest square that a picture becomes; numbers of the encoder's features */
} unit_sums;

/* The numbers of a picture's features; of embeddings in files as their size tells. */
static int columns_of(const spot_shifts_config *cfg, const spot_shift_pictures *p, int dim)
{
    if (!cfg->encoder.embeddings[0] || !p->list.n) return dim;
    return (int)(spot_shift_embedding_bytes(cfg, p->id) / 12 / (size_t)p->list.n);
}

static void add_features(unit_sums *sum, const spot_shift_pictures *p, int dim)
{
    const bool real = p->unit.shift == SPOT_REAL_PICTURES;
    const size_t bytes = (size_t)p->list.n * (size_t)dim * sizeof(float);
    int *const most = real ? &sum->real_class : &sum->made_class;

    sum->dim = dim > sum->dim ? dim : sum->dim;
    if (real) sum->real = bytes;
    sum->features = bytes > sum->features ? bytes : sum->features;
    for (int i = 0, run = 0; i < p->list.n; i++) {
        run = i && p->cls[i] == p->cls[i - 1] ? run + 1 : 1;
        *most = run > *most ? run : *most;
    }
}

/* The greatest square that a picture becomes. */
static int largest_crop(const spot_shifts_config *cfg, int side)
{
    int most = side;

    for (int m = 0; m < cfg->models; m++)
        if (cfg->model[m].weights[0] && cfg->model[m].crop > most) most = cfg->model[m].crop;
    return most;
}

static spot_status add_decoding(spot_ctx *c, unit_sums *sum, const spot_shifts_config *cfg, const spot_shift_pictures *p)
{
    const int crop = sum->crop;
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
                            const spot_shift_classes *k, spot_shift_unit unit)
{
    spot_shift_pictures p;
    spot_shift_column column[SPOT_SHIFT_COLUMNS];
    const int columns = spot_shift_columns(column, cfg, unit);
    spot_status s = spot_shift_pictures_open(c, &p, cfg, k, unit, NULL);
    const size_t own = (size_t)p.list.n * (2 * (size_t)columns * sizeof(float) + 64) + spot_shift_embedding_bytes(cfg, p.id);

    if (spot_shifts_encode(cfg)) add_features(sum, &p, columns_of(cfg, &p, sum->dim));
    sum->most = own > sum->most ? own : sum->most;
    sum->largest = p.list.n > sum->largest ? p.list.n : sum->largest;
    cost->pictures += p.list.n;
    for (int i = 0; i < p.list.n && s == SPOT_OK; i++) sum->names += strlen(p.list.path[i]) + 1;
    if (s == SPOT_OK) s = add_decoding(c, sum, cfg, &p);
    spot_shift_pictures_close(&p);
    return s;
}

/* The encoder's memory, that of a block's squares, its side, the numbers of its features. */
typedef struct { size_t bytes, squares; int side, dim; } encoder_size;

/* Zero where there is none. Where it cannot be opened the run says why. */
static encoder_size size_of_encoder(spot_ctx *c, const spot_shifts_config *cfg)
{
    const spot_encoder_options o = spot_shift_encoder_options(cfg);
    encoder_size v = { 0, 0, 0, 0 };
    spot_encoder *e;

    if (!spot_shifts_encode(cfg) || !cfg->encoder.weights[0]) return v;
    if (spot_encoder_open(c, &e, cfg->encoder.weights, &o)) return v;
    const spot_encoder_info *about = spot_encoder_about(e);
    v = (encoder_size){ about->bytes, 0, about->side, about->dim };
    v.squares = (size_t)about->picture_block * (3 * (size_t)about->side * (size_t)about->side + (size_t)about->dim * 4);
    spot_encoder_close(c, e);
    return v;
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

/* The encoder stays open while one network after the other looks, and so do the features of the real pictures and of a unit. */
static spot_status add_all(spot_ctx *c, spot_shifts_cost *cost, const spot_shifts_config *cfg, const spot_shift_classes *k)
{
    spot_ctx quiet = spot_quiet_of(c);
    const encoder_size encoder = size_of_encoder(&quiet, cfg);
    unit_sums sum = { .crop = largest_crop(cfg, encoder.side), .dim = encoder.dim };
    size_t network;

    SPOT_TRY(spot_check_stop(c));
    for (int u = 0; u < cost->units; u++) SPOT_TRY(add_unit(c, &sum, cost, cfg, k, spot_shift_unit_at(cfg, u)));
    network = spot_shift_network_bytes(&quiet, cfg, sum.largest);
    cost->features = encoder.dim;
    const size_t lists = sum.most + sum.names + (size_t)cost->pictures * (48 + (size_t)cfg->models * sizeof(int))
                       + (size_t)cost->classes * (size_t)(1 + cfg->shifts) * (size_t)(1 + cfg->models) * 2 * sizeof(double)
                       + sum.real + sum.features;
    const size_t look = network + spot_shift_look_bytes(c, cfg, sum.largest) + sum.decoding;
    const size_t cover = spot_shifts_encode(cfg)
                       ? spot_shift_cover_bytes(c, cost->classes, sum.dim, sum.real_class, sum.made_class) : 0;
    cost->memory = lists + encoder.bytes + more(more(look, encoder.squares + sum.decoding), more(cover, largest_file(cfg)));
    return SPOT_OK;
}

/* A planted world that is not made yet: pictures and memory by its settings. Its models are trained one after the other. */
static spot_status add_planted(spot_ctx *c, spot_shifts_cost *cost, const spot_shifts_config *cfg)
{
    const spot_plant_config *w = &cfg->plant;
    const size_t square = 3 * (size_t)w->size * (size_t)w->size;
    const int largest = w->real > w->pictures ? w->real : w->pictures;
    spot_ctx quiet = spot_quiet_of(c);
    const encoder_size encoder = size_of_encoder(&quiet, cfg);
    size_t training, looking;

    cost->units = 1 + 2 * (1 + cfg->shifts), cost->classes = w->classes;
    cost->pictures = w->classes * (w->real + 2 * (1 + cfg->shifts) * w->pictures);
    cost->models += w->models, cost->features = encoder.dim;
    SPOT_TRY(spot_plant_models_bytes(c, &training, &looking, w));
    const size_t truth = (size_t)(1 + w->shifts) * (size_t)w->truth * (size_t)w->classes * square + looking;
    const size_t unit = (size_t)w->classes * (size_t)largest * square;
    const size_t features = (size_t)w->classes * (size_t)(w->real + largest) * (size_t)encoder.dim * sizeof(float);
    const size_t cover = encoder.dim ? spot_shift_cover_bytes(c, w->classes, encoder.dim, w->real, w->pictures) : 0;
    const size_t run = encoder.bytes + features + more(more(encoder.squares, looking) + unit, cover);
    cost->memory = more(more(training, truth), run) + (size_t)cost->pictures * 128;
    return SPOT_OK;
}

static double disk_of(const spot_shifts_config *cfg, const spot_shifts_cost *cost)
{
    const double square = 3.0 * cfg->plant.size * cfg->plant.size, made = cfg->data.root[0] ? 0 : cfg->plant.pictures ? 1 : 0;

    return cost->pictures * (80.0 + cost->models * sizeof(int) + cost->features * sizeof(float)) + cost->units * 8192.0
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
