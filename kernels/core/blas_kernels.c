/* blas_kernels.c - see blas_kernels.h. */
#define _GNU_SOURCE
#include "core/blas_kernels.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *spot_blas_kernels_for(const char *core, bool avx2, bool avx512)
{
    if (strcasecmp(core, "Prescott") || !avx2) return NULL;        /* no Prescott has AVX2 */
    return avx512 ? "SkylakeX" : "Haswell";
}

static const char *better_kernels(void)
{
#ifdef __x86_64__
    return spot_blas_kernels_for(openblas_get_corename(), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
                                 __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
#else
    return NULL;
#endif
}

/* OpenBLAS reads the variable where it chooses, and exports the functions that choose; one without them keeps its kernels. */
static void choose(void)
{
    void *symbol[2] = { dlsym(RTLD_DEFAULT, "gotoblas_dynamic_quit"), dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init") };
    const char *better = better_kernels();
    void (*forget)(void), (*begin)(void);

    if (!better || getenv("OPENBLAS_CORETYPE") || !symbol[0] || !symbol[1]) return;
    memcpy(&forget, &symbol[0], sizeof forget);
    memcpy(&begin, &symbol[1], sizeof begin);
    setenv("OPENBLAS_CORETYPE", better, 1);
    forget();
    begin();
    unsetenv("OPENBLAS_CORETYPE");
}

void spot_blas_kernels(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, choose);
}
