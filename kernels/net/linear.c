/* linear.c - rows times weights by oneDNN, a piece of rows to a thread.
 *
 * Measured on Sapphire Rapids (a core, fp32, 768 -> 3,072): oneDNN 146 to 167 GFLOP/s in pieces of 64 rows and 120 in pieces
 * of 16, OpenBLAS 125 in pieces of 64. Each piece reads all weights: beside other programs ViT-B/32 is 6 to 15 % faster in
 * pieces of 192 rows than of 64. */
#include "net/linear.h"

#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>
#include <string.h>

#include "net/dnnl_copy.h"

enum { LANES = SPOT_MAX_LANES, ARGS = 5, KINDS = 3 };

/* Rows of a piece: as many of the first kind as fit, and of each next one of what is left; the last takes the rest. */
static const int piece_rows[KINDS] = { 192, 64, SPOT_LINEAR_ROWS };

/* A product of a fixed number of rows, and for each lane the handles of its arguments. */
typedef struct {
    dnnl_primitive_t primitive;
    dnnl_memory_t    arg[LANES][ARGS];
    size_t           scratch;                  /* bytes a lane */
} product;

struct spot_linear {
    spot_linear_shape s;
    dnnl_engine_t     engine;
    dnnl_stream_t     stream;
    dnnl_memory_desc_t plain, packed;          /* the weights as (in, out) */
    product           kind[KINDS];
};

static const int arg_name[ARGS] = { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD, DNNL_ARG_BIAS };

static int args_of(const spot_linear *p) { return ARGS - !p->s.bias; }

static spot_status check_dnnl(spot_ctx *c, const char *what, dnnl_status_t e)
{
    if (!e) return SPOT_OK;
    return spot_fail(c, e == dnnl_out_of_memory ? SPOT_NOMEM : SPOT_DEVICE, "oneDNN cannot %s (its status %d)", what, (int)e);
}

/* The caller owns the scratchpads: oneDNN's own belong to the thread that made the primitive. */
static dnnl_status_t make_attributes(const spot_linear_shape *s, dnnl_primitive_attr_t *attr)
{
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t e = dnnl_primitive_attr_create(attr);

    if (!e) e = dnnl_primitive_attr_set_scratchpad_mode(*attr, dnnl_scratchpad_mode_user);
    if (!e) e = dnnl_post_ops_create(&ops);
    if (!e && s->add) e = dnnl_post_ops_append_sum(ops, 1.0f);
    if (!e && s->activation == SPOT_ACT_QUICK_GELU)
        e = dnnl_post_ops_append_eltwise(ops, 1.0f, dnnl_eltwise_swish, 1.702f, 0.0f);
    if (!e && s->activation == SPOT_ACT_GELU) e = dnnl_post_ops_append_eltwise(ops, 1.0f, dnnl_eltwise_gelu_erf, 0.0f, 0.0f);
    if (!e) e = dnnl_primitive_attr_set_post_ops(*attr, ops);
    dnnl_post_ops_destroy(ops);
    return e;
}

static dnnl_status_t describe(const spot_linear *p, int rows, const dnnl_memory_desc_t *w, dnnl_primitive_desc_t *out)
{
    const spot_linear_shape *s = &p->s;
    dnnl_data_type_t type = s->precision == SPOT_BF16 ? dnnl_bf16 : dnnl_f32;
    dnnl_dims_t xd = { rows, s->in }, yd = { rows, s->out }, bd = { 1, s->out };
    dnnl_memory_desc_t x, y, bias;
    dnnl_matmul_desc_t d;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_status_t e = make_attributes(s, &attr);

    if (!e) e = dnnl_memory_desc_init_by_tag(&x, 2, xd, type, dnnl_ab);
    if (!e) e = dnnl_memory_desc_init_by_tag(&y, 2, yd, s->narrow ? type : dnnl_f32, dnnl_ab);
    if (!e) e = dnnl_memory_desc_init_by_tag(&bias, 2, bd, dnnl_f32, dnnl_ab);
    if (!e) e = dnnl_matmul_desc_init(&d, &x, w, s->bias ? &bias : NULL, &y);
    if (!e) e = dnnl_primitive_desc_create(out, &d, attr, p->engine, NULL);
    dnnl_primitive_attr_destroy(attr);
    return e;
}

