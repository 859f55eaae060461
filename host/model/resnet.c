/* resnet.c - the net for training a ResNet: memory, weights in and out, forward, backward. */
#include "model/network.h"

#include <string.h>

#include "core/device.h"
#include "scene/source_draw.h"

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

spot_status spot_net_check(spot_ctx *c, spot_net_shape s)
{
    if (s.size < 32 || s.size % 32 || s.size > 4096)
        return spot_fail(c, SPOT_INVALID, "%s takes images of a multiple of 32 pixels, not %d",
                         spot_architecture_of(s.arch)->name, s.size);
    if (s.width < 16 || s.width % 16)
        return spot_fail(c, SPOT_INVALID, "model.width is %d; a multiple of 16 is wanted", s.width);
    return SPOT_OK;
}

spot_conv_shape spot_unit_shape(int u, spot_net_shape s, bool train)
{
    const spot_unit *t = &spot_architecture_of(s.arch)->unit[u];

    return (spot_conv_shape){ .rows = s.rows, .lanes = s.lanes, .ci = t->in ? t->in * s.width : 3,
                              .co = t->out * s.width, .k = t->k, .stride = t->stride, .size = s.size / t->shrink,
                              .train = train + (train && s.attacked && !u), .precision = s.precision };
}

/* The output of unit u for `live` images; rows are whole pieces. */
static spot_plane output_of(const spot_net_shape *s, int u, int live)
{
    const spot_unit *t = &spot_architecture_of(s->arch)->unit[u];
    int piece = s->rows / s->lanes;

    return (spot_plane){ .rows = (live + piece - 1) / piece * piece, .live = live, .channels = t->out * s->width,
                         .size = s->size / (t->shrink * t->stride), .precision = s->precision };
}

static size_t numbers_of(spot_plane p) { return (size_t)p.rows * p.channels * p.size * p.size; }
static size_t bytes_of(spot_plane p)   { return numbers_of(p) * spot_precision_bytes(p.precision); }

/* The net's input: all rows of images, as spot_conv_planes makes them. */
static spot_plane input_plane(const spot_ctx *c, const spot_net_shape *s)
{
    spot_conv_shape stem = spot_unit_shape(0, *s, true);

    return (spot_plane){ .rows = s->rows, .live = s->rows, .channels = spot_conv_inputs(c, &stem), .size = s->size,
                         .precision = s->precision };
}

/* -- memory --------------------------------------------------------------------------------------------------- */

/* Divides `from` into the learned tensors, each on a 64-byte boundary; from NULL: only counts. */
static size_t divide_learned(spot_ctx *c, spot_net *net, float *from, bool gradient)
{
    size_t at = 0, n;

#define DEAL(member, count)                                   \
    do {                                                      \
        n = (size_t)(count);                                  \
        (member) = from ? from + at : NULL;                   \
        at += (n + 15) / 16 * 16;                             \
    } while (0)
    for (int u = 0; u < net->arch->units; u++) {
        spot_conv_shape s = spot_unit_shape(u, net->s, true);
        DEAL(*(gradient ? &net->dw[u] : &net->w[u]), spot_conv_packed(c, net->conv[u]));
        DEAL(*(gradient ? &net->norm[u].dweight : &net->norm[u].weight), s.co);
        DEAL(*(gradient ? &net->norm[u].dbias : &net->norm[u].bias), s.co);
    }
    DEAL(*(gradient ? &net->fc_dw : &net->fc_w), (size_t)net->s.outputs * net->features);
    DEAL(*(gradient ? &net->fc_db : &net->fc_b), net->s.outputs);
#undef DEAL
    return at;
}

/* Divides `from` into the running statistics; from NULL: only counts. */
static size_t divide_running(spot_net *net, float *from)
{
    size_t at = 0;

    for (int u = 0; u < net->arch->units; u++) {
        size_t n = (size_t)net->arch->unit[u].out * net->s.width;        /* a multiple of 16 */
        net->norm[u].running_mean = from ? from + at : NULL;
        net->norm[u].running_var = from ? from + at + n : NULL;
        at += 2 * n;
    }
    return at;
}

void spot_net_running(spot_net *net, float *running) { divide_running(net, running); }

spot_plane spot_net_images(const spot_ctx *c, const spot_net *net, int live)
{
    spot_plane p = input_plane(c, &net->s);

    p.live = live;
    return p;
}

size_t spot_net_image_bytes(const spot_ctx *c, const spot_net *net) { return bytes_of(input_plane(c, &net->s)); }

