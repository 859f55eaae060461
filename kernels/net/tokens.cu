/* tokens.cu - CUDA has no kernels for this family yet: its table is empty, and every call says so (SPOT_UNSUPPORTED). */
#include "core/cuda.cuh"
#include "net/tokens.h"

extern const spot_tokens_ops spot_tokens_cuda = {};
