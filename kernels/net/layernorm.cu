/* layernorm.cu - CUDA has no kernels for this family yet: its table is empty, and every call says so (SPOT_UNSUPPORTED). */
#include "core/cuda.cuh"
#include "net/layernorm.h"

extern const spot_layernorm_ops spot_layernorm_cuda = {};
