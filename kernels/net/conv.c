/* conv.c - convolutions by oneDNN, cut into lanes so that the bits do not depend on the threads. */
#include "net/conv.h"

#include <oneapi/dnnl/dnnl.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/lanes.h"
#include "net/conv_image.h"

enum { B = SPOT_CHANNELS, FORWARD = 0, DATA, WEIGHTS, PASSES, ARGS = 5 };

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

/* One of oneDNN's primitives and, for each lane, the handles of its arguments: x, w, y, scratchpad, bias. */
typedef struct {
    dnnl_primitive_t primitive;
    dnnl_memory_t    arg[SPOT_MAX_LANES][ARGS];
    int              name[ARGS], args;
    size_t           scratch;              /* bytes a lane */
} pass;

struct spot_conv {
    spot_conv_shape  s;
    int              out, piece;           /* side of y; rows of a lane */
    size_t           x_row, y_row, w_count;/* floats */
    bool             turned;               /* the data gradient reads turned weights */
    bool             slow;                 /* a pass is computed by oneDNN's reference code */
    dnnl_engine_t    engine;
    dnnl_stream_t    stream;
    dnnl_memory_desc_t oihw, packed;
    pass             pass[PASSES];
};

#define DNNL_TRY(c, what, call)                                                                              \
    do {                                                                                                     \
        dnnl_status_t dnnl_try_ = (call);                                                                    \
        if (dnnl_try_ != dnnl_success)                                                                       \
            return spot_fail((c), dnnl_try_ == dnnl_out_of_memory ? SPOT_NOMEM : SPOT_DEVICE,                \
                             "oneDNN cannot %s (its status %d)", (what), (int)dnnl_try_);                    \
    } while (0)

/* Winograd transforms the weights (k*k -> 36 values, read again by every call) and tiles of 4x4 pixels. It is faster when a
 * lane has enough tiles for the cost of the weights, and images are large enough to fill tiles. Measured on Zen 5: with 32
 * tiles the forward and data passes are slower, the weight gradient is faster. Without training pack transforms the weights
 * once, and 32 tiles suffice. */
static bool winograd_is_faster(const spot_conv_shape *s, int kind)
{
    int side = (s->size + 3) / 4, tiles = s->rows / s->lanes * side * side;

    if (s->k != 3 || s->stride != 1 || s->size < 4) return false;
    return kind == WEIGHTS || !s->train ? tiles >= 32 : tiles >= 64;
}

/* The descriptor of one pass by one algorithm. The gradients need the forward descriptor as a hint. */
static dnnl_status_t describe_pass(const spot_conv *p, int kind, dnnl_alg_kind_t algorithm, dnnl_primitive_attr_t attr,
                                   dnnl_primitive_desc_t *out)
{
    const spot_conv_shape *s = &p->s;
    dnnl_dims_t xd = { p->piece, s->ci, s->size, s->size }, yd = { p->piece, s->co, p->out, p->out };
    dnnl_dims_t wd = { s->co, s->ci, s->k, s->k }, bd = { s->co };
    dnnl_dims_t stride = { s->stride, s->stride }, pad = { s->k / 2, s->k / 2 };
    bool first = s->ci == 3, turned = kind == DATA && algorithm == dnnl_convolution_direct;
    bool ahead = algorithm == dnnl_convolution_winograd && !s->train;        /* oneDNN chooses the weights' order */
    dnnl_memory_desc_t x, y, w, b, tw;
    dnnl_convolution_desc_t forward, d;
    dnnl_primitive_desc_t hint = NULL;
    dnnl_status_t e;

    dnnl_memory_desc_init_by_tag(&x, 4, xd, dnnl_f32, first ? dnnl_nchw : TAG_ACTIVATION);
    dnnl_memory_desc_init_by_tag(&y, 4, yd, dnnl_f32, TAG_ACTIVATION);
    dnnl_memory_desc_init_by_tag(&w, 4, wd, dnnl_f32, ahead ? dnnl_format_tag_any : first ? TAG_FIRST : TAG_WEIGHTS);
    dnnl_memory_desc_init_by_tag(&tw, 4, wd, dnnl_f32, !turned ? TAG_WEIGHTS : s->k == 1 ? TAG_TURNED_1 : TAG_TURNED);
    dnnl_memory_desc_init_by_tag(&b, 1, bd, dnnl_f32, dnnl_a);
    e = dnnl_convolution_forward_desc_init(&forward, s->train ? dnnl_forward_training : dnnl_forward_inference,
                                           algorithm, &x, &w, s->bias ? &b : NULL, &y, stride, pad, pad);
    if (e) return e;
    if (kind == FORWARD) return dnnl_primitive_desc_create(out, &forward, attr, p->engine, NULL);
    e = dnnl_primitive_desc_create(&hint, &forward, NULL, p->engine, NULL);
    if (!e && kind == DATA)
        e = dnnl_convolution_backward_data_desc_init(&d, algorithm, &x, &tw, &y, stride, pad, pad);
    if (!e && kind == WEIGHTS)
        e = dnnl_convolution_backward_weights_desc_init(&d, algorithm, &x, &w, NULL, &y, stride, pad, pad);
    if (!e) e = dnnl_primitive_desc_create(out, &d, attr, p->engine, hint);
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
    static const int name[PASSES][ARGS] = {
        { DNNL_ARG_SRC,      DNNL_ARG_WEIGHTS,      DNNL_ARG_DST,      DNNL_ARG_SCRATCHPAD, DNNL_ARG_BIAS },
        { DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS,      DNNL_ARG_DIFF_DST, DNNL_ARG_SCRATCHPAD, 0 },
        { DNNL_ARG_SRC,      DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST, DNNL_ARG_SCRATCHPAD, 0 },
    };
    pass *a = &p->pass[kind];
    dnnl_status_t e = dnnl_primitive_create(&a->primitive, pd);

    a->args = ARGS - !p->s.bias;
    memcpy(a->name, name[kind], sizeof a->name);
    for (int i = 0; i < a->args && !e; i++) {
        const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, a->name[i]);
        if (a->name[i] == DNNL_ARG_SCRATCHPAD) a->scratch = (dnnl_memory_desc_get_size(md) + 63) / 64 * 64;
        for (int lane = 0; lane < p->s.lanes && !e; lane++)
            e = dnnl_memory_create(&a->arg[lane][i], md, p->engine, DNNL_MEMORY_NONE);
    }
    return e;
}

