/* blas_buffers.c - see blas_buffers.h. */
#define _GNU_SOURCE
#include "core/blas_buffers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define BUFFER ((size_t)128 << 20)         /* OpenBLAS 0.3 on x86-64: 32 << 22 */
#define STACK  ((size_t)8 << 20)
#define REST   ((size_t)256 << 20)         /* for libraries and small data */

enum { MOST_BUFFERS = 512 };               /* OpenBLAS has places for 640 where it is built for 64 threads */

static bool is_limited(int resource)
{
    struct rlimit limit;

    return !getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/* Mode 2 of Linux counts each writable page as taken. */
static bool counts_each_page(void)
{
    FILE *f = fopen("/proc/sys/vm/overcommit_memory", "r");
    const int mode = f ? fgetc(f) : '0';

    if (f) fclose(f);
    return mode == '2';
}

/* One mapping, which nobody touches. */
static void *map(size_t bytes) { return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

/* Whether n buffers with stacks, and `rest`, can be mapped at once. Maps them and gives them back. */
static bool fits(int n, size_t rest)
{
    void *at[MOST_BUFFERS], *other = rest ? map(rest) : NULL;
    int mapped = 0;

    while (other != MAP_FAILED && mapped < n && (at[mapped] = map(BUFFER + STACK)) != MAP_FAILED) mapped++;
    if (rest && other != MAP_FAILED) munmap(other, rest);
    for (int i = 0; i < mapped; i++) munmap(at[i], BUFFER + STACK);
    return other != MAP_FAILED && mapped == n;
}

/* OpenBLAS keeps a buffer that it has once mapped, and exports the functions that its products call for one. Another BLAS has
 * none of them, and nothing is taken. */
static void take(int n)
{
    void *(*alloc)(int), (*give_back)(void *), *at[MOST_BUFFERS];
    void *symbol[2] = { dlsym(RTLD_DEFAULT, "blas_memory_alloc"), dlsym(RTLD_DEFAULT, "blas_memory_free") };

    if (!symbol[0] || !symbol[1]) return;
    memcpy(&alloc, &symbol[0], sizeof alloc);
    memcpy(&give_back, &symbol[1], sizeof give_back);
    for (int i = 0; i < n; i++) at[i] = alloc(1);
    for (int i = 0; i < n; i++) give_back(at[i]);
}

spot_status spot_blas_buffers(spot_ctx *c, int threads)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int held;
    const int wanted = threads < MOST_BUFFERS ? threads : MOST_BUFFERS;
    bool good = true;

    if (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA) && !counts_each_page()) return SPOT_OK;
    pthread_mutex_lock(&lock);
    if (wanted > held) good = fits(wanted - held, held ? 0 : REST);
    if (good && wanted > held) take(wanted), held = wanted;
    pthread_mutex_unlock(&lock);
    if (good) return SPOT_OK;
    return spot_fail(c, SPOT_NOMEM, "{memory.addresses} %d thread%s take %zu MB of addresses to begin with, and the limit "
                     "(ulimit -v or -d) leaves less; raise it%s", threads, threads == 1 ? "" : "s",
                     (REST + (size_t)wanted * (BUFFER + STACK)) >> 20, threads > 1 ? ", or give fewer --threads" : "");
}
