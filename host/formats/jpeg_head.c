/* jpeg_head.c - a JPEG's size, orientation and memory, from its markers.
 *
 * libjpeg holds a few rows of blocks; for a picture in several scans, such as a progressive one, it holds the coefficients of
 * all blocks, 2 bytes each. If libjpeg reads a header differently, it still cannot take more: spot_jpeg_decode passes it this
 * limit. */
#include <string.h>

#include "formats/byte_scan.h"
#include "formats/picture_kind.h"
#include "formats/tiff_head.h"

enum { SOF_FIRST = 0xc0, SOF_LAST = 0xcf, DHT = 0xc4, JPG = 0xc8, DAC = 0xcc, RST0 = 0xd0, SOI = 0xd8, EOI = 0xd9, SOS = 0xda,
       APP1 = 0xe1, TEM = 1, COMPONENTS = 4, JPEG_WORK = 1 << 21 };

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

/* The marker of the next segment, which ends at *end, with the scan behind its length; the last one ended at *end. 0: none. */
static int next_segment(spot_byte_scan *s, uint64_t *end)
{
    uint8_t length[2];
    int marker;

    s->at = *end;
    do marker = next_marker(s);
    while (marker == TEM || (marker >= RST0 && marker <= SOI));
    *end = s->at;
    if (marker < 0 || marker == EOI || !spot_byte_take(s, length, sizeof length)) return 0;
    *end += spot_big_u16(length);
    return marker;
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
    spot_byte_scan s = { .c = c, .in = in };
    uint8_t frame[6], component[3 * COMPONENTS] = { 0 };
    uint64_t end = 2;
    int marker, n = 0;
    bool whole = false;        /* libjpeg holds the whole picture */

    while ((marker = next_segment(&s, &end)) && marker != SOS) {
        if (marker < SOF_FIRST || marker > SOF_LAST || marker == DHT || marker == JPG || marker == DAC
            || !spot_byte_take(&s, frame, 6)) continue;
        cost->height = spot_big_u16(frame + 1);
        cost->width = spot_big_u16(frame + 3);
        n = frame[5] <= COMPONENTS && spot_byte_take(&s, component, 3 * (size_t)frame[5]) ? frame[5] : 0;
        whole = (marker & 3) == 2;
    }
    if (marker == SOS) whole |= spot_byte_next(&s) < n;
    cost->work = JPEG_WORK + 512 * (size_t)cost->width + (whole ? coefficients(cost, component, n) : 0);
    return s.status;
}

spot_status spot_jpeg_orientation(spot_ctx *c, int *orientation, const spot_blob *in)
{
    spot_byte_scan s = { .c = c, .in = in };
    uint8_t head[6];
    uint64_t end = 2;
    int marker;

    while ((marker = next_segment(&s, &end)) && marker != SOS) {
        const uint64_t at = s.at;
        if (marker == APP1 && end >= at + sizeof head && spot_byte_take(&s, head, sizeof head)
            && !memcmp(head, "Exif\0\0", sizeof head)) return spot_exif_orientation(c, orientation, in, at, end - at);
    }
    return s.status;
}
