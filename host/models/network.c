/* network.c - the nets for training, whatever their architecture: memory, weights in and out, steps. */
#include "models/network.h"

#include <string.h>

#include "core/device.h"
#include "worlds/source_draw.h"

/* The net's input: all rows of images, as spot_conv_planes makes them. */
static spot_plane input_plane(const spot_ctx *c, const spot_net_shape *s)
{
    spot_conv_shape stem = spot_unit_shape(0, *s, true);

    return (spot_plane){ .rows = s->rows, .live = s->rows, .channels = spot_conv_inputs(c, &stem), .size = s->size,
                         .precision = s->precision };
}

/* -- memory --------------------------------------------------------------------------------------------------- */

spot_status spot_net_open(spot_ctx *c, spot_arena *a, spot_net *net, spot_net_shape s)
{
    memset(net, 0, sizeof *net);
    SPOT_TRY(spot_net_check(c, s));
    if (s.arch > SPOT_ARCH_ALEXNET)
        return spot_fail(c, SPOT_UNSUPPORTED, "{network.no_training} Spotter trains ResNet-18, ResNet-34 and AlexNet; another "
                         "%s runs, and does not train", spot_arch_name(s.arch));
    if (c->device) s.lanes = 1;
    net->s = s;
    net->arch = spot_architecture_of(s.arch);
    net->way = s.arch == SPOT_ARCH_ALEXNET ? &spot_alexnet_way : &spot_resnet_way;
    net->features = spot_model_features(s.arch, s.width);
    for (int u = 0; u < net->arch.units; u++) {
        spot_conv_shape shape = spot_unit_shape(u, s, true);
        shape.add = spot_conv_onto(c) && net->way->sums(s.arch, u);
        SPOT_TRY(spot_conv_open(c, &net->conv[u], &shape));
    }
    net->params = net->way->learned(c, net, NULL, false);
    net->state = net->params + net->way->running(net, NULL);
    SPOT_TRY(SPOT_TAKE(c, a, net->param, net->state));
    SPOT_TRY(SPOT_TAKE(c, a, net->grad, net->params));
    SPOT_TRY(SPOT_TAKE(c, a, net->moment, net->params));
    SPOT_TRY(SPOT_TAKE(c, a, net->square, net->params));
    if (s.precision == SPOT_BF16) SPOT_TRY(spot_arena_take(c, a, &net->rounded, 2 * net->params));
    net->way->learned(c, net, net->param, false);
    net->way->learned(c, net, net->grad, true);
    net->way->running(net, net->param ? net->param + net->params : NULL);
    for (int u = 0; u < net->arch.units && net->param; u++)
        net->read[u] = net->rounded ? (char *)net->rounded + 2 * (net->w[u] - net->param) : (const void *)net->w[u];
    SPOT_TRY(spot_arena_take(c, a, &net->planes, spot_net_image_bytes(c, net)));
    if (s.attacked) SPOT_TRY(spot_arena_take(c, a, &net->dplanes, spot_net_image_bytes(c, net)));
    SPOT_TRY(SPOT_TAKE(c, a, net->feature, (size_t)s.rows * net->features));
    SPOT_TRY(SPOT_TAKE(c, a, net->logit, (size_t)s.rows * s.outputs));
    SPOT_TRY(SPOT_TAKE(c, a, net->dlogit, (size_t)s.rows * s.outputs));
    return net->way->take(c, a, net);
}

void spot_net_running(spot_net *net, float *running) { net->way->running(net, running); }

spot_plane spot_net_images(const spot_ctx *c, const spot_net *net, int live)
{
    spot_plane p = input_plane(c, &net->s);

    p.live = live;
    return p;
}

size_t spot_net_image_bytes(const spot_ctx *c, const spot_net *net) { return spot_plane_bytes(input_plane(c, &net->s)); }

