/* clip_tower.c - the blocks of a tower of CLIP. */
#include "models/clip_tower.h"

#include <stdlib.h>
#include <string.h>

#include "core/device.h"

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* -- plans and memory --------------------------------------------------------------------------------------------- */

static spot_linear_shape shape_of(const spot_clip_net *net, int plan)
{
    int w = net->shape.width;
    spot_linear_shape s = { .in = w, .out = w, .bias = plan < SPOT_CLIP_OF_BLOCK, .precision = net->precision };

    if (plan == SPOT_CLIP_QKV) s.out = 3 * w, s.narrow = net->qkv == SPOT_BF16;
    if (plan == SPOT_CLIP_OUT || plan == SPOT_CLIP_DOWN) s.add = true;
    if (plan == SPOT_CLIP_UP) {
        s.out = net->shape.hidden;
        s.narrow = true;
        s.activation = net->shape.activation == SPOT_CLIP_GELU ? SPOT_ACT_GELU : SPOT_ACT_QUICK_GELU;
    }
    if (plan == SPOT_CLIP_DOWN) s.in = net->shape.hidden;
    if (plan == SPOT_CLIP_PATCHES) s.in = 3 * net->patch * net->patch;
    if (plan == SPOT_CLIP_PROJECTION) s.in = net->feature, s.out = net->dim, s.bias = net->plain;
    return s;
}

static spot_status take_norm(spot_ctx *c, spot_arena *a, spot_layernorm *n, const spot_clip_tower *t)
{
    float *weight, *bias;

    SPOT_TRY(SPOT_TAKE(c, a, weight, t->width));
    SPOT_TRY(SPOT_TAKE(c, a, bias, t->width));
    *n = (spot_layernorm){ t->width, t->eps, weight, bias };
    return SPOT_OK;
}

static spot_status take_packed(spot_ctx *c, spot_arena *a, void *w, const spot_clip_net *net, int plan)
{
    return spot_arena_take(c, a, w, spot_linear_packed(c, net->plan[plan]));
}

static spot_status take_block(spot_ctx *c, spot_arena *a, spot_clip_net *net, spot_clip_block *b)
{
    SPOT_TRY(take_norm(c, a, &b->norm1, &net->shape));
    SPOT_TRY(take_norm(c, a, &b->norm2, &net->shape));
    for (int k = 0; k < SPOT_CLIP_OF_BLOCK; k++) {
        SPOT_TRY(take_packed(c, a, &b->w[k], net, k));
        SPOT_TRY(SPOT_TAKE(c, a, b->b[k], shape_of(net, k).out));
    }
    return SPOT_OK;
}

static spot_clip_net describe_net(const spot_clip_info *i, int which, spot_precision precision)
{
    int across = which == SPOT_CLIP_IMAGE ? i->side / i->patch : 0;

    if (which == SPOT_CLIP_TEXT)
        return (spot_clip_net){ .shape = i->text, .dim = i->dim, .feature = i->text.width, .positions = i->context,
                                .words = i->vocabulary, .precision = precision };
    return (spot_clip_net){ .shape = i->image, .dim = i->plain ? i->outputs : i->dim, .patch = i->patch,
                            .feature = i->plain ? i->dim : i->image.width, .plain = i->plain,
                            .front = !i->classless + i->registers, .pool = i->pool,
                            .positions = across * across + !i->classless + i->registers, .precision = precision };
}

