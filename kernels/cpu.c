/* cpu.c - the CPU's table of kernels. */
#include "ops.h"

#define X(family) extern const spot_##family##_ops spot_##family##_cpu __attribute__((weak));
SPOT_OP_FAMILIES(X)
#undef X

const spot_ops spot_ops_cpu = {
    .name = "cpu",
#define X(family) .family = &spot_##family##_cpu,
    SPOT_OP_FAMILIES(X)
#undef X
};
