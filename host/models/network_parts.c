/* network_parts.c - parts that the nets of all architectures take: shapes of layers, steps, the activity of channels. */
#include "models/network.h"

#include <stdint.h>
#include <string.h>

spot_status spot_net_check(spot_ctx *c, spot_net_shape s)
{
    spot_architecture t;

    if (!spot_arch_is(s.arch)) return spot_fail(c, SPOT_INVALID, "%d is no architecture", s.arch);
    t = spot_architecture_of(s.arch);
    if (s.size < t.least || s.size % 32 || s.size > 4096)
        return spot_fail(c, SPOT_INVALID, "{network.size} %s takes images of a multiple of 32 pixels from %d to 4096, not %d",
                         t.name, t.least, s.size);
    if (s.width < 16 || s.width % 16)
        return spot_fail(c, SPOT_INVALID, "model.width is %d; a multiple of 16 is wanted", s.width);
    return SPOT_OK;
}

/* Pixels a side of the input of unit u. In a ResNet `shrink` divides; in AlexNet a pool may follow each unit. */
static int side_of(int arch, int u, int size)
{
    if (arch != SPOT_ARCH_ALEXNET) return size / spot_unit_of(arch, u).shrink;
    for (int before = 0; before < u; before++) {
        const spot_unit t = spot_unit_of(arch, before);
        const spot_conv_shape s = { .k = t.k, .stride = t.stride, .size = size };
        size = spot_pool_side(spot_conv_out(&s), t.shrink);
    }
    return size;
}

spot_conv_shape spot_unit_shape(int u, spot_net_shape s, bool train)
{
    const spot_unit t = spot_unit_of(s.arch, u);

    return (spot_conv_shape){ .rows = s.rows, .lanes = s.lanes, .ci = t.in ? t.in * s.width : 3,
                              .co = t.out * s.width, .k = t.k, .stride = t.stride, .size = side_of(s.arch, u, s.size),
                              .train = train + (train && s.attacked && !u), .precision = s.precision };
}

spot_plane spot_unit_output(int u, spot_net_shape s, int live)
{
    const spot_conv_shape t = spot_unit_shape(u, s, false);
    const int piece = s.rows / s.lanes;

    return (spot_plane){ .rows = (live + piece - 1) / piece * piece, .live = live, .channels = t.co, .size = spot_conv_out(&t),
                         .precision = s.precision };
}

double spot_model_multiplications(int arch, int width, int outputs, int size)
{
    const spot_net_shape s = { .arch = arch, .width = width, .outputs = outputs, .size = size, .rows = 1, .lanes = 1 };
    spot_model_tensor table[SPOT_MAX_TENSORS];
    double n = 0;

    for (int u = 0; u < spot_architecture_of(arch).units; u++) {
        const spot_conv_shape t = spot_unit_shape(u, s, false);
        const double out = spot_conv_out(&t);
        n += (double)t.ci * t.co * t.k * t.k * out * out;
    }
    spot_model_layout(table, arch, width, outputs);
    for (int t = 0; t < spot_model_tensors(arch); t++)
        if (table[t].rank == 2) n += (double)table[t].count;
    return n;
}

size_t spot_plane_bytes(spot_plane p) { return spot_plane_numbers(p) * spot_precision_bytes(p.precision); }

size_t spot_plane_numbers(spot_plane p) { return (size_t)p.rows * (size_t)p.channels * (size_t)p.size * (size_t)p.size; }

float *spot_net_deal(float *from, size_t *at, size_t count)
{
    float *array = from ? from + *at : NULL;

    *at += spot_arena_room(count * sizeof(uint16_t)) / sizeof(uint16_t);
    return array;
}

spot_status spot_net_loss(spot_ctx *c, spot_net *net, const float *target, int live, double *loss)
{
    const spot_triplet_batch t = { live, net->features, net->s.outputs, net->margin, net->triplet, net->feature, target };

    if (net->kind == SPOT_SOFTMAX) SPOT_TRY(spot_head_softmax(c, loss, net->dlogit, net->logit, target, live, net->s.outputs));
    else SPOT_TRY(spot_head_loss(c, loss, net->dlogit, net->logit, target, live * net->s.outputs));
    return net->dfeature ? spot_triplet_loss(c, loss, net->dfeature, &t, net->triplet_scratch) : SPOT_OK;
}

spot_status spot_net_weights_back(spot_ctx *c, spot_net *net, int u, const void *x, int rows)
{
    return spot_conv_backward_weights(c, net->conv[u], net->dw[u], x, net->y[u], rows, net->scratch);
}

spot_status spot_net_data_back(spot_ctx *c, spot_net *net, int u, void *dx, int rows)
{
    return spot_conv_backward_data(c, net->conv[u], dx, net->y[u], net->read[u], rows, net->scratch);
}

/* Whether all of n numbers are at most SPOT_MOST_ACTIVATION, by their bits, which a NaN passes, too. */
static bool are_moderate(const spot_ctx *c, const float *v, size_t n)
{
    enum { CHUNK = 1 << 14 };
    const float most = SPOT_MOST_ACTIVATION;
    uint32_t bound, worst = 0;

    memcpy(&bound, &most, sizeof bound);
#pragma omp parallel for num_threads(c->threads) reduction(max : worst)
    for (size_t first = 0; first < n; first += CHUNK) {
        uint32_t here = 0, bits;
        for (size_t i = first; i < (n - first < CHUNK ? n : first + CHUNK); i++) {
            memcpy(&bits, v + i, sizeof bits);
            bits &= 0x7fffffff;
            here = bits > here ? bits : here;
        }
        worst = here > worst ? here : worst;
    }
    return worst <= bound;
}

/* On the CPU a ReLU may hide a NaN, which can only come from a number beyond that bound before it: spot_look_put bounds the
 * weights. On a GPU a NaN stays, and who asked for the features sees it. */
spot_status spot_look_convolve(spot_ctx *c, spot_look *net, int u, void *y, const void *x, const void *other, int rows)
{
    const spot_conv_shape *s = spot_conv_shape_of(net->conv[u]);
    const size_t out = (size_t)spot_conv_out(s);

    SPOT_TRY(spot_conv_forward(c, net->conv[u], y, &(spot_conv_terms){ x, net->w[u], net->bias[u], other }, rows,
                               net->scratch));
    if (c->device || net->s.precision != SPOT_FP32) return SPOT_OK;
    if (are_moderate(c, y, (size_t)rows * (size_t)s->co * out * out)) return SPOT_OK;
    return spot_fail(c, SPOT_NUMERIC, "{network.activation} %s: the first layer whose numbers are not finite, or beyond %g, is "
                     "%s; are the weights of this network?", net->arch.name, (double)SPOT_MOST_ACTIVATION,
                     spot_unit_name_of(net->s.arch, u).conv);
}

spot_status spot_look_watch(spot_ctx *c, spot_look *net, const void *y, spot_plane p, bool relu, int *at)
{
    float *to = net->channel + *at;

    *at += p.channels;
    return spot_head_channels(c, to, net->channels, y, p, relu);
}