spot_status spot_clip_net_open(spot_ctx *c, spot_arena *a, spot_clip_net *net, const spot_clip_info *info, int which,
                               spot_precision precision)
{
    size_t width;

    *net = describe_net(info, which, precision);
    net->qkv = spot_attention_reads(c, precision);
    width = (size_t)net->shape.width;
    for (int k = 0; k < SPOT_CLIP_PLANS; k++) {
        spot_linear_shape s = shape_of(net, k);
        const bool wanted = k == SPOT_CLIP_PATCHES ? net->patch : k != SPOT_CLIP_PROJECTION || net->dim;
        if (wanted) SPOT_TRY(spot_linear_open(c, &net->plan[k], &s));
    }
    net->block = calloc((size_t)net->shape.layers, sizeof *net->block);
    if (!net->block) return spot_fail(c, SPOT_NOMEM, "no memory for %d blocks", net->shape.layers);
    for (int l = 0; l < net->shape.layers; l++) SPOT_TRY(take_block(c, a, net, &net->block[l]));
    if (net->patch) {
        SPOT_TRY(take_packed(c, a, &net->patches, net, SPOT_CLIP_PATCHES));
        SPOT_TRY(SPOT_TAKE(c, a, net->first, (size_t)net->front * width));
        if (!net->plain) SPOT_TRY(take_norm(c, a, &net->before, &net->shape));
    } else {
        SPOT_TRY(SPOT_TAKE(c, a, net->table, net->words * width));
    }
    SPOT_TRY(SPOT_TAKE(c, a, net->position, net->positions * width));
    SPOT_TRY(take_norm(c, a, &net->after, &net->shape));
    if (net->plain) SPOT_TRY(SPOT_TAKE(c, a, net->head, net->dim));
    return net->dim ? take_packed(c, a, &net->projection, net, SPOT_CLIP_PROJECTION) : SPOT_OK;
}

void spot_clip_net_close(spot_ctx *c, spot_clip_net *net)
{
    for (int k = 0; k < SPOT_CLIP_PLANS; k++) spot_linear_close(c, net->plan[k]);
    free(net->block);
    memset(net, 0, sizeof *net);
}

/* -- weights ------------------------------------------------------------------------------------------------------ */

/* The source of weights, and room on the host for the largest of them. */
typedef struct { spot_ctx *c; const spot_clip_file *f; const spot_clip_names *names; float *room; } source;

static spot_status load_floats(const source *s, const float *to, spot_clip_name name, size_t count)
{
    float *out = (float *)(uintptr_t)to, *at = s->c->device ? s->room : out;

    SPOT_TRY(spot_clip_read(s->c, s->f, at, name, count));
    return spot_device_copy(s->c, out, at, count * sizeof *out);
}

static spot_status load_norm(const source *s, const spot_layernorm *n, const char *block, int layer, const char *name)
{
    SPOT_TRY(load_floats(s, n->weight, spot_clip_name_of(block, layer, name, ".weight"), (size_t)n->width));
    return load_floats(s, n->bias, spot_clip_name_of(block, layer, name, ".bias"), (size_t)n->width);
}

static spot_status load_product(const source *s, const spot_clip_net *net, int plan, void *w, const char *block, int layer,
                                const char *name, const char *end)
{
    spot_linear_shape t = shape_of(net, plan);

    SPOT_TRY(spot_clip_read(s->c, s->f, s->room, spot_clip_name_of(block, layer, name, end), (size_t)t.in * t.out));
    return spot_linear_pack(s->c, net->plan[plan], w, s->room);
}

/* Three products of (width, width), or one of (3 width, width). Biases pass through the room after the weights have left it. */
static spot_status load_qkv(const source *s, const spot_clip_net *net, spot_clip_block *b, int layer)
{
    const spot_clip_names *n = s->names;
    const char *const part[] = { n->query, n->key, n->value };
    size_t w = (size_t)net->shape.width;

    if (!n->query) {
        SPOT_TRY(load_product(s, net, SPOT_CLIP_QKV, b->w[SPOT_CLIP_QKV], n->block, layer, n->fused, "weight"));
        if (!spot_clip_qkv_has_bias(s->f, n, layer))
            return spot_device_clear(s->c, b->b[SPOT_CLIP_QKV], 3 * w * sizeof(float));
        return load_floats(s, b->b[SPOT_CLIP_QKV], spot_clip_name_of(n->block, layer, n->fused, "bias"), 3 * w);
    }
    for (size_t k = 0; k < 3; k++) {
        spot_clip_name weight = spot_clip_name_of(n->block, layer, part[k], ".weight");
        SPOT_TRY(spot_clip_read(s->c, s->f, s->room + k * w * w, weight, w * w));
    }
    SPOT_TRY(spot_linear_pack(s->c, net->plan[SPOT_CLIP_QKV], b->w[SPOT_CLIP_QKV], s->room));
    for (size_t k = 0; k < 3; k++)
        SPOT_TRY(load_floats(s, b->b[SPOT_CLIP_QKV] + k * w, spot_clip_name_of(n->block, layer, part[k], ".bias"), w));
    return SPOT_OK;
}

