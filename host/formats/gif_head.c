/* gif_head.c - a GIF's size: its canvas and first frame. */
#include <string.h>

#include "formats/byte_scan.h"
#include "formats/gif.h"

enum { SCREEN = 13, EXTENSION = 0x21, FRAME = 0x2c, WORK = 1 << 18 };

bool spot_gif_is(const uint8_t *mark, size_t n) { return n >= 6 && (!memcmp(mark, "GIF87a", 6) || !memcmp(mark, "GIF89a", 6)); }

static size_t palette_bytes(uint8_t flags) { return flags & 128 ? (size_t)3 << ((flags & 7) + 1) : 0; }

spot_status spot_gif_cost(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in)
{
    spot_byte_scan s = { .c = c, .in = in };
    uint8_t b[SCREEN];
    int mark, n;

    if (!spot_byte_take(&s, b, SCREEN)) return s.status;
    cost->width = spot_little_u16(b + 6), cost->height = spot_little_u16(b + 8);
    cost->work = WORK;
    s.at += palette_bytes(b[10]);
    while ((mark = spot_byte_next(&s)) == EXTENSION && spot_byte_next(&s) >= 0)
        while ((n = spot_byte_next(&s)) > 0) s.at += (uint64_t)n;
    if (mark == FRAME && spot_byte_take(&s, b, 9)) {
        const uint64_t right = spot_little_u16(b) + spot_little_u16(b + 4);
        const uint64_t low = spot_little_u16(b + 2) + spot_little_u16(b + 6);
        cost->width = right > cost->width ? right : cost->width;
        cost->height = low > cost->height ? low : cost->height;
    }
    return s.status;
}
