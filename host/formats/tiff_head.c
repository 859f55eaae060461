/* tiff_head.c - see tiff_head.h. One directory is read, once: those that lead round are never followed. */
#include "formats/tiff_head.h"

#include <string.h>

enum { WIDTH = 256, HEIGHT = 257, BITS = 258, COMPRESSION = 259, PHOTO = 262, ORIENTATION = 274, SAMPLES = 277, ROWS = 278,
       PLANAR = 284, TILE_WIDTH = 322, TILE_HEIGHT = 323, TAGS = TILE_HEIGHT - WIDTH + 1 };

/* Offsets count from `zero`; nothing is read at or beyond `end`. exif: of a tag that is there twice the last one counts, as in
 * PIL; else the first, as in libtiff, which must not find larger pixels than are stated here. */
typedef struct { spot_byte_scan s; uint64_t zero, end; bool little, wide, exif; } reader;

static bool take_number(reader *r, int bytes, uint64_t *v)
{
    uint8_t b[8];

    *v = 0;
    if (r->end - r->s.at < (uint64_t)bytes || !spot_byte_take(&r->s, b, (size_t)bytes)) return false;
    for (int i = 0; i < bytes; i++) *v = *v << 8 | b[r->little ? bytes - 1 - i : i];
    return true;
}

static bool seek(reader *r, uint64_t offset)
{
    if (offset > r->end - r->zero) return false;
    r->s.at = r->zero + offset;
    return true;
}

/* Whole numbers, with and without a sign. */
static int bytes_of(uint64_t type)
{
    enum { BYTE = 1, SHORT = 3, LONG = 4, SBYTE = 6, SSHORT = 8, SLONG = 9, LONG8 = 16, SLONG8 = 17 };

    return type == BYTE || type == SBYTE ? 1 : type == SHORT || type == SSHORT ? 2 : type == LONG || type == SLONG ? 4
         : type == LONG8 || type == SLONG8 ? 8 : 0;
}

/* The first value of an entry, whose other values may lie elsewhere. */
static bool take_value(reader *r, uint64_t type, uint64_t count, uint64_t *v)
{
    const int bytes = bytes_of(type);
    uint64_t offset;

    if (!bytes || !count) return false;
    if (count > (r->wide ? 8u : 4u) / (unsigned)bytes && (!take_number(r, r->wide ? 8 : 4, &offset) || !seek(r, offset)))
        return false;
    return take_number(r, bytes, v);
}

/* The others are passed over unread: there may be 65,535 of them, each with its value elsewhere. */
static bool is_known(uint64_t tag)
{
    return (tag >= WIDTH && tag <= COMPRESSION) || tag == PHOTO || tag == ORIENTATION || tag == SAMPLES || tag == ROWS
        || tag == PLANAR || tag == TILE_WIDTH || tag == TILE_HEIGHT;
}

static void keep_tag(spot_tiff_head *h, uint64_t tag, uint64_t v)
{
    switch (tag) {
    case WIDTH:       h->width = v; break;
    case HEIGHT:      h->height = v; break;
    case BITS:        h->bits = v; break;
    case COMPRESSION: h->compression = v; break;
    case PHOTO:       h->photo = v; break;
    case SAMPLES:     h->samples = v; break;
    case ROWS:        h->rows = v; break;
    case PLANAR:      h->planar = v; break;
    case TILE_WIDTH:  h->tile_width = v; break;
    case TILE_HEIGHT: h->tile_height = v; break;
    case ORIENTATION: h->orientation = v >= 1 && v <= 8 ? (int)v : 1; break;
    default: break;
    }
}

static void read_directory(reader *r, spot_tiff_head *h)
{
    const uint64_t each = r->wide ? 20 : 12;
    bool seen[TAGS] = { false };
    uint64_t n, tag, type, count, v;

    if (!take_number(r, r->wide ? 8 : 2, &n)) return;
    for (uint64_t first = r->s.at, i = 0; i < n && i < 65536; i++) {
        if (!seek(r, first - r->zero + i * each) || !take_number(r, 2, &tag) || !take_number(r, 2, &type)
            || !take_number(r, r->wide ? 8 : 4, &count)) return;
        if (!is_known(tag) || (seen[tag - WIDTH] && !r->exif)) continue;
        seen[tag - WIDTH] = true;
        if (take_value(r, type, count, &v)) keep_tag(h, tag, v);
    }
}

static spot_status read_head(spot_ctx *c, spot_tiff_head *h, const spot_blob *in, uint64_t at, uint64_t size, bool exif)
{
    reader r = { .s = { .c = c, .in = in, .at = at }, .end = at + size, .exif = exif };
    uint8_t mark[6];
    uint64_t version, offset;

    *h = (spot_tiff_head){ .samples = 1, .bits = 1, .compression = 1, .orientation = 1, .rows = UINT64_MAX };
    if (at > in->size || size > in->size - at) return SPOT_OK;
    while (r.end - r.s.at >= sizeof mark && spot_byte_take(&r.s, mark, sizeof mark) && !memcmp(mark, "Exif\0\0", 6))
        at += sizeof mark;
    r.zero = r.s.at = at;
    if (r.end - at < 8 || !spot_byte_take(&r.s, mark, 2)) return r.s.status;
    r.little = mark[0] == 'I';
    if (memcmp(mark, "II", 2) && memcmp(mark, "MM", 2)) return SPOT_OK;
    take_number(&r, 2, &version);
    r.wide = version == 43;
    if (version != 42 && (!r.wide || !take_number(&r, 4, &offset))) return r.s.status;
    if (take_number(&r, r.wide ? 8 : 4, &offset) && seek(&r, offset)) read_directory(&r, h);
    return r.s.status;
}

spot_status spot_tiff_head_read(spot_ctx *c, spot_tiff_head *h, const spot_blob *in)
{
    return read_head(c, h, in, 0, in->size, false);
}

spot_status spot_exif_orientation(spot_ctx *c, int *orientation, const spot_blob *in, uint64_t at, uint64_t size)
{
    spot_tiff_head h;

    SPOT_TRY(read_head(c, &h, in, at, size, true));
    *orientation = h.orientation;
    return SPOT_OK;
}
