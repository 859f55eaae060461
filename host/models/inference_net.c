/* inference_net.c - the nets for inference, whatever their architecture. */
#include <string.h>

#include "core/device.h"
#include "models/network.h"

/* Images of a piece. A piece reads all weights, and those of the last 3x3 convolutions are 38 MB each for Winograd: pieces of 8
 * take a tenth longer than pieces of 16. */
enum { LANES = 8, FEW_LANES = 4, PIECE = 32, LARGE_PIECE = 16, LARGE_SIZE = 96 };

/* Most pixels of a batch on a GPU: 256 images of 256 x 256, whose first layers take 1.3 GB in fp32. */
enum { DEVICE_PIXELS = LANES * PIECE * 256 * 256 };

static const spot_look_way *way_of(int arch) { return arch == SPOT_ARCH_ALEXNET ? &spot_alexnet_look : &spot_resnet_look; }

static int device_rows(int size, int n)
{
    int most = LANES * PIECE, rows = 1;

    while (most > 1 && (int64_t)most * size * size > DEVICE_PIXELS) most /= 2;
    while (rows < most && (n < 1 || rows < n)) rows *= 2;
    return rows;
}

spot_net_shape spot_look_shape(const spot_ctx *c, int arch, int width, int outputs, int size, int n, spot_precision precision)
{
    const bool large = size > LARGE_SIZE && !c->device;
    const int lanes = large && c->threads <= FEW_LANES ? FEW_LANES : LANES;
    const int rows = c->device ? device_rows(size, n) : lanes * (large ? LARGE_PIECE : PIECE);

    return (spot_net_shape){ .arch = arch, .width = width, .outputs = outputs, .size = size, .lanes = lanes, .rows = rows,
                             .precision = precision };
}

static spot_status open_layers(spot_ctx *c, spot_arena *a, spot_look *net, size_t *scratch)
{
    const spot_net_shape *s = &net->s;
    const size_t number = spot_precision_bytes(s->precision);

    for (int u = 0; u < net->arch.units; u++) {
        spot_conv_shape t = spot_unit_shape(u, *s, false);
        t.bias = true;
        net->look->fuse(s->arch, u, &t);
        SPOT_TRY(spot_conv_open(c, &net->conv[u], &t));
        SPOT_TRY(spot_arena_take(c, a, &net->w[u], number * spot_conv_packed(c, net->conv[u])));
        SPOT_TRY(SPOT_TAKE(c, a, net->bias[u], t.co));
        if (spot_conv_scratch(c, net->conv[u]) > *scratch) *scratch = spot_conv_scratch(c, net->conv[u]);
    }
    return SPOT_OK;
}

spot_status spot_look_open(spot_ctx *c, spot_arena *a, spot_look *net, spot_net_shape s)
{
    spot_conv_shape stem;
    size_t scratch = 0, number = spot_precision_bytes(s.precision);

    memset(net, 0, sizeof *net);
    SPOT_TRY(spot_net_check(c, s));
    if (c->device) s.lanes = 1;
    net->s = s;
    net->arch = spot_architecture_of(s.arch);
    net->look = way_of(s.arch);
    net->channels = spot_look_channels(s.arch, s.width);
    net->features = spot_model_features(s.arch, s.width);
    SPOT_TRY(open_layers(c, a, net, &scratch));
    SPOT_TRY(SPOT_TAKE(c, a, net->fc_w, (size_t)s.outputs * net->features));
    SPOT_TRY(SPOT_TAKE(c, a, net->fc_b, s.outputs));
    if (!s.outputs) net->fc_w = net->fc_b = NULL;
    stem = spot_unit_shape(0, s, false);
    SPOT_TRY(spot_arena_take(c, a, &net->planes, s.rows * number * spot_conv_inputs(c, &stem) * s.size * s.size));
    SPOT_TRY(net->look->take(c, a, net, &scratch));
    return spot_arena_take(c, a, &net->scratch, scratch);
}

void spot_look_close(spot_ctx *c, spot_look *net)
{
    for (int u = 0; u < SPOT_MAX_UNITS; u++) spot_conv_close(c, net->conv[u]);
    memset(net, 0, sizeof *net);
}

static spot_status put_all(spot_ctx *c, spot_look *net, const spot_model *m, const float *value, spot_look_room *room)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    const spot_model_tensor *head = &table[spot_model_tensors(m->arch) - 2];
    size_t most = 0, channels = 0;

    spot_model_layout(table, m->arch, m->width, m->outputs);
    for (const spot_model_tensor *t = table; t < head; t++) {
        if (t->count > most) most = t->count;
        if (t->rank == 4) channels += (size_t)t->dim[0];
    }
    SPOT_TRY(spot_device_take(c, (void **)&room->scaled, most * sizeof *room->scaled));
    SPOT_TRY(spot_device_take(c, (void **)&room->size, 2 * channels * sizeof *room->size));
    SPOT_TRY(net->look->put(c, net, value, table, room));
    if (!m->outputs) return SPOT_OK;
    SPOT_TRY(spot_device_copy(c, net->fc_w, value + head[0].offset, head[0].count * sizeof(float)));
    return spot_device_copy(c, net->fc_b, value + head[1].offset, head[1].count * sizeof(float));
}

spot_status spot_look_put(spot_ctx *c, spot_look *net, const spot_model *m) { return spot_look_put_from(c, net, m, NULL); }

spot_status spot_look_put_from(spot_ctx *c, spot_look *net, const spot_model *m, const float *there)
{
    spot_look_room room = { 0 };
    const float *value;
    void *copy;
    spot_status s = spot_model_on_device(c, m, there, &value, &copy);

    if (!s) s = put_all(c, net, m, value, &room);
    spot_device_give(c, room.scaled);
    spot_device_give(c, room.size);
    spot_device_give(c, copy);
    return s;
}

int spot_look_channels(int arch, int width)
{
    return way_of(arch)->channels(arch) * width;
}

spot_status spot_look_run(spot_ctx *c, spot_look *net, float *feature, float *logit, const float *pixels, int live)
{
    spot_conv_shape stem = spot_unit_shape(0, net->s, false);
    spot_plane p = spot_unit_output(0, net->s, live);
    size_t row = (size_t)spot_conv_inputs(c, &stem) * net->s.size * net->s.size * spot_precision_bytes(net->s.precision);

    if (pixels)
        SPOT_TRY(spot_conv_planes(c, net->planes, pixels, live, p.rows, net->s.size * net->s.size, net->s.precision));
    else if (p.rows > live)
        SPOT_TRY(spot_device_clear(c, (char *)net->planes + live * row, (p.rows - live) * row));
    return net->look->run(c, net, feature, logit, live);
}
