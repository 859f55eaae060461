/* webp_head.c - a WebP's size, orientation and memory, from its chunks: "RIFF", size, "WEBP", then name, size and content each,
 * padded to 2 bytes.
 *
 * libwebp holds a few rows of a lossy picture, and all pixels of a lossless one, 4 bytes each; alpha is a plane that is stored
 * lossless or as it is. An extended file may have any of them. */
#include <string.h>

#include "formats/byte_scan.h"
#include "formats/tiff_head.h"
#include "formats/webp.h"

enum { FIRST = 12, SIMPLE_WORK = 1 << 20 };

bool spot_webp_is(const uint8_t *mark, size_t n) { return n >= 12 && !memcmp(mark, "RIFF", 4) && !memcmp(mark + 8, "WEBP", 4); }

spot_status spot_webp_cost(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in)
{
    spot_byte_scan s = { .c = c, .in = in, .at = FIRST };
    uint8_t b[18];                     /* name, size, then what the kind of chunk has */
    size_t each = 5;                   /* bytes a pixel */

    if (!spot_byte_take(&s, b, sizeof b)) return s.status;
    const uint32_t bits = spot_little_u32(b + 9);
    if (!memcmp(b, "VP8L", 4)) {
        cost->width = (bits & 0x3fff) + 1, cost->height = (bits >> 14 & 0x3fff) + 1;
    } else if (!memcmp(b, "VP8X", 4)) {
        cost->width = (spot_little_u32(b + 12) & 0xffffff) + 1;
        cost->height = (spot_little_u32(b + 14) >> 8) + 1;
    } else if (!memcmp(b, "VP8 ", 4)) {
        cost->width = spot_little_u16(b + 14) & 0x3fff, cost->height = spot_little_u16(b + 16) & 0x3fff;
        each = 0;
    }
    cost->work = SIMPLE_WORK + 256 * (size_t)cost->width + each * (size_t)(cost->width * cost->height);
    return SPOT_OK;
}

/* The first chunk of EXIF; it stands behind the pixels. */
spot_status spot_webp_orientation(spot_ctx *c, int *orientation, const spot_blob *in)
{
    spot_byte_scan s = { .c = c, .in = in };
    uint8_t head[8];

    for (uint64_t at = FIRST; s.at = at, spot_byte_take(&s, head, sizeof head);) {
        const uint64_t size = spot_little_u32(head + 4);
        if (!memcmp(head, "EXIF", 4)) return spot_exif_orientation(c, orientation, in, at + 8, size);
        at += 8 + size + size % 2;
    }
    return s.status;
}