static spot_status take_norms(spot_ctx *c, spot_arena *a, spot_net *net)
{
    for (int u = 0; u < net->arch->units; u++) {
        spot_norm *l = &net->norm[u];
        int n = net->arch->unit[u].out * net->s.width;
        float **part[] = { &l->mean, &l->invstd, &l->scale, &l->shift };
        for (size_t i = 0; i < sizeof part / sizeof *part; i++) SPOT_TRY(SPOT_TAKE(c, a, *part[i], n));
    }
    return SPOT_OK;
}

static spot_status take_activations(spot_ctx *c, spot_arena *a, spot_net *net)
{
    const spot_net_shape *s = &net->s;
    spot_plane pooled = output_of(s, 1, s->rows);
    size_t scratch = 0, widest = 0;

    SPOT_TRY(spot_arena_take(c, a, &net->planes, bytes_of(input_plane(c, s))));
    if (s->attacked) SPOT_TRY(spot_arena_take(c, a, &net->dplanes, bytes_of(input_plane(c, s))));
    SPOT_TRY(spot_arena_take(c, a, &net->pooled, bytes_of(pooled)));
    SPOT_TRY(SPOT_TAKE(c, a, net->at, numbers_of(pooled)));
    for (int u = 0; u < net->arch->units; u++) {
        spot_plane p = output_of(s, u, s->rows);
        SPOT_TRY(spot_arena_take(c, a, &net->y[u], bytes_of(p)));
        scratch = larger(scratch, larger(spot_conv_scratch(c, net->conv[u]), spot_norm_scratch(p)));
        if (u) widest = larger(widest, bytes_of(p));
    }
    for (int b = 0; b < net->arch->blocks; b++) {
        size_t n = bytes_of(output_of(s, net->arch->block[b].second, s->rows));
        SPOT_TRY(spot_arena_take(c, a, &net->inner[b], n));
        SPOT_TRY(spot_arena_take(c, a, &net->out[b], n));
    }
    SPOT_TRY(spot_arena_take(c, a, &net->direct, widest));
    SPOT_TRY(spot_arena_take(c, a, &net->side, widest));
    SPOT_TRY(SPOT_TAKE(c, a, net->feature, (size_t)s->rows * net->features));
    SPOT_TRY(SPOT_TAKE(c, a, net->logit, (size_t)s->rows * s->outputs));
    SPOT_TRY(SPOT_TAKE(c, a, net->dlogit, (size_t)s->rows * s->outputs));
    return spot_arena_take(c, a, &net->scratch, scratch);
}

/* Whether unit u is the first of a block. */
static bool is_first(const spot_architecture *t, int u)
{
    for (int b = 0; b < t->blocks; b++)
        if (t->block[b].first == u) return true;
    return false;
}

spot_status spot_net_open(spot_ctx *c, spot_arena *a, spot_net *net, spot_net_shape s)
{
    memset(net, 0, sizeof *net);
    SPOT_TRY(spot_net_check(c, s));
    if (c->device) s.lanes = 1;
    net->s = s;
    net->arch = spot_architecture_of(s.arch);
    net->features = spot_model_features(s.arch, s.width);
    for (int u = 0; u < net->arch->units; u++) {
        spot_conv_shape shape = spot_unit_shape(u, s, true);
        shape.add = spot_conv_onto(c) && is_first(net->arch, u);
        SPOT_TRY(spot_conv_open(c, &net->conv[u], &shape));
    }
    net->params = divide_learned(c, net, NULL, false);
    net->state = net->params + divide_running(net, NULL);
    SPOT_TRY(SPOT_TAKE(c, a, net->param, net->state));
    SPOT_TRY(SPOT_TAKE(c, a, net->grad, net->params));
    SPOT_TRY(SPOT_TAKE(c, a, net->moment, net->params));
    SPOT_TRY(SPOT_TAKE(c, a, net->square, net->params));
    if (s.precision == SPOT_BF16) SPOT_TRY(spot_arena_take(c, a, &net->rounded, 2 * net->params));
    divide_learned(c, net, net->param, false);
    divide_learned(c, net, net->grad, true);
    divide_running(net, net->param ? net->param + net->params : NULL);
    for (int u = 0; u < net->arch->units && net->param; u++)
        net->read[u] = net->rounded ? (char *)net->rounded + 2 * (net->w[u] - net->param) : (const void *)net->w[u];
    SPOT_TRY(take_norms(c, a, net));
    return take_activations(c, a, net);
}

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

