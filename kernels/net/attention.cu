/* attention.cu - CUDA has no kernels for this family yet: its table is empty, and every call says so (SPOT_UNSUPPORTED). */
#include "core/cuda.cuh"
#include "net/attention.h"

extern const spot_attention_ops spot_attention_cuda = {};
