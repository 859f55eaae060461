/* resnet.c - the net for training a ResNet: memory, weights in and out, forward, backward. */
#include "models/network.h"

#include "core/device.h"

enum { TENSORS = 6 };                                /* of a unit: weights, the norm's four, a count of batches */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* -- memory --------------------------------------------------------------------------------------------------- */

/* Divides `from` into the learned tensors; from NULL: only counts. */
static size_t divide_learned(spot_ctx *c, spot_net *net, float *from, bool gradient)
{
    size_t at = 0;

    for (int u = 0; u < net->arch.units; u++) {
        spot_conv_shape s = spot_unit_shape(u, net->s, true);
        *(gradient ? &net->dw[u] : &net->w[u]) = spot_net_deal(from, &at, spot_conv_packed(c, net->conv[u]));
        *(gradient ? &net->norm[u].dweight : &net->norm[u].weight) = spot_net_deal(from, &at, (size_t)s.co);
        *(gradient ? &net->norm[u].dbias : &net->norm[u].bias) = spot_net_deal(from, &at, (size_t)s.co);
    }
    *(gradient ? &net->fc_dw : &net->fc_w) = spot_net_deal(from, &at, (size_t)net->s.outputs * net->features);
    *(gradient ? &net->fc_db : &net->fc_b) = spot_net_deal(from, &at, (size_t)net->s.outputs);
    return at;
}

/* Divides `from` into the running statistics; from NULL: only counts. */
static size_t divide_running(spot_net *net, float *from)
{
    size_t at = 0;

    for (int u = 0; u < net->arch.units; u++) {
        size_t n = (size_t)spot_unit_of(net->s.arch, u).out * net->s.width;        /* a multiple of 16 */
        net->norm[u].running_mean = from ? from + at : NULL;
        net->norm[u].running_var = from ? from + at + n : NULL;
        at += 2 * n;
    }
    return at;
}

static spot_status take_norms(spot_ctx *c, spot_arena *a, spot_net *net)
{
    for (int u = 0; u < net->arch.units; u++) {
        spot_norm *l = &net->norm[u];
        int n = spot_unit_of(net->s.arch, u).out * net->s.width;
        float **part[] = { &l->mean, &l->invstd, &l->scale, &l->shift };
        for (size_t i = 0; i < sizeof part / sizeof *part; i++) SPOT_TRY(SPOT_TAKE(c, a, *part[i], n));
    }
    return SPOT_OK;
}

static spot_status take_activations(spot_ctx *c, spot_arena *a, spot_net *net)
{
    const spot_net_shape *s = &net->s;
    spot_plane pooled = spot_unit_output(1, *s, s->rows);
    size_t scratch = 0, widest = 0;

    SPOT_TRY(take_norms(c, a, net));
    SPOT_TRY(spot_arena_take(c, a, &net->pooled, spot_plane_bytes(pooled)));
    SPOT_TRY(SPOT_TAKE(c, a, net->at, spot_plane_numbers(pooled)));
    for (int u = 0; u < net->arch.units; u++) {
        spot_plane p = spot_unit_output(u, *s, s->rows);
        SPOT_TRY(spot_arena_take(c, a, &net->y[u], spot_plane_bytes(p)));
        scratch = larger(scratch, larger(spot_conv_scratch(c, net->conv[u]), spot_norm_scratch(p)));
        if (u) widest = larger(widest, spot_plane_bytes(p));
    }
    for (int b = 0; b < net->arch.blocks; b++) {
        size_t n = spot_plane_bytes(spot_unit_output(spot_block_of(s->arch, b).last, *s, s->rows));
        SPOT_TRY(spot_arena_take(c, a, &net->inner[b], n));
        SPOT_TRY(spot_arena_take(c, a, &net->out[b], n));
    }
    SPOT_TRY(spot_arena_take(c, a, &net->direct, widest));
    SPOT_TRY(spot_arena_take(c, a, &net->side, widest));
    return spot_arena_take(c, a, &net->scratch, scratch);
}

/* Whether unit u is the first of a block. */
static bool is_first(int arch, int u)
{
    for (int b = 0, blocks = spot_architecture_of(arch).blocks; b < blocks; b++)
        if (spot_block_of(arch, b).first == u) return true;
    return false;
}

/* -- weights -------------------------------------------------------------------------------------------------- */

static void arrays(const spot_net *net, float **at)
{
    for (int u = 0; u < net->arch.units; u++) {
        const spot_norm *l = &net->norm[u];
        float **of = &at[TENSORS * u];
        of[1] = l->weight, of[2] = l->bias, of[3] = l->running_mean, of[4] = l->running_var;
    }
}

/* -- forward -------------------------------------------------------------------------------------------------- */

