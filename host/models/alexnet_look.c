/* alexnet_look.c - the net for inference of an AlexNet: biases and ReLUs in the convolutions. */
#include "core/device.h"
#include "models/network.h"

enum { LINEARS = 2, AREA = SPOT_POOL_MEAN * SPOT_POOL_MEAN };

static void fuse(int arch, int u, spot_conv_shape *s) { (void)arch, (void)u, s->relu = true; }

static spot_dense_shape dense_of(const spot_ctx *c, const spot_look *net, int layer, int live)
{
    return (spot_dense_shape){ live, layer ? net->features : 4 * net->s.width * AREA, net->features, true,
                               spot_dense_reads(c, net->s.precision) };
}

static spot_status take(spot_ctx *c, spot_arena *a, spot_look *net, size_t *scratch)
{
    const spot_net_shape s = net->s;
    const size_t rows = (size_t)s.rows, drawn = 8 * rows * (size_t)s.size * (size_t)s.size;
    size_t most = 0;

    for (int u = 0; u < net->arch.units; u++) {
        const size_t n = spot_plane_bytes(spot_unit_output(u, s, s.rows));
        if (n > most) most = n;
    }
    SPOT_TRY(spot_arena_take(c, a, &net->stem, most > drawn ? most : drawn));          /* spot_net_draw needs that room */
    for (int i = 0; i < 2; i++) SPOT_TRY(spot_arena_take(c, a, &net->buffer[i], most));
    SPOT_TRY(SPOT_TAKE(c, a, net->flat, rows * dense_of(c, net, 0, 1).in));
    for (int l = 0; l < LINEARS; l++) {
        const spot_dense_shape d = dense_of(c, net, l, s.rows);
        SPOT_TRY(spot_arena_take(c, a, &net->dense_w[l], (size_t)d.in * d.out * spot_precision_bytes(d.precision)));
        SPOT_TRY(SPOT_TAKE(c, a, net->dense_b[l], d.out));
        SPOT_TRY(SPOT_TAKE(c, a, net->hidden[l], rows * d.out));
        if (spot_dense_scratch(c, &d) > *scratch) *scratch = spot_dense_scratch(c, &d);
    }
    return SPOT_OK;
}

static spot_status put(spot_ctx *c, spot_look *net, const float *value, const spot_model_tensor *t, spot_look_room *room)
{
    (void)room;
    for (int u = 0; u < net->arch.units; u++, t += 2) {
        SPOT_TRY(spot_conv_pack(c, net->conv[u], net->w[u], value + t[0].offset));
        SPOT_TRY(spot_device_copy(c, net->bias[u], value + t[1].offset, t[1].count * sizeof(float)));
    }
    for (int l = 0; l < LINEARS; l++, t += 2) {
        const spot_dense_shape d = dense_of(c, net, l, net->s.rows);
        SPOT_TRY(spot_dense_pack(c, net->dense_w[l], value + t[0].offset, &d));
        SPOT_TRY(spot_device_copy(c, net->dense_b[l], value + t[1].offset, t[1].count * sizeof(float)));
    }
    return SPOT_OK;
}

/* The convolutions and the hidden linear layers, behind their ReLUs. */
static int channels(int arch)
{
    const spot_architecture t = spot_architecture_of(arch);
    int all = LINEARS * t.features;

    for (int u = 0; u < t.units; u++) all += spot_unit_of(arch, u).out;
    return all;
}

static spot_status run_linears(spot_ctx *c, spot_look *net, float *feature, float *logit, int live, int *at)
{
    const spot_plane row = { .rows = live, .live = live, .channels = net->features, .size = 1 };
    const float *x = net->flat;

    for (int l = 0; l < LINEARS; l++) {
        const spot_dense_shape s = dense_of(c, net, l, live);
        SPOT_TRY(spot_dense_forward(c, net->hidden[l], x, net->dense_w[l], net->dense_b[l], &s, net->scratch));
        if (net->channel) SPOT_TRY(spot_look_watch(c, net, net->hidden[l], row, false, at));
        x = net->hidden[l];
    }
    return spot_head_forward(c, &(spot_head_answers){ feature, logit, x, net->fc_w, net->fc_b }, row,
                             net->s.outputs ? net->s.outputs : 1);
}

static spot_status run(spot_ctx *c, spot_look *net, float *feature, float *logit, int live)
{
    void *const ring[3] = { net->stem, net->buffer[0], net->buffer[1] };
    void *x = net->planes;
    spot_plane p = { 0 };
    int at = 0, next = 0;

    for (int u = 0; u < net->arch.units; u++) {
        void *y = ring[next++ % 3];
        p = spot_unit_output(u, net->s, live);
        SPOT_TRY(spot_look_convolve(c, net, u, y, x, NULL, p.rows));
        if (net->channel) SPOT_TRY(spot_look_watch(c, net, y, p, false, &at));
        x = y;
        if (!spot_unit_of(net->s.arch, u).shrink) continue;
        x = ring[next++ % 3];
        SPOT_TRY(spot_pool_forward(c, x, NULL, y, NULL, p, true));
        p.size = spot_pool_side(p.size, true);
    }
    SPOT_TRY(spot_pool_mean(c, net->flat, x, p));
    return run_linears(c, net, feature, logit, live, &at);
}

const spot_look_way spot_alexnet_look = { fuse, take, put, run, channels };