/* A layer scale multiplies what a product adds to the tokens: gamma (w x + b) = (gamma w) x + gamma b. */
static spot_status load_scaled(const source *s, const spot_clip_net *net, spot_clip_block *b, int plan, int layer,
                               const char *name, const char *gamma)
{
    const spot_linear_shape t = shape_of(net, plan);
    const size_t in = (size_t)t.in, out = (size_t)t.out;
    float *scale = s->room + in * out, *bias = scale + out;

    SPOT_TRY(spot_clip_read(s->c, s->f, s->room, spot_clip_name_of(s->names->block, layer, name, ".weight"), in * out));
    SPOT_TRY(spot_clip_read(s->c, s->f, bias, spot_clip_name_of(s->names->block, layer, name, ".bias"), out));
    SPOT_TRY(spot_clip_read(s->c, s->f, scale, spot_clip_name_of(s->names->block, layer, gamma, NULL), out));
    for (size_t o = 0; o < out; o++) {
        for (size_t i = 0; i < in; i++) s->room[o * in + i] *= scale[o];
        bias[o] *= scale[o];
    }
    SPOT_TRY(spot_linear_pack(s->c, net->plan[plan], b->w[plan], s->room));
    return spot_device_copy(s->c, b->b[plan], bias, out * sizeof *bias);
}

static spot_status load_block(const source *s, const spot_clip_net *net, int layer)
{
    const spot_clip_names *n = s->names;
    const char *const name[SPOT_CLIP_OF_BLOCK] = { NULL, n->out, n->up, n->down };
    spot_clip_block *b = &net->block[layer];

    SPOT_TRY(load_norm(s, &b->norm1, n->block, layer, n->norm1));
    SPOT_TRY(load_norm(s, &b->norm2, n->block, layer, n->norm2));
    SPOT_TRY(load_qkv(s, net, b, layer));
    for (int k = SPOT_CLIP_OUT; k < SPOT_CLIP_OF_BLOCK; k++) {
        const char *gamma = k == SPOT_CLIP_OUT ? n->gamma1 : k == SPOT_CLIP_DOWN ? n->gamma2 : NULL;
        if (gamma && spot_tensors_find(&s->f->header, spot_clip_name_of(n->block, layer, gamma, NULL).text)) {
            SPOT_TRY(load_scaled(s, net, b, k, layer, name[k], gamma));
            continue;
        }
        SPOT_TRY(load_product(s, net, k, b->w[k], n->block, layer, name[k], ".weight"));
        SPOT_TRY(load_floats(s, b->b[k], spot_clip_name_of(n->block, layer, name[k], ".bias"), (size_t)shape_of(net, k).out));
    }
    return SPOT_OK;
}

/* OpenAI's projection is (width, dim). */
static spot_status load_projection(const source *s, const spot_clip_net *net)
{
    size_t w = (size_t)net->shape.width, d = (size_t)net->dim;
    float *turned = s->room + w * d;

    if (!s->names->turned)
        return load_product(s, net, SPOT_CLIP_PROJECTION, net->projection, NULL, -1, s->names->projection, NULL);
    SPOT_TRY(spot_clip_read(s->c, s->f, s->room, spot_clip_name_of(NULL, -1, s->names->projection, NULL), w * d));
    for (size_t i = 0; i < w; i++)
        for (size_t k = 0; k < d; k++) turned[k * w + i] = s->room[i * d + k];
    return spot_linear_pack(s->c, net->plan[SPOT_CLIP_PROJECTION], net->projection, turned);
}

/* The tokens before the patches, and the positions, to those of which the bias of the patches is added. A token without a
 * position of its own has zeros. */
