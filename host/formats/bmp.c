/* bmp.c - see bmp.h. A file has its header of 14 bytes, the picture's header of 12 to 124, masks or a palette, then rows. */
#include "formats/bmp.h"

#include <string.h>

#include "formats/byte_scan.h"

enum { FILE_HEAD = 14, OLD_HEAD = 12, MASKED_HEAD = 52, MOST_HEAD = 124, PLAIN = 0, RLE8 = 1, RLE4 = 2, FIELDS = 3 };

bool spot_bmp_is(const uint8_t *mark, size_t n) { return n >= 2 && !memcmp(mark, "BM", 2); }

typedef struct {
    uint32_t head, width, height, bits, compression, colors, mask[3];
    bool     down;                     /* the first row is the upper one */
    uint64_t pixels;                   /* where they begin */
    uint8_t  palette[256][3];
} bmp_head;

static bool is_known_head(uint32_t n)
{
    return n == OLD_HEAD || n == 40 || n == MASKED_HEAD || n == 56 || n == 64 || n == 108 || n == MOST_HEAD;
}

/* The header from its bytes; false where the file is too short for it or where it has another length. */
static bool take_head(bmp_head *h, const uint8_t *file, size_t size)
{
    const uint8_t *b = file + FILE_HEAD;

    *h = (bmp_head){ .head = size < FILE_HEAD + 4 ? 0 : spot_little_u32(b) };
    if (!is_known_head(h->head) || size < FILE_HEAD + h->head) return false;
    h->pixels = spot_little_u32(file + 10);
    if (h->head == OLD_HEAD) {
        h->width = spot_little_u16(b + 4), h->height = spot_little_u16(b + 6), h->bits = spot_little_u16(b + 10);
        return true;
    }
    h->down = b[11] == 0xff;
    h->width = spot_little_u32(b + 4);
    h->height = h->down ? 0u - spot_little_u32(b + 8) : spot_little_u32(b + 8);
    h->bits = spot_little_u16(b + 14);
    h->compression = spot_little_u32(b + 16);
    h->colors = spot_little_u32(b + 32);
    return true;
}

spot_status spot_bmp_cost(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in)
{
    uint8_t head[FILE_HEAD + MOST_HEAD] = "";
    const size_t n = in->size < sizeof head ? (size_t)in->size : sizeof head;
    bmp_head h;

    SPOT_TRY(spot_blob_read(c, in, 0, head, n));
    if (take_head(&h, head, n)) cost->width = h.width, cost->height = h.height;
    return SPOT_OK;
}

/* ---- palette, masks ---- */

/* Masks stand in the header, or behind one of 40 bytes. */
static bool take_masks(bmp_head *h, const uint8_t *file, size_t size)
{
    const uint8_t *b = file + FILE_HEAD + 40;

    if (size < FILE_HEAD + MASKED_HEAD) return false;
    for (int k = 0; k < 3; k++) h->mask[k] = spot_little_u32(b + 4 * k);
    return true;
}

/* Colours that the palette does not have are black, as in PIL. Pixels that begin at the palette begin behind it. */
static bool take_palette(bmp_head *h, const uint8_t *file, size_t size)
{
    const uint32_t each = h->head == OLD_HEAD ? 3 : 4, n = h->colors ? h->colors : 1u << h->bits;
    const uint64_t at = FILE_HEAD + h->head, end = at + (uint64_t)each * n;

    if (n > 65536 || end > size) return false;
    if (!h->pixels || h->pixels == at) h->pixels = end;
    for (uint32_t i = 0; i < n && i < 256; i++)
        for (int k = 0; k < 3; k++) h->palette[i][k] = file[at + i * each + 2 - (uint32_t)k];
    return true;
}

/* ---- pixels ---- */

static uint8_t *row_of(const spot_picture *p, const bmp_head *h, uint32_t y)
{
    return p->rgb + 3 * (size_t)p->width * (h->down ? y : h->height - 1 - y);
}

/* The place of a whole byte's mask in a pixel; -1: it is no whole byte. */
static int byte_of(uint32_t mask)
{
    for (int k = 0; k < 4; k++)
        if (mask == 0xffu << 8 * k) return k;
    return -1;
}

/* A row of 16 bits a pixel; six: bits of green, 6 of 565, 5 of 555. */
static void put_16(uint8_t *out, const uint8_t *in, uint32_t width, bool six)
{
    const uint32_t green = six ? 63 : 31, red = six ? 11 : 10;

    for (uint32_t x = 0; x < width; x++, out += 3, in += 2) {
        const uint32_t v = spot_little_u16(in);
        out[0] = (uint8_t)((v >> red & 31) * 255 / 31);
        out[1] = (uint8_t)((v >> 5 & green) * 255 / green);
        out[2] = (uint8_t)((v & 31) * 255 / 31);
    }
}

static void put_row(uint8_t *out, const uint8_t *in, const bmp_head *h, const int place[3], bool six)
{
    const uint32_t bits = h->bits, step = bits / 8;

    if (bits == 16) put_16(out, in, h->width, six);
    else if (bits > 16)
        for (uint32_t x = 0; x < h->width; x++)
            for (int k = 0; k < 3; k++) out[3 * x + (uint32_t)k] = in[step * x + (uint32_t)place[k]];
    else
        for (uint32_t x = 0; x < h->width; x++) {
            const uint32_t v = in[x * bits / 8] >> (8 - bits - x * bits % 8) & ((1u << bits) - 1);
            memcpy(out + 3 * x, h->palette[v], 3);
        }
}

