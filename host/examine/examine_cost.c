/* examine_cost.c - the renders, the memory and the disk of a run, before it starts. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/folder.h"
#include "examine/examine_networks.h"
#include "examine/failure_parts.h"
#include "formats/picture.h"
#include "models/predictor_memory.h"
#include "spotter/model.h"
#include "study/process_memory.h"

enum { ALWAYS = SPOT_EXAMINE_START + 256 };            /* renders of an object that no search has a part in */

/* Objects that a network learns, renders in training, and the memory of it. */
static spot_status add_training(spot_ctx *c, spot_examine_objects_list *o, const spot_examine_model *m, spot_examine_cost *cost,
                                size_t *most)
{
    double objects = 0;
    size_t bytes;
    int epochs;

    if (!spot_examine_is_trained(m)) return SPOT_OK;
    for (int k = 0; k < o->list.classes; k++) {
        int from, n;
        spot_examine_learned(o, m, k, &from, &n);
        objects += n;
    }
    const double images = spot_examine_passes(m, objects, &epochs);
    cost->trained += images * epochs;
    SPOT_TRY(spot_examine_training_bytes(c, &bytes, m, o, (int)objects));
    *most = bytes > *most ? bytes : *most;
    return SPOT_OK;
}

/* The backgrounds as squares, on the host and on the device, and the decoding of the largest: one at a time. */
static spot_status backgrounds_bytes(spot_ctx *c, size_t *squares, size_t *decoding, const spot_examine_config *cfg)
{
    const int size = cfg->render.size;
    spot_ctx one = *c;
    spot_folder f = { 0 };

    *squares = *decoding = 0;
    if (!cfg->render.pictures[0]) return SPOT_OK;
    one.threads = 1;
    SPOT_TRY(spot_folder_pictures(c, &f, cfg->render.pictures));
    *squares = 2 * (size_t)f.n * 3 * (size_t)size * (size_t)size;
    for (int i = 0; i < f.n; i++) {
        char path[SPOT_EXAMINE_PATH];
        const char *const picture[] = { path };
        snprintf(path, sizeof path, "%s/%s", cfg->render.pictures, f.path[i]);
        const size_t bytes = spot_pictures_bytes(&one, picture, 1, &(spot_picture_reading){ 0 }, size, size);
        *decoding = bytes > *decoding ? bytes : *decoding;
    }
    spot_folder_close(&f);
    return SPOT_OK;
}

/* The greater of the memory of training and of a network that looks. */
static spot_status networks_bytes(spot_ctx *c, size_t *bytes, const spot_examine_config *cfg, size_t training)
{
    const char **path = malloc(((size_t)cfg->models + 1) * sizeof *path);
    spot_ctx quiet = spot_quiet_of(c);

    if (!path) return spot_fail(c, SPOT_NOMEM, "no memory for %d models", cfg->models);
    for (int m = 0; m < cfg->models; m++) path[m] = cfg->model[m].weights;
    const int most = c->device ? SPOT_EXAMINE_DEVICE_BATCH : SPOT_EXAMINE_BATCH;
    *bytes = spot_predictor_memory(&quiet, path, cfg->models,
                                   &(spot_predictor_work){ cfg->render.size, SPOT_FP32, most });
    *bytes = (*bytes > training ? *bytes : training) + spot_largest_file(path, cfg->models);
    free(path);
    return spot_check_stop(c);
}

/* All backgrounds are decoded before the first network is opened. */
static spot_status add_memory(spot_ctx *c, spot_examine_cost *cost, const spot_examine_config *cfg, size_t process,
                              size_t training)
{
    size_t networks = 0, squares = 0, decoding = 0;

    SPOT_TRY(networks_bytes(c, &networks, cfg, training));
    SPOT_TRY(backgrounds_bytes(c, &squares, &decoding, cfg));
    cost->memory += networks;
    cost->memory = process + squares + (cost->memory > decoding ? cost->memory : decoding);
    return SPOT_OK;
}

/* Renders of a search, means over the examiners: those that one asks for, those that test points; the most that one asks
 * for. */
typedef struct { double asked, tests, most; } spending;

static spending add_examiners(const spot_examine_config *cfg)
{
    spending all = { 0 };

    for (int e = 0; e < cfg->examiners; e++) {
        const spot_examine_search s = spot_examine_search_of(cfg, &cfg->examiner[e]);
        const double asked = s.renders - s.perturbed;
        all.asked += asked / cfg->examiners, all.tests += (double)s.points * s.perturbed / cfg->examiners;
        all.most = fmax(all.most, asked);
    }
    return all;
}

spot_status spot_examine_cost_of(spot_ctx *c, const spot_examine_config *cfg, spot_examine_cost *cost)
{
    spot_examine_config *own = malloc(sizeof *own);
    spot_examine_objects_list o;
    const size_t process = spot_process_memory();
    size_t training = 0;
    spot_status s;
    double held = 0;

    *cost = (spot_examine_cost){ 0 };
    if (!own) return spot_fail(c, SPOT_NOMEM, "no memory for a config");
    *own = *cfg;
    s = spot_examine_objects_open(c, &o, own);
    if (s == SPOT_OK) {
        const spending all = add_examiners(own);
        const size_t pixels = (size_t)own->render.size * (size_t)own->render.size;
        cost->units = spot_examine_units(own);
        cost->objects = spot_examine_objects_of_a_model(own);
        for (int k = 0; k < o.list.classes; k++) held += o.held[k];
        if (own->objects.choice != SPOT_OBJECTS_BEST) held = 0;
        cost->renders = cost->units * (all.asked + all.tests) +
                        own->models * ((double)cost->objects * ALWAYS + held * own->objects.views);
        for (int m = 0; m < own->models && s == SPOT_OK; m++) s = add_training(c, &o, &own->model[m], cost, &training);
        spot_factor_space space;
        spot_conditions fixed;
        if (s == SPOT_OK) s = spot_examine_space(c, &space, &fixed, own);
        const spot_failure_spent maps = s ? (spot_failure_spent){ 0 } : spot_failure_renders(own, space.dims);
        cost->maps = maps.maps + maps.scans + maps.fresh;
        cost->disk = (maps.maps + maps.scans + cost->units * all.asked) * (8 * SPOT_FACTORS + 9) + cost->units * 4096;
        cost->memory = (size_t)(cost->objects * all.most * (8 * SPOT_FACTORS + 9)) + SPOT_EXAMINE_BATCH * 16 * pixels;
        if (s == SPOT_OK) s = add_memory(c, cost, own, process, training);
    }
    spot_examine_objects_close(c, &o);
    free(own);
    return s;
}
