/* background_cost.c - the pictures to look at, the memory and the disk of a run, before it starts. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "background/background_inputs.h"
#include "background/background_unit.h"
#include "background/look/background_look.h"
#include "background/zoo/zoo_make.h"
#include "spotter/model.h"

/* Pictures and backgrounds of all. A planted world that is not made yet has those of its settings. */
static spot_status count_files(spot_ctx *c, const spot_background_config *cfg, spot_background_cost *cost)
{
    const spot_background_zoo *z = &cfg->zoo;
    spot_background_inputs in;
    spot_status s;

    cost->units = cfg->models;
    if (z->models && access(cfg->data.images, F_OK)) {
        cost->units = cfg->models > z->models ? cfg->models : z->models;
        cost->targets = z->classes * z->targets, cost->backgrounds = (z->families + 1) * z->backgrounds;
        return SPOT_OK;
    }
    s = spot_background_inputs_open(c, &in, cfg);
    cost->targets = in.pictures, cost->backgrounds = in.backgrounds;
    spot_background_inputs_close(&in);
    return s;
}

/* Adds the run of one config. Pictures are not decoded, so targets are all pictures of the part. */
static void add_run(spot_ctx *c, const spot_background_config *cfg, int files, int known, spot_background_cost *cost)
{
    const size_t square = 3 * (size_t)cfg->data.size * (size_t)cfg->data.size, most = spot_background_memory(SPOT_MOST_SQUARES);
    const size_t squares = square / 3 * 4 * (size_t)files + square * (size_t)cost->backgrounds;
    const double targets = ((double)files * cfg->data.part + 99) / 100, images = targets * (cfg->suite.n + 1);
    const double cells = (double)cfg->measure.grid * cfg->measure.grid;
    const size_t memory = (squares < most ? squares : most) + spot_look_memory(c, cfg)
                        + (size_t)images * (13 + (size_t)spot_background_batch(cfg) * 20);

    cost->runs++;
    cost->memory = memory > cost->memory ? memory : cost->memory;
    cost->disk += cost->units * 4.0 * (images * (SPOT_BACKGROUND_MATRICES + 1) + targets * SPOT_BACKGROUND_SETS
                                       + cells * (SPOT_BACKGROUND_MATRICES + 1));
    if (!known) cost->looks += (double)(int)targets * spot_look_images(cfg) * cost->units;
}

static spot_status add_all(spot_ctx *c, const spot_background_config *cfg, spot_background_config *one, int files,
                           spot_background_cost *cost)
{
    add_run(c, one, files, false, cost);
    for (int k = 0; k < cfg->variants; k++) {
        const int same = spot_background_same_look(cfg, k);
        spot_background_vary(one, cfg, k);
        if (cfg->zoo.models) one->data.size = cfg->zoo.size;
        add_run(c, one, files, same < k, cost);
    }
    return SPOT_OK;
}

/* A backward pass has two products where a forward pass has one. FGSM takes a forward pass and the half of a backward one. */
static double multiplications_of(const spot_background_zoo *cfg, const spot_zoo_recipe *r)
{
    const double forward = spot_model_multiplications(r->arch, SPOT_ZOO_WIDTH, cfg->classes, cfg->size);

    return (r->loss == SPOT_ZOO_LOSS_FGSM ? 5 : 3) * forward;
}

/* Adds the making of the planted world. */
static spot_status add_world(spot_ctx *c, const spot_background_zoo *cfg, spot_background_cost *cost)
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
    cost->world = spot_zoo_stock_bytes(cfg) + (training > truth ? training : truth);
    return SPOT_OK;
}

spot_status spot_background_cost_of(spot_ctx *c, const spot_background_config *cfg, spot_background_cost *cost)
{
    spot_background_config *one = malloc(sizeof *one);
    spot_status s;
    int files;

    *cost = (spot_background_cost){ 0 };
    if (!one) return spot_fail(c, SPOT_NOMEM, "no memory for a config");
    *one = *cfg;
    if (cfg->zoo.models) one->data.size = cfg->zoo.size;
    s = count_files(c, cfg, cost);
    files = cost->targets;
    cost->targets = (int)(((long long)files * cfg->data.part + 99) / 100);
    if (s == SPOT_OK) s = add_world(c, &cfg->zoo, cost);
    if (s == SPOT_OK) s = add_all(c, cfg, one, files, cost);
    free(one);
    return s;
}