spot_status spot_net_add_triplets(spot_ctx *c, spot_arena *a, spot_net *net, double weight, double margin)
{
    net->triplet = weight;
    net->margin = margin;
    SPOT_TRY(SPOT_TAKE(c, a, net->dfeature, (size_t)net->s.rows * net->features));
    return spot_arena_take(c, a, &net->triplet_scratch, spot_triplet_scratch(net->s.rows));
}

void spot_net_close(spot_ctx *c, spot_net *net)
{
    for (int u = 0; u < SPOT_MAX_UNITS; u++) spot_conv_close(c, net->conv[u]);
    memset(net, 0, sizeof *net);
}

/* -- weights -------------------------------------------------------------------------------------------------- */

/* Updates `rounded` from param by an optimizer step that changes nothing. It leaves moments of 0, as spot_net_put needs. */
static spot_status round_weights(spot_ctx *c, spot_net *net)
{
    spot_optim_rule stay = { .t = 1, .rounded = net->rounded };

    return net->rounded ? spot_optim_step(c, net->param, net->grad, net->moment, net->square, net->params, &stay) : SPOT_OK;
}

spot_status spot_model_on_device(spot_ctx *c, const spot_model *m, const float *there, const float **value, void **copy)
{
    const size_t bytes = m->floats * sizeof *m->value;

    *copy = NULL;
    *value = c->device ? there : m->value;
    if (*value) return SPOT_OK;
    SPOT_TRY(spot_device_take(c, copy, bytes));
    *value = *copy;
    return spot_device_copy(c, *copy, m->value, bytes);
}

/* Sets at[i] to the net's array for tensor i of the model; NULL for the weights of convolutions, which are packed. */
static void arrays_of(const spot_net *net, float *at[SPOT_MAX_TENSORS])
{
    const int head = spot_model_tensors(net->s.arch) - 2;

    memset(at, 0, SPOT_MAX_TENSORS * sizeof *at);
    net->way->arrays(net, at);
    at[head] = net->fc_w, at[head + 1] = net->fc_b;
}

/* All tensors before `end`. */
static spot_status put_tensors(spot_ctx *c, spot_net *net, const float *value, const spot_model_tensor *table, int end)
{
    spot_conv_part part[SPOT_MAX_TENSORS];
    float *at[SPOT_MAX_TENSORS];
    int parts = 0;

    arrays_of(net, at);
    for (int u = 0; u < net->arch.units; u++)
        SPOT_TRY(spot_conv_pack(c, net->conv[u], net->w[u], value + table[net->way->tensors * u].offset));
    for (int i = 0; i < end; i++)
        if (at[i]) part[parts++] = (spot_conv_part){ at[i], value + table[i].offset, table[i].count };
    return spot_conv_copy_parts(c, part, parts);
}

static spot_status get_tensors(spot_ctx *c, float *value, const spot_net *net, const spot_model_tensor *table, int end)
{
    spot_conv_part part[SPOT_MAX_TENSORS];
    float *at[SPOT_MAX_TENSORS];
    int parts = 0;

    arrays_of(net, at);
    for (int u = 0; u < net->arch.units; u++)
        SPOT_TRY(spot_conv_unpack(c, net->conv[u], value + table[net->way->tensors * u].offset, net->w[u]));
    for (int i = 0; i < end; i++)
        if (at[i]) part[parts++] = (spot_conv_part){ value + table[i].offset, at[i], table[i].count };
    return spot_conv_copy_parts(c, part, parts);
}

static spot_status put_all(spot_ctx *c, spot_net *net, const spot_model *m, const float *value, bool new_head)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    const int tensors = spot_model_tensors(m->arch);
    const spot_model_tensor *head = &table[tensors - 2];
    float *clear[] = { net->param, net->grad, net->moment, net->square };

    spot_model_layout(table, m->arch, m->width, m->outputs);
    for (int i = 0; i < 4; i++) SPOT_TRY(spot_device_clear(c, clear[i], net->params * sizeof(float)));
    SPOT_TRY(put_tensors(c, net, value, table, new_head ? tensors - 2 : tensors));
    if (new_head) {
        SPOT_TRY(spot_device_copy(c, net->fc_w, m->value + head[0].offset, head[0].count * sizeof(float)));
        SPOT_TRY(spot_device_copy(c, net->fc_b, m->value + head[1].offset, head[1].count * sizeof(float)));
    }
    return round_weights(c, net);
}

