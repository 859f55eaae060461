/* alexnet.c - the net for training an AlexNet: memory, weights in and out, forward, backward. */
#include "models/network.h"

#include "core/device.h"

enum { LINEARS = 2, AREA = SPOT_POOL_MEAN * SPOT_POOL_MEAN };
enum { TENSORS = 2 };                                /* of a layer: weights, bias */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static bool has_pool(int u) { return spot_unit_of(SPOT_ARCH_ALEXNET, u).shrink; }

static bool sums(int arch, int u) { return (void)arch, (void)u, false; }

/* -- memory --------------------------------------------------------------------------------------------------- */

static spot_dense_shape dense_of(const spot_ctx *c, const spot_net *net, int layer, int live)
{
    const int width = net->s.width;

    return (spot_dense_shape){ live, layer ? net->features : 4 * width * AREA, net->features, true,
                               spot_dense_reads(c, net->s.precision) };
}

/* The weights of a linear layer as products read them. */
static const void *read_dense(const spot_ctx *c, const spot_net *net, int layer)
{
    if (spot_dense_reads(c, net->s.precision) != SPOT_BF16) return net->dense_w[layer];
    return (char *)net->rounded + 2 * (net->dense_w[layer] - net->param);
}

static size_t learned(spot_ctx *c, spot_net *net, float *from, bool gradient)
{
    size_t at = 0;

    for (int u = 0; u < net->arch.units; u++) {
        *(gradient ? &net->dw[u] : &net->w[u]) = spot_net_deal(from, &at, spot_conv_packed(c, net->conv[u]));
        *(gradient ? &net->dbias[u] : &net->bias[u]) = spot_net_deal(from, &at, (size_t)spot_unit_shape(u, net->s, true).co);
    }
    for (int l = 0; l < LINEARS; l++) {
        const spot_dense_shape s = dense_of(c, net, l, 1);
        *(gradient ? &net->dense_dw[l] : &net->dense_w[l]) = spot_net_deal(from, &at, (size_t)s.in * s.out);
        *(gradient ? &net->dense_db[l] : &net->dense_b[l]) = spot_net_deal(from, &at, (size_t)s.out);
    }
    *(gradient ? &net->fc_dw : &net->fc_w) = spot_net_deal(from, &at, (size_t)net->s.outputs * net->features);
    *(gradient ? &net->fc_db : &net->fc_b) = spot_net_deal(from, &at, (size_t)net->s.outputs);
    return at;
}

static size_t running(spot_net *net, float *from) { return (void)net, (void)from, 0; }

/* The output of unit u behind its bias, ReLU and pool. */
static spot_plane after(const spot_net *net, int u, int live)
{
    spot_plane p = spot_unit_output(u, net->s, live);

    p.size = spot_pool_side(p.size, has_pool(u));
    return p;
}

static spot_status take_linears(spot_ctx *c, spot_arena *a, spot_net *net, size_t *scratch)
{
    const size_t rows = (size_t)net->s.rows;

    for (int l = 0; l < LINEARS; l++) {
        const spot_dense_shape s = dense_of(c, net, l, net->s.rows);
        SPOT_TRY(SPOT_TAKE(c, a, net->hidden[l], rows * s.out));
        SPOT_TRY(SPOT_TAKE(c, a, net->dhidden[l], rows * s.out));
        *scratch = larger(*scratch, spot_dense_scratch(c, &s));
    }
    SPOT_TRY(SPOT_TAKE(c, a, net->flat, rows * dense_of(c, net, 0, 1).in));
    return SPOT_TAKE(c, a, net->dflat, rows * dense_of(c, net, 0, 1).in);
}

static spot_status take(spot_ctx *c, spot_arena *a, spot_net *net)
{
    size_t scratch = 0, widest = 0;

    for (int u = 0; u < net->arch.units; u++) {
        const spot_plane p = spot_unit_output(u, net->s, net->s.rows), q = after(net, u, net->s.rows);
        SPOT_TRY(spot_arena_take(c, a, &net->y[u], spot_plane_bytes(p)));
        SPOT_TRY(spot_arena_take(c, a, &net->out[u], spot_plane_bytes(q)));
        if (has_pool(u)) SPOT_TRY(SPOT_TAKE(c, a, net->won[u], spot_plane_numbers(q)));
        scratch = larger(scratch, larger(spot_conv_scratch(c, net->conv[u]), spot_pool_scratch(p)));
        widest = larger(widest, spot_plane_bytes(q));
    }
    SPOT_TRY(take_linears(c, a, net, &scratch));
    SPOT_TRY(spot_arena_take(c, a, &net->direct, widest));
    return spot_arena_take(c, a, &net->scratch, scratch);
}

