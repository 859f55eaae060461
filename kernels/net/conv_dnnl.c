/* conv_dnnl.c - chooses and makes oneDNN's primitives, and brings weights into the orders that they read. */
#include "net/conv_dnnl.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/lanes.h"
#include "net/conv_winograd.h"
#include "net/dnnl_copy.h"

enum { B = SPOT_CHANNELS, H = 16 };        /* H: channels of a block of packed weights beside bf16 */

#if SPOT_CHANNELS == 16
#define TAG_ACTIVATION dnnl_nChw16c
#define TAG_WEIGHTS    dnnl_OIhw16i16o
#define TAG_TURNED     dnnl_OIhw16o16i     /* for the direct data gradient */
#define TAG_TURNED_1   dnnl_IOhw16o16i     /* the same for k = 1 */
#define TAG_FIRST      dnnl_Ohwi16o
#else
#define TAG_ACTIVATION dnnl_nChw8c
#define TAG_WEIGHTS    dnnl_OIhw8i8o
#define TAG_TURNED     dnnl_OIhw8o8i
#define TAG_TURNED_1   dnnl_OIhw8o8i
#define TAG_FIRST      dnnl_Ohwi8o
#endif

/* Winograd transforms the weights (k*k -> 36 values, read again by every call) and tiles of 4x4 pixels. It is faster when a
 * lane has enough tiles for the cost of the weights, and images are large enough to fill tiles. Measured on Zen 5: with 32
 * tiles the forward and data passes are slower, the weight gradient is faster. Without training pack transforms the weights
 * once, and 32 tiles suffice. */
static bool winograd_is_faster(const spot_conv_shape *s, int kind)
{
    int side = (s->size + 3) / 4, tiles = s->rows / s->lanes * side * side;

    if (s->k != 3 || s->stride != 1 || s->size < 4 || s->precision == SPOT_BF16) return false;
    return kind == SPOT_WEIGHTS || !s->train ? tiles >= 32 : tiles >= 64;
}

static dnnl_format_tag_t packed_tag(const spot_conv *p)
{
    bool first = p->s.ci == 3;

    if (p->s.precision == SPOT_BF16) return first ? dnnl_Ohwi16o : p->amx ? dnnl_OIhw16o16i : dnnl_OIhw16i16o;
    return first ? TAG_FIRST : TAG_WEIGHTS;
}

/* w: as the forward pass reads them; own: as the pass itself has them. In bf16 oneDNN chooses the order of the weights. */
typedef struct { dnnl_memory_desc_t x, y, w, own, bias; } tensors;

static void describe_tensors(const spot_conv *p, int kind, dnnl_alg_kind_t algorithm, tensors *t)
{
    const spot_conv_shape *s = &p->s;
    const int size = s->size + 2 * p->frame;
    dnnl_dims_t xd = { p->piece, s->ci, size, size }, yd = { p->piece, s->co, p->out, p->out };
    dnnl_dims_t wd = { s->co, s->ci, s->k, s->k }, bd = { s->co };
    bool half = s->precision == SPOT_BF16, turned = kind == SPOT_DATA && algorithm == dnnl_convolution_direct;
    bool ahead = half || (algorithm == dnnl_convolution_winograd && !s->train);
    dnnl_data_type_t type = half ? dnnl_bf16 : dnnl_f32;
    dnnl_format_tag_t own = !turned ? packed_tag(p) : half ? dnnl_format_tag_any : s->k == 1 ? TAG_TURNED_1 : TAG_TURNED;

    dnnl_memory_desc_init_by_tag(&t->x, 4, xd, type, half ? dnnl_nhwc : s->ci == 3 ? dnnl_nchw : TAG_ACTIVATION);
    dnnl_memory_desc_init_by_tag(&t->y, 4, yd, type, half ? dnnl_nhwc : TAG_ACTIVATION);
    dnnl_memory_desc_init_by_tag(&t->w, 4, wd, type, ahead ? dnnl_format_tag_any : packed_tag(p));
    dnnl_memory_desc_init_by_tag(&t->own, 4, wd, kind == SPOT_WEIGHTS ? dnnl_f32 : type, own);
    dnnl_memory_desc_init_by_tag(&t->bias, 1, bd, dnnl_f32, dnnl_a);
}

/* Makes the descriptor of oneDNN's first code for d that may be used. brgconv for AMX may not: where taps leave the image it
 * reads behind the end of an array while it makes its code, which ends the process where that array ends a mapped page
 * (tests/test_bf16_bounds.c). The next one, jit for AMX, takes up to a fifth longer for most 3x3 shapes of ResNet-18, for 8 x 8
 * pixels of 128 channels 1.8 times as long. */
