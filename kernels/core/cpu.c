/* cpu.c - the CPU's table of kernels. */
#include "core/ops.h"

const spot_ops spot_ops_cpu = {
    .name = "cpu",
#define X(family) .family = &spot_##family##_cpu,
    SPOT_OP_FAMILIES(X)
#undef X
};
