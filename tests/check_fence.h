/* check_fence.h - arrays beside a page that nobody may touch: an access outside ends the test. Sanitizers see neither what tile
 * instructions touch nor what oneDNN's code does. */
#ifndef SPOTTER_TESTS_CHECK_FENCE_H
#define SPOTTER_TESTS_CHECK_FENCE_H

#include "checks.h"

#include <sys/mman.h>

enum { FENCE = 4096 };

typedef enum { BEHIND, BEFORE } fence_side;

/* The array lies at a multiple of 64 bytes; those of an arena lie at multiples of more. The bytes up to the next multiple
 * belong to nobody: NaN. */
typedef struct { char *map, *array, *end; size_t all; } fenced;

static inline fenced fenced_room(size_t bytes, fence_side side)
{
    size_t whole = (bytes + 63) / 64 * 64, body = (whole + FENCE - 1) / FENCE * FENCE;
    fenced f = { .all = body + FENCE };

    f.map = mmap(NULL, f.all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.map != MAP_FAILED);
    memset(f.map, 0xff, f.all);
    assert_int_equal(mprotect(side == BEHIND ? f.map + body : f.map, FENCE, PROT_NONE), 0);
    f.array = side == BEHIND ? f.map + body - whole : f.map + FENCE;
    f.end = f.array + bytes;
    return f;
}

static inline void clear_fenced(fenced *f)
{
    for (char *p = f->end; (size_t)(p - f->array) % 64; p++)
        if (*p != (char)0xff) fail_msg("byte %td behind an array of %td bytes was written", p - f->end, f->end - f->array);
    munmap(f->map, f->all);
}

#endif
