/* shifts_time.c - the time of a run, from timing a small part of it. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "shifts/plant_make.h"
#include "shifts/shift_answers.h"
#include "shifts/shift_encoding.h"
#include "study/process_memory.h"
#include "worlds/picture_batches.h"

enum { SOME = 64 };                        /* pictures by which everything is timed */

/* Seconds: of a picture by all networks together, of a picture's decoding in all shapes, of opening all networks once. */
typedef struct { double look, decode, open; } run_pace;

/* Adds the time of a look at SOME pictures by a network that is opened for it. Their content does not change it. */
static spot_status time_network(spot_ctx *c, const char *path, const spot_encoder_options *o, run_pace *pace)
{
    double since = spot_clock();
    spot_encoder *e;

    SPOT_TRY(spot_encoder_open(c, &e, path, o));
    pace->open += spot_clock() - since;
    const spot_encoder_info *about = spot_encoder_about(e);
    const int n = about->picture_block < SOME ? about->picture_block : SOME;
    uint8_t *rgb = calloc((size_t)n, 3 * (size_t)about->side * (size_t)about->side);
    float *out = malloc((size_t)n * (size_t)(about->dim + about->outputs) * sizeof *out);
    spot_status s = rgb && out ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to time %s", path);
    for (int turn = 0; turn < 2 && s == SPOT_OK; turn++) {         /* the first warms up */
        since = spot_clock();
        s = spot_encode_pixels(c, e, out, about->outputs ? out + (size_t)n * (size_t)about->dim : NULL, rgb, n);
    }
    pace->look += (spot_clock() - since) / n;
    free(rgb), free(out);
    spot_encoder_close(c, e);
    return s;
}

static spot_status drop_batch(spot_ctx *c, void *user, const spot_picture_batch *b)
{
    (void)c, (void)user, (void)b;
    return SPOT_OK;
}

/* Decodes some pictures of each of a few folders. */
static spot_status time_decoding(spot_ctx *c, const spot_shifts_config *cfg, int crop, double times, run_pace *pace)
{
    const int units = spot_shift_units(cfg), step = units > 4 ? units / 4 : 1;
    spot_shift_classes k;
    spot_status s = spot_shift_classes_open(c, &k, cfg);
    double spent = 0;
    int n = 0;

    for (int u = 0; u < units && s == SPOT_OK; u += step) {
        spot_shift_pictures p;
        s = spot_shift_pictures_open(c, &p, cfg, &k, spot_shift_unit_at(cfg, u), NULL);
        const int some = p.list.n < SOME ? p.list.n : SOME;
        char **path = s == SPOT_OK ? spot_shift_paths(&p, 0, some) : NULL;
        const spot_picture_batches b = { .path = path, .n = some, .batch = SOME, .resize = crop, .crop = crop,
                                         .filter = SPOT_BILINEAR, .reading = cfg->data.reading, .take = drop_batch };
        const double since = spot_clock();
        if (s == SPOT_OK && !path) s = spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", some);
        if (s == SPOT_OK && some) s = spot_picture_batches_run(c, &b);
        spent += spot_clock() - since, n += some;
        free(path);
        spot_shift_pictures_close(&p);
    }
    spot_shift_classes_close(&k);
    pace->decode += n ? times * spent / n : 0;
    return s;
}

/* The models that look, and the encoder. */
static spot_status time_networks(spot_ctx *c, const spot_shifts_config *cfg, run_pace *pace)
{
    const spot_encoder_options encoder = spot_shift_encoder_options(cfg);
    int side = 0;

    if (spot_shifts_encode(cfg) && cfg->encoder.weights[0])
        SPOT_TRY(time_network(c, cfg->encoder.weights, &encoder, pace));
    pace->open = 0;                        /* the encoder is opened once; the others for each folder */
    for (int m = 0; m < cfg->models; m++) {
        spot_encoder_options o = spot_encoder_defaults();
        if (!cfg->model[m].weights[0]) continue;
        o.resize = cfg->model[m].resize, o.crop = cfg->model[m].crop, o.input = cfg->model[m].input;
        side = o.crop > side ? o.crop : side;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(time_network(c, cfg->model[m].weights, &o, pace));
    }
    if (cfg->data.root[0] && (side || cfg->encoder.weights[0]))
        SPOT_TRY(time_decoding(c, cfg, side ? side : 224, (side > 0) + (cfg->encoder.weights[0] != 0), pace));
    return SPOT_OK;
}

/* The making of a planted world, and its models' looks: the first model of each width stands for all of it. */
static spot_status add_planted(spot_ctx *c, const spot_plant_config *cfg, const spot_shifts_cost *cost, double *seconds)
{
    const double truth = (double)cfg->truth * cfg->classes * (1 + cfg->shifts);
    spot_plant_pace pace[2] = { { 0 } };

    for (int m = 0; m < cfg->models; m++) {
        const spot_plant_recipe r = spot_plant_recipe_of(cfg, m);
        spot_plant_pace *p = &pace[r.width > 16];
        if (p->learn <= 0) SPOT_TRY(spot_plant_time(c, p, cfg, &r));
        *seconds += r.train * (p->draw + r.epochs * p->learn) + (truth + cost->pictures) * p->look;
        SPOT_TRY(spot_check_stop(c));
    }
    *seconds += (cost->pictures + truth) * pace[0].draw;
    return SPOT_OK;
}

spot_status spot_shifts_time_of(spot_ctx *c, const spot_shifts_config *cfg, const spot_shifts_cost *cost, double *seconds,
                                double *calibration)
{
    const double since = spot_clock();
    spot_ctx quiet = spot_quiet_of(c);
    run_pace pace = { 0 };
    spot_status s = time_networks(&quiet, cfg, &pace);

    *seconds = cost->pictures * (pace.look + pace.decode) + cost->units * pace.open;
    if (s == SPOT_OK && cfg->plant.pictures && !cfg->data.root[0]) s = add_planted(&quiet, &cfg->plant, cost, seconds);
    *calibration = spot_clock() - since;
    return s == SPOT_OK ? s : spot_fail_from(c, s, &quiet);
}
