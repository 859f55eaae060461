/* conv_dnnl.h - oneDNN's primitives of a convolution on the CPU, made for one thread; a lane at a time runs through them. */
#ifndef SPOTTER_CONV_DNNL_H
#define SPOTTER_CONV_DNNL_H

#include <oneapi/dnnl/dnnl.h>

#include "net/conv.h"

enum { SPOT_FORWARD = 0, SPOT_DATA, SPOT_WEIGHTS, SPOT_PASSES, SPOT_PASS_ARGS = 5 };

/* One of oneDNN's primitives and, for each lane, the handles of its arguments: x, w, y, scratchpad, bias. */
typedef struct {
    dnnl_primitive_t primitive;
    dnnl_memory_t    arg[SPOT_MAX_LANES][SPOT_PASS_ARGS];
    int              name[SPOT_PASS_ARGS], args;
    size_t           scratch, framed;      /* bytes of a scratchpad; of a lane's pictures with their frames */
    dnnl_memory_desc_t weights;            /* as the primitive has them */
    size_t           turned;               /* bytes of the weights in another order than packed; 0: it reads packed ones */
} spot_conv_pass;

struct spot_conv {
    spot_conv_shape  s;
    int              out, piece, slots;    /* side of y; rows of a lane; scratchpads: lanes that run at the same time */
    size_t           x_row, y_row;         /* bytes */
    size_t           w_count;
    bool             turned;               /* the data gradient reads turned weights (fp32) */
    bool             slow;                 /* a pass is computed by oneDNN's reference code */
    bool             blocks;               /* conv_blocks.h computes the gradient by the weights in its place */
    bool             amx;                  /* conv_amx.h computes the gradient by the weights; their blocks are (out, in) */
    bool             deep[SPOT_PASSES];    /* it computes this pass, too */
    bool             winograd;             /* conv_winograd.h computes the forward pass */
    int              frame;                /* pixels on each side with which run_pass copies a picture, in oneDNN's padding's
                                            * place: with AVX2 it has no code for 11 x 11 weights with padding */
    dnnl_engine_t    engine;
    dnnl_stream_t    stream;
    dnnl_memory_desc_t oihw, packed, rounded;          /* rounded: packed in bf16 */
    spot_conv_pass   pass[SPOT_PASSES];
};

/* Makes the primitives that p's shape needs; the caller has filled the numbers above. Close p even after a failure. */
dnnl_status_t spot_conv_open_passes(spot_conv *p);
void          spot_conv_close_passes(spot_conv *p);

/* Packed weights -> `to`, in the order of pass `kind`, which is SPOT_FORWARD (bf16) or SPOT_DATA. */
dnnl_status_t spot_conv_turn(spot_ctx *c, const spot_conv *p, int kind, void *to, const void *packed);

#endif