static dnnl_status_t open_pass(spot_conv *p, int kind)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t pd = NULL;
    bool fast = winograd_is_faster(&p->s, kind);
    const char *name;
    dnnl_status_t e = make_attributes(&p->s, &attr);

    if (!e && fast && describe_pass(p, kind, dnnl_convolution_winograd, attr, &pd)) fast = false;   /* not on this CPU */
    if (!e && !fast) e = describe_pass(p, kind, dnnl_convolution_direct, attr, &pd);
    if (!e) e = make_primitive(p, kind, pd);
    if (!e && !dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name)) p->slow |= !strncmp(name, "ref", 3);
    if (!e && kind == FORWARD) p->packed = *dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    if (kind == DATA) p->turned = !fast;
    dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_attr_destroy(attr);
    return e;
}

static void close_cpu(spot_conv *p)
{
    if (!p) return;
    for (int k = 0; k < PASSES; k++) {
        for (int lane = 0; lane < p->s.lanes; lane++)
            for (int i = 0; i < p->pass[k].args; i++) dnnl_memory_destroy(p->pass[k].arg[lane][i]);
        dnnl_primitive_destroy(p->pass[k].primitive);
    }
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    free(p);
}

static dnnl_status_t open_passes(spot_conv *p)
{
    dnnl_dims_t wd = { p->s.co, p->s.ci, p->s.k, p->s.k };
    int threads = omp_get_max_threads();
    dnnl_status_t e = dnnl_engine_create(&p->engine, dnnl_cpu, 0);

    if (!e) e = dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags);
    if (!e) e = dnnl_memory_desc_init_by_tag(&p->oihw, 4, wd, dnnl_f32, dnnl_oihw);
    omp_set_num_threads(1);                /* a primitive is made for the present number of threads */
    if (!e) e = open_pass(p, FORWARD);
    if (!e && p->s.train && p->s.ci > 3) e = open_pass(p, DATA);
    if (!e && p->s.train) e = open_pass(p, WEIGHTS);
    omp_set_num_threads(threads);
    return e;
}

/* oneDNN falls back without a message to loops that take a hundred times as long. Warns once for all plans. */
static void warn_of_slowness(spot_ctx *c)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&said))
        spot_log(c, SPOT_LOG_WARN, "oneDNN computes convolutions by its reference code, up to a hundred times slower: this "
                 "program was built for blocks of %d channels, which ONEDNN_MAX_CPU_ISA or the CPU rules out; unset it, or "
                 "build with -DSPOT_MARCH=x86-64-v3", SPOT_CHANNELS);
}

