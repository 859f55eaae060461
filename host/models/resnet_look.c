/* resnet_look.c - the net for inference of a ResNet: batch norm folded into the weights, ReLU and the residual in the
 * convolutions. */
#include <stdlib.h>

#include "core/device.h"
#include "models/network.h"

/* The last convolution of a block adds the shortcut. That of a shortcut has no ReLU, nor has the stem's where a pool follows:
 * its ReLU is the pool's. */
static void fuse(int arch, int u, spot_conv_shape *s)
{
    s->relu = u || spot_form_of_arch(arch).small_stem;
    for (int b = 0, blocks = spot_architecture_of(arch).blocks; b < blocks; b++) {
        const spot_block t = spot_block_of(arch, b);
        s->add = s->add || t.last == u;
        s->relu = s->relu && (!u || t.down != u);
    }
}

/* The stem's output also serves as room in which pictures are drawn (spot_net_draw). */
static spot_status take(spot_ctx *c, spot_arena *a, spot_look *net, size_t *scratch)
{
    const size_t stem = spot_plane_bytes(spot_unit_output(0, net->s, net->s.rows));
    size_t most = spot_form_of_arch(net->s.arch).small_stem ? stem : stem / 4;

    (void)scratch;
    for (int u = 1; u < net->arch.units; u++) {
        const size_t bytes = spot_plane_bytes(spot_unit_output(u, net->s, net->s.rows));
        if (bytes > most) most = bytes;
    }
    SPOT_TRY(SPOT_TAKE(c, a, net->one, net->s.width));
    SPOT_TRY(SPOT_TAKE(c, a, net->none, net->s.width));
    SPOT_TRY(spot_arena_take(c, a, &net->stem, stem));
    for (int i = 0; i < 3; i++) SPOT_TRY(spot_arena_take(c, a, &net->buffer[i], most));
    return SPOT_OK;
}

/* Folds the batch norm of a unit into its weights, and packs them. */
static spot_status fold_unit(spot_ctx *c, spot_look *net, int u, const float *value, const spot_model_tensor *t,
                             spot_look_room *room)
{
    const spot_norm_folding f = { value + t[0].offset, value + t[1].offset, value + t[2].offset, value + t[3].offset,
                                  value + t[4].offset, room->scaled, net->bias[u], room->size + 2 * room->channels, t[0].dim[0],
                                  t[0].count / (size_t)t[0].dim[0] };

    SPOT_TRY(spot_norm_fold(c, &f));
    room->channels += (size_t)f.channels;
    return spot_conv_pack(c, net->conv[u], net->w[u], room->scaled);
}

/* size (channels of all units, 2), on the host */
static spot_status check_sizes(spot_ctx *c, const spot_look *net, const spot_model_tensor *table, const double *size)
{
    for (int u = 0; u < net->arch.units; u++)
        for (int o = 0; o < table[6 * u].dim[0]; o++, size += 2)
            if (!(size[0] <= SPOT_MOST_WEIGHTS) || !(size[1] <= SPOT_MOST_ACTIVATION))
                return spot_fail(c, SPOT_NUMERIC, "{network.folded} %s: the weights of channel %d (from 0) of %s, by its batch "
                                 "norm, sum up to %g, its bias is %g; no network has such", net->arch.name, o,
                                 spot_unit_name_of(net->s.arch, u).conv, size[0], size[1]);
    return SPOT_OK;
}

static spot_status put(spot_ctx *c, spot_look *net, const float *value, const spot_model_tensor *table, spot_look_room *room)
{
    float one[SPOT_MOST_WIDTH];
    double *size;
    spot_status s;

    for (int u = 0; u < net->arch.units; u++) SPOT_TRY(fold_unit(c, net, u, value, &table[6 * u], room));
    for (int i = 0; i < net->s.width; i++) one[i] = 1;
    SPOT_TRY(spot_device_copy(c, net->one, one, (size_t)net->s.width * sizeof *one));
    SPOT_TRY(spot_device_clear(c, net->none, (size_t)net->s.width * sizeof *one));
    size = malloc(2 * room->channels * sizeof *size);
    if (!size) return spot_fail(c, SPOT_NOMEM, "no memory to check weights");
    s = spot_device_copy(c, size, room->size, 2 * room->channels * sizeof *size);
    if (!s) s = check_sizes(c, net, table, size);
    free(size);
    return s;
}