static spot_status load_plain_tokens(const source *s, const spot_clip_net *net)
{
    const spot_clip_info *i = &s->f->info;
    const size_t w = (size_t)net->shape.width, front = (size_t)net->front, placed = (size_t)i->placed;
    const size_t patches = (size_t)net->positions - front;
    const char *registers = spot_vit_registers(&s->f->header);
    float *first = s->room, *position = first + front * w, *bias = position + (front + patches) * w;

    memset(position, 0, front * w * sizeof *position);
    SPOT_TRY(spot_clip_read(s->c, s->f, position + (front - placed) * w, spot_clip_name_of(NULL, -1, s->names->position, NULL),
                            (placed + patches) * w));
    if (placed < front) memmove(position, position + (front - placed) * w, placed * w * sizeof *position);
    if (placed && placed < front) memset(position + placed * w, 0, (front - placed) * w * sizeof *position);
    if (!i->classless) SPOT_TRY(spot_clip_read(s->c, s->f, first, spot_clip_name_of(NULL, -1, s->names->first, NULL), w));
    if (registers)
        SPOT_TRY(spot_clip_read(s->c, s->f, first + !i->classless * w, spot_clip_name_of(NULL, -1, registers, NULL),
                                (size_t)i->registers * w));
    SPOT_TRY(spot_clip_read(s->c, s->f, bias, spot_clip_name_of(NULL, -1, s->names->bias, NULL), w));
    for (size_t k = front * w; k < (front + patches) * w; k++) position[k] += bias[k % w];
    if (front) SPOT_TRY(spot_device_copy(s->c, net->first, first, front * w * sizeof *first));
    return spot_device_copy(s->c, net->position, position, (front + patches) * w * sizeof *position);
}

static spot_status load_head(const source *s, const spot_clip_net *net)
{
    const spot_clip_name bias = spot_clip_name_of(NULL, -1, s->f->head, ".bias");

    if (!net->dim) return SPOT_OK;
    SPOT_TRY(load_product(s, net, SPOT_CLIP_PROJECTION, net->projection, NULL, -1, s->f->head, ".weight"));
    if (spot_tensors_find(&s->f->header, bias.text)) return load_floats(s, net->head, bias, (size_t)net->dim);
    return spot_device_clear(s->c, net->head, (size_t)net->dim * sizeof(float));
}

static spot_status load_plain(const source *s, const spot_clip_net *net)
{
    SPOT_TRY(load_product(s, net, SPOT_CLIP_PATCHES, net->patches, NULL, -1, s->names->start, NULL));
    SPOT_TRY(load_plain_tokens(s, net));
    SPOT_TRY(load_norm(s, &net->after, NULL, -1, net->pool == SPOT_VIT_MEAN_NORM ? SPOT_VIT_POOLED_NORM : s->names->after));
    return load_head(s, net);
}

static spot_status load_all(const source *s, spot_clip_net *net)
{
    const spot_clip_names *n = s->names;
    size_t w = (size_t)net->shape.width;

    for (int l = 0; l < net->shape.layers; l++) {
        SPOT_TRY(spot_check_stop(s->c));
        SPOT_TRY(load_block(s, net, l));
    }
    if (net->plain) return load_plain(s, net);
    if (net->patch) {
        SPOT_TRY(load_product(s, net, SPOT_CLIP_PATCHES, net->patches, NULL, -1, n->start, NULL));
        SPOT_TRY(load_floats(s, net->first, spot_clip_name_of(NULL, -1, n->first, NULL), w));
        SPOT_TRY(load_norm(s, &net->before, NULL, -1, n->before));
    } else {
        SPOT_TRY(load_floats(s, net->table, spot_clip_name_of(NULL, -1, n->start, NULL), net->words * w));
    }
    SPOT_TRY(load_floats(s, net->position, spot_clip_name_of(NULL, -1, n->position, NULL), net->positions * w));
    SPOT_TRY(load_norm(s, &net->after, NULL, -1, n->after));
    return load_projection(s, net);
}

spot_status spot_clip_net_load(spot_ctx *c, spot_clip_net *net, const spot_clip_file *f, int which)
{
    size_t w = (size_t)net->shape.width, most = larger(3 * w, (size_t)net->shape.hidden) * w;
    spot_status s;

    most = larger(most, larger(2 * w * (size_t)net->dim, 3 * w * (size_t)net->patch * (size_t)net->patch));
    most = larger(most, larger((size_t)net->positions, c->device ? (size_t)net->words : 0) * w);
    if (net->plain) most += ((size_t)net->front + 3) * w;          /* beside them a bias and a scale, or tokens */
    source from = { c, f, f->names[which], malloc(most * sizeof(float)) };
    s = from.room ? load_all(&from, net) : spot_fail(c, SPOT_NOMEM, "no memory to read weights");
    free(from.room);
    return s;
}

