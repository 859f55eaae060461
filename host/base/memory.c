/* memory.c - memory in pieces, freed at once. A piece is a list's whole array or as many texts as fit. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/arena.h"

enum { ALIGNMENT = 64, PIECE = 1 << 12 };

typedef struct memory_piece {
    struct memory_piece *before;
    size_t size, used;
    unsigned char *bytes;
} memory_piece;

/* Copies of a struct share this one, so that all of them see pieces that are added later. */
struct spot_memory { memory_piece *last; };

static bool add_piece(spot_memory *m, size_t bytes)
{
    const size_t size = bytes > PIECE ? bytes : PIECE;
    memory_piece *new = malloc(sizeof *new);

    if (new) *new = (memory_piece){ m->last, size, 0, aligned_alloc(ALIGNMENT, size) };
    if (!new || !new->bytes) return free(new), false;
    m->last = new;
    return true;
}

/* Bytes are rounded up to whole alignments, so the next free byte of every piece is aligned. */
void *spot_memory_take(spot_memory **p, size_t bytes)
{
    const size_t whole = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *taken;

    if (!*p) *p = calloc(1, sizeof **p);
    if (!*p || whole < bytes) return NULL;
    if ((!(*p)->last || (*p)->last->size - (*p)->last->used < whole) && !add_piece(*p, whole)) return NULL;
    taken = (*p)->last->bytes + (*p)->last->used;
    (*p)->last->used += whole;
    return memset(taken, 0, bytes);
}

void *spot_memory_longer(spot_memory **p, const void *list, size_t size, int n, int more)
{
    void *copy = spot_memory_take(p, ((size_t)n + (size_t)more) * size);

    if (copy && n) memcpy(copy, list, (size_t)n * size);
    return copy;
}

const char *spot_memory_text(spot_memory **p, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = spot_memory_take(p, n);

    return copy ? memcpy(copy, text, n) : NULL;
}

void spot_memory_close(spot_memory **p)
{
    for (memory_piece *m = *p ? (*p)->last : NULL, *before; m; m = before) {
        before = m->before;
        free(m->bytes);
        free(m);
    }
    free(*p);
    *p = NULL;
}