/* Rows as they are, each padded to 4 bytes, the last one not always. NULL, or a reason. */
static const char *put_rows(spot_picture *p, const bmp_head *h, const uint8_t *file, size_t size)
{
    const uint64_t bytes = ((uint64_t)h->width * h->bits + 7) / 8, pitch = (bytes + 3) / 4 * 4;
    int place[3] = { 2, 1, 0 };
    bool six = false;

    if (h->compression == FIELDS && h->bits == 16) {
        six = h->mask[1] == 0x7e0;
        if (h->mask[0] != (six ? 0xf800u : 0x7c00u) || h->mask[1] != (six ? 0x7e0u : 0x3e0u) || h->mask[2] != 0x1f)
            return "its bit fields are neither 565 nor 555";
    } else if (h->compression == FIELDS && (h->mask[0] || h->mask[1] || h->mask[2])) {
        for (int k = 0; k < 3; k++) {
            place[k] = byte_of(h->mask[k]);
            if (place[k] < 0 || place[k] >= (int)h->bits / 8) return "its bit fields are no whole bytes";
        }
    }
    if (h->pixels > size || pitch * (h->height - 1) + bytes > size - h->pixels) return "it is cut short";
    for (uint32_t y = 0; y < h->height; y++) put_row(row_of(p, h, y), file + h->pixels + pitch * y, h, place, six);
    return NULL;
}

/* ---- run lengths ---- */

/* `at` counts pixels from the file's first row on. */
typedef struct { const spot_picture *p; const bmp_head *h; uint64_t at, end; } rle;

static void put_pixel(rle *r, uint32_t color)
{
    if (r->at >= r->end) return;
    memcpy(row_of(r->p, r->h, (uint32_t)(r->at / r->h->width)) + 3 * (r->at % r->h->width), r->h->palette[color], 3);
    r->at++;
}

static void put_run(rle *r, const uint8_t *in, uint32_t n, bool four, bool absolute)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t v = in[!absolute ? 0 : four ? i / 2 : i];
        put_pixel(r, !four ? v : i % 2 ? v & 15u : v >> 4u);
    }
}

/* Codes behind a 0: 0 ends the row, 1 the picture, 2 moves, others are so many colours as they are, padded to 2 bytes. */
static const char *put_runs(spot_picture *p, const bmp_head *h, const uint8_t *file, size_t size)
{
    rle r = { p, h, 0, (uint64_t)h->width * h->height };
    const bool four = h->compression == RLE4;
    uint64_t at = h->pixels, column = 0;           /* a run ends with its row, colours as they are may go on in the next */

    for (uint64_t i = 0; i < r.end; i++) memcpy(p->rgb + 3 * i, h->palette[0], 3);
    while (r.at < r.end) {
        if (at > size || size - at < 2) return "it is cut short";
        const uint32_t n = file[at], v = file[at + 1];
        at += 2;
        if (n) {
            const uint64_t left = column < h->width ? h->width - column : 0, run = n < left ? n : left;
            put_run(&r, file + at - 1, (uint32_t)run, four, false);
            column += run;
        } else if (v == 0) {
            r.at += (h->width - r.at % h->width) % h->width, column = 0;
        } else if (v == 1) {
            return NULL;
        } else if (v == 2) {
            if (size - at < 2) return "it is cut short";
            r.at += file[at] + (uint64_t)file[at + 1] * h->width, at += 2;
            column = r.at % h->width;
        } else {
            const uint64_t bytes = four ? (v + 1) / 2 : v;
            if (size - at < bytes) return "it is cut short";
            put_run(&r, file + at, v, four, true);
            column += v, at += bytes;
            at += at % 2;
        }
    }
    return NULL;
}

spot_status spot_bmp_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    const char *why = NULL;
    bmp_head h;

    if (!take_head(&h, file, size)) return spot_fail(c, SPOT_INPUT, "{bmp.damaged} %s is no BMP that can be read: its header "
                                                     "has no length that is known, or is cut short", name);
    SPOT_TRY(spot_picture_start(c, p, h.width, h.height, name));
    const bool runs = h.compression == (h.bits == 8 ? RLE8 : h.bits == 4 ? RLE4 : FIELDS + 1u);
    if (h.bits != 1 && h.bits != 4 && h.bits != 8 && h.bits != 16 && h.bits != 24 && h.bits != 32)
        why = "its pixels have none of 1, 4, 8, 16, 24, 32 bits";
    else if (h.compression != PLAIN && !runs && (h.compression != FIELDS || h.bits < 16))
        why = "its pixels are packed in a way that is not read";
    else if (h.bits <= 8 ? !take_palette(&h, file, size) : h.compression == FIELDS && !take_masks(&h, file, size))
        why = "it is cut short";
    if (!why && !h.pixels) h.pixels = FILE_HEAD + h.head + (h.compression == FIELDS && h.head == 40 ? 12 : 0);
    if (!why) why = runs ? put_runs(p, &h, file, size) : put_rows(p, &h, file, size);
    return why ? spot_fail(c, SPOT_INPUT, "{bmp.damaged} %s is no BMP that can be read: %s", name, why) : SPOT_OK;
}
