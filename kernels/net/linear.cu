/* linear.cu - CUDA has no kernels for this family yet: its table is empty, and every call says so (SPOT_UNSUPPORTED). */
#include "core/cuda.cuh"
#include "net/linear.h"

extern const spot_linear_ops spot_linear_cuda = {};
