/* check_cuda_tsne.h - what the tests of t-SNE's kernels on CUDA share. On the emulator every schedule must give the CPU's
 * very bits; on a GPU what the headers promise. */
#ifndef SPOTTER_TESTS_CHECK_CUDA_TSNE_H
#define SPOTTER_TESTS_CHECK_CUDA_TSNE_H

#include <math.h>

#include "map/affinity.h"
#include "check_cuda.h"

/* Everything that `on` took, each array between the emulator's red zones. */
static struct { spot_ctx *c; void *p; } taken[1024];
static int takes;

/* Memory of c, copied from the host's unless that is NULL; lives until give_back(c). */
static inline void *on(spot_ctx *c, const void *from, size_t bytes)
{
    void *p;

    assert_true(takes < LEN(taken));
    CHECK_OK(c, spot_device_take(c, &p, bytes));
    if (from && bytes) CHECK_OK(c, spot_device_copy(c, p, from, bytes));
    taken[takes].c = c;
    taken[takes++].p = p;
    return p;
}

static inline void give_back(spot_ctx *c)
{
    int left = 0;

    for (int i = 0; i < takes; i++)
        if (taken[i].c == c) spot_device_give(c, taken[i].p);
        else taken[left++] = taken[i];
    takes = left;
}

/* Numbers of a device are the CPU's: all bits on the emulator, else to `tolerance` of the largest. NaN fails. */
static inline void check_floats(spot_ctx *c, const char *what, const float *device, const float *want, size_t n,
                                double tolerance)
{
    float *got = malloc(n * sizeof *got + 1);
    double most = 0;

    CHECK_OK(c, spot_device_copy(c, got, device, n * sizeof *got));
    for (size_t e = 0; e < n; e++) most = fmax(most, fabs(want[e]));
    for (size_t e = 0; e < n; e++)
        if (!(fabs(got[e] - want[e]) <= tolerance * most))
            fail_msg("%s, entry %zu: %.9g, and %.9g on the CPU", what, e, got[e], want[e]);
    if (getenv("SPOT_EMULATOR") && memcmp(got, want, n * sizeof *got)) fail_msg("%s: not the CPU's bits", what);
    free(got);
}

static inline void check_ints(spot_ctx *c, const char *what, const int *device, const int *want, size_t n)
{
    int *got = malloc(n * sizeof *got + 1);

    CHECK_OK(c, spot_device_copy(c, got, device, n * sizeof *got));
    for (size_t e = 0; e < n; e++)
        if (got[e] != want[e]) fail_msg("%s, entry %zu: %d, and %d on the CPU", what, e, got[e], want[e]);
    free(got);
}

/* A graph of n points and k neighbours in the memory of c. */
static inline spot_affinity_graph take_graph(spot_ctx *c, int n, int k, const int *column, const float *p)
{
    size_t room = spot_affinity_room(n, k), edges = (size_t)n * k;

    return (spot_affinity_graph){
        .n = n, .k = k, .column = on(c, column, edges * sizeof(int)), .p = on(c, p, edges * sizeof(float)),
        .start = on(c, NULL, (n + 1) * sizeof(int)), .to = on(c, NULL, room * sizeof(int)),
        .joint = on(c, NULL, room * sizeof(float)), .begin = on(c, NULL, (n + 2) * sizeof(int)),
        .edge = on(c, NULL, edges * sizeof(int)),
    };
}

#endif
