/* bench_linear.c - products of rows and weights: their problems for the tests, and what those of ViT-B/16 take on a GPU. */
#include <math.h>
#include <stdlib.h>

#include "op_transformer.h"

enum { X, W, BIAS, OLD };

static float weight_of(const spot_op_layer_of *p, size_t i)
{
    return spot_noise(p->id + W, i, SPOT_FP32) / sqrtf((float)p->s.in);
}

/* Rows behind the last are NaN: nothing may come of them. */
static void make_linear(spot_op_run *r, void *problem, const int *size)
{
    spot_op_layer_of *p = problem;
    spot_precision precision = (spot_precision)size[5];
    size_t rows = (size_t)size[0], high = spot_linear_room(rows), in = (size_t)size[1], out = (size_t)size[2];
    spot_op_tensor room = spot_op_row_of(high * out, SPOT_FP32), x = { (int)high, (int)rows, 1, size[1], 1, precision, 0 };

    *p = (spot_op_layer_of){ .rows = size[0], .id = SPOT_OP_IDS * r->number };
    p->s = (spot_linear_shape){ size[1], size[2], size[3] & SPOT_OP_BIAS, size[3] & SPOT_OP_ADD, size[3] & SPOT_OP_NARROW,
                                (spot_activation)size[4], spot_op_on_device(r, precision) };
    room.precision = p->s.narrow ? precision : SPOT_FP32;
    p->host = spot_op_host(r, in * out * sizeof *p->host);
    for (size_t i = 0; p->host && i < in * out; i++)
        p->host[i] = r->c->device ? weight_of(p, i) : spot_op_rounded(weight_of(p, i), precision);
    p->x = spot_op_tensor_noise(r, x, p->id + X);
    p->bias = spot_op_noise(r, p->id + BIAS, out);
    p->y = spot_op_tensor_noise(r, room, p->id + OLD);
    p->result = spot_op_row_of(rows * out, room.precision);
    /* CUDA may round the bias, which is below 6, to 2^-9 of itself (linear.h). */
    spot_op_tensor_part(r, "y", p->y, p->result, SPOT_OP_FLOAT, room.precision == SPOT_BF16 ? 0x1p-8 : 4e-6,
                        room.precision == SPOT_BF16 && p->s.bias && p->s.activation == SPOT_ACT_NONE ? 3 : 0);
}

static spot_status open_layer(spot_op_run *r, spot_op_layer_of *p)
{
    SPOT_TRY(spot_linear_open(r->c, &p->plan, &p->s));
    SPOT_TRY(spot_device_take(r->c, &p->packed, spot_linear_packed(r->c, p->plan)));
    return spot_linear_pack(r->c, p->plan, p->packed, p->host);
}

static void close_layer(spot_op_run *r, spot_op_layer_of *p)
{
    spot_linear_close(r->c, p->plan);
    spot_device_give(r->c, p->packed);
    p->plan = NULL, p->packed = NULL;
}

static spot_status run_layer(spot_op_run *r, const spot_op_layer_of *p)
{
    spot_arena *a;
    void *scratch = NULL;
    size_t bytes = spot_linear_scratch(r->c, p->plan);

    if (bytes) {
        SPOT_TRY(spot_op_scratch(r, &a, bytes));
        scratch = a->base;
    }
    SPOT_OP(r, spot_linear_forward(r->c, p->plan, p->y, p->x, p->packed, p->s.bias ? p->bias : NULL, p->rows, scratch));
    return SPOT_OK;
}

static spot_status run_linear(spot_op_run *r, void *problems, int count)
{
    spot_op_layer_of *p = problems;

    for (int q = 0; q < count; q++, p++) {
        bool opened = p->plan != NULL;
        spot_status s = opened ? SPOT_OK : open_layer(r, p);
        if (s == SPOT_OK) s = run_layer(r, p);
        if (!opened) close_layer(r, p);
        SPOT_TRY(s);
    }
    return SPOT_OK;
}

static double activated(double z, spot_activation act)
{
    return act == SPOT_ACT_QUICK_GELU ? z / (1 + exp(-1.702 * z)) : act == SPOT_ACT_GELU ? z * (1 + erf(z / sqrt(2))) / 2 : z;
}

