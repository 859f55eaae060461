/* cpu_check.c - a sentence instead of SIGILL where the program was compiled for another CPU. It runs before main, whose own
 * instructions may be such, and CMakeLists.txt compiles it for any CPU of its kind. */
#include <stdio.h>
#include <unistd.h>

#include "base/cpu.h"

enum { WRONG_DEVICE = 5 };         /* spot_exit_code(SPOT_DEVICE), which is compiled as the rest is */

static void __attribute__((constructor)) check_cpu(void)
{
    const char *lacks = spot_cpu_lacks();

    if (!lacks) return;
    fprintf(stderr, "spotter: this program was compiled for CPUs with %s, and this CPU has none; compile it here with "
            "tools/build, or install the wheel that tools/wheel makes, which needs AVX2\n", lacks);
    _exit(WRONG_DEVICE);
}
