/* arena.h - memory comes from the caller, in one piece.
 *
 *     spot_arena a;
 *     SPOT_TRY(spot_arena_open(c, &a, bytes));
 *     float *x; SPOT_TRY(SPOT_TAKE(c, &a, x, n));     // n floats, 64-byte aligned, not cleared
 *     size_t mark = a.used;  ...scratch...  a.used = mark;
 *     spot_arena_close(&a);
 *
 * A counting arena (spot_arena_counting) has no memory: SPOT_TAKE gives NULL and succeeds, and `peak` tells what the
 * same calls need. Layout code that is to be counted must not touch what it took. Views into an arena own nothing and
 * die with it. An arena opened on the host reserves address space and touches pages only as they are used. One opened on
 * the device of a context that computes on CUDA lies in the GPU's memory, which the host cannot touch. */
#ifndef SPOTTER_ARENA_H
#define SPOTTER_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    unsigned char *base;
    size_t size, used, peak;   /* bytes */
    bool counting;
    spot_ctx *on;              /* whose device holds it, which it must not outlive; NULL: host memory */
} spot_arena;

/* What a piece of work takes: of an arena on the host, and beside it of the device's memory, 0 on the CPU. */
typedef struct { size_t host, device; } spot_bytes;

/* The memory of two pieces of work, one after the other. */
static inline spot_bytes spot_bytes_larger(spot_bytes a, spot_bytes b)
{
    if (b.host > a.host) a.host = b.host;
    if (b.device > a.device) a.device = b.device;
    return a;
}

spot_status spot_arena_open(spot_ctx *c, spot_arena *a, size_t bytes);           /* in host memory */
spot_status spot_arena_open_device(spot_ctx *c, spot_arena *a, size_t bytes);    /* in that of c's device */
void        spot_arena_close(spot_arena *a);          /* accepts a zeroed arena */
spot_arena  spot_arena_counting(void);

/* bytes from a, aligned to 64; SPOT_NOMEM with both sizes when it does not fit. */
spot_status spot_arena_take(spot_ctx *c, spot_arena *a, void **out, size_t bytes);

#define SPOT_TAKE(c, a, pointer, count) \
    spot_arena_take((c), (a), (void **)&(pointer), (size_t)(count) * sizeof *(pointer))

#ifdef __cplusplus
}
#endif
#endif
