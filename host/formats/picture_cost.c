/* picture_cost.c - computes the memory for decoding from the first bytes of a file.
 *
 * PNG: libpng holds two rows and zlib's window. JPEG: libjpeg holds a few rows of blocks; for a picture in several scans, such
 * as a progressive one, it holds the coefficients of all blocks, 2 bytes each. If libjpeg reads a header differently, it still
 * cannot take more: spot_jpeg_decode passes it this limit. */
#include "formats/picture.h"

enum { SOF_FIRST = 0xc0, SOF_LAST = 0xcf, DHT = 0xc4, JPG = 0xc8, DAC = 0xcc, RST0 = 0xd0, SOI = 0xd8, EOI = 0xd9, SOS = 0xda,
       TEM = 1, COMPONENTS = 4, PNG_WORK = 1 << 18, JPEG_WORK = 1 << 21 };

static uint32_t u16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static uint32_t u32(const uint8_t *p) { return u16(p) << 16 | u16(p + 2); }

static spot_status cost_of_png(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in)
{
    uint8_t head[33];

    if (in->size < sizeof head) return SPOT_OK;
    SPOT_TRY(spot_blob_read(c, in, 0, head, sizeof head));
    cost->width = u32(head + 16);
    cost->height = u32(head + 20);
    cost->work = PNG_WORK + 16 * (size_t)cost->width;
    return SPOT_OK;
}

/* ---- JPEG ---- */

typedef struct {
    spot_ctx *c;
    const spot_blob *in;
    uint64_t  at, from;        /* the next byte; where `bytes` begin in the file */
    size_t    have;
    uint8_t   bytes[512];
    spot_status status;
} scanner;

/* The next byte, -1 at the end. */
static int next_byte(scanner *s)
{
    if (s->at >= s->in->size) return -1;
    if (s->at < s->from || s->at >= s->from + s->have) {
        uint64_t left = s->in->size - s->at;
        s->from = s->at;
        s->have = left < sizeof s->bytes ? (size_t)left : sizeof s->bytes;
        s->status = spot_blob_read(s->c, s->in, s->at, s->bytes, s->have);
        if (s->status) return -1;
    }
    return s->bytes[s->at++ - s->from];
}

static bool take_bytes(scanner *s, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int b = next_byte(s);
        if (b < 0) return false;
        out[i] = (uint8_t)b;
    }
    return true;
}

/* The next marker; skips bytes before it, as libjpeg does. -1: none. */
static int next_marker(scanner *s)
{
    int b = next_byte(s);

    for (;;) {
        while (b >= 0 && b != 0xff) b = next_byte(s);
        while (b == 0xff) b = next_byte(s);
        if (b) return b;
    }
}

/* Coefficients of all blocks: each component's width and height in blocks, rounded up to whole sampling units. */
static size_t coefficients(const spot_picture_cost *cost, const uint8_t *component, int n)
{
    uint64_t most_h = 1, most_v = 1, blocks = 0;

    for (int i = 0; i < n && i < COMPONENTS; i++) {
        uint64_t h = component[3 * i + 1] >> 4, v = component[3 * i + 1] & 15;
        if (h > most_h) most_h = h;
        if (v > most_v) most_v = v;
    }
    for (int i = 0; i < n && i < COMPONENTS; i++) {
        uint64_t h = component[3 * i + 1] >> 4, v = component[3 * i + 1] & 15;
        uint64_t wide = (cost->width + 8 * most_h - 1) / (8 * most_h) * h;
        uint64_t high = (cost->height + 8 * most_v - 1) / (8 * most_v) * v;
        blocks += wide * high;
    }
    return (size_t)blocks * 64 * sizeof(int16_t);
}

static spot_status cost_of_jpeg(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in)
{
    scanner s = { .c = c, .in = in, .at = 2 };
    uint8_t head[2], frame[6], component[3 * COMPONENTS] = { 0 };
    int marker, n = 0;
    bool whole = false;        /* libjpeg holds the whole picture */

    while ((marker = next_marker(&s)) > 0 && marker != EOI) {
        uint64_t end;
        if (marker == TEM || (marker >= RST0 && marker <= SOI)) continue;
        end = s.at;
        if (!take_bytes(&s, head, 2)) break;
        end += u16(head);
        if (marker == SOS) {
            int scanned = next_byte(&s);
            whole |= scanned < n;
            break;
        }
        if (marker >= SOF_FIRST && marker <= SOF_LAST && marker != DHT && marker != JPG && marker != DAC
            && take_bytes(&s, frame, 6)) {
            cost->height = u16(frame + 1);
            cost->width = u16(frame + 3);
            n = frame[5] <= COMPONENTS && take_bytes(&s, component, 3 * (size_t)frame[5]) ? frame[5] : 0;
            whole = (marker & 3) == 2;
        }
        s.at = end;
    }
    cost->work = JPEG_WORK + 512 * (size_t)cost->width + (whole ? coefficients(cost, component, n) : 0);
    return s.status;
}

spot_status spot_picture_cost_of(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in)
{
    uint8_t head[3] = "";

    *cost = (spot_picture_cost){ .file = (size_t)in->size };
    if (in->size < sizeof head) return SPOT_OK;
    SPOT_TRY(spot_blob_read(c, in, 0, head, sizeof head));
    if (head[0] == 0x89 && head[1] == 'P') SPOT_TRY(cost_of_png(c, cost, in));
    else if (head[0] == 0xff && head[1] == 0xd8) SPOT_TRY(cost_of_jpeg(c, cost, in));
    if (cost->width && cost->height <= SPOT_PICTURE_PIXELS / cost->width)
        cost->pixels = 3 * (size_t)(cost->width * cost->height);
    else cost->work = 0;       /* it will be refused */
    return SPOT_OK;
}

const char *spot_picture_other_size(int width, int height, int said_width, int said_height)
{
    const double across = (double)width * said_height, down = (double)height * said_width;

    if (width == said_height && height == said_width)
        return "the sides are exchanged, as for a photo whose EXIF rotation the annotations apply; save the picture turned, or "
               "annotate its pixels";
    if (across < down * 1.02 && down < across * 1.02)
        return "it is a resized copy; scale the boxes, or give the pictures that were annotated";
    return "they are not of one picture; correct the folder or the file";
}