/* A copy is given back when the kernels that read it are done, which a device waits for. */
spot_status spot_net_put_from(spot_ctx *c, spot_net *net, const spot_model *m, const float *there, bool new_head)
{
    const float *value;
    void *copy;
    spot_status s = spot_model_on_device(c, m, there, &value, &copy);

    if (!s) s = put_all(c, net, m, value, value == there && new_head);
    spot_device_give(c, copy);
    return s;
}

static spot_status get_all(spot_ctx *c, const spot_model *m, float *value, const spot_net *net)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];

    spot_model_layout(table, m->arch, m->width, m->outputs);
    SPOT_TRY(get_tensors(c, value, net, table, spot_model_tensors(m->arch)));
    return spot_device_copy(c, m->value, value, m->floats * sizeof *value);
}

spot_status spot_net_put(spot_ctx *c, spot_net *net, const spot_model *m) { return spot_net_put_from(c, net, m, NULL, false); }

spot_status spot_net_get_to(spot_ctx *c, spot_model *m, const spot_net *net, float *there)
{
    void *own = NULL;
    float *value = c->device ? there : m->value;
    spot_status s = value ? SPOT_OK : spot_device_take(c, &own, m->floats * sizeof *m->value);

    if (!s) s = get_all(c, m, value ? value : own, net);
    spot_device_give(c, own);
    return s;
}

spot_status spot_net_get(spot_ctx *c, spot_model *m, const spot_net *net) { return spot_net_get_to(c, m, net, NULL); }

/* -- steps ---------------------------------------------------------------------------------------------------- */

void spot_net_drop(spot_net *net, double p, uint64_t seed, uint32_t number, const int *made)
{
    net->drop = (spot_drop_rule){ p, seed, number, made };
}

spot_status spot_net_forward(spot_ctx *c, spot_net *net, const float *pixels, int live, bool learning)
{
    spot_plane p = spot_unit_output(0, net->s, live), image = input_plane(c, &net->s);
    size_t row = spot_plane_bytes(image) / image.rows;

    if (pixels)
        SPOT_TRY(spot_conv_planes(c, net->planes, pixels, live, p.rows, net->s.size * net->s.size, net->s.precision));
    else if (p.rows > live)
        SPOT_TRY(spot_device_clear(c, (char *)net->planes + live * row, (p.rows - live) * row));
    return net->way->forward(c, net, live, learning);
}

spot_status spot_net_backward(spot_ctx *c, spot_net *net, const float *target, int live, double *loss)
{
    SPOT_TRY(net->way->back(c, net, target, live, loss, true));
    return spot_net_weights_back(c, net, 0, net->planes, spot_unit_output(0, net->s, live).rows);
}

spot_status spot_net_backward_image(spot_ctx *c, spot_net *net, const float *target, int live, double *loss)
{
    if (!net->s.attacked) return spot_fail(c, SPOT_INVALID,
                                           "{network.no_image_gradients} this net was not opened for gradients by its images");
    SPOT_TRY(net->way->back(c, net, target, live, loss, false));
    return spot_net_data_back(c, net, 0, net->dplanes, spot_unit_output(0, net->s, live).rows);
}

spot_status spot_net_draw(spot_ctx *c, float *pixels, void *planes, spot_precision precision, const spot_image *image, int n,
                          const spot_ec *ec, void *spare)
{
    if (pixels) return spot_ec_input(c, pixels, 3, SPOT_FP32, image, n, ec, spare);
    return spot_ec_input(c, planes, c->ops->conv->stem, precision, image, n, ec, spare);
}