static dnnl_status_t choose_code(dnnl_primitive_desc_t *out, const dnnl_convolution_desc_t *d, dnnl_primitive_attr_t attr,
                                 dnnl_engine_t engine, const_dnnl_primitive_desc_t hint)
{
    static const char refused[] = "brgconv:avx512_core_amx";
    dnnl_primitive_desc_iterator_t codes = NULL;
    const char *name;
    dnnl_status_t e = dnnl_primitive_desc_iterator_create(&codes, d, attr, engine, hint);

    while (!e) {
        *out = dnnl_primitive_desc_iterator_fetch(codes);
        e = *out ? dnnl_primitive_desc_query(*out, dnnl_query_impl_info_str, 0, &name) : dnnl_out_of_memory;
        if (e || strncmp(name, refused, sizeof refused - 1)) break;
        dnnl_primitive_desc_destroy(*out);
        *out = NULL;
        e = dnnl_primitive_desc_iterator_next(codes);
    }
    dnnl_primitive_desc_iterator_destroy(codes);
    return e;
}

/* The descriptor of one pass by one algorithm. The gradients need the forward descriptor as a hint. */
static dnnl_status_t describe_pass(const spot_conv *p, int kind, dnnl_alg_kind_t algorithm, dnnl_primitive_attr_t attr,
                                   dnnl_primitive_desc_t *out)
{
    const spot_conv_shape *s = &p->s;
    const int padding = spot_conv_pad(s) - p->frame;
    dnnl_dims_t stride = { s->stride, s->stride }, pad = { padding, padding };
    tensors t;
    dnnl_convolution_desc_t forward, d;
    dnnl_primitive_desc_t hint = NULL;
    dnnl_status_t e;

    describe_tensors(p, kind, algorithm, &t);
    e = dnnl_convolution_forward_desc_init(&forward, s->train ? dnnl_forward_training : dnnl_forward_inference,
                                           algorithm, &t.x, &t.w, s->bias ? &t.bias : NULL, &t.y, stride, pad, pad);
    if (e) return e;
    if (kind == SPOT_FORWARD) return choose_code(out, &forward, attr, p->engine, NULL);
    e = choose_code(&hint, &forward, NULL, p->engine, NULL);
    if (!e && kind == SPOT_DATA)
        e = dnnl_convolution_backward_data_desc_init(&d, algorithm, &t.x, &t.own, &t.y, stride, pad, pad);
    if (!e && kind == SPOT_WEIGHTS)
        e = dnnl_convolution_backward_weights_desc_init(&d, algorithm, &t.x, &t.own, NULL, &t.y, stride, pad, pad);
    if (!e) e = choose_code(out, &d, attr, p->engine, hint);
    dnnl_primitive_desc_destroy(hint);
    return e;
}

/* The caller owns the scratchpads: oneDNN's own belong to the thread that made the primitive. */
static dnnl_status_t make_attributes(const spot_conv_shape *s, dnnl_primitive_attr_t *attr)
{
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t e = dnnl_primitive_attr_create(attr);

    if (!e) e = dnnl_primitive_attr_set_scratchpad_mode(*attr, dnnl_scratchpad_mode_user);
    if (!e) e = dnnl_post_ops_create(&ops);
    if (!e && s->add)  e = dnnl_post_ops_append_sum(ops, 1.0f);
    if (!e && s->relu) e = dnnl_post_ops_append_eltwise(ops, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f);
    if (!e) e = dnnl_primitive_attr_set_post_ops(*attr, ops);
    dnnl_post_ops_destroy(ops);
    return e;
}

static dnnl_status_t make_primitive(spot_conv *p, int kind, dnnl_primitive_desc_t pd)
{
    static const int name[SPOT_PASSES][SPOT_PASS_ARGS] = {
        { DNNL_ARG_SRC,      DNNL_ARG_WEIGHTS,      DNNL_ARG_DST,      DNNL_ARG_SCRATCHPAD, DNNL_ARG_BIAS },
        { DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS,      DNNL_ARG_DIFF_DST, DNNL_ARG_SCRATCHPAD, 0 },
        { DNNL_ARG_SRC,      DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST, DNNL_ARG_SCRATCHPAD, 0 },
    };
    spot_conv_pass *a = &p->pass[kind];
    dnnl_status_t e = dnnl_primitive_create(&a->primitive, pd);

    a->args = SPOT_PASS_ARGS - !p->s.bias;
    memcpy(a->name, name[kind], sizeof a->name);
    for (int i = 0; i < a->args && !e; i++) {
        const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, a->name[i]);
        if (a->name[i] == DNNL_ARG_SCRATCHPAD) a->scratch = spot_arena_room(dnnl_memory_desc_get_size(md));
        if (i == 0) a->framed = p->frame ? spot_arena_room(dnnl_memory_desc_get_size(md)) : 0;
        if (i == 1) a->weights = *md;
        for (int lane = 0; lane < p->s.lanes && !e; lane++)
            e = dnnl_memory_create(&a->arg[lane][i], md, p->engine, DNNL_MEMORY_NONE);
    }
    return e;
}

