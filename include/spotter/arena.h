/* arena.h - memory that the caller passes, in one piece.
 *
 *     spot_arena a;
 *     SPOT_TRY(spot_arena_open(c, &a, bytes));
 *     float *x; SPOT_TRY(SPOT_TAKE(c, &a, x, n));     // n floats, not cleared
 *     size_t mark = a.used;  ...scratch...  a.used = mark;
 *     spot_arena_close(&a);
 *
 * Pieces begin at multiples of SPOT_ALIGN bytes, as those of cudaMalloc do, and take whole multiples of it
 * (spot_arena_room). So the loads of a warp and the algorithms of cuDNN and cuBLAS do not depend on what was taken before, and
 * the sizes of pieces that are counted apart add up.
 *
 * A counting arena (spot_arena_counting) has no memory: SPOT_TAKE sets the pointer to NULL and succeeds, and `peak` is the
 * size that the same calls need. Code that runs on a counting arena must not touch what it took. Pointers into an arena
 * own nothing and are valid until it closes. An arena in host memory reserves address space; pages are used when they are
 * first touched. On CUDA, an arena in device memory lies on the GPU, and the host cannot touch it. */
#ifndef SPOTTER_ARENA_H
#define SPOTTER_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPOT_ALIGN = 256 };

/* Bytes that a piece of `bytes` takes of an arena. Several pieces need the sum of their rooms. */
static inline size_t spot_arena_room(size_t bytes) { return (bytes + SPOT_ALIGN - 1) / SPOT_ALIGN * SPOT_ALIGN; }

typedef struct {
    unsigned char *base;
    size_t size, used, peak;   /* bytes */
    bool counting;
    spot_ctx *on;              /* the context of the device that holds it; must outlive the arena. NULL: host memory */
    spot_ctx *pinned;          /* host memory that this context's device reads and writes by itself; must outlive it, too */
} spot_arena;

/* Memory that a piece of work needs: bytes of an arena on the host, and bytes of device memory (0 on the CPU). */
typedef struct { size_t host, device; } spot_bytes;

/* Memory for two pieces of work that run one after the other. */
static inline spot_bytes spot_bytes_larger(spot_bytes a, spot_bytes b)
{
    if (b.host > a.host) a.host = b.host;
    if (b.device > a.device) a.device = b.device;
    return a;
}

/* An arena has room for one piece of `bytes`, or for pieces whose rooms they are the sum of. */
spot_status spot_arena_open(spot_ctx *c, spot_arena *a, size_t bytes);           /* in host memory */
/* In host memory that c's device copies from and to several times as fast; its pages are used at once. Without a device, and
 * where the system refuses, it is like any host memory. */
spot_status spot_arena_open_pinned(spot_ctx *c, spot_arena *a, size_t bytes);
spot_status spot_arena_open_device(spot_ctx *c, spot_arena *a, size_t bytes);    /* in the memory of c's device */
void        spot_arena_close(spot_arena *a);          /* accepts a zeroed arena */
spot_arena  spot_arena_counting(void);

/* Takes bytes from a. out: the address of a pointer of any type. SPOT_NOMEM names both sizes when they do not fit. */
spot_status spot_arena_take(spot_ctx *c, spot_arena *a, void *out, size_t bytes);

#define SPOT_TAKE(c, a, pointer, count) \
    spot_arena_take((c), (a), &(pointer), (size_t)(count) * sizeof *(pointer))

/* Memory in pieces that is freed at once: the texts and lists of a config. *p is NULL before the first call. take: zeroed
 * bytes, aligned to 64. longer: a copy of a list of n entries of `size` bytes, with zeroed room for `more`. text: a copy. Each
 * returns NULL where there is no memory. A copy of a struct shares the struct's memory: one of them closes it, last. */
typedef struct spot_memory spot_memory;
void       *spot_memory_take (spot_memory **p, size_t bytes);
void       *spot_memory_longer(spot_memory **p, const void *list, size_t size, int n, int more);
const char *spot_memory_text (spot_memory **p, const char *text);
void        spot_memory_close(spot_memory **p);

/* ---- a borrowed matrix ---- */

/* A borrowed matrix: row-major, dense. It owns nothing. */

typedef struct {
    float *v;          /* (rows, cols) */
    int rows, cols;
} spot_mat;

#ifdef __cplusplus
}
#endif
#endif