/* -- weights -------------------------------------------------------------------------------------------------- */

static void arrays(const spot_net *net, float **at)
{
    for (int u = 0; u < net->arch.units; u++) at[TENSORS * u + 1] = net->bias[u];
    at += TENSORS * net->arch.units;
    for (int l = 0; l < LINEARS; l++, at += TENSORS) at[0] = net->dense_w[l], at[1] = net->dense_b[l];
}

/* -- steps ---------------------------------------------------------------------------------------------------- */

/* The plane of the last hidden layer, as a head reads it. */
static spot_plane last_plane(const spot_net *net, int live)
{
    return (spot_plane){ .rows = live, .live = live, .channels = net->features, .size = 1 };
}

static spot_status forward_linears(spot_ctx *c, spot_net *net, int live, bool learning)
{
    float *x = net->flat;

    for (int l = 0; l < LINEARS; l++) {
        const spot_dense_shape s = dense_of(c, net, l, live);
        if (learning) SPOT_TRY(spot_dense_drop(c, x, (size_t)live * s.in, &net->drop, l));
        SPOT_TRY(spot_dense_forward(c, net->hidden[l], x, read_dense(c, net, l), net->dense_b[l], &s, net->scratch));
        x = net->hidden[l];
    }
    return spot_head_forward(c, &(spot_head_answers){ net->feature, net->logit, x, net->fc_w, net->fc_b },
                             last_plane(net, live), net->s.outputs);
}

static spot_status forward(spot_ctx *c, spot_net *net, int live, bool learning)
{
    const int last = net->arch.units - 1;
    const void *x = net->planes;

    for (int u = 0; u <= last; u++) {
        const spot_plane p = spot_unit_output(u, net->s, live);
        SPOT_TRY(spot_conv_forward(c, net->conv[u], net->y[u], &(spot_conv_terms){ x, net->read[u], NULL, NULL }, p.rows,
                                   net->scratch));
        SPOT_TRY(spot_pool_forward(c, net->out[u], net->won[u], net->y[u], net->bias[u], p, has_pool(u)));
        x = net->out[u];
    }
    SPOT_TRY(spot_pool_mean(c, net->flat, x, after(net, last, live)));
    return forward_linears(c, net, live, learning);
}

/* The gradient of a dropped tensor is dropped where the tensor was. */
static spot_status back_linears(spot_ctx *c, spot_net *net, int live, bool learning)
{
    for (int l = LINEARS; l-- > 0;) {
        const spot_dense_shape s = dense_of(c, net, l, live);
        const spot_dense_gradients g = {
            .dx = l ? net->dhidden[l - 1] : net->dflat, .dw = learning ? net->dense_dw[l] : NULL,
            .db = learning ? net->dense_db[l] : NULL, .dy = net->dhidden[l], .y = net->hidden[l],
            .x = l ? net->hidden[l - 1] : net->flat, .w = read_dense(c, net, l) };
        SPOT_TRY(spot_dense_back(c, &g, &s, net->scratch));
        SPOT_TRY(spot_dense_drop(c, g.dx, (size_t)live * s.in, &net->drop, l));
    }
    return SPOT_OK;
}

static spot_status back(spot_ctx *c, spot_net *net, const float *target, int live, double *loss, bool learning)
{
    const spot_head_gradients head = { net->dhidden[LINEARS - 1], net->fc_dw, net->fc_db, net->dlogit, net->feature, net->fc_w,
                                       net->dfeature };

    SPOT_TRY(spot_net_loss(c, net, target, live, loss));
    SPOT_TRY(spot_head_backward(c, &head, last_plane(net, live), net->s.outputs));
    SPOT_TRY(back_linears(c, net, live, learning));
    SPOT_TRY(spot_pool_mean_back(c, net->direct, net->dflat, after(net, net->arch.units - 1, live)));
    for (int u = net->arch.units - 1; u >= 0; u--) {
        const spot_plane p = spot_unit_output(u, net->s, live);
        const spot_pool_gradients pool = { net->y[u], learning ? net->dbias[u] : NULL, net->direct, net->out[u], net->won[u] };
        SPOT_TRY(spot_pool_back(c, &pool, p, has_pool(u), net->scratch));
        if (!u) break;
        if (learning) SPOT_TRY(spot_net_weights_back(c, net, u, net->out[u - 1], p.rows));
        SPOT_TRY(spot_net_data_back(c, net, u, net->direct, p.rows));
    }
    return SPOT_OK;
}

const spot_net_way spot_alexnet_way = { sums, learned, running, take, TENSORS, arrays, forward, back };
