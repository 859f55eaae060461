/* attention.h - scaled dot-product attention within sequences of different lengths, for each head on its own.
 *
 *     out[i] = sum_j softmax_j(q[i] . k[j] / sqrt(d)) v[j]        j over the sequence of row i; causal: j up to i
 *
 * qkv (rows, 3 width), in the precision that spot_attention_reads says: of each row q, k, v, each (heads, d), width = heads d.
 * Sequence s is the rows start[s] to start[s + 1] - 1, so that no work is done on padding. out (rows, width), fp32 or bf16; or,
 * with `only`, (sequences, width): for sequence s the result of row only[s] alone. Scores and sums are fp32; the softmax
 * subtracts the greatest score. The error is within 4e-6 of the largest |v| of double precision (tests/test_transformer.c).
 * run_to_run: the same bits for any number of threads. A NaN stays NaN.
 *
 * CUDA takes heads of up to 128 numbers, needs no scratch, and does not look whether start, only and longest fit together. With
 * precision SPOT_BF16 it reads bf16, which halves the bytes of qkv, and its tensor cores multiply: the weights are rounded to
 * bf16 once, sums are fp32, and the weights are divided by the sum of the rounded ones. The CPU reads fp32 in any precision. */
#ifndef SPOTTER_ATTENTION_H
#define SPOTTER_ATTENTION_H

#include "net/conv.h"

typedef struct {
    int  heads, width;
    int  sequences, longest;         /* longest: at least the rows of the longest sequence */
    bool causal;
    const int *start, *only;         /* (sequences + 1); (sequences) or NULL; in memory of c's device */
    spot_precision precision;        /* of out */
} spot_attention;

struct spot_attention_ops {
    size_t      (*scratch)(spot_ctx *c, const spot_attention *a);
    spot_status (*forward)(spot_ctx *c, void *out, const void *qkv, const spot_attention *a, void *scratch);
};

/* Bytes of scratch for c->threads threads; start and only are not read. 0 on CUDA. */
size_t spot_attention_scratch(spot_ctx *c, const spot_attention *a);

/* The precision of qkv on c's device, for an `out` of that precision. */
static inline spot_precision spot_attention_reads(const spot_ctx *c, spot_precision precision)
{
    return c->device && precision == SPOT_BF16 ? SPOT_BF16 : SPOT_FP32;
}

spot_status spot_attention_forward(spot_ctx *c, void *out, const void *qkv, const spot_attention *a, void *scratch);

#endif
