/* conv_cudnn.h - cuDNN's convolutions for conv.cu: opened at run time, planned by its heuristics, with deterministic
 * engines only. */
#ifndef SPOTTER_KERNELS_CONV_CUDNN_H
#define SPOTTER_KERNELS_CONV_CUDNN_H

#include "conv.h"

enum { SPOT_PASS_FORWARD, SPOT_PASS_DATA, SPOT_PASS_WEIGHTS, SPOT_PASSES };

typedef struct spot_cudnn spot_cudnn;            /* the library and its handle; one a device */
typedef struct spot_cudnn_plan spot_cudnn_plan;  /* one pass of one convolution, all rows of its shape */

/* Says whether a plan's answer is right; conv.cu compares with its naive kernels. *right false: take another plan. */
typedef spot_status spot_cudnn_check(spot_ctx *c, void *user, const spot_cudnn_plan *plan, bool *right);

/* Loads cuDNN on the first call for *lib. SPOT_DEVICE with the places looked at when it is not there or too old. On the
 * block emulator *plan stays NULL, and conv.cu's own kernels compute. channels: of x, as it lies. */
spot_status spot_cudnn_plan_open(spot_ctx *c, spot_cudnn **lib, spot_cudnn_plan **plan, const spot_conv_shape *s,
                                 int channels, int pass, spot_cudnn_check *check, void *user);
void        spot_cudnn_plan_close(spot_cudnn_plan *plan);                  /* accepts NULL */
size_t      spot_cudnn_plan_scratch(const spot_cudnn_plan *plan);
void        spot_cudnn_close(spot_cudnn *lib);                             /* accepts NULL */

/* Forward writes y (onto what is there, where the shape says `add`), data x, weights w. w is of the activations' type,
 * but fp32 where it is written. */
spot_status spot_cudnn_run(spot_ctx *c, const spot_cudnn_plan *plan, void *x, void *w, void *y, void *scratch);

/* bf16 numbers as floats; a kernel of conv.cu. */
spot_status spot_conv_widen(spot_ctx *c, float *to, const void *from, size_t count);

#endif