/* -- a batch ------------------------------------------------------------------------------------------------------ */

static spot_attention attention_of(const spot_clip_net *net, const spot_clip_work *w, int sequences, bool last)
{
    return (spot_attention){ .heads = net->shape.heads, .width = net->shape.width, .sequences = sequences,
                             .longest = net->positions, .causal = !net->patch, .start = w->at.start,
                             .only = last ? w->at.only : NULL, .precision = net->precision };
}

static spot_clip_lists lists_in(int *all, int sequences, int rows)
{
    int *only = all ? all + sequences + 1 : NULL, *id = all ? only + sequences : NULL;

    return (spot_clip_lists){ all, only, id, all ? id + rows : NULL };
}

static spot_status take_lists(spot_ctx *c, spot_arena *a, spot_clip_work *w, int sequences, int rows)
{
    int *all, *own;

    w->numbers = 2 * (size_t)sequences + 1 + 2 * (size_t)rows;
    SPOT_TRY(SPOT_TAKE(c, a, all, w->numbers));
    own = c->device && !a->counting ? calloc(w->numbers, sizeof *own) : all;
    if (!own && !a->counting) return spot_fail(c, SPOT_NOMEM, "no memory for the rows of %d texts or pictures", sequences);
    w->at = lists_in(all, sequences, rows), w->own = lists_in(own, sequences, rows);
    return SPOT_OK;
}

void spot_clip_work_give(spot_ctx *c, spot_clip_work *w)
{
    if (c->device) free(w->own.start);
    memset(w, 0, sizeof *w);
}

spot_status spot_clip_work_list(spot_ctx *c, const spot_clip_work *w)
{
    return spot_device_copy(c, w->at.start, w->own.start, w->numbers * sizeof *w->at.start);
}

spot_status spot_clip_work_take(spot_ctx *c, spot_arena *a, spot_clip_work *w, const spot_clip_net *net, int rows,
                                int sequences)
{
    size_t r = spot_linear_room((size_t)rows), n = spot_linear_room((size_t)sequences), width = (size_t)net->shape.width;
    size_t number = spot_precision_bytes(net->precision), scratch = 0, wide;
    spot_attention attention = attention_of(net, w, sequences, false);

    wide = larger(r * 3 * width * spot_precision_bytes(net->qkv), r * (size_t)net->shape.hidden * number);
    wide = larger(wide, n * (size_t)net->dim * sizeof(float));
    if (net->patch) wide = larger(wide, r * (3 * (size_t)net->patch * net->patch * number + width * sizeof(float)));
    for (int k = 0; k < SPOT_CLIP_PLANS; k++)
        if (net->plan[k]) scratch = larger(scratch, spot_linear_scratch(c, net->plan[k]));
    SPOT_TRY(SPOT_TAKE(c, a, w->x, r * width));
    SPOT_TRY(SPOT_TAKE(c, a, w->last, n * (size_t)net->feature));
    SPOT_TRY(spot_arena_take(c, a, &w->narrow, larger(r * width, n * (size_t)net->feature) * number));
    SPOT_TRY(spot_arena_take(c, a, &w->wide, wide));
    SPOT_TRY(take_lists(c, a, w, sequences, net->patch && net->front == 1 ? 0 : rows));
    SPOT_TRY(spot_arena_take(c, a, &w->scratch, scratch));
    return spot_arena_take(c, a, &w->desk, spot_attention_scratch(c, &attention));
}

static spot_status multiply(spot_ctx *c, const spot_clip_net *net, const spot_clip_work *w, const spot_clip_block *b, int plan,
                            void *y, const void *x, int rows)
{
    return spot_linear_forward(c, net->plan[plan], y, x, b->w[plan], b->b[plan], rows, w->scratch);
}

/* x += attention(norm(x)), x += products(norm(x)). `last`: only the rows that become embeddings are needed behind the keys and
 * values: there x shrinks to the rows `only`. */