static bool is_reference(const_dnnl_primitive_desc_t pd)
{
    const char *name;

    return !dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) && !strncmp(name, "ref", 3);
}

static dnnl_status_t open_pass(spot_conv *p, int kind)
{
    spot_conv_pass *a = &p->pass[kind];
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t pd = NULL;
    bool fast = winograd_is_faster(&p->s, kind), half = p->s.precision == SPOT_BF16;
    dnnl_status_t e = make_attributes(&p->s, &attr);

    if (!e && fast && describe_pass(p, kind, dnnl_convolution_winograd, attr, &pd)) {               /* not on this CPU */
        fast = false;
        p->winograd = kind == SPOT_FORWARD && !p->s.train && spot_conv_winograd_able(&p->s);
    }
    if (p->winograd) return dnnl_primitive_attr_destroy(attr);
    if (!e && !fast) e = describe_pass(p, kind, dnnl_convolution_direct, attr, &pd);
    if (!e && kind == SPOT_FORWARD && p->s.ci == 3 && !half && is_reference(pd)) {
        dnnl_primitive_desc_destroy(pd);
        p->frame = spot_conv_pad(&p->s);
        e = describe_pass(p, kind, dnnl_convolution_direct, attr, &pd);
    }
    if (!e) e = make_primitive(p, kind, pd);
    if (!e && is_reference(pd)) {
        if (kind == SPOT_WEIGHTS && !half && p->s.ci != 3) p->blocks = true;
        else p->slow = true;
    }
    if (!e && kind == SPOT_FORWARD && !(half && p->s.train)) p->packed = a->weights;
    if (kind == SPOT_DATA) p->turned = !fast;
    if (kind == SPOT_DATA && !half) a->turned = p->w_count * sizeof(float);
    if (half && p->s.train && kind != SPOT_WEIGHTS) a->turned = spot_arena_room(dnnl_memory_desc_get_size(&a->weights));
    dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_attr_destroy(attr);
    return e;
}

void spot_conv_close_passes(spot_conv *p)
{
    for (int k = 0; k < SPOT_PASSES; k++) {
        for (int lane = 0; lane < p->s.lanes; lane++)
            for (int i = 0; i < p->pass[k].args; i++) dnnl_memory_destroy(p->pass[k].arg[lane][i]);
        dnnl_primitive_destroy(p->pass[k].primitive);
    }
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
}

/* Weights for looking, as spot_conv_amx_product reads them: blocks of 32 inputs lie together, then taps. */
static dnnl_status_t describe_product(spot_conv *p)
{
    dnnl_dims_t wd = { p->s.co, p->s.ci, p->s.k, p->s.k };
    dnnl_dim_t each = 2 * H * H, tap = p->s.ci / (2 * H) * each, strides[] = { 9 * tap, each, 3 * tap, tap };
    dnnl_status_t e = dnnl_memory_desc_init_by_tag(&p->packed, 4, wd, dnnl_bf16, dnnl_OIhw16i16o2i);

    memcpy(p->packed.format_desc.blocking.strides, strides, sizeof strides);
    return e;
}

dnnl_status_t spot_conv_open_passes(spot_conv *p)
{
    dnnl_dims_t wd = { p->s.co, p->s.ci, p->s.k, p->s.k };
    int threads = omp_get_max_threads();
    dnnl_status_t e = dnnl_engine_create(&p->engine, dnnl_cpu, 0);

    if (!e) e = dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags);
    if (!e) e = dnnl_memory_desc_init_by_tag(&p->oihw, 4, wd, dnnl_f32, dnnl_oihw);
    if (!e) e = dnnl_memory_desc_init_by_tag(&p->packed, 4, wd, dnnl_f32, packed_tag(p));
    if (!e) e = dnnl_memory_desc_init_by_tag(&p->rounded, 4, wd, dnnl_bf16, packed_tag(p));
    if (!e && p->deep[SPOT_FORWARD] && !p->s.train) e = describe_product(p);
    omp_set_num_threads(1);                /* a primitive is made for the present number of threads */
    if (!e && !p->deep[SPOT_FORWARD]) e = open_pass(p, SPOT_FORWARD);
    if (!e && !p->deep[SPOT_DATA] && p->s.train && p->s.ci > 3) e = open_pass(p, SPOT_DATA);
    if (!e && p->s.train && !p->amx) e = open_pass(p, SPOT_WEIGHTS);
    omp_set_num_threads(threads);
    return e;
}

