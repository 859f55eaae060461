/* conv.c - convolutions by oneDNN, cut into lanes so that the bits do not depend on the threads. */
#include "net/conv.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/bf16.h"
#include "core/lanes.h"
#include "net/conv_amx.h"
#include "net/conv_blocks.h"
#include "net/conv_dnnl.h"
#include "net/conv_image.h"
#include "net/conv_winograd.h"
#include "net/dnnl_copy.h"

#define DNNL_TRY(c, what, call)                                                                              \
    do {                                                                                                     \
        dnnl_status_t dnnl_try_ = (call);                                                                    \
        if (dnnl_try_ != dnnl_success)                                                                       \
            return spot_fail((c), dnnl_try_ == dnnl_out_of_memory ? SPOT_NOMEM : SPOT_DEVICE,                \
                             "oneDNN cannot %s (its status %d)", (what), (int)dnnl_try_);                    \
    } while (0)

static void close_cpu(spot_conv *p)
{
    if (!p) return;
    spot_conv_close_passes(p);
    free(p);
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
    size_t number = spot_precision_bytes(s->precision);
    spot_conv *p;
    dnnl_status_t e;

    SPOT_TRY(spot_conv_able(c, s->precision));
    p = calloc(1, sizeof *p);
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for the plan of a convolution");
    p->s = *s;
    p->out = spot_conv_out(s);
    p->piece = s->rows / s->lanes;
    p->slots = c->threads < s->lanes ? c->threads : s->lanes;
    p->x_row = (size_t)s->ci * s->size * s->size * number;
    p->y_row = (size_t)s->co * p->out * p->out * number;
    p->w_count = (size_t)s->co * s->ci * s->k * s->k;
    p->amx = spot_conv_amx_able(s);
    p->deep[SPOT_FORWARD] = spot_conv_amx_deep(s, false);
    p->deep[SPOT_DATA] = s->train && spot_conv_amx_deep(s, true);
    e = spot_conv_open_passes(p);
    if (e) close_cpu(p);
    DNNL_TRY(c, "plan a convolution", e);
    if (p->slow) warn_of_slowness(c);
    *plan = p;
    return SPOT_OK;
}

/* Bytes of scratch for the weights that spot_conv_amx_product reads; without training they are packed in that order. */
static size_t turned_bytes(const spot_conv *p) { return p->s.train ? spot_arena_room(p->w_count * sizeof(uint16_t)) : 0; }

static spot_status multiply(spot_ctx *c, const spot_conv *p, int kind, void *y, const void *x, const void *w, const float *bias,
                            int rows, char *scratch)
{
    if (p->s.train) {
        DNNL_TRY(c, "turn weights", spot_conv_turn(c, p, kind, scratch, w));
        w = scratch;
    }
    spot_conv_amx_product(c, &p->s, kind == SPOT_DATA, y, x, w, bias, rows, scratch + turned_bytes(p));
    return SPOT_OK;
}

/* Scratch: the pads of the threads, then turned weights (forward, data), or the gradients of lanes 1... (weights). */
static size_t scratch_cpu(const spot_conv *p)
{
    size_t most = p->s.train > 1 && p->s.ci == 3 ? spot_conv_image_scratch(&p->s) : 0;
    size_t amx = p->amx ? spot_conv_amx_scratch(&p->s) : 0;

    if (amx > most) most = amx;
    amx = p->deep[SPOT_FORWARD] || p->deep[SPOT_DATA] ? turned_bytes(p) + spot_conv_amx_product_scratch(&p->s) : 0;
    if (amx > most) most = amx;
    if (p->winograd) most = spot_conv_winograd_scratch(&p->s) * (size_t)p->slots;
    for (int k = 0; k < SPOT_PASSES; k++) {
        const spot_conv_pass *a = &p->pass[k];
        size_t lanes = k == SPOT_WEIGHTS ? p->w_count * sizeof(float) * (p->s.lanes - 1) : 0;
        size_t n = (a->scratch + a->framed) * (size_t)p->slots + a->turned + lanes;
        if (a->primitive && n > most) most = n;
    }
    return most;
}

static size_t packed_cpu(const spot_conv *p)
{
    if (p->winograd) return spot_conv_winograd_packed(&p->s);
    return dnnl_memory_desc_get_size(&p->packed) / (p->packed.data_type == dnnl_bf16 ? 2 : 4);
}

/* Tensors of a pass. w0: weights of lane 0; w1: of lane 1, and for weights' gradients w_count further on of each next one. */
typedef struct { const void *x, *w0, *w1, *y; const float *bias; } pass_data;