/* y[u] = conv(x), and the scale and shift that its batch norm applies. */
static spot_status convolve(spot_ctx *c, spot_net *net, int u, const void *x, spot_plane p, bool learning)
{
    SPOT_TRY(spot_conv_forward(c, net->conv[u], net->y[u], &(spot_conv_terms){ x, net->read[u], NULL, NULL }, p.rows,
                               net->scratch));
    if (!learning) return spot_norm_fixed(c, &net->norm[u], p.channels);
    return spot_norm_stats(c, &net->norm[u], net->y[u], p, net->scratch);
}

static spot_status forward(spot_ctx *c, spot_net *net, int live, bool learning)
{
    const void *x = net->pooled;
    spot_plane p = spot_unit_output(0, net->s, live);

    SPOT_TRY(convolve(c, net, 0, net->planes, p, learning));
    SPOT_TRY(spot_norm_pool(c, net->pooled, net->at, net->y[0], &net->norm[0], p));
    for (int i = 0; i < net->arch.blocks; i++) {
        const spot_block block = spot_block_of(net->s.arch, i), *b = &block;
        p = spot_unit_output(b->first, net->s, live);
        SPOT_TRY(convolve(c, net, b->first, x, p, learning));
        SPOT_TRY(spot_norm_apply(c, net->inner[i], net->y[b->first], &net->norm[b->first], NULL, NULL, p));
        SPOT_TRY(convolve(c, net, b->last, net->inner[i], p, learning));
        if (b->down) SPOT_TRY(convolve(c, net, b->down, x, p, learning));
        SPOT_TRY(spot_norm_apply(c, net->out[i], net->y[b->last], &net->norm[b->last],
                                 b->down ? net->y[b->down] : x, b->down ? &net->norm[b->down] : NULL, p));
        x = net->out[i];
    }
    return spot_head_forward(c, &(spot_head_answers){ net->feature, net->logit, x, net->fc_w, net->fc_b }, p, net->s.outputs);
}

/* -- backward ------------------------------------------------------------------------------------------------- */

/* Input: the gradient of the block's output, direct + side (only direct for the last block). Output: the gradient of its input
 * and, if learning, of its weights. A device whose convolutions add (spot_conv_onto) adds the first unit's part to side; then
 * side is the whole gradient. */
static spot_status block_back(spot_ctx *c, spot_net *net, int i, int live, bool learning)
{
    const spot_block block = spot_block_of(net->s.arch, i), *b = &block;
    const void *x = i ? net->out[i - 1] : net->pooled;
    spot_plane p = spot_unit_output(b->first, net->s, live);
    const bool last = i == net->arch.blocks - 1, onto = spot_conv_onto(c);
    spot_norm_back join = { .da = onto && !last ? net->side : net->direct, .db = onto || last ? NULL : net->side,
                            .out = net->out[i], .dz = net->side, .y = net->y[b->last], .a = &net->norm[b->last] };
    spot_norm_back inner = { .da = net->direct, .y = net->y[b->first], .a = &net->norm[b->first] };

    if (b->down) join.y2 = net->y[b->down], join.b = &net->norm[b->down];
    SPOT_TRY(spot_norm_backward(c, &join, p, net->scratch));
    if (learning) SPOT_TRY(spot_net_weights_back(c, net, b->last, net->inner[i], p.rows));
    SPOT_TRY(spot_net_data_back(c, net, b->last, net->direct, p.rows));
    SPOT_TRY(spot_norm_backward(c, &inner, p, net->scratch));
    if (learning) SPOT_TRY(spot_net_weights_back(c, net, b->first, x, p.rows));
    if (b->down && learning) SPOT_TRY(spot_net_weights_back(c, net, b->down, x, p.rows));
    if (b->down) SPOT_TRY(spot_net_data_back(c, net, b->down, net->side, p.rows));     /* else side holds it already */
    return spot_net_data_back(c, net, b->first, onto ? net->side : net->direct, p.rows);
}

/* Goes back from the loss to the output of the stem's convolution; y[0] receives its gradient. */
static spot_status back(spot_ctx *c, spot_net *net, const float *target, int live, double *loss, bool learning)
{
    spot_plane last = spot_unit_output(net->arch.units - 1, net->s, live), stem = spot_unit_output(0, net->s, live);
    const spot_head_gradients head = { net->direct, net->fc_dw, net->fc_db, net->dlogit, net->feature, net->fc_w,
                                       net->dfeature };
    const bool onto = spot_conv_onto(c);
    const spot_norm_pooled pool = { net->y[0], onto ? net->side : net->direct, onto ? NULL : net->side, net->pooled, net->at };

    SPOT_TRY(spot_net_loss(c, net, target, live, loss));
    SPOT_TRY(spot_head_backward(c, &head, last, net->s.outputs));
    for (int i = net->arch.blocks; i-- > 0;) SPOT_TRY(block_back(c, net, i, live, learning));
    return spot_norm_pool_back(c, &pool, &net->norm[0], stem, net->scratch);
}

const spot_net_way spot_resnet_way = { is_first, divide_learned, divide_running, take_activations, TENSORS, arrays, forward,
                                       back };