/* Makes the product of pieces of `rows` rows. w: the order of the weights, or any; *kept: the order that was taken. */
static dnnl_status_t open_product(const spot_linear *p, product *a, int rows, const dnnl_memory_desc_t *w,
                                  dnnl_memory_desc_t *kept)
{
    dnnl_primitive_desc_t pd = NULL;
    dnnl_status_t e = describe(p, rows, w, &pd);

    if (!e) e = dnnl_primitive_create(&a->primitive, pd);
    for (int i = 0; i < args_of(p) && !e; i++) {
        const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, arg_name[i]);
        if (arg_name[i] == DNNL_ARG_SCRATCHPAD) a->scratch = spot_arena_room(dnnl_memory_desc_get_size(md));
        if (arg_name[i] == DNNL_ARG_WEIGHTS) *kept = *md;
        for (int lane = 0; lane < LANES && !e; lane++)
            e = dnnl_memory_create(&a->arg[lane][i], md, p->engine, DNNL_MEMORY_NONE);
    }
    dnnl_primitive_desc_destroy(pd);
    return e;
}

static void close_product(product *a)
{
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < ARGS; i++) dnnl_memory_destroy(a->arg[lane][i]);
    dnnl_primitive_destroy(a->primitive);
}

static void close_cpu(spot_linear *p)
{
    if (!p) return;
    for (int k = 0; k < KINDS; k++) close_product(&p->kind[k]);
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    free(p);
}

static dnnl_status_t open_products(spot_linear *p)
{
    dnnl_dims_t wd = { p->s.in, p->s.out };
    dnnl_memory_desc_t any;
    int threads = omp_get_max_threads();
    dnnl_status_t e = dnnl_engine_create(&p->engine, dnnl_cpu, 0);

    if (!e) e = dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags);
    if (!e) e = dnnl_memory_desc_init_by_tag(&p->plain, 2, wd, dnnl_f32, dnnl_ba);
    if (!e) e = dnnl_memory_desc_init_by_tag(&any, 2, wd, p->s.precision == SPOT_BF16 ? dnnl_bf16 : dnnl_f32,
                                             dnnl_format_tag_any);
    omp_set_num_threads(1);                /* a primitive is made for the present number of threads */
    for (int k = 0; k < KINDS && !e; k++) e = open_product(p, &p->kind[k], piece_rows[k], k ? &p->packed : &any, &p->packed);
    omp_set_num_threads(threads);
    return e;
}

static spot_status open_cpu(spot_ctx *c, spot_linear **plan, const spot_linear_shape *s)
{
    spot_linear *p;
    dnnl_status_t e;

    SPOT_TRY(spot_conv_able(c, s->precision));
    p = calloc(1, sizeof *p);
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for the plan of a linear layer");
    p->s = *s;
    e = open_products(p);
    if (e) close_cpu(p);
    SPOT_TRY(check_dnnl(c, "plan a linear layer", e));
    *plan = p;
    return SPOT_OK;
}

static size_t packed_cpu(const spot_linear *p) { return spot_arena_room(dnnl_memory_desc_get_size(&p->packed)); }

static size_t scratch_of_lane(const spot_linear *p)
{
    size_t most = 0;

    for (int k = 0; k < KINDS; k++) most = p->kind[k].scratch > most ? p->kind[k].scratch : most;
    return most;
}

static size_t scratch_cpu(const spot_linear *p) { return LANES * scratch_of_lane(p); }

static spot_status pack_cpu(spot_ctx *c, const spot_linear *p, void *packed, const float *w)
{
    return check_dnnl(c, "pack weights", spot_dnnl_copy(c, p->stream, &p->packed, packed, &p->plain, w));
}

