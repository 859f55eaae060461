/* picture_room.c - memory of pictures, for the decoders. */
#include "formats/picture.h"

#include <inttypes.h>
#include <stdlib.h>

spot_status spot_room_need(spot_ctx *c, spot_room *room, size_t bytes)
{
    if (bytes <= room->size) return SPOT_OK;
    free(room->at);
    room->at = malloc(bytes);
    room->size = room->at ? bytes : 0;
    return room->at ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %zu bytes of a picture", bytes);
}

spot_status spot_picture_start(spot_ctx *c, spot_picture *p, uint64_t width, uint64_t height, const char *name)
{
    if (!width || !height || width > SPOT_PICTURE_PIXELS || height > SPOT_PICTURE_PIXELS / width)
        return spot_fail(c, SPOT_INPUT, "{picture.size} %s says that it has %" PRIu64 " x %" PRIu64 " pixels; from 1 to %d are "
                         "read", name, width, height, SPOT_PICTURE_PIXELS);
    if (p->held && 3 * (size_t)(width * height) > p->held)
        return spot_fail(c, SPOT_INPUT, "%s: its header contradicts itself about its %" PRIu64 " x %" PRIu64 " pixels", name,
                         width, height);
    SPOT_TRY(spot_room_need(c, &p->pixels, 3 * (size_t)(width * height)));
    p->width = (int)width;
    p->height = (int)height;
    p->rgb = p->pixels.at;
    return SPOT_OK;
}
