/* inference_net.c - the net for inference: batch norm folded into the weights, ReLU and the residual in the convolutions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "model/network.h"

/* Images of a piece. A piece reads all weights, and those of the last 3x3 convolutions are 38 MB each for Winograd: pieces of 8
 * take a tenth longer than pieces of 16. */
enum { LANES = 8, FEW_LANES = 4, PIECE = 32, LARGE_PIECE = 16, LARGE_SIZE = 96 };

spot_net_shape spot_look_shape(const spot_ctx *c, int arch, int width, int outputs, int size, int n, spot_precision precision)
{
    const bool large = size > LARGE_SIZE && !c->device;
    const int lanes = large && c->threads <= FEW_LANES ? FEW_LANES : LANES;
    int rows = lanes * (large ? LARGE_PIECE : PIECE);

    if (c->device && n > 0 && n < rows) rows = n;
    return (spot_net_shape){ .arch = arch, .width = width, .outputs = outputs, .size = size, .lanes = lanes, .rows = rows,
                             .precision = precision };
}

/* -- what every net has --------------------------------------------------------------------------------------- */

static spot_status open_layers(spot_ctx *c, spot_arena *a, spot_look *net, size_t *scratch)
{
    const spot_net_shape *s = &net->s;
    const size_t number = spot_precision_bytes(s->precision);

    for (int u = 0; u < net->arch->units; u++) {
        spot_conv_shape t = spot_unit_shape(u, *s, false);
        t.bias = true;
        net->arch->look->fuse(net->arch, u, &t);
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
    net->features = spot_model_features(s.arch, s.width);
    SPOT_TRY(open_layers(c, a, net, &scratch));
    SPOT_TRY(SPOT_TAKE(c, a, net->fc_w, (size_t)s.outputs * net->features));
    SPOT_TRY(SPOT_TAKE(c, a, net->fc_b, s.outputs));
    stem = spot_unit_shape(0, s, false);
    SPOT_TRY(spot_arena_take(c, a, &net->planes, s.rows * number * spot_conv_inputs(c, &stem) * s.size * s.size));
    SPOT_TRY(net->arch->look->take(c, a, net, &scratch));
    return spot_arena_take(c, a, &net->scratch, scratch);
}

void spot_look_close(spot_ctx *c, spot_look *net)
{
    for (int u = 0; u < SPOT_MAX_UNITS; u++) spot_conv_close(c, net->conv[u]);
    memset(net, 0, sizeof *net);
}

static spot_status put_all(spot_ctx *c, spot_look *net, const spot_model *m, const spot_model_tensor *table, float *room)
{
    const spot_model_tensor *head = &table[spot_model_tensors(m->arch) - 2];

    SPOT_TRY(net->arch->look->put(c, net, m, table, room));
    SPOT_TRY(spot_device_copy(c, net->fc_w, m->value + head[0].offset, head[0].count * sizeof(float)));
    return spot_device_copy(c, net->fc_b, m->value + head[1].offset, head[1].count * sizeof(float));
}

/* The host's room is for the largest tensor and the longest bias. */
spot_status spot_look_put(spot_ctx *c, spot_look *net, const spot_model *m)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    size_t most = 0, longest = 0;
    float *room;
    spot_status s;

    spot_model_layout(table, m->arch, m->width, m->outputs);
    for (int t = 0; t < spot_model_tensors(m->arch) - 2; t++) {
        if (table[t].count > most) most = table[t].count;
        if (table[t].rank == 1 && table[t].count > longest) longest = table[t].count;
    }
    room = malloc((most + longest) * sizeof *room);
    s = room ? put_all(c, net, m, table, room) : spot_fail(c, SPOT_NOMEM, "no memory to fold weights in");
    free(room);
    return s;
}

spot_status spot_look_convolve(spot_ctx *c, spot_look *net, int u, void *y, const void *x, const void *other, int rows)
{
    return spot_conv_forward(c, net->conv[u], y, x, net->w[u], net->bias[u], other, rows, net->scratch);
}

int spot_look_channels(int arch, int width)
{
    const spot_architecture *t = spot_architecture_of(arch);

    return t->look->channels(t) * width;
}

spot_status spot_look_watch(spot_ctx *c, spot_look *net, const void *y, spot_plane p, bool relu, int *at)
{
    float *to = net->channel + *at;

    *at += p.channels;
    return spot_head_channels(c, to, spot_look_channels(net->s.arch, net->s.width), y, p, relu);
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
    return net->arch->look->run(c, net, feature, logit, live);
}

/* -- ResNets -------------------------------------------------------------------------------------------------- */

/* The second convolution of a block adds the shortcut. That of a shortcut has no ReLU, nor has the stem's: its ReLU is the
 * pool's. */
static void fuse(const spot_architecture *t, int u, spot_conv_shape *s)
{
    s->relu = true;
    for (int b = 0; b < t->blocks; b++) {
        s->add = s->add || t->block[b].second == u;
        s->relu = s->relu && t->block[b].down != u;
    }
}