static spot_status open_cpu(spot_ctx *c, spot_conv **plan, const spot_conv_shape *s)
{
    spot_conv *p;
    dnnl_status_t e;

    if (s->precision != SPOT_FP32) return spot_fail(c, SPOT_UNSUPPORTED, "conv: the CPU computes in fp32 only");
    p = calloc(1, sizeof *p);
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for the plan of a convolution");
    p->s = *s;
    p->out = s->size / s->stride;
    p->piece = s->rows / s->lanes;
    p->x_row = (size_t)s->ci * s->size * s->size;
    p->y_row = (size_t)s->co * p->out * p->out;
    p->w_count = (size_t)s->co * s->ci * s->k * s->k;
    e = open_passes(p);
    if (e) close_cpu(p);
    DNNL_TRY(c, "plan a convolution", e);
    if (p->slow) warn_of_slowness(c);
    *plan = p;
    return SPOT_OK;
}

/* Scratch: the pads of the lanes, then turned weights (data), or the gradients of lanes 1... (weights). */
static size_t scratch_cpu(const spot_conv *p)
{
    size_t most = p->pass[FORWARD].scratch * p->s.lanes, weights = p->w_count * sizeof(float), n;

    n = p->pass[DATA].scratch * p->s.lanes + weights;
    if (p->pass[DATA].primitive && n > most) most = n;
    n = p->s.train > 1 && p->s.ci == 3 ? spot_conv_image_scratch(&p->s) : 0;
    if (n > most) most = n;
    n = p->pass[WEIGHTS].scratch * p->s.lanes + weights * (p->s.lanes - 1);
    if (p->pass[WEIGHTS].primitive && n > most) most = n;
    return most;
}

static size_t packed_cpu(const spot_conv *p) { return dnnl_memory_desc_get_size(&p->packed) / sizeof(float); }

/* Runs one pass over the lanes. w0: weights of lane 0; w1: of lane 1, and for WEIGHTS w_count further on of each next one. */
static dnnl_status_t run_pass(spot_ctx *c, const spot_conv *p, int kind, const float *x, const float *w0, const float *w1,
                              const float *y, const float *bias, int rows, char *scratch)
{
    const pass *a = &p->pass[kind];
    int failed = 0;

#pragma omp parallel for num_threads(c->threads) schedule(dynamic, 1) reduction(| : failed)
    for (int lane = 0; lane < rows / p->piece; lane++) {
        size_t row = (size_t)lane * p->piece;
        const void *at[ARGS] = { x + row * p->x_row, lane ? w1 + (kind == WEIGHTS) * (lane - 1) * p->w_count : w0,
                                 y + row * p->y_row, scratch + lane * a->scratch, bias };
        dnnl_exec_arg_t arg[ARGS];
        int e = 0, threads = omp_get_max_threads();

        omp_set_num_threads(1);            /* for oneDNN's own loops in this task; restored below */
        for (int i = 0; i < a->args; i++) {
            arg[i] = (dnnl_exec_arg_t){ a->name[i], a->arg[lane][i] };
            e |= dnnl_memory_set_data_handle(a->arg[lane][i], (void *)(uintptr_t)at[i]);
        }
        e |= dnnl_primitive_execute(a->primitive, p->stream, a->args, arg);
        omp_set_num_threads(threads);
        failed |= e;
    }
    return (dnnl_status_t)failed;
}

static spot_status planes_cpu(spot_ctx *c, void *planes, const float *pixels, int live, int rows, int count,
                              spot_precision precision)
{
    (void)precision;
#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < rows; n++) {
        const float *from = pixels + (size_t)n * 3 * count;
        float *to = (float *)planes + (size_t)n * 3 * count;
        if (n >= live) memset(to, 0, (size_t)3 * count * sizeof *to);
        for (int i = 0; i < count && n < live; i++) {
            to[i] = from[3 * i];
            to[count + i] = from[3 * i + 1];
            to[2 * count + i] = from[3 * i + 2];
        }
    }
    return SPOT_OK;
}

static dnnl_status_t reorder_weights(const spot_conv *p, const dnnl_memory_desc_t *to, float *dst,
                                     const dnnl_memory_desc_t *from, const float *src)
{
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_t copy = NULL;
    dnnl_memory_t a = NULL, b = NULL;
    dnnl_status_t e = dnnl_reorder_primitive_desc_create(&pd, from, p->engine, to, p->engine, NULL);

    if (!e) e = dnnl_primitive_create(&copy, pd);
    if (!e) e = dnnl_memory_create(&a, from, p->engine, (void *)(uintptr_t)src);
    if (!e) e = dnnl_memory_create(&b, to, p->engine, dst);
    if (!e) {
        dnnl_exec_arg_t arg[2] = { { DNNL_ARG_FROM, a }, { DNNL_ARG_TO, b } };
        e = dnnl_primitive_execute(copy, p->stream, 2, arg);
    }
    dnnl_memory_destroy(a);
    dnnl_memory_destroy(b);
    dnnl_primitive_destroy(copy);
    dnnl_primitive_desc_destroy(pd);
    return e;
}

