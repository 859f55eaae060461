/* cudnn.cuh - cuDNN, opened at run time, so that neither the build nor the loading of the plugin needs it. */
#ifndef SPOTTER_CUDNN_CUH
#define SPOTTER_CUDNN_CUH

#include <cudnn.h>

#include "core/cuda.cuh"
#include "net/conv_cudnn.cuh"

#define FUNCTIONS(X)                                                                                                  \
    X(version, cudnnGetVersion) X(error_string, cudnnGetErrorString) X(last_error, cudnnGetLastErrorString)           \
    X(create, cudnnCreate) X(destroy, cudnnDestroy) X(set_stream, cudnnSetStream)                                     \
    X(make, cudnnBackendCreateDescriptor) X(unmake, cudnnBackendDestroyDescriptor)                                    \
    X(set, cudnnBackendSetAttribute) X(get, cudnnBackendGetAttribute)                                                 \
    X(finalize, cudnnBackendFinalize) X(execute, cudnnBackendExecute)

struct spot_cudnn {
    void *so;
    cudnnHandle_t handle;                          /* NULL, and `device` is set: plans for a described GPU, which cannot run */
    cudnnBackendDescriptor_t device;
    char where[1024];
#define X(member, name) decltype(&name) member;
    FUNCTIONS(X)
#undef X
};

/* SPOT_OK, or cuDNN's status as a sentence: "cuDNN cannot <what>, <words> on <device>: ...". */
spot_status spot_cudnn_told(spot_ctx *c, const spot_cudnn *lib, cudnnStatus_t e, const char *what, const char *words);

/* Attributes that carry the handle are deprecated in 9.19; their replacements are not in 9.11. */
#pragma nv_diag_suppress 1444
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { MOST_CONFIGS = 64, MOST_MADE = 32 + MOST_CONFIGS + CUDNN_KNOB_TYPE_COUNTS };
enum { UID_X = 'x', UID_W = 'w', UID_Y = 'y', UID_BIAS = 'b', UID_OTHER = 'o', UID_PASSED = 1000 };

/* The form of a pass's graph (conv_cudnn.cuh); the form that moves the fewest bytes first. */
enum { FUSED, PLAIN, NARROW, KINDS };

struct spot_cudnn_plan {
    spot_cudnn *lib;
    cudnnBackendDescriptor_t made[MOST_MADE];      /* every descriptor, in the order of creation */
    int made_count, kind;
    cudnnBackendDescriptor_t plan;
    bool tensor_cores;                             /* the engine's own note */
    size_t workspace, narrow;                      /* bytes of cuDNN's scratch; of a bf16 copy of dw or bias */
    char words[256];                               /* the task's */
};

/* Makes descriptors. The first failure stays in `e`; later calls do nothing. */
typedef struct {
    const spot_cudnn *lib;
    spot_cudnn_plan *plan;
    cudnnStatus_t e;
} builder;

static inline cudnnBackendDescriptor_t make(builder *b, cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t d = NULL;

    if (b->e == CUDNN_STATUS_SUCCESS && b->plan->made_count == MOST_MADE) b->e = CUDNN_STATUS_INTERNAL_ERROR;
    if (b->e == CUDNN_STATUS_SUCCESS) b->e = b->lib->make(type, &d);
    if (d) b->plan->made[b->plan->made_count++] = d;
    return d;
}

static inline void set(builder *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                       cudnnBackendAttributeType_t type, int64_t count, const void *value)
{
    if (b->e == CUDNN_STATUS_SUCCESS) b->e = b->lib->set(d, name, type, count, value);
}

static inline void set_part(builder *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                            cudnnBackendDescriptor_t part)
{
    set(b, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &part);
}

static inline void finish(builder *b, cudnnBackendDescriptor_t d)
{
    if (b->e == CUDNN_STATUS_SUCCESS) b->e = b->lib->finalize(d);
}

/* Names the described GPU in d; nothing where cuDNN runs on a real one. */
static inline void set_device(builder *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name)
{
    if (b->lib->device) set_part(b, d, name, b->lib->device);
}

/* Destroys descriptors down to `mark`. */
static inline void unmake(spot_cudnn_plan *p, int mark)
{
    while (p->made_count > mark) p->lib->unmake(p->made[--p->made_count]);
}

/* A pass as a graph of operations. */
cudnnBackendDescriptor_t spot_cudnn_graph(builder *b, const spot_conv_task *t, int kind);

#endif
