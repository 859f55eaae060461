/* cpu.c - asks the CPU. CMakeLists.txt compiles this file for any CPU of its kind. */
#include "base/cpu.h"

#include <stddef.h>

const char *spot_cpu_lacks(void)
{
#ifdef __x86_64__
#define X(NAME, name) if ((spot_cpu_compiled >> SPOT_CPU_##NAME & 1) && !__builtin_cpu_supports(name)) return name;
    __builtin_cpu_init();
    SPOT_CPU_SETS(X)
#undef X
#endif
    return NULL;
}
