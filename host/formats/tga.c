/* tga.c - see tga.h. A file has its header of 18 bytes, a text, a palette, then pixels, blue first. */
#include "formats/tga.h"

#include "formats/byte_scan.h"

enum { HEAD = 18, PALETTE = 1, COLOURS = 2, GREY = 3, RUNS = 8 };

typedef struct {
    int kind, width, height, bytes;        /* kind: PALETTE, COLOURS, GREY; bytes of a pixel */
    bool runs, down, left, alpha;          /* down: the first row is the upper one; left: rows run to the left */
    int first, colours, colour_bytes;      /* of the palette */
    size_t palette, pixels;                /* where they begin */
} tga_head;

static int bytes_of(int bits) { return bits == 8 ? 1 : bits == 15 || bits == 16 ? 2 : bits == 24 ? 3 : bits == 32 ? 4 : 0; }

static bool take_head(tga_head *h, const uint8_t *b, size_t n)
{
    if (n < HEAD) return false;
    *h = (tga_head){ .kind = b[2] & ~RUNS, .runs = b[2] & RUNS, .width = spot_little_u16(b + 12),
                     .height = spot_little_u16(b + 14), .bytes = bytes_of(b[16]), .down = b[17] & 32, .left = b[17] & 16,
                     .alpha = (b[17] & 15) > 0, .palette = HEAD + (size_t)b[0] };
    if (b[1]) h->first = spot_little_u16(b + 3), h->colours = spot_little_u16(b + 5), h->colour_bytes = bytes_of(b[7]);
    h->pixels = h->palette + (size_t)h->colours * (size_t)h->colour_bytes;
    if (b[1] > 1 || (b[1] && h->colour_bytes < 2) || h->width < 1 || h->height < 1 || b[2] > RUNS + GREY) return false;
    if (h->kind == PALETTE) return b[1] == 1 && h->bytes == 1 && h->colours > 0;
    if (h->kind == GREY) return h->bytes == 1;
    return h->kind == COLOURS && h->bytes > 1;
}

bool spot_tga_is(const uint8_t *file, size_t size, uint64_t *width, uint64_t *height)
{
    tga_head h;

    if (!take_head(&h, file, size)) return false;
    if (width) *width = (uint64_t)h.width;
    if (height) *height = (uint64_t)h.height;
    return true;
}

static int depth_of(const tga_head *h) { return h->kind == PALETTE ? h->colour_bytes : h->bytes; }

bool spot_tga_has_alpha(const uint8_t *file, size_t size)
{
    tga_head h;

    return take_head(&h, file, size) && h.alpha && depth_of(&h) == 4;
}

/* Red, green, blue and alpha of a colour of `bytes` bytes. */
static void colour_of(uint8_t to[4], const uint8_t *b, int bytes)
{
    if (bytes == 2) {
        const unsigned v = spot_little_u16(b);
        for (int k = 0; k < 3; k++) to[k] = (uint8_t)((v >> (10 - 5 * k) & 31) * 255 / 31);
    } else {
        for (int k = 0; k < 3; k++) to[k] = b[bytes == 1 ? 0 : 2 - k];
    }
    to[3] = bytes == 4 ? b[3] : 255;
}

static void pixel_of(uint8_t to[4], const tga_head *h, const uint8_t *file, const uint8_t *b)
{
    const int i = *b - h->first;

    if (h->kind != PALETTE) {
        colour_of(to, b, h->bytes);
        return;
    }
    colour_of(to, file + h->palette + (size_t)(i >= 0 && i < h->colours ? i : 0) * (size_t)h->colour_bytes, h->colour_bytes);
}

static void put_pixel(spot_picture *p, const tga_head *h, size_t i, const uint8_t rgba[4], bool mask)
{
    const size_t width = (size_t)h->width, row = i / width, column = i % width;
    const size_t at = (h->down ? row : (size_t)h->height - 1 - row) * width + (h->left ? width - 1 - column : column);

    if (mask) p->rgb[at] = h->alpha && depth_of(h) == 4 ? rgba[3] : rgba[0];
    else for (int k = 0; k < 3; k++) p->rgb[3 * at + (size_t)k] = rgba[k];
}

/* False: the file ends before the last pixel. */
static bool put_pixels(spot_picture *p, const tga_head *h, const uint8_t *file, size_t size, bool mask)
{
    const size_t all = (size_t)h->width * (size_t)h->height, bytes = (size_t)h->bytes;
    size_t at = h->pixels, i = 0;
    uint8_t rgba[4];

    while (i < all) {
        size_t count = all - i;
        bool same = false;
        if (h->runs) {
            if (at >= size) return false;
            same = file[at] & 128, count = (size_t)(file[at++] & 127) + 1;
        }
        for (size_t k = 0; k < count && i < all; k++) {
            if (at > size || size - at < bytes) return false;
            pixel_of(rgba, h, file, file + at);
            put_pixel(p, h, i++, rgba, mask);
            if (!same || k + 1 == count || i == all) at += bytes;
        }
    }
    return true;
}

spot_status spot_tga_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name, bool mask)
{
    tga_head h;

    if (!take_head(&h, file, size) || h.pixels > size)
        return spot_fail(c, SPOT_INPUT, "{tga.damaged} %s is no TGA that can be read: its header is damaged", name);
    SPOT_TRY(spot_picture_start(c, p, (uint64_t)h.width, (uint64_t)h.height, name));
    if (put_pixels(p, &h, file, size, mask)) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{tga.damaged} %s is no TGA that can be read: it is cut short", name);
}
