/* predictor_weights.c - a network of weights as a predictor: its net for inference stays open. */
#include <stdlib.h>

#include "models/predictor_kinds.h"
#include "models/network.h"
#include "models/picture_input.h"

typedef struct {
    spot_arena room;                       /* the net, in the memory of c's device */
    spot_look_pixels look;
} resnet;

static spot_status open_net(spot_ctx *c, resnet *r, const spot_model *m, const spot_predictor_options *o)
{
    const spot_net_shape s = spot_look_shape(c, m->arch, m->width, m->outputs, o->side, 0, (spot_precision)o->precision);
    spot_arena count = spot_arena_counting();
    spot_status opened = spot_look_pixels_open(c, &count, &r->look, s, true);

    spot_look_close(c, &r->look.net);
    SPOT_TRY(opened);
    SPOT_TRY(spot_arena_open_device(c, &r->room, count.peak));
    SPOT_TRY(spot_look_pixels_open(c, &r->room, &r->look, s, true));
    return spot_look_put(c, &r->look.net, m);
}

/* The model itself is needed for the opening alone. */
static spot_status open_file(spot_ctx *c, resnet *r, spot_model *m, const spot_predictor_options *o)
{
    spot_arena a = spot_arena_counting();
    spot_status s;

    SPOT_TRY(spot_model_load(c, &a, m, o->weights, 0, 0));
    SPOT_TRY(spot_arena_open(c, &a, a.peak));
    s = spot_model_load(c, &a, m, o->weights, 0, 0);
    if (!s) s = open_net(c, r, m, o);
    spot_arena_close(&a);
    return s;
}

static spot_status predict(spot_ctx *c, void *state, const spot_prediction *p)
{
    resnet *r = state;

    return spot_look_pixels_run(c, &r->look, p->logit, p->embedding, p->channel, p->rgb, p->n);
}

static void close_resnet(spot_ctx *c, void *state)
{
    resnet *r = state;

    spot_look_close(c, &r->look.net);
    spot_arena_close(&r->room);
    free(r);
}

spot_status spot_predictor_weights(spot_ctx *c, spot_predictor_way *way, spot_predictor_info *about,
                                   const spot_predictor_options *o)
{
    resnet *r = calloc(1, sizeof *r);
    spot_model m;

    if (!r) return spot_fail(c, SPOT_NOMEM, "no memory for a predictor");
    *way = (spot_predictor_way){ predict, close_resnet, r };
    if (!o->weights || !o->weights[0]) return spot_fail(c, SPOT_USAGE,
                                                        "{predictor.no_weights} a predictor needs a file of weights");
    if (o->side < 32 || o->side % 32 || o->side > 4096)
        return spot_fail(c, SPOT_USAGE, "{predictor.weights_size} a network of weights (%s) looks at squares of 32, 64, ... "
                         "4096 pixels, not of %d", o->weights, o->side);
    spot_pixel_rule rule = spot_imagenet_rule();
    SPOT_TRY(spot_picture_input_rule(c, &rule, &o->input));
    SPOT_TRY(open_file(c, r, &m, o));
    r->look.rule = rule;
    *about = (spot_predictor_info){ .outputs = m.outputs, .dim = r->look.net.features,
                                    .channels = spot_look_channels(m.arch, m.width),
                                    .batch = r->look.net.s.rows, .bytes = r->room.size };
    return SPOT_OK;
}
