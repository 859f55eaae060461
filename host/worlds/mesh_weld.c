/* mesh_weld.c - equal corners become one vertex: a hash table with open addresses. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "worlds/mesh_parts.h"

enum { EMPTY = 0 };                        /* a slot holds a number + 1 */

static size_t slots_for(size_t rows)
{
    size_t slots = 16;

    while (slots < 2 * rows) slots *= 2;
    return slots;
}

spot_status spot_mesh_weld(spot_ctx *c, const float *row, size_t rows, size_t width, uint32_t *number, uint32_t *first,
                           size_t *different)
{
    const size_t slots = slots_for(rows), bytes = width * sizeof *row;
    uint32_t *slot = calloc(slots, sizeof *slot);
    size_t found = 0;

    if (!slot) return spot_fail(c, SPOT_NOMEM, "no memory to join the corners of %zu triangles", rows / 3);
    for (size_t i = 0; i < rows; i++) {
        const float *mine = row + i * SPOT_ROW;
        size_t at = (size_t)XXH3_64bits(mine, bytes) & (slots - 1);
        while (slot[at] != EMPTY && memcmp(row + (size_t)first[slot[at] - 1] * SPOT_ROW, mine, bytes))
            at = (at + 1) & (slots - 1);
        if (slot[at] == EMPTY) {
            first[found] = (uint32_t)i;
            slot[at] = (uint32_t)++found;
        }
        number[i] = slot[at] - 1;
    }
    free(slot);
    *different = found;
    return SPOT_OK;
}