/* -- weights in the order of a pass ----------------------------------------------------------------------------- */

/* Transposes each block of B x B weights, (in, out) -> (out, in); for k = 1 with AVX-512 also the order of the blocks. */
static void turn_floats(spot_ctx *c, const spot_conv *p, float *to, const float *from)
{
    int ni = p->s.ci / B, no = p->s.co / B, area = p->s.k * p->s.k;
    bool swap = area == 1 && TAG_TURNED_1 != TAG_TURNED;

#pragma omp parallel for num_threads(c->threads)
    for (int b = 0; b < no * ni * area; b++) {
        const float *f = from + (size_t)b * B * B;
        float *t = to + (size_t)(swap ? b % ni * no + b / ni : b) * B * B;
        for (int i = 0; i < B; i++)
            for (int o = 0; o < B; o++) t[o * B + i] = f[i * B + o];
    }
}

/* In bf16 a pass reads pairs of the channel that it sums over, (pairs) x kept channels x 2, in blocks at these strides. */
typedef struct { size_t sum, kept, y, x; int pairs, wide; bool data, lie; } pairing;   /* lie: pairs already lie together */

/* False where oneDNN wants another order. */
static bool describe_pairs(pairing *q, const dnnl_memory_desc_t *md, bool data, bool amx)
{
    const dnnl_blocking_desc_t *b = &md->format_desc.blocking;
    int sum = !data, n = b->inner_nblks;

    if (md->format_kind != dnnl_blocked || n < 2 || n > 3 || b->inner_blks[n - 1] != 2 || b->inner_idxs[n - 1] != sum
        || b->inner_idxs[n - 2] != !sum || b->inner_blks[n - 2] % H || (n == 3 && b->inner_idxs[0] != sum))
        return false;
    *q = (pairing){ (size_t)b->strides[sum], (size_t)b->strides[!sum], (size_t)b->strides[2], (size_t)b->strides[3],
                    n == 3 ? (int)b->inner_blks[0] : 1, (int)b->inner_blks[n - 2], data, data != amx };
    return true;
}

/* One block of H inputs x H outputs, whose channels begin at `in` and `out`. */
static void pair_block(const pairing *q, uint16_t *to, const uint16_t *from, int in, int out)
{
    int kept = q->data ? in : out;

    to += (size_t)(kept / q->wide) * q->kept + (size_t)(kept % q->wide) * 2;
    for (int j = 0; j < H; j += 2) {
        int sum = (q->data ? out : in) + j, block = sum / (2 * q->pairs);
        uint16_t *t = to + block * q->sum + (size_t)(sum % (2 * q->pairs) / 2) * (size_t)q->wide * 2;
        if (q->lie)
            for (int i = 0; i < H; i++) memcpy(t + 2 * i, from + i * H + j, 2 * sizeof *t);
        else
            for (int i = 0; i < H; i++) t[2 * i] = from[j * H + i], t[2 * i + 1] = from[(j + 1) * H + i];
    }
}

static void turn_halves(spot_ctx *c, const spot_conv *p, const pairing *q, uint16_t *to, const uint16_t *from)
{
    int ni = p->s.ci / H, no = p->s.co / H, k = p->s.k, area = k * k;

#pragma omp parallel for num_threads(c->threads)
    for (int b = 0; b < no * ni; b++)
        for (int t = 0; t < area; t++)
            pair_block(q, to + t / k * q->y + t % k * q->x, from + ((size_t)b * area + t) * H * H, b % ni * H, b / ni * H);
}

dnnl_status_t spot_conv_turn(spot_ctx *c, const spot_conv *p, int kind, void *to, const void *packed)
{
    const spot_conv_pass *a = &p->pass[kind];
    pairing q;

    if (p->s.precision != SPOT_BF16) return turn_floats(c, p, to, packed), dnnl_success;
    if (p->deep[kind]) {
        size_t blocks = (size_t)(kind == SPOT_DATA ? p->s.co : p->s.ci) / (2 * H), each = 2 * H * H;
        q = (pairing){ each, 9 * blocks * each, 3 * blocks * each, blocks * each, H, H, kind == SPOT_DATA, kind != SPOT_DATA };
        return turn_halves(c, p, &q, to, packed), dnnl_success;
    }
    if (p->s.ci == 3 || !describe_pairs(&q, &a->weights, kind == SPOT_DATA, p->amx))
        return spot_dnnl_copy(c, p->stream, &a->weights, to, &p->rounded, packed);
    if (a->turned > p->w_count * sizeof(uint16_t)) memset(to, 0, a->turned);           /* channels that oneDNN adds */
    turn_halves(c, p, &q, to, packed);
    return dnnl_success;
}
