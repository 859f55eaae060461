/* op_transformer.h - the ops of a transformer, for tests/test_cuda_transformer.c and bench_transformer.c. Where a problem is in
 * bf16, the CPU computes in fp32 with the rounded inputs. */
#ifndef SPOTTER_OP_TRANSFORMER_H
#define SPOTTER_OP_TRANSFORMER_H

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
    float *qkv;
    void *out, *rows;              /* rows: those of `only` */
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
    float *patch, *first, *position, *joined, *words, *unit;
    int *list;                     /* (picked) each: ids, places, rows */
} spot_op_tokened;
extern const spot_op spot_op_tokens;

#endif