/* Multiplies the piece of rows that begins at row `first`, with the handles of a lane. */
static dnnl_status_t multiply(const spot_linear *p, const product *a, int lane, char *y, const char *x, const void *w,
                              const float *bias, size_t first, char *scratch)
{
    size_t number = spot_precision_bytes(p->s.precision), wide = p->s.narrow ? number : sizeof(float);
    const void *at[ARGS] = { x + first * (size_t)p->s.in * number, w, y + first * (size_t)p->s.out * wide,
                             scratch + (size_t)lane * scratch_of_lane(p), bias };
    dnnl_exec_arg_t arg[ARGS];
    dnnl_status_t e = dnnl_success;

    for (int i = 0; i < args_of(p) && !e; i++) {
        arg[i] = (dnnl_exec_arg_t){ arg_name[i], a->arg[lane][i] };
        e = dnnl_memory_set_data_handle(a->arg[lane][i], (void *)(uintptr_t)at[i]);
    }
    return e ? e : dnnl_primitive_execute(a->primitive, p->stream, args_of(p), arg);
}

/* Finds piece i of `rows` rows: its first row and its kind. */
static int find_piece(int rows, int i, size_t *first)
{
    size_t at = 0;
    int k = 0;

    for (; k < KINDS - 1; k++) {
        int n = (rows - (int)at) / piece_rows[k];
        if (i < n) break;
        i -= n;
        at += (size_t)n * piece_rows[k];
    }
    *first = at + (size_t)i * piece_rows[k];
    return k;
}

static int count_pieces(int rows)
{
    int n = 0;

    for (int k = 0; k < KINDS - 1; rows %= piece_rows[k++]) n += rows / piece_rows[k];
    return n + (rows + SPOT_LINEAR_ROWS - 1) / SPOT_LINEAR_ROWS;
}

static spot_status forward_cpu(spot_ctx *c, const spot_linear *p, void *y, const void *x, const void *w, const float *bias,
                               int rows, void *scratch)
{
    int lanes = c->threads < LANES ? c->threads : LANES, pieces = count_pieces(rows), failed = 0;

#pragma omp parallel num_threads(lanes) reduction(| : failed)
    {
        int threads = omp_get_max_threads();
        omp_set_num_threads(1);            /* for oneDNN's own loops in this task; restored below */
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < pieces; i++) {
            size_t first;
            const product *a = &p->kind[find_piece(rows, i, &first)];
            failed |= multiply(p, a, omp_get_thread_num(), y, x, w, bias, first, scratch);
        }
        omp_set_num_threads(threads);
    }
    return check_dnnl(c, "multiply", (dnnl_status_t)failed);
}

const spot_linear_ops spot_linear_cpu = { open_cpu, close_cpu, packed_cpu, scratch_cpu, pack_cpu, forward_cpu };

spot_status spot_linear_open(spot_ctx *c, spot_linear **plan, const spot_linear_shape *s)
{
    *plan = NULL;
    if (s->in < 1 || s->out < 1 || (s->add && (s->narrow || s->activation != SPOT_ACT_NONE)))
        return spot_fail(c, SPOT_INVALID, "{linear.sizes} linear: %d -> %d numbers, add %d, narrow %d, activation %d do not go "
                         "together", s->in, s->out, s->add, s->narrow, (int)s->activation);
    SPOT_DISPATCH(c, linear, open, plan, s);
}

void spot_linear_close(spot_ctx *c, spot_linear *plan)
{
    if (plan) c->ops->linear->close(plan);
}

size_t spot_linear_packed(spot_ctx *c, const spot_linear *plan) { return c->ops->linear->packed(plan); }

size_t spot_linear_scratch(spot_ctx *c, const spot_linear *plan) { return c->ops->linear->scratch(plan); }

spot_status spot_linear_pack(spot_ctx *c, const spot_linear *plan, void *packed, const float *w)
{
    SPOT_DISPATCH(c, linear, pack, plan, packed, w);
}

spot_status spot_linear_forward(spot_ctx *c, const spot_linear *plan, void *y, const void *x, const void *w, const float *bias,
                                int rows, void *scratch)
{
    if (rows < 1) return spot_fail(c, SPOT_INVALID, "linear.forward: %d rows", rows);
    SPOT_DISPATCH(c, linear, forward, plan, y, x, w, bias, rows, scratch);
}