static int channels(int arch)
{
    int all = spot_unit_of(arch, 0).out;

    for (int b = 0, blocks = spot_architecture_of(arch).blocks; b < blocks; b++) {
        const spot_block t = spot_block_of(arch, b);
        for (int u = t.first; u <= t.last; u++) all += spot_unit_of(arch, u).out;
    }
    return all;
}

/* One layer of a block: y = its convolution of x, plus `other` where the unit adds. */
static spot_status run_unit(spot_ctx *c, spot_look *net, int u, void *y, const void *x, const void *other, int live, int *at)
{
    const spot_plane p = spot_unit_output(u, net->s, live);

    SPOT_TRY(spot_look_convolve(c, net, u, y, x, other, p.rows));
    return net->channel ? spot_look_watch(c, net, y, p, false, at) : SPOT_OK;
}

/* A block adds its last convolution to the shortcut's output: x itself, or the third buffer. The sum overwrites that buffer,
 * or, if the device needs another one, an unused buffer. A bottleneck's second layer takes the buffer of x where a convolution
 * makes the shortcut, and else the third. */
static spot_status run_block(spot_ctx *c, spot_look *net, const spot_block *b, void *buffer[3], int live, int *at)
{
    void *x = buffer[0], *inner = buffer[1], *side = buffer[2], *other = b->down ? side : x, *spare = b->down ? x : side;
    const int rows = spot_unit_output(b->first, net->s, live).rows;
    const bool apart = spot_conv_apart(c);

    if (b->down) SPOT_TRY(spot_look_convolve(c, net, b->down, side, x, NULL, rows));
    SPOT_TRY(run_unit(c, net, b->first, inner, x, NULL, live, at));
    if (b->last - b->first > 1) {
        void *first = inner;
        SPOT_TRY(run_unit(c, net, b->first + 1, spare, inner, NULL, live, at));
        inner = spare;
        spare = first;
    }
    buffer[0] = apart ? spare : other;
    buffer[1] = inner;
    buffer[2] = apart ? other : spare;
    return run_unit(c, net, b->last, buffer[0], inner, other, live, at);
}

/* The stem with its pool; a small stem has none. */
static spot_status run_stem(spot_ctx *c, spot_look *net, void *out, int live, int *at)
{
    const spot_norm folded = { .scale = net->one, .shift = net->none };
    const spot_plane p = spot_unit_output(0, net->s, live);
    const bool small = spot_form_of_arch(net->s.arch).small_stem;

    SPOT_TRY(spot_look_convolve(c, net, 0, small ? out : net->stem, net->planes, NULL, p.rows));
    if (net->channel) SPOT_TRY(spot_look_watch(c, net, small ? out : net->stem, p, true, at));  /* the ReLU may be the pool's */
    return small ? SPOT_OK : spot_norm_pool(c, out, NULL, net->stem, &folded, p);
}

static spot_status run(spot_ctx *c, spot_look *net, float *feature, float *logit, int live)
{
    void *buffer[3] = { net->buffer[0], net->buffer[1], net->buffer[2] };
    int at = 0, last = 0;

    SPOT_TRY(run_stem(c, net, buffer[0], live, &at));
    for (int i = 0; i < net->arch.blocks; i++) {
        const spot_block b = spot_block_of(net->s.arch, i);
        SPOT_TRY(run_block(c, net, &b, buffer, live, &at));
        last = b.last;
    }
    return spot_head_forward(c, &(spot_head_answers){ feature, logit, buffer[0], net->fc_w, net->fc_b },
                             spot_unit_output(last, net->s, live), net->s.outputs ? net->s.outputs : 1);
}

const spot_look_way spot_resnet_look = { fuse, take, put, run, channels };