spot_status spot_net_put(spot_ctx *c, spot_net *net, const spot_model *m)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    const spot_model_tensor *head = &table[6 * net->arch->units];
    float *clear[] = { net->param, net->grad, net->moment, net->square };

    spot_model_layout(table, m->arch, m->width, m->outputs);
    for (int i = 0; i < 4; i++) SPOT_TRY(spot_device_clear(c, clear[i], net->params * sizeof(float)));
    for (int u = 0; u < net->arch->units; u++) {
        const spot_model_tensor *t = &table[6 * u];
        spot_norm *l = &net->norm[u];
        float *to[5] = { NULL, l->weight, l->bias, l->running_mean, l->running_var };
        SPOT_TRY(spot_conv_pack(c, net->conv[u], net->w[u], m->value + t[0].offset));
        for (int i = 1; i < 5; i++)
            SPOT_TRY(spot_device_copy(c, to[i], m->value + t[i].offset, t[i].count * sizeof(float)));
    }
    SPOT_TRY(spot_device_copy(c, net->fc_w, m->value + head[0].offset, head[0].count * sizeof(float)));
    SPOT_TRY(spot_device_copy(c, net->fc_b, m->value + head[1].offset, head[1].count * sizeof(float)));
    return round_weights(c, net);
}

spot_status spot_net_get(spot_ctx *c, spot_model *m, const spot_net *net)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    const spot_model_tensor *head = &table[6 * net->arch->units];

    spot_model_layout(table, m->arch, m->width, m->outputs);
    for (int u = 0; u < net->arch->units; u++) {
        const spot_model_tensor *t = &table[6 * u];
        const spot_norm *l = &net->norm[u];
        const float *from[5] = { NULL, l->weight, l->bias, l->running_mean, l->running_var };
        SPOT_TRY(spot_conv_unpack(c, net->conv[u], m->value + t[0].offset, net->w[u]));
        for (int i = 1; i < 5; i++)
            SPOT_TRY(spot_device_copy(c, m->value + t[i].offset, from[i], t[i].count * sizeof(float)));
    }
    SPOT_TRY(spot_device_copy(c, m->value + head[0].offset, net->fc_w, head[0].count * sizeof(float)));
    return spot_device_copy(c, m->value + head[1].offset, net->fc_b, head[1].count * sizeof(float));
}

/* -- forward -------------------------------------------------------------------------------------------------- */

/* y[u] = conv(x), and the scale and shift that its batch norm applies. */
static spot_status convolve(spot_ctx *c, spot_net *net, int u, const void *x, spot_plane p, bool learning)
{
    SPOT_TRY(spot_conv_forward(c, net->conv[u], net->y[u], x, net->read[u], NULL, NULL, p.rows, net->scratch));
    if (!learning) return spot_norm_fixed(c, &net->norm[u], p.channels);
    return spot_norm_stats(c, &net->norm[u], net->y[u], p, net->scratch);
}

spot_status spot_net_forward(spot_ctx *c, spot_net *net, const float *pixels, int live, bool learning)
{
    const void *x = net->pooled;
    spot_plane p = output_of(&net->s, 0, live), image = input_plane(c, &net->s);
    size_t row = bytes_of(image) / image.rows;

    if (pixels)
        SPOT_TRY(spot_conv_planes(c, net->planes, pixels, live, p.rows, net->s.size * net->s.size, net->s.precision));
    else if (p.rows > live)
        SPOT_TRY(spot_device_clear(c, (char *)net->planes + live * row, (p.rows - live) * row));
    SPOT_TRY(convolve(c, net, 0, net->planes, p, learning));
    SPOT_TRY(spot_norm_pool(c, net->pooled, net->at, net->y[0], &net->norm[0], p));
    for (int i = 0; i < net->arch->blocks; i++) {
        const spot_block *b = &net->arch->block[i];
        p = output_of(&net->s, b->first, live);
        SPOT_TRY(convolve(c, net, b->first, x, p, learning));
        SPOT_TRY(spot_norm_apply(c, net->inner[i], net->y[b->first], &net->norm[b->first], NULL, NULL, p));
        SPOT_TRY(convolve(c, net, b->second, net->inner[i], p, learning));
        if (b->down) SPOT_TRY(convolve(c, net, b->down, x, p, learning));
        SPOT_TRY(spot_norm_apply(c, net->out[i], net->y[b->second], &net->norm[b->second],
                                 b->down ? net->y[b->down] : x, b->down ? &net->norm[b->down] : NULL, p));
        x = net->out[i];
    }
    return spot_head_forward(c, net->feature, net->logit, x, net->fc_w, net->fc_b, p, net->s.outputs);
}

/* -- backward ------------------------------------------------------------------------------------------------- */

static spot_status weights_back(spot_ctx *c, spot_net *net, int u, const void *x, int rows)
{
    return spot_conv_backward_weights(c, net->conv[u], net->dw[u], x, net->y[u], rows, net->scratch);
}

static spot_status data_back(spot_ctx *c, spot_net *net, int u, void *dx, int rows)
{
    return spot_conv_backward_data(c, net->conv[u], dx, net->y[u], net->read[u], rows, net->scratch);
}