/* Checks that the memory behind the last row is as it was. */
static spot_status check_behind(spot_op_run *r, const spot_op_layer_of *p)
{
    size_t n = (size_t)p->rows * p->s.out, high = spot_linear_room((size_t)p->rows) * (size_t)p->s.out;
    spot_op_tensor room = spot_op_row_of(high, p->result.precision);

    for (size_t i = n; i < high && i < n + SPOT_OP_CHECKED; i++)
        SPOT_TRY(spot_op_check_number(r, "number behind the last row", p->y, &room, i,
                                      spot_noise(p->id + OLD, i, p->result.precision), 0));
    return SPOT_OK;
}

/* Numbers of all parts of the result, the last among them. */
static spot_status check_linear(spot_op_run *r, void *problem)
{
    const spot_op_layer_of *p = problem;
    size_t in = (size_t)p->s.in, out = (size_t)p->s.out, n = (size_t)p->rows * out;
    spot_precision precision = p->s.precision;
    double off = p->result.precision == SPOT_BF16 ? 0x1p-6 : 1e-4;

    if (!r->c->device) return SPOT_OK;                 /* tests/test_transformer.c knows the CPU's */
    for (size_t e = 0; e < SPOT_OP_CHECKED; e++) {
        size_t i = n - 1 - e * (n - 1) / SPOT_OP_CHECKED, row = i / out, o = i % out;
        double z = p->s.bias ? spot_noise(p->id + BIAS, o, SPOT_FP32) : 0;
        for (size_t k = 0; k < in; k++)
            z += (double)spot_noise(p->id + X, row * in + k, precision) * spot_op_rounded(weight_of(p, o * in + k), precision);
        z = activated(z, p->s.activation) + (p->s.add ? spot_noise(p->id + OLD, i, SPOT_FP32) : 0);
        SPOT_TRY(spot_op_check_number(r, "number of a layer", p->y, &p->result, i, z, off));
    }
    return check_behind(r, p);
}

const spot_op spot_op_linear = { "linear", sizeof(spot_op_layer_of), make_linear, run_linear, check_linear, true };

static spot_status open_linear(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    spot_status s = spot_op_bench_open(c, state, &spot_op_linear, 1, size);
    spot_op_run *r = *state;

    work->items = size[0];
    work->flops = 2.0 * size[0] * size[1] * size[2];
    work->matrix = true;
    return s ? s : open_layer(r, r->problem);
}

static void close_linear(spot_ctx *c, void *state)
{
    spot_op_run *r = state;

    if (r && r->problem) close_layer(r, r->problem);
    spot_op_bench_close(c, state);
}

static const spot_bench_kind kind_linear = { open_linear, spot_op_bench_check, spot_op_bench_run, close_linear };

enum { ROWS = SPOT_OP_VIT_PICTURES * SPOT_OP_VIT_TOKENS };

const spot_bench_row spot_bench_linear[] = {
    { "linear", "ViT-B/16, 768 -> 2304, bias, bf16", "rows", SPOT_ON_CUDA, &kind_linear,
      { ROWS, 768, 2304, SPOT_OP_BIAS, SPOT_ACT_NONE, SPOT_BF16 }, { 20, 16, 48, SPOT_OP_BIAS, SPOT_ACT_NONE, SPOT_BF16 } },
    { "linear", "ViT-B/16, 768 -> 3072, quick-GELU, bf16", "rows", SPOT_ON_CUDA, &kind_linear,
      { ROWS, 768, 3072, SPOT_OP_BIAS | SPOT_OP_NARROW, SPOT_ACT_QUICK_GELU, SPOT_BF16 },
      { 20, 16, 64, SPOT_OP_BIAS | SPOT_OP_NARROW, SPOT_ACT_QUICK_GELU, SPOT_BF16 } },
    { "linear", "ViT-B/16, 3072 -> 768, added, bf16", "rows", SPOT_ON_CUDA, &kind_linear,
      { ROWS, 3072, 768, SPOT_OP_BIAS | SPOT_OP_ADD, SPOT_ACT_NONE, SPOT_BF16 },
      { 20, 64, 16, SPOT_OP_BIAS | SPOT_OP_ADD, SPOT_ACT_NONE, SPOT_BF16 } },
    { "linear", "ViT-B/16, 768 -> 3072, quick-GELU, fp32", "rows", SPOT_ON_CUDA, &kind_linear,
      { ROWS, 768, 3072, SPOT_OP_BIAS | SPOT_OP_NARROW, SPOT_ACT_QUICK_GELU, SPOT_FP32 },
      { 20, 16, 64, SPOT_OP_BIAS | SPOT_OP_NARROW, SPOT_ACT_QUICK_GELU, SPOT_FP32 } },
    { .op = NULL },
};
