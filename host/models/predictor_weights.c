/* predictor_weights.c - a network of weights as a predictor: its net for inference stays open. */
#include <stdlib.h>

#include "models/predictor_kinds.h"
#include "models/network.h"
#include "models/picture_input.h"

/* The model itself is needed for the opening alone. */
static spot_status open_file(spot_ctx *c, spot_look_pixels *look, spot_model *m, const spot_predictor_options *o)
{
    const spot_look_rule rule = { .size = o->side, .precision = (spot_precision)o->precision, .channels = true };
    spot_arena a = spot_arena_counting();
    spot_status s;

    SPOT_TRY(spot_model_load(c, &a, m, o->weights, 0, 0));
    SPOT_TRY(spot_arena_open(c, &a, a.peak));
    s = spot_model_load(c, &a, m, o->weights, 0, 0);
    if (!s) s = spot_look_pixels_open(c, look, m, &rule);
    spot_arena_close(&a);
    return s;
}

static spot_status predict(spot_ctx *c, void *state, const spot_prediction *p)
{
    return spot_look_pixels_run(c, state, p->logit, p->embedding, p->channel, p->rgb, p->n);
}

static void close_network(spot_ctx *c, void *state)
{
    spot_look_pixels_close(c, state);
    free(state);
}

spot_status spot_predictor_weights(spot_ctx *c, spot_predictor_way *way, spot_predictor_info *about,
                                   const spot_predictor_options *o)
{
    spot_look_pixels *look = calloc(1, sizeof *look);
    spot_model m;

    if (!look) return spot_fail(c, SPOT_NOMEM, "no memory for a predictor");
    *way = (spot_predictor_way){ predict, close_network, look };
    if (!o->weights || !o->weights[0]) return spot_fail(c, SPOT_USAGE,
                                                        "{predictor.no_weights} a predictor needs a file of weights");
    if (o->side < 32 || o->side % 32 || o->side > 4096)
        return spot_fail(c, SPOT_USAGE, "{predictor.weights_size} a network of weights (%s) looks at squares of 32, 64, ... "
                         "4096 pixels, not of %d", o->weights, o->side);
    spot_pixel_rule rule = spot_imagenet_rule();
    SPOT_TRY(spot_picture_input_rule(c, &rule, &o->input));
    SPOT_TRY(open_file(c, look, &m, o));
    look->rule = rule;
    *about = (spot_predictor_info){ .outputs = m.outputs, .dim = look->net.features,
                                    .channels = spot_look_channels(m.arch, m.width),
                                    .batch = look->net.s.rows, .bytes = look->room.size };
    return SPOT_OK;
}
