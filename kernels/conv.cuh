/* conv.cuh - what conv.cu and conv_naive.cu share.
 *
 * x (rows, pixels, channels), packed weights (co, k, k, channels), y (rows, out*out, co). */
#ifndef SPOTTER_KERNELS_CONV_CUH
#define SPOTTER_KERNELS_CONV_CUH

#include "conv_cudnn.h"
#include "lanes.cuh"

enum { THREADS = 256 };

/* The numbers that kernels want; ci as it lies in x. */
typedef struct {
    int rows, size, out, ci, co, k, stride;
} layer;

struct spot_conv {
    spot_conv_shape s;          /* first: spot_conv_shape_of */
    layer l;
    size_t scratch;
    spot_cudnn_plan *plan[SPOT_PASSES];
    spot_conv *next;            /* of the plans that this device keeps */
};

static inline unsigned blocks_for(size_t numbers) { return (unsigned)((numbers + THREADS - 1) / THREADS); }

static inline size_t x_numbers(const layer *l) { return (size_t)l->rows * l->size * l->size * l->ci; }
static inline size_t y_numbers(const layer *l) { return (size_t)l->rows * l->out * l->out * l->co; }
static inline size_t w_numbers(const layer *l) { return (size_t)l->co * l->k * l->k * l->ci; }

/* A pass over the first rows, its arrays by role: x, w, y. bias may be NULL; add and relu are the shape's. */
spot_status spot_conv_naive(spot_ctx *c, int pass, const spot_conv *p, void *x, void *w, void *y, const float *bias,
                            int rows);

/* A spot_cudnn_check, whose user is a question: does the plan do what spot_conv_naive does? */
typedef struct { const spot_conv *p; int pass; } spot_conv_question;
spot_status spot_conv_is_right(spot_ctx *c, void *user, const spot_cudnn_plan *plan, bool *right);

spot_status spot_conv_launched(spot_ctx *c, int pass, const layer *l, spot_precision precision);

#endif