static spot_status pack_cpu(spot_ctx *c, const spot_conv *p, void *packed, const float *oihw)
{
    DNNL_TRY(c, "pack weights", reorder_weights(p, &p->packed, packed, &p->oihw, oihw));
    return SPOT_OK;
}

static spot_status unpack_cpu(spot_ctx *c, const spot_conv *p, float *oihw, const float *packed)
{
    DNNL_TRY(c, "unpack weights", reorder_weights(p, &p->oihw, oihw, &p->packed, packed));
    return SPOT_OK;
}

static spot_status forward_cpu(spot_ctx *c, const spot_conv *p, void *y, const void *x, const void *w,
                               const float *bias, const void *other, int rows, void *scratch)
{
    (void)other;                           /* it is y */
    SPOT_TRY(spot_check_stop(c));
    DNNL_TRY(c, "run a convolution", run_pass(c, p, FORWARD, x, w, w, y, bias, rows, scratch));
    return SPOT_OK;
}

/* Transposes each block of B x B weights, (in, out) -> (out, in); for k = 1 with AVX-512 also the order of the blocks. */
static void turn_weights(spot_ctx *c, const spot_conv *p, float *to, const float *from)
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

static spot_status backward_data_cpu(spot_ctx *c, const spot_conv *p, void *dx, const void *dy, const void *w,
                                     int rows, void *scratch)
{
    float *turned = (float *)((char *)scratch + p->pass[DATA].scratch * p->s.lanes);

    SPOT_TRY(spot_check_stop(c));
    if (p->s.ci == 3) return spot_conv_image_gradient(c, &p->s, dx, dy, w, rows, scratch), SPOT_OK;
    if (p->turned) {
        turn_weights(c, p, turned, w);
        w = turned;
    }
    DNNL_TRY(c, "run a data gradient", run_pass(c, p, DATA, dx, w, w, dy, NULL, rows, scratch));
    return SPOT_OK;
}

static spot_status backward_weights_cpu(spot_ctx *c, const spot_conv *p, float *dw, const void *x, const void *dy,
                                        int rows, void *scratch)
{
    const float *other = (float *)((char *)scratch + p->pass[WEIGHTS].scratch * p->s.lanes);
    int lanes = rows / p->piece;

    SPOT_TRY(spot_check_stop(c));
    DNNL_TRY(c, "run a weight gradient", run_pass(c, p, WEIGHTS, x, dw, other, dy, NULL, rows, scratch));
#pragma omp parallel for num_threads(c->threads)
    for (size_t i = 0; i < p->w_count; i += 16)                        /* w_count is a multiple of 16 */
        for (int lane = 1; lane < lanes; lane++)
            for (int j = 0; j < 16; j++) dw[i + j] += other[(size_t)(lane - 1) * p->w_count + i + j];
    return SPOT_OK;
}

const spot_conv_ops spot_conv_cpu = {
    .stem = 3, .open = open_cpu, .close = close_cpu, .scratch = scratch_cpu, .packed = packed_cpu, .planes = planes_cpu,
    .pack = pack_cpu, .unpack = unpack_cpu, .forward = forward_cpu, .backward_data = backward_data_cpu,
    .backward_weights = backward_weights_cpu,
};

spot_status spot_conv_open(spot_ctx *c, spot_conv **plan, const spot_conv_shape *s)
{
    *plan = NULL;
    if (s->lanes < 1 || s->lanes > SPOT_MAX_LANES || s->rows < s->lanes || s->rows % s->lanes)
        return spot_fail(c, SPOT_INVALID, "conv: %d rows do not make 1 to %d equal lanes (%d asked for)", s->rows,
                         SPOT_MAX_LANES, s->lanes);
    if ((s->ci != 3 && (s->ci < 16 || s->ci % 16)) || s->co < 16 || s->co % 16)
        return spot_fail(c, SPOT_INVALID, "conv: %d -> %d channels; multiples of 16 (or 3 -> a multiple of 16) are possible",
                         s->ci, s->co);
    if ((s->k != 1 && s->k != 3 && s->k != 7) || (s->stride != 1 && s->stride != 2) || s->size < 1
        || s->size % s->stride || (s->train && (s->bias || s->add || s->relu)))
        return spot_fail(c, SPOT_INVALID, "conv: kernel %d, stride %d, size %d are not supported together", s->k, s->stride,
                         s->size);
    SPOT_DISPATCH(c, conv, open, plan, s);
}