/* Input: the gradient of the block's output, direct + side (only direct for the last block). Output: the gradient of its input
 * and, if learning, of its weights. A device whose convolutions add (spot_conv_onto) adds the first unit's part to side; then
 * side is the whole gradient. */
static spot_status block_back(spot_ctx *c, spot_net *net, int i, int live, bool learning)
{
    const spot_block *b = &net->arch->block[i];
    const void *x = i ? net->out[i - 1] : net->pooled;
    spot_plane p = output_of(&net->s, b->first, live);
    const bool last = i == net->arch->blocks - 1, onto = spot_conv_onto(c);
    spot_norm_back join = { .da = onto && !last ? net->side : net->direct, .db = onto || last ? NULL : net->side,
                            .out = net->out[i], .dz = net->side, .y = net->y[b->second], .a = &net->norm[b->second] };
    spot_norm_back inner = { .da = net->direct, .y = net->y[b->first], .a = &net->norm[b->first] };

    if (b->down) join.y2 = net->y[b->down], join.b = &net->norm[b->down];
    SPOT_TRY(spot_norm_backward(c, &join, p, net->scratch));
    if (learning) SPOT_TRY(weights_back(c, net, b->second, net->inner[i], p.rows));
    SPOT_TRY(data_back(c, net, b->second, net->direct, p.rows));
    SPOT_TRY(spot_norm_backward(c, &inner, p, net->scratch));
    if (learning) SPOT_TRY(weights_back(c, net, b->first, x, p.rows));
    if (b->down && learning) SPOT_TRY(weights_back(c, net, b->down, x, p.rows));
    if (b->down) SPOT_TRY(data_back(c, net, b->down, net->side, p.rows));     /* else side holds it already */
    return data_back(c, net, b->first, onto ? net->side : net->direct, p.rows);
}

/* The loss, and its gradients by the logits and, of triplets, by the features. */
static spot_status take_loss(spot_ctx *c, spot_net *net, const float *target, int live, double *loss)
{
    const spot_triplet_batch t = { live, net->features, net->s.outputs, net->margin, net->triplet, net->feature, target };

    if (net->kind == SPOT_SOFTMAX) SPOT_TRY(spot_head_softmax(c, loss, net->dlogit, net->logit, target, live, net->s.outputs));
    else SPOT_TRY(spot_head_loss(c, loss, net->dlogit, net->logit, target, live * net->s.outputs));
    return net->dfeature ? spot_triplet_loss(c, loss, net->dfeature, &t, net->triplet_scratch) : SPOT_OK;
}

/* Goes back from the loss to the output of the stem's convolution; y[0] receives its gradient. */
static spot_status back_to_stem(spot_ctx *c, spot_net *net, const float *target, int live, double *loss, bool learning)
{
    spot_plane last = output_of(&net->s, net->arch->units - 1, live), stem = output_of(&net->s, 0, live);

    SPOT_TRY(take_loss(c, net, target, live, loss));
    SPOT_TRY(spot_head_backward(c, net->direct, net->fc_dw, net->fc_db, net->dlogit, net->feature, net->fc_w, net->dfeature,
                                last, net->s.outputs));
    for (int i = net->arch->blocks; i-- > 0;) SPOT_TRY(block_back(c, net, i, live, learning));
    return spot_norm_pool_back(c, net->y[0], spot_conv_onto(c) ? net->side : net->direct, spot_conv_onto(c) ? NULL : net->side,
                               net->pooled, net->at, &net->norm[0], stem, net->scratch);
}

spot_status spot_net_backward(spot_ctx *c, spot_net *net, const float *target, int live, double *loss)
{
    SPOT_TRY(back_to_stem(c, net, target, live, loss, true));
    return weights_back(c, net, 0, net->planes, output_of(&net->s, 0, live).rows);
}

spot_status spot_net_backward_image(spot_ctx *c, spot_net *net, const float *target, int live, double *loss)
{
    if (!net->s.attacked) return spot_fail(c, SPOT_INVALID, "this net was not opened for gradients by its images");
    SPOT_TRY(back_to_stem(c, net, target, live, loss, false));
    return data_back(c, net, 0, net->dplanes, output_of(&net->s, 0, live).rows);
}

spot_status spot_net_draw(spot_ctx *c, float *pixels, void *planes, spot_precision precision, const spot_image *image, int n,
                          const spot_ec *ec, void *spare)
{
    if (pixels) return spot_ec_input(c, pixels, 3, SPOT_FP32, image, n, ec, spare);
    return spot_ec_input(c, planes, c->ops->conv->stem, precision, image, n, ec, spare);
}
