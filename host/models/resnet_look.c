/* resnet_look.c - the net for inference of a ResNet: batch norm folded into the weights, ReLU and the residual in the
 * convolutions. */
#include <math.h>

#include "core/device.h"
#include "models/network.h"

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
    return spot_head_forward(c, &(spot_head_answers){ feature, logit, buffer[0], net->fc_w, net->fc_b },
                             spot_unit_output(net->arch->units - 1, net->s, live), net->s.outputs);
}

const spot_look_way spot_resnet_look = { fuse, take, put, run, channels };
