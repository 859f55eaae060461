/* cudnn.cuh - cuDNN as it is opened at run time, so that neither the build nor the plugin's loading needs it. */
#ifndef SPOTTER_KERNELS_CUDNN_CUH
#define SPOTTER_KERNELS_CUDNN_CUH

#include <cudnn.h>

#include "conv_cudnn.h"
#include "cuda.cuh"

#define FUNCTIONS(X)                                                                                                  \
    X(version, cudnnGetVersion) X(error_string, cudnnGetErrorString) X(last_error, cudnnGetLastErrorString)           \
    X(create, cudnnCreate) X(destroy, cudnnDestroy) X(set_stream, cudnnSetStream)                                     \
    X(make, cudnnBackendCreateDescriptor) X(unmake, cudnnBackendDestroyDescriptor)                                    \
    X(set, cudnnBackendSetAttribute) X(get, cudnnBackendGetAttribute)                                                 \
    X(finalize, cudnnBackendFinalize) X(execute, cudnnBackendExecute)

struct spot_cudnn {
    void *so;
    cudnnHandle_t handle;
    char where[1024];
#define X(member, name) decltype(&name) member;
    FUNCTIONS(X)
#undef X
};

/* Loads cuDNN and starts it on c's stream. SPOT_DEVICE with the places looked at when it is not there or too old. */
spot_status spot_cudnn_open(spot_ctx *c, spot_cudnn **lib);

/* SPOT_OK, or cuDNN's status as a sentence: "cuDNN cannot <what>, <words> on <device>: ...". */
spot_status spot_cudnn_told(spot_ctx *c, const spot_cudnn *lib, cudnnStatus_t e, const char *what, const char *words);

#endif