static spot_status run_block(spot_ctx *c, const spot_clip_net *net, spot_clip_work *w, const spot_clip_block *b, int rows,
                             int sequences, bool last)
{
    spot_attention attention = attention_of(net, w, sequences, last);
    float *x = last ? w->last : w->x;
    int kept = last ? sequences : rows;

    SPOT_TRY(spot_layernorm_apply(c, w->narrow, w->x, &b->norm1, rows, net->precision));
    SPOT_TRY(multiply(c, net, w, b, SPOT_CLIP_QKV, w->wide, w->narrow, rows));
    SPOT_TRY(spot_attention_forward(c, w->narrow, w->wide, &attention, w->desk));
    if (last) SPOT_TRY(spot_tokens_pick(c, w->last, w->x, w->at.only, sequences, net->shape.width));
    SPOT_TRY(multiply(c, net, w, b, SPOT_CLIP_OUT, x, w->narrow, kept));
    SPOT_TRY(spot_layernorm_apply(c, w->narrow, x, &b->norm2, kept, net->precision));
    SPOT_TRY(multiply(c, net, w, b, SPOT_CLIP_UP, w->wide, w->narrow, kept));
    return multiply(c, net, w, b, SPOT_CLIP_DOWN, x, w->wide, kept);
}

/* y (sequences, feature) in that precision: the class token, the mean of the patches, or both, of the rows of w->x. */
static spot_status take_means(spot_ctx *c, const spot_clip_net *net, const spot_clip_work *w, void *y, int sequences,
                              spot_precision precision)
{
    const int width = net->shape.width;
    const bool both = net->pool == SPOT_VIT_CLASS_MEAN;
    spot_token_mean m = { sequences, net->positions, 0, 1, width, net->feature, precision };

    if (both) SPOT_TRY(spot_tokens_mean(c, y, w->x, &m));
    m.first = net->front, m.last = net->positions;
    return spot_tokens_mean(c, (char *)y + (both ? (size_t)width * spot_precision_bytes(precision) : 0), w->x, &m);
}

/* w->last, and w->narrow in the precision of a head: the features, behind the last norm. */
static spot_status run_pool(spot_ctx *c, const spot_clip_net *net, const spot_clip_work *w, int rows, int sequences)
{
    if (net->pool == SPOT_VIT_NORM_MEAN || net->pool == SPOT_VIT_CLASS_MEAN) {
        SPOT_TRY(spot_layernorm_apply(c, w->x, w->x, &net->after, rows, SPOT_FP32));
        SPOT_TRY(take_means(c, net, w, w->last, sequences, SPOT_FP32));
        return net->dim ? take_means(c, net, w, w->narrow, sequences, net->precision) : SPOT_OK;
    }
    if (net->pool == SPOT_VIT_MEAN_NORM) SPOT_TRY(take_means(c, net, w, w->last, sequences, SPOT_FP32));
    if (net->dim) SPOT_TRY(spot_layernorm_apply(c, w->narrow, w->last, &net->after, sequences, net->precision));
    return spot_layernorm_apply(c, w->last, w->last, &net->after, sequences, SPOT_FP32);
}

static spot_status run_head(spot_ctx *c, const spot_clip_net *net, spot_clip_work *w, float **out, float **logit, int sequences)
{
    *out = w->last;
    *logit = w->wide;
    if (!net->dim) return SPOT_OK;
    return spot_linear_forward(c, net->plan[SPOT_CLIP_PROJECTION], *logit, w->narrow, net->projection, net->head, sequences,
                               w->scratch);
}

spot_status spot_clip_net_run(spot_ctx *c, const spot_clip_net *net, spot_clip_work *w, float **out, float **logit, int rows,
                              int sequences)
{
    *out = w->wide;
    for (int l = 0; l < net->shape.layers; l++) {
        const bool last = l == net->shape.layers - 1 && net->pool == SPOT_VIT_CLASS;
        SPOT_TRY(run_block(c, net, w, &net->block[l], rows, sequences, last));
    }
    if (net->plain) {
        SPOT_TRY(run_pool(c, net, w, rows, sequences));
        return run_head(c, net, w, out, logit, sequences);
    }
    SPOT_TRY(spot_layernorm_apply(c, w->narrow, w->last, &net->after, sequences, net->precision));
    return spot_linear_forward(c, net->plan[SPOT_CLIP_PROJECTION], *out, w->narrow, net->projection, NULL, sequences,
                               w->scratch);
}