void spot_conv_close(spot_ctx *c, spot_conv *plan)
{
    if (plan) c->ops->conv->close(plan);
}

const spot_conv_shape *spot_conv_shape_of(const spot_conv *plan) { return (const spot_conv_shape *)plan; }

size_t spot_conv_scratch(spot_ctx *c, const spot_conv *plan) { return c->ops->conv->scratch(plan); }

size_t spot_conv_packed(spot_ctx *c, const spot_conv *plan) { return c->ops->conv->packed(plan); }

uint64_t spot_conv_made_with(spot_ctx *c, const spot_conv *plan)
{
    return c->ops->conv->made_with ? c->ops->conv->made_with(c, plan) : 0;
}

/* The rows must be whole pieces, and the plan made for the pass (able). */
static spot_status check_call(spot_ctx *c, const char *op, const spot_conv *plan, int rows, bool able)
{
    const spot_conv_shape *s = spot_conv_shape_of(plan);

    if (!able) return spot_fail(c, SPOT_INVALID, "conv.%s: the plan was not made for it", op);
    if (rows < 1 || rows > s->rows || rows % (s->rows / s->lanes))
        return spot_fail(c, SPOT_INVALID, "conv.%s: %d rows are no whole pieces of %d", op, rows, s->rows / s->lanes);
    return SPOT_OK;
}

spot_status spot_conv_planes(spot_ctx *c, void *planes, const float *pixels, int live, int rows, int count,
                             spot_precision precision)
{
    if (live < 1 || live > rows || count < 1)
        return spot_fail(c, SPOT_INVALID, "conv.planes: %d of %d rows of (%d, 3) pixels", live, rows, count);
    if (precision != SPOT_FP32 && !c->device)
        return spot_fail(c, SPOT_UNSUPPORTED, "conv.planes: the CPU computes in fp32 only");
    SPOT_DISPATCH(c, conv, planes, planes, pixels, live, rows, count, precision);
}

int spot_conv_inputs(const spot_ctx *c, const spot_conv_shape *s)
{
    return s->ci == 3 && c->ops->conv ? c->ops->conv->stem : s->ci;
}

spot_status spot_conv_pack(spot_ctx *c, const spot_conv *plan, void *packed, const float *oihw)
{
    SPOT_DISPATCH(c, conv, pack, plan, packed, oihw);
}

spot_status spot_conv_unpack(spot_ctx *c, const spot_conv *plan, float *oihw, const float *packed)
{
    if (!spot_conv_shape_of(plan)->train)
        return spot_fail(c, SPOT_INVALID, "conv.unpack: the plan was not made for it");
    SPOT_DISPATCH(c, conv, unpack, plan, oihw, packed);
}

bool spot_conv_apart(const spot_ctx *c) { return c->ops->conv && c->ops->conv->apart; }

spot_status spot_conv_forward(spot_ctx *c, const spot_conv *plan, void *y, const void *x, const void *w,
                              const float *bias, const void *other, int rows, void *scratch)
{
    const spot_conv_shape *s = spot_conv_shape_of(plan);

    SPOT_TRY(check_call(c, "forward", plan, rows, !bias == !s->bias && !other == !s->add));
    if (other && (other == y) == spot_conv_apart(c))
        return spot_fail(c, SPOT_INVALID, "conv.forward: on %s what is added must %s", c->ops->name,
                         spot_conv_apart(c) ? "lie apart from y" : "be y");
    SPOT_DISPATCH(c, conv, forward, plan, y, x, w, bias, other, rows, scratch);
}

spot_status spot_conv_backward_data(spot_ctx *c, const spot_conv *plan, void *dx, const void *dy, const void *w,
                                    int rows, void *scratch)
{
    const spot_conv_shape *s = spot_conv_shape_of(plan);

    SPOT_TRY(check_call(c, "backward_data", plan, rows, s->train > (s->ci == 3)));
    SPOT_DISPATCH(c, conv, backward_data, plan, dx, dy, w, rows, scratch);
}

spot_status spot_conv_backward_weights(spot_ctx *c, const spot_conv *plan, float *dw, const void *x, const void *dy,
                                       int rows, void *scratch)
{
    SPOT_TRY(check_call(c, "backward_weights", plan, rows, spot_conv_shape_of(plan)->train));
    SPOT_DISPATCH(c, conv, backward_weights, plan, dw, x, dy, rows, scratch);
}