/* A lane's pictures -> `to`, with their frames of zeros. */
static void frame_pictures(const spot_conv *p, float *to, const float *from)
{
    const size_t size = (size_t)p->s.size, frame = (size_t)p->frame, wide = size + 2 * frame;

    for (int plane = 0; plane < 3 * p->piece; plane++, to += wide * wide, from += size * size) {
        memset(to, 0, wide * wide * sizeof *to);
        for (size_t y = 0; y < size; y++) memcpy(to + (y + frame) * wide + frame, from + y * size, size * sizeof *to);
    }
}

/* Runs one pass over the lanes. A thread has one scratchpad for all of its lanes: of oneDNN's a part is never touched, and what
 * is touched stays in its cache. */
static dnnl_status_t run_pass(spot_ctx *c, const spot_conv *p, int kind, pass_data t, int rows, char *scratch)
{
    const spot_conv_pass *a = &p->pass[kind];
    size_t next = kind == SPOT_WEIGHTS ? p->w_count * sizeof(float) : 0;
    const int team = c->threads < p->slots ? c->threads : p->slots;
    int failed = 0;

#pragma omp parallel for num_threads(team) schedule(dynamic, 1) reduction(| : failed)
    for (int lane = 0; lane < rows / p->piece; lane++) {
        size_t row = (size_t)lane * p->piece;
        const void *w = lane ? (const char *)t.w1 + (lane - 1) * next : t.w0;
        char *own = scratch + (size_t)omp_get_thread_num() * (a->scratch + a->framed);
        const void *at[SPOT_PASS_ARGS] = { (const char *)t.x + row * p->x_row, w, (const char *)t.y + row * p->y_row, own,
                                           t.bias };
        dnnl_exec_arg_t arg[SPOT_PASS_ARGS];
        int e = 0, threads = omp_get_max_threads();

        if (p->frame) {
            frame_pictures(p, (float *)(own + a->scratch), at[0]);
            at[0] = own + a->scratch;
        }
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

/* One image of `count` pixels, into planes, or in bf16 into pixels again. */
static void planes_of_image(void *to, const float *from, int count, spot_precision precision)
{
    float *plane = to;
    uint16_t *half = to;

    for (int i = 0; precision == SPOT_BF16 && i < 3 * count; i++) half[i] = spot_bf16_bits(from[i]);
    for (int i = 0; precision != SPOT_BF16 && i < count; i++) {
        plane[i] = from[3 * i];
        plane[count + i] = from[3 * i + 1];
        plane[2 * count + i] = from[3 * i + 2];
    }
}

static spot_status planes_cpu(spot_ctx *c, void *planes, const float *pixels, int live, int rows, int count,
                              spot_precision precision)
{
    size_t values = (size_t)3 * count, image = values * spot_precision_bytes(precision);

#pragma omp parallel for num_threads(c->threads)
    for (int n = 0; n < rows; n++) {
        if (n < live) planes_of_image((char *)planes + n * image, pixels + n * values, count, precision);
        else          memset((char *)planes + n * image, 0, image);
    }
    return SPOT_OK;
}

static spot_status pack_cpu(spot_ctx *c, const spot_conv *p, void *packed, const float *oihw)
{
    if (p->winograd) return spot_conv_winograd_pack(c, &p->s, packed, oihw), SPOT_OK;
    DNNL_TRY(c, "pack weights", spot_dnnl_copy(c, p->stream, &p->packed, packed, &p->oihw, oihw));
    return SPOT_OK;
}

static spot_status unpack_cpu(spot_ctx *c, const spot_conv *p, float *oihw, const float *packed)
{
    DNNL_TRY(c, "unpack weights", spot_dnnl_copy(c, p->stream, &p->oihw, oihw, &p->packed, packed));
    return SPOT_OK;
}

static spot_status copy_parts_cpu(spot_ctx *c, const spot_conv_part *part, int count)
{
    (void)c;
    for (int i = 0; i < count; i++) memcpy(part[i].to, part[i].from, part[i].count * sizeof *part[i].to);
    return SPOT_OK;
}

/* Scratch behind what belongs to the threads. */
static void *behind_pads(const spot_conv *p, int kind, void *scratch)
{
    return (char *)scratch + (p->pass[kind].scratch + p->pass[kind].framed) * (size_t)p->slots;
}

static spot_status forward_cpu(spot_ctx *c, const spot_conv *p, void *y, const spot_conv_terms *t, int rows, void *scratch)
{
    void *turned = behind_pads(p, SPOT_FORWARD, scratch);
    const void *w = t->w;

    SPOT_TRY(spot_check_stop(c));          /* t->other is y */
    if (p->deep[SPOT_FORWARD]) return multiply(c, p, SPOT_FORWARD, y, t->x, w, t->bias, rows, scratch);
    if (p->winograd) {
        spot_conv_winograd(&p->s, y, t, rows, c->threads < p->slots ? c->threads : p->slots, scratch);
        return SPOT_OK;
    }
    if (p->pass[SPOT_FORWARD].turned) {
        DNNL_TRY(c, "turn weights", spot_conv_turn(c, p, SPOT_FORWARD, turned, w));
        w = turned;
    }
    DNNL_TRY(c, "run a convolution", run_pass(c, p, SPOT_FORWARD, (pass_data){ t->x, w, w, y, t->bias }, rows, scratch));
    return SPOT_OK;
}

static spot_status backward_data_cpu(spot_ctx *c, const spot_conv *p, void *dx, const void *dy, const void *w,
                                     int rows, void *scratch)
{
    void *turned = behind_pads(p, SPOT_DATA, scratch);

    SPOT_TRY(spot_check_stop(c));
    if (p->s.ci == 3) return spot_conv_image_gradient(c, &p->s, dx, dy, w, rows, scratch), SPOT_OK;
    if (p->deep[SPOT_DATA]) return multiply(c, p, SPOT_DATA, dx, dy, w, NULL, rows, scratch);
    if (p->turned) {
        DNNL_TRY(c, "turn weights", spot_conv_turn(c, p, SPOT_DATA, turned, w));
        w = turned;
    }
    DNNL_TRY(c, "run a data gradient", run_pass(c, p, SPOT_DATA, (pass_data){ dx, w, w, dy, NULL }, rows, scratch));
    return SPOT_OK;
}

static spot_status backward_weights_cpu(spot_ctx *c, const spot_conv *p, float *dw, const void *x, const void *dy,
                                        int rows, void *scratch)
{
    const float *other = behind_pads(p, SPOT_WEIGHTS, scratch);
    int lanes = rows / p->piece;

    SPOT_TRY(spot_check_stop(c));
    if (p->amx) return spot_conv_amx_weights(c, &p->s, dw, x, dy, rows, scratch), SPOT_OK;
    if (p->blocks) return spot_conv_block_weights(c, &p->s, dw, x, dy, rows), SPOT_OK;
    DNNL_TRY(c, "run a weight gradient", run_pass(c, p, SPOT_WEIGHTS, (pass_data){ x, dw, other, dy, NULL }, rows, scratch));
#pragma omp parallel for num_threads(c->threads)
    for (size_t i = 0; i < p->w_count; i += 16)                        /* w_count is a multiple of 16 */
        for (int lane = 1; lane < lanes; lane++)
            for (int j = 0; j < 16; j++) dw[i + j] += other[(size_t)(lane - 1) * p->w_count + i + j];
    return SPOT_OK;
}

const spot_conv_ops spot_conv_cpu = {
    .stem = 3, .open = open_cpu, .close = close_cpu, .scratch = scratch_cpu, .packed = packed_cpu, .planes = planes_cpu,
    .pack = pack_cpu, .unpack = unpack_cpu, .copy_parts = copy_parts_cpu, .forward = forward_cpu,
    .backward_data = backward_data_cpu, .backward_weights = backward_weights_cpu,
};

/* Without these instructions oneDNN emulates bf16, more slowly than it computes fp32. */
bool spot_conv_has(const spot_ctx *c, spot_precision precision)
{
    int isa = dnnl_cpu_isa_avx512_core_bf16;

    if (c->device || precision == SPOT_FP32) return true;
    return precision == SPOT_BF16 && ((int)dnnl_get_effective_cpu_isa() & isa) == isa;
}

spot_status spot_conv_able(spot_ctx *c, spot_precision precision)
{
    if (spot_conv_has(c, precision)) return SPOT_OK;
    if (precision != SPOT_BF16)
        return spot_fail(c, SPOT_UNSUPPORTED, "{conv.precision} the CPU computes in fp32 and bf16, not in tf32; set the "
                         "precision to one of them, or take --device cuda");
    return spot_fail(c, SPOT_UNSUPPORTED, "{conv.precision} bf16 on the CPU needs AVX512-BF16 instructions, which this CPU "
                     "lacks or ONEDNN_MAX_CPU_ISA rules out; set the precision to fp32, or take --device cuda");
}

spot_status spot_conv_open(spot_ctx *c, spot_conv **plan, const spot_conv_shape *s)
{
    *plan = NULL;
    if (s->lanes < 1 || s->lanes > SPOT_MAX_LANES || s->rows < s->lanes || s->rows % s->lanes)
        return spot_fail(c, SPOT_INVALID, "{conv.lanes} conv: %d rows do not make 1 to %d equal lanes (%d asked for)", s->rows,
                         SPOT_MAX_LANES, s->lanes);
    if ((s->ci != 3 && (s->ci < 16 || s->ci % 16)) || s->co < 16 || s->co % 16)
        return spot_fail(c, SPOT_INVALID, "{conv.channels} conv: %d -> %d channels; multiples of 16 (or 3 -> a multiple of 16) "
                         "are possible", s->ci, s->co);
    if ((s->k == 11 ? s->ci != 3 || s->stride != 4 || s->size < 12
                    : (s->k != 1 && s->k != 3 && s->k != 5 && s->k != 7) || (s->stride != 1 && s->stride != 2))
        || s->size < 1 || s->size % s->stride || (s->train && (s->bias || s->relu)))
        return spot_fail(c, SPOT_INVALID, "{conv.kernel} conv: kernel %d, stride %d, size %d are not supported together", s->k,
                         s->stride, s->size);
    if (s->train && s->add && !spot_conv_onto(c))
        return spot_fail(c, SPOT_UNSUPPORTED, "{conv.added_gradient} conv: %s adds no gradient to dx; open the plan without "
                         "add, and add afterwards", c->ops->name);
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

spot_status spot_conv_keep_in(spot_ctx *c, const char *folder)
{
    return c->ops->conv->keep_in ? c->ops->conv->keep_in(c, folder) : SPOT_OK;
}

const char *spot_conv_kept_in(const spot_ctx *c) { return c->ops->conv->kept_in ? c->ops->conv->kept_in(c) : ""; }

/* The rows must be whole pieces, and the plan made for the pass (able). */
static spot_status check_call(spot_ctx *c, const char *op, const spot_conv *plan, int rows, bool able)
{
    const spot_conv_shape *s = spot_conv_shape_of(plan);

    if (!able) return spot_fail(c, SPOT_INVALID, "{conv.plan_kind} conv.%s: the plan was not made for it", op);
    if (rows < 1 || rows > s->rows || rows % (s->rows / s->lanes))
        return spot_fail(c, SPOT_INVALID, "{conv.pieces} conv.%s: %d rows are no whole pieces of %d", op, rows,
                         s->rows / s->lanes);
    return SPOT_OK;
}

spot_status spot_conv_planes(spot_ctx *c, void *planes, const float *pixels, int live, int rows, int count,
                             spot_precision precision)
{
    if (live < 1 || live > rows || count < 1)
        return spot_fail(c, SPOT_INVALID, "conv.planes: %d of %d rows of (%d, 3) pixels", live, rows, count);
    SPOT_TRY(spot_conv_able(c, precision));
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
        return spot_fail(c, SPOT_INVALID, "{conv.plan_kind} conv.unpack: the plan was not made for it");
    SPOT_DISPATCH(c, conv, unpack, plan, oihw, packed);
}

spot_status spot_conv_copy_parts(spot_ctx *c, const spot_conv_part *part, int count)
{
    for (int i = 0; i < count; i++)
        if (!part[i].count || !part[i].to || !part[i].from)
            return spot_fail(c, SPOT_INVALID, "conv.copy_parts: part %d of %d has no numbers", i, count);
    SPOT_DISPATCH(c, conv, copy_parts, part, count);
}

bool spot_conv_apart(const spot_ctx *c) { return c->ops->conv && c->ops->conv->apart; }
bool spot_conv_onto(const spot_ctx *c)  { return c->ops->conv && c->ops->conv->onto; }

spot_status spot_conv_forward(spot_ctx *c, const spot_conv *plan, void *y, const spot_conv_terms *t, int rows,
                              void *scratch)
{
    const spot_conv_shape *s = spot_conv_shape_of(plan);

    SPOT_TRY(check_call(c, "forward", plan, rows, !t->bias == !s->bias && !t->other == !(s->add && !s->train)));
    if (t->other && (t->other == y) == spot_conv_apart(c))
        return spot_fail(c, SPOT_INVALID, "{conv.added_place} conv.forward: on %s what is added must %s", c->ops->name,
                         spot_conv_apart(c) ? "lie apart from y" : "be y");
    SPOT_DISPATCH(c, conv, forward, plan, y, t, rows, scratch);
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
