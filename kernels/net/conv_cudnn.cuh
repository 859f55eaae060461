/* conv_cudnn.cuh - cuDNN's convolutions for conv.cu: opened at run time, one plan for one pass over all rows of a shape.
 * conv_plans.cu chooses the plan. */
#ifndef SPOTTER_CONV_CUDNN_CUH
#define SPOTTER_CONV_CUDNN_CUH

#include "net/conv.h"

#ifdef __cplusplus
extern "C" {       /* tests/cudnn is C */
#endif

enum { SPOT_PASS_FORWARD, SPOT_PASS_DATA, SPOT_PASS_WEIGHTS, SPOT_PASSES };

typedef struct spot_cudnn spot_cudnn;            /* the library and its handle; one a context */
typedef struct spot_cudnn_plan spot_cudnn_plan;

/* The task of a plan: a pass over x (rows, size, size, channels) by w (co, k, k, channels), with `before` and `after` zeros
 * around each row and column of x. */
typedef struct {
    spot_conv_shape s;
    int pass, channels, size, out, k, stride, before, after;
    bool adds;                 /* forward: `other` to y; data: to what dx holds */
    char words[256];           /* "conv.forward of (256,64,56,56) by (64,64,3,3), stride 1, bf16", for sentences and files */
} spot_conv_task;

/* The task of a shape's pass; and whether the shape has this pass. conv_task.cu */
spot_conv_task spot_conv_task_of(const spot_conv_shape *s, int pass);
bool           spot_conv_has_pass(const spot_conv_shape *s, int pass);

/* Whether it reads an image by blocks of 2 x 2 pixels (core/stem.h): its stride is even. */
bool           spot_conv_in_blocks(const spot_conv_shape *s);

/* An engine and the settings of its knobs, as words from which the same cuDNN makes the same plan: "plain 42 2=3 13=1". The
 * first word is the form of the graph: plain; narrow: dw is bf16 and widened afterwards; fused: also adds the other summand
 * and the bias (bf16 with bf16) and applies the ReLU. unknown: a note on the engine's numbers that this build has no name for,
 * as of a newer cuDNN, is no reason against it; the caller looks at the numbers. The library proposes without it. */
typedef struct { char words[256]; bool unknown; } spot_cudnn_choice;
enum { SPOT_MOST_CHOICES = 128 };

/* Loads cuDNN and starts it on c's stream. SPOT_DEVICE names the searched places when it is missing or too old. On the block
 * emulator *lib stays NULL, and conv_naive.cu computes. SPOT_CUDNN_DESCRIBE=FILE in the environment writes cuDNN's description
 * of the GPU there. */
spot_status spot_cudnn_open(spot_ctx *c, spot_cudnn **lib);
void        spot_cudnn_close(spot_cudnn *lib);                             /* accepts NULL */

/* cuDNN without a GPU: proposals and plans for the GPU that `json` describes, in the words of cuDNN's own description. These
 * plans cannot run. */
spot_status spot_cudnn_open_described(spot_ctx *c, spot_cudnn **lib, const char *json);

/* cuDNN's description of the library's GPU; json[0] is 0 where the text does not fit, or cuDNN is older than 9.11. */
void        spot_cudnn_describe(const spot_cudnn *lib, char *json, size_t size);
size_t      spot_cudnn_version(const spot_cudnn *lib);                     /* 91900: 9.19.0 */

/* The proposals of cuDNN's heuristics, each once, in cuDNN's order from the best. fallback: less precise ones, for tasks
 * where no other is right. */
spot_status spot_cudnn_propose(spot_ctx *c, spot_cudnn *lib, const spot_conv_task *task, bool fallback,
                               spot_cudnn_choice choice[SPOT_MOST_CHOICES], int *count);

/* Makes the plan of a choice. It must be deterministic, lose no more precision than the shape allows, and fit into a GB of
 * scratch; else *plan is NULL and `why` has the reason, which is no failure. */
spot_status spot_cudnn_plan_open(spot_ctx *c, spot_cudnn *lib, spot_cudnn_plan **plan, const spot_conv_task *task,
                                 const spot_cudnn_choice *choice, char *why, size_t size);
void        spot_cudnn_plan_close(spot_cudnn_plan *plan);                  /* accepts NULL */
size_t      spot_cudnn_plan_scratch(const spot_cudnn_plan *plan);          /* accepts NULL */
bool        spot_cudnn_plan_tensor_cores(const spot_cudnn_plan *plan);

/* Forward writes y, data writes x or adds to it, weights w. w has the activations' type, but fp32 where it is written.
 * *finished: the plan has also added bias and other and applied the ReLU. */
spot_status spot_cudnn_run(spot_ctx *c, const spot_cudnn_plan *plan, void *x, void *w, void *y, const float *bias,
                           const void *other, void *scratch, bool *finished);

/* bf16 numbers as floats, and back; kernels of conv_convert.cu. */
spot_status spot_conv_widen (spot_ctx *c, float *to, const void *from, size_t count);
spot_status spot_conv_narrow(spot_ctx *c, void *to, const float *from, size_t count);

#ifdef __cplusplus
}
#endif

#endif
