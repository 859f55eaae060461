/* picture_cost.c - computes the memory for decoding from the first bytes of a file.
 *
 * PNG: libpng holds two rows and zlib's window. JPEG: libjpeg holds a few rows of blocks; for a picture in several scans, such
 * as a progressive one, it holds the coefficients of all blocks, 2 bytes each. If libjpeg reads a header differently, it still
 * cannot take more: spot_jpeg_decode passes it this limit. */
#include "formats/picture_kind.h"

#include <inttypes.h>
#include <string.h>

#include "formats/byte_scan.h"
#include "formats/tiff_head.h"

enum { SOF_FIRST = 0xc0, SOF_LAST = 0xcf, DHT = 0xc4, JPG = 0xc8, DAC = 0xcc, RST0 = 0xd0, SOI = 0xd8, EOI = 0xd9, SOS = 0xda,
       APP1 = 0xe1, TEM = 1, COMPONENTS = 4, PNG_WORK = 1 << 18, JPEG_WORK = 1 << 21 };

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

/* EXIF's tags from a part of the file. */
static spot_status take_orientation(spot_ctx *c, int *orientation, const spot_blob *in, uint64_t at, uint64_t size)
{
    spot_tiff_head h;

    SPOT_TRY(spot_tiff_head_read(c, &h, in, at, size));
    *orientation = h.orientation;
    return SPOT_OK;
}

/* The chunk eXIf may stand behind the pixels. */
spot_status spot_png_orientation(spot_ctx *c, int *orientation, const spot_blob *in)
{
    spot_byte_scan s = { .c = c, .in = in };
    uint8_t head[8];

    for (uint64_t at = 8; s.at = at, spot_byte_take(&s, head, sizeof head);) {
        const uint64_t size = spot_big_u32(head);
        if (!memcmp(head + 4, "eXIf", 4)) return take_orientation(c, orientation, in, at + 8, size);
        if (!memcmp(head + 4, "IEND", 4)) return SPOT_OK;
        at += 12 + size;
    }
    return s.status;
}

/* ---- JPEG ---- */

/* The next marker; skips bytes before it, as libjpeg does. -1: none. */
static int next_marker(spot_byte_scan *s)
{
    int b = spot_byte_next(s);

    for (;;) {
        while (b >= 0 && b != 0xff) b = spot_byte_next(s);
        while (b == 0xff) b = spot_byte_next(s);
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

spot_status spot_jpeg_cost(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in)
{
    spot_byte_scan s = { .c = c, .in = in, .at = 2 };
    uint8_t head[2], frame[6], component[3 * COMPONENTS] = { 0 };
    int marker, n = 0;
    bool whole = false;        /* libjpeg holds the whole picture */

    while ((marker = next_marker(&s)) > 0 && marker != EOI) {
        uint64_t end;
        if (marker == TEM || (marker >= RST0 && marker <= SOI)) continue;
        end = s.at;
        if (!spot_byte_take(&s, head, 2)) break;
        end += spot_big_u16(head);
        if (marker == SOS) {
            int scanned = spot_byte_next(&s);
            whole |= scanned < n;
            break;
        }
        if (marker >= SOF_FIRST && marker <= SOF_LAST && marker != DHT && marker != JPG && marker != DAC
            && spot_byte_take(&s, frame, 6)) {
            cost->height = spot_big_u16(frame + 1);
            cost->width = spot_big_u16(frame + 3);
            n = frame[5] <= COMPONENTS && spot_byte_take(&s, component, 3 * (size_t)frame[5]) ? frame[5] : 0;
            whole = (marker & 3) == 2;
        }
        s.at = end;
    }
    cost->work = JPEG_WORK + 512 * (size_t)cost->width + (whole ? coefficients(cost, component, n) : 0);
    return s.status;
}

spot_status spot_jpeg_orientation(spot_ctx *c, int *orientation, const spot_blob *in)
{
    spot_byte_scan s = { .c = c, .in = in, .at = 2 };
    uint8_t head[8];
    int marker;

    while ((marker = next_marker(&s)) > 0 && marker != EOI && marker != SOS) {
        const uint64_t at = s.at;
        if (marker == TEM || (marker >= RST0 && marker <= SOI)) continue;
        if (!spot_byte_take(&s, head, 2)) break;
        const uint64_t size = spot_big_u16(head);
        if (marker == APP1 && size >= sizeof head && spot_byte_take(&s, head + 2, 6) && !memcmp(head + 2, "Exif\0\0", 6))
            return take_orientation(c, orientation, in, at + 2, size - 2);
        s.at = at + size;
    }
    return s.status;
}

/* ---- any ---- */

/* kind: NULL where it is no picture. */
static spot_status read_cost(spot_ctx *c, spot_picture_cost *cost, const spot_picture_kind **kind, const spot_blob *in)
{
    uint8_t mark[SPOT_PICTURE_MARK];
    const size_t n = in->size < sizeof mark ? (size_t)in->size : sizeof mark;

    *cost = (spot_picture_cost){ .file = (size_t)in->size };
    SPOT_TRY(spot_blob_read(c, in, 0, mark, n));
    *kind = spot_picture_kind_of(mark, n);
    if (!*kind) return SPOT_OK;
    SPOT_TRY((*kind)->cost(c, cost, in));
    if (cost->width && cost->height <= SPOT_PICTURE_PIXELS / cost->width)
        cost->pixels = 3 * (size_t)(cost->width * cost->height);
    else cost->work = cost->turned = 0;        /* it will be refused */
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

spot_status spot_picture_cost_of(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in)
{
    const spot_picture_kind *kind;

    return read_cost(c, cost, &kind, in);
}

static spot_status read_head(spot_ctx *c, spot_picture_head *h, const spot_blob *in)
{
    const spot_picture_kind *kind;
    spot_picture_cost cost;
    uint8_t mark[SPOT_PICTURE_MARK] = "";

    SPOT_TRY(read_cost(c, &cost, &kind, in));
    if (!kind) {
        const size_t n = in->size < sizeof mark ? (size_t)in->size : sizeof mark;
        SPOT_TRY(spot_blob_read(c, in, 0, mark, n));
        return spot_picture_kind_none(c, mark, n, in->name);
    }
    if (!cost.pixels)
        return spot_fail(c, SPOT_INPUT, "{picture.size} %s says that it has %" PRIu64 " x %" PRIu64 " pixels; from 1 to %d are "
                         "read", in->name, cost.width, cost.height, SPOT_PICTURE_PIXELS);
    *h = (spot_picture_head){ (int)cost.width, (int)cost.height, 1 };
    return kind->orientation ? kind->orientation(c, &h->orientation, in) : SPOT_OK;
}

spot_status spot_picture_head_of(spot_ctx *c, spot_picture_head *h, const char *path)
{
    spot_blob in;
    spot_status s;

    SPOT_TRY(spot_blob_open(c, &in, path));
    s = read_head(c, h, &in);
    spot_blob_close(&in);
    return s;
}
