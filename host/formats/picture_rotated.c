/* picture_rotated.c - the pictures whose rotation was not applied, by the hashes of their names. */
#include "formats/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/key.h"

/* The place of a hash in the table, or the free one where it belongs. `room` is a power of 2, and not full. */
static uint64_t *place_of(uint64_t *table, size_t room, uint64_t hash)
{
    size_t i = hash & (room - 1);

    while (table[i] && table[i] != hash) i = (i + 1) & (room - 1);
    return table + i;
}

/* Room for n hashes: twice as much, at least 64. */
static size_t room_for(int n)
{
    size_t room = 64;

    while (room < 2 * (size_t)n) room *= 2;
    return room;
}

static bool grow(spot_ctx *c)
{
    const size_t before = room_for(c->rotations), room = room_for(c->rotations + 1);

    if (c->rotated && room == before) return true;
    uint64_t *table = calloc(room, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; c->rotated && i < before; i++)
        if (c->rotated[i]) *place_of(table, room, c->rotated[i]) = c->rotated[i];
    free(c->rotated);
    c->rotated = table;
    return true;
}

void spot_picture_note_rotated(spot_ctx *c, const char *path)
{
    const uint64_t hash = spot_key_of(path, strlen(path)).hi | 1;
    uint64_t *place;

    if (!grow(c)) return;                  /* the line of the log lacks one */
    place = place_of(c->rotated, room_for(c->rotations + 1), hash);
    c->rotations += !*place;
    *place = hash;
}
