/* op_transformer.h - the ops of a transformer, for tests/test_cuda_transformer.c, bench_linear.c, bench_attention.c and
 * bench_tokens.c. Where a problem is in bf16, the CPU computes in fp32 with the rounded inputs. */
#ifndef SPOTTER_OP_TRANSFORMER_H
#define SPOTTER_OP_TRANSFORMER_H

#include "bench.h"
#include "core/device.h"
#include "net/attention.h"
#include "net/layernorm.h"
#include "net/linear.h"
#include "net/tokens.h"
#include "op.h"

/* size: rows, in, out, bits of spot_op_end, activation, precision */
typedef enum { SPOT_OP_BIAS = 1, SPOT_OP_ADD = 2, SPOT_OP_NARROW = 4 } spot_op_end;

typedef struct {
    spot_linear_shape s;
    int rows, id;
    float *host, *bias;            /* host: (out, in), where pack takes weights from */
    void *x, *y;
    spot_op_tensor result;
    spot_linear *plan;             /* NULL: each call of `run` makes one, and packs */
    void *packed;                  /* of plan */
} spot_op_layer_of;
extern const spot_op spot_op_linear;

/* size: rows, width, precision, in place */
typedef struct {
    spot_layernorm l;
    spot_precision precision;      /* of y on the run's device */
    int rows, id;
    float *x;
    void *y;
    spot_op_tensor result;
} spot_op_normal;
extern const spot_op spot_op_layernorm;

/* size: heads, numbers of a head, causal, sequences, rows of the longest, precision, even. Even: all sequences are the longest,
 * and no single row is asked for. */
typedef struct {
    spot_attention a;
    int id, d;
    bool even;
    int *start, *only;             /* on the host */
    void *qkv, *out, *rows;              /* rows: those of `only` */
    spot_op_tensor result;
} spot_op_attended;
extern const spot_op spot_op_attention;

/* Pictures and words -> tokens; some of them picked, and divided by their lengths. size: pictures, side, patch, width,
 * precision */
typedef struct {
    spot_patches p;
    spot_op_tensor result;
    int id, count, width, picked;
    uint8_t *rgb;
    void *row;
    float *patch, *first, *position, *joined, *words, *unit, *mean;
    int *list;                     /* (picked) each: ids, places, rows */
} spot_op_tokened;
extern const spot_op spot_op_tokens;

/* CHECKED: numbers that `check` looks at; IDS: of noise that a problem has; VIT: a batch of ViT-B/16. */
enum { SPOT_OP_CHECKED = 24, SPOT_OP_IDS = 8, SPOT_OP_VIT_PICTURES = 166, SPOT_OP_VIT_TOKENS = 197 };

static inline spot_op_tensor spot_op_row_of(size_t n, spot_precision precision)
{
    return (spot_op_tensor){ 1, 1, 1, (int)n, 1, precision, 0 };
}

static inline spot_precision spot_op_on_device(const spot_op_run *r, spot_precision precision)
{
    return r->c->device ? precision : SPOT_FP32;
}

static inline spot_status spot_op_check_number(spot_op_run *r, const char *what, const void *tensor, const spot_op_tensor *t,
                                               size_t i, double want, double off)
{
    double got;

    SPOT_TRY(spot_op_number(r, &got, tensor, t, i));
    return spot_bench_near(r->c, what, i, got, want, off);
}

#endif
