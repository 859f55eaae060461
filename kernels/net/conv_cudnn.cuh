/* conv_cudnn.cuh - cuDNN's convolutions for conv.cu: opened at run time, one plan for one pass over all rows of a shape.
 * Which plan is taken is conv_plans.cu's affair. */
#ifndef SPOTTER_CONV_CUDNN_CUH
#define SPOTTER_CONV_CUDNN_CUH

#include "net/conv.h"

enum { SPOT_PASS_FORWARD, SPOT_PASS_DATA, SPOT_PASS_WEIGHTS, SPOT_PASSES };

typedef struct spot_cudnn spot_cudnn;            /* the library and its handle; one a context */
typedef struct spot_cudnn_plan spot_cudnn_plan;

/* What a plan is to do. */
typedef struct {
    spot_conv_shape s;
    int channels;              /* of x, as it lies */
    int pass;
    char words[256];           /* "conv.forward of (256,64,56,56) by (64,64,3,3), stride 1, bf16", for sentences and files */
} spot_conv_task;

/* An engine and its knobs' settings, in words from which the same cuDNN makes the same plan: "plain 42 2=3 13=1". First
 * comes how the pass is put to cuDNN: plain; narrow, whose dw is bf16 and widened afterwards; fused, which adds the other
 * summand and the bias (as bf16 beside bf16) and does the ReLU, too. */
typedef struct { char words[256]; } spot_cudnn_choice;
enum { SPOT_MOST_CHOICES = 128 };

/* Loads cuDNN and starts it on c's stream. SPOT_DEVICE with the places looked at when it is not there or too old. On the
 * block emulator *lib stays NULL, and conv.cu's own kernels compute. */
spot_status spot_cudnn_open(spot_ctx *c, spot_cudnn **lib);
void        spot_cudnn_close(spot_cudnn *lib);                             /* accepts NULL */
size_t      spot_cudnn_version(const spot_cudnn *lib);                     /* 91900: 9.19.0 */

/* What cuDNN's heuristics propose, each once, the best in their opinion first. fallback: ways that lose more than need
 * be; for when nothing else is right. */
spot_status spot_cudnn_propose(spot_ctx *c, spot_cudnn *lib, const spot_conv_task *task, bool fallback,
                               spot_cudnn_choice choice[SPOT_MOST_CHOICES], int *count);

/* *plan is NULL, and `why` says why, where cuDNN makes none of the choice that is deterministic, loses no more precision
 * than the shape asks for and fits into a GB of scratch; that is no failure. */
spot_status spot_cudnn_plan_open(spot_ctx *c, spot_cudnn *lib, spot_cudnn_plan **plan, const spot_conv_task *task,
                                 const spot_cudnn_choice *choice, char *why, size_t size);
void        spot_cudnn_plan_close(spot_cudnn_plan *plan);                  /* accepts NULL */
size_t      spot_cudnn_plan_scratch(const spot_cudnn_plan *plan);          /* accepts NULL */

/* Forward writes y, data x, weights w. w is of the activations' type, but fp32 where it is written. *finished: bias, other
 * and ReLU are done, too. */
spot_status spot_cudnn_run(spot_ctx *c, const spot_cudnn_plan *plan, void *x, void *w, void *y, const float *bias,
                           const void *other, void *scratch, bool *finished);

/* bf16 numbers as floats, and back; kernels of conv_finish.cu. */
spot_status spot_conv_widen (spot_ctx *c, float *to, const void *from, size_t count);
spot_status spot_conv_narrow(spot_ctx *c, void *to, const float *from, size_t count);

#endif
