/* picture_rotated.c - the pictures whose rotation was not applied, by the hashes of their names: their number, then places for
 * hashes. The table never moves, since contexts are copied; when it is half full, pictures are counted each time. */
#include "formats/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/key.h"

enum { PLACES = 1 << 16 };

void spot_picture_count_rotated(spot_ctx *c)
{
    c->rotated = calloc(1 + PLACES, sizeof *c->rotated);
}

void spot_picture_tell_rotated(spot_ctx *c)
{
    if (c->rotated && *c->rotated)
        spot_log(c, SPOT_LOG_WARN, "%d pictures carry a rotation (EXIF) that is not applied; --exif apply, or exif: apply in a "
                 "config, turns them", (int)*c->rotated);
    free(c->rotated);
    c->rotated = NULL;
}

void spot_picture_note_rotated(spot_ctx *c, const char *path)
{
    const uint64_t hash = spot_key_of(path, strlen(path)).hi | 1;
    uint64_t *place = c->rotated ? c->rotated + 1 : NULL;
    size_t i = hash & (PLACES - 1);

    if (!place) return;
    if (c->rotated[0] >= PLACES / 2) {
        c->rotated[0]++;
        return;
    }
    while (place[i] && place[i] != hash) i = (i + 1) & (PLACES - 1);
    c->rotated[0] += !place[i];
    place[i] = hash;
}