static spot_status take(spot_ctx *c, spot_arena *a, spot_look *net, size_t *scratch)
{
    const spot_net_shape s = net->s;
    const size_t rows = (size_t)s.rows * spot_precision_bytes(s.precision);

    (void)scratch;
    SPOT_TRY(SPOT_TAKE(c, a, net->one, s.width));
    SPOT_TRY(SPOT_TAKE(c, a, net->none, s.width));
    SPOT_TRY(spot_arena_take(c, a, &net->stem, rows * s.width * s.size / 2 * s.size / 2));
    for (int i = 0; i < 3; i++)
        SPOT_TRY(spot_arena_take(c, a, &net->buffer[i], rows * s.width * s.size / 4 * s.size / 4));
    return SPOT_OK;
}

/* w' = w * k and bias = b - mean * k per output channel, k = weight / sqrt(var + eps). scaled (host) holds a unit's weights,
 * followed by its bias. */
static spot_status fold_unit(spot_ctx *c, spot_look *net, int u, const spot_model *m, const spot_model_tensor *t, float *scaled)
{
    const float *value[5];
    float *bias = scaled + t[0].count;
    size_t each = t[0].count / (size_t)t[0].dim[0];

    for (int i = 0; i < 5; i++) value[i] = m->value + t[i].offset;
    for (int o = 0; o < t[0].dim[0]; o++) {
        double k = value[1][o] / sqrt(value[4][o] + 1e-5);
        bias[o] = (float)(value[2][o] - value[3][o] * k);
        for (size_t i = 0; i < each; i++) scaled[o * each + i] = (float)(value[0][o * each + i] * k);
    }
    SPOT_TRY(spot_device_copy(c, net->bias[u], bias, (size_t)t[0].dim[0] * sizeof *bias));
    return spot_conv_pack(c, net->conv[u], net->w[u], scaled);
}

static spot_status put(spot_ctx *c, spot_look *net, const spot_model *m, const spot_model_tensor *table, float *room)
{
    for (int u = 0; u < net->arch->units; u++) SPOT_TRY(fold_unit(c, net, u, m, &table[6 * u], room));
    for (int i = 0; i < net->s.width; i++) room[i] = 1;
    SPOT_TRY(spot_device_copy(c, net->one, room, (size_t)net->s.width * sizeof *room));
    return spot_device_clear(c, net->none, (size_t)net->s.width * sizeof *room);
}

static int channels(const spot_architecture *t)
{
    int all = t->unit[0].out;

    for (int b = 0; b < t->blocks; b++) all += 2 * t->unit[t->block[b].second].out;
    return all;
}

/* A block adds its second convolution to the shortcut's output: x itself, or the third buffer. The sum overwrites that buffer,
 * or, if the device needs another one, the unused buffer. */
static spot_status run_block(spot_ctx *c, spot_look *net, const spot_block *b, void *buffer[3], int live, int *at)
{
    const int rows = spot_unit_output(b->first, net->s, live).rows;
    void *x = buffer[0], *inner = buffer[1], *side = buffer[2], *other = b->down ? side : x, *spare = b->down ? x : side;
    bool apart = spot_conv_apart(c);

    SPOT_TRY(spot_look_convolve(c, net, b->first, inner, x, NULL, rows));
    if (net->channel) SPOT_TRY(spot_look_watch(c, net, inner, spot_unit_output(b->first, net->s, live), false, at));
    if (b->down) SPOT_TRY(spot_look_convolve(c, net, b->down, side, x, NULL, rows));
    buffer[0] = apart ? spare : other;
    buffer[2] = apart ? other : spare;
    SPOT_TRY(spot_look_convolve(c, net, b->second, buffer[0], inner, other, rows));
    return net->channel ? spot_look_watch(c, net, buffer[0], spot_unit_output(b->second, net->s, live), false, at) : SPOT_OK;
}

static spot_status run(spot_ctx *c, spot_look *net, float *feature, float *logit, int live)
{
    spot_norm folded = { .scale = net->one, .shift = net->none };
    void *buffer[3] = { net->buffer[0], net->buffer[1], net->buffer[2] };
    spot_plane p = spot_unit_output(0, net->s, live);
    int at = 0;

    SPOT_TRY(spot_look_convolve(c, net, 0, net->stem, net->planes, NULL, p.rows));
    if (net->channel) SPOT_TRY(spot_look_watch(c, net, net->stem, p, true, &at));      /* the stem's ReLU is the pool's */
    SPOT_TRY(spot_norm_pool(c, buffer[0], NULL, net->stem, &folded, p));
    for (int b = 0; b < net->arch->blocks; b++) SPOT_TRY(run_block(c, net, &net->arch->block[b], buffer, live, &at));
    return spot_head_forward(c, feature, logit, buffer[0], net->fc_w, net->fc_b,
                             spot_unit_output(net->arch->units - 1, net->s, live), net->s.outputs);
}

const spot_look_way spot_resnet_look = { fuse, take, put, run, channels };
