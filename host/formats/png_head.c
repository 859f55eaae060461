/* png_head.c - a PNG's size, orientation and memory, from its chunks. libpng holds two rows and zlib's window. */
#include <string.h>

#include "formats/byte_scan.h"
#include "formats/picture_kind.h"
#include "formats/png.h"
#include "formats/tiff_head.h"

enum { PNG_WORK = 1 << 18 };

spot_status spot_png_cost(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in)
{
    uint8_t head[33];

    if (in->size < sizeof head) return SPOT_OK;
    SPOT_TRY(spot_blob_read(c, in, 0, head, sizeof head));
    cost->width = spot_big_u32(head + 16);
    cost->height = spot_big_u32(head + 20);
    cost->work = PNG_WORK + 16 * (size_t)cost->width;
    return SPOT_OK;
}

/* The colour type has alpha, or a chunk before the pixels gives it: behind a profile of colours it may stand anywhere. */
spot_status spot_png_transparency(spot_ctx *c, bool *has, const spot_blob *in)
{
    spot_byte_scan s = { .c = c, .in = in };
    uint8_t head[33];

    *has = false;
    if (!spot_byte_take(&s, head, sizeof head) || !spot_png_is(head, sizeof head)) return s.status;
    *has = spot_png_has_alpha(head, sizeof head);
    for (uint64_t at = 8; !*has && (s.at = at, spot_byte_take(&s, head, 8));) {
        if (!memcmp(head + 4, "IDAT", 4) || !memcmp(head + 4, "IEND", 4)) return SPOT_OK;
        *has = !memcmp(head + 4, "tRNS", 4);
        at += 12 + (uint64_t)spot_big_u32(head);
    }
    return s.status;
}

/* The chunk eXIf may stand behind the pixels. */
spot_status spot_png_orientation(spot_ctx *c, int *orientation, const spot_blob *in)
{
    spot_byte_scan s = { .c = c, .in = in };
    uint8_t head[8];

    for (uint64_t at = 8; s.at = at, spot_byte_take(&s, head, sizeof head);) {
        const uint64_t size = spot_big_u32(head);
        if (!memcmp(head + 4, "eXIf", 4)) return spot_exif_orientation(c, orientation, in, at + 8, size);
        if (!memcmp(head + 4, "IEND", 4)) return SPOT_OK;
        at += 12 + size;
    }
    return s.status;
}
