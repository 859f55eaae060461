/* tiff.c - see tiff.h. libtiff undoes the packing, row by row or tile by tile; the numbers of pixels become RGB here, since
 * libtiff's own conversion is another than PIL's. Only the first directory is read. */
#include "formats/tiff.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "formats/tiff_head.h"

enum { WHITE_IS_0 = PHOTOMETRIC_MINISWHITE, GREY = PHOTOMETRIC_MINISBLACK, ASSOCIATED = EXTRASAMPLE_ASSOCALPHA,
       LEAST = 1 << 20 /* bytes that libtiff may take at once, for tags */ };

typedef struct {
    const uint8_t *file;
    size_t size, at;
    char   why[200];           /* libtiff's first error */
    TIFF  *tiff;
    uint16_t bits, samples, format, photo, planar, extras, extra;
    uint16_t *map[3];          /* a palette, (1 << bits) */
    spot_picture *picture;
    spot_status refused;       /* our own failure, whose sentence the context has */
} reading;

/* ---- libtiff reads memory ---- */

static tmsize_t read_bytes(thandle_t user, void *out, tmsize_t n)
{
    reading *r = user;
    const size_t left = r->at < r->size ? r->size - r->at : 0, have = (size_t)n < left ? (size_t)n : left;

    memcpy(out, r->file + r->at, have);
    r->at += have;
    return (tmsize_t)have;
}

static tmsize_t write_nothing(thandle_t user, void *in, tmsize_t n) { return (void)user, (void)in, (void)n, 0; }

static toff_t seek_byte(thandle_t user, toff_t to, int from)
{
    reading *r = user;

    r->at = (size_t)to + (from == SEEK_CUR ? r->at : from == SEEK_END ? r->size : 0);
    return r->at;
}

static int    close_nothing(thandle_t user) { return (void)user, 0; }
static toff_t size_of(thandle_t user) { return ((const reading *)user)->size; }

static int keep_error(TIFF *tiff, void *user, const char *module, const char *format, va_list more)
{
    reading *r = user;

    (void)tiff, (void)module;
    if (!r->why[0]) vsnprintf(r->why, sizeof r->why, format, more);
    return 1;
}

static int say_nothing(TIFF *tiff, void *user, const char *module, const char *format, va_list more)
{
    return (void)tiff, (void)user, (void)module, (void)format, (void)more, 1;
}

static TIFF *open_tiff(reading *r, size_t memory)
{
    TIFFOpenOptions *o = TIFFOpenOptionsAlloc();
    TIFF *t;

    if (!o) return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(o, (tmsize_t)memory);
    TIFFOpenOptionsSetErrorHandlerExtR(o, keep_error, r);
    TIFFOpenOptionsSetWarningHandlerExtR(o, say_nothing, r);
    /* m: without a map of the file, as tags may lie beyond its end */
    t = TIFFClientOpenExt("", "rm", r, read_bytes, write_nothing, seek_byte, close_nothing, size_of, NULL, NULL, o);
    TIFFOpenOptionsFree(o);
    return t;
}

/* ---- numbers -> RGB ---- */

/* Number i of a row: 1, 2, 4 or 8 bits as they are; the upper byte of 16. */
static uint8_t byte_at(const reading *r, const uint8_t *row, size_t i)
{
    if (r->bits == 8) return row[i];
    if (r->bits == 16) return (uint8_t)(((const uint16_t *)(const void *)row)[i] >> 8);
    return (uint8_t)(row[i * r->bits / 8] >> (8 - r->bits - i * r->bits % 8) & ((1 << r->bits) - 1));
}

static uint8_t limited(double v) { return (uint8_t)(v > 0 ? v < 255 ? v : 255 : 0); }       /* NaN: 0 */

/* Large numbers are limited to a byte, and white is never 0 in them, as in PIL. */
static uint8_t grey_at(const reading *r, const uint8_t *row, size_t i)
{
    const void *at = row;
    uint8_t v;

    if (r->bits == 16) return limited(r->format == SAMPLEFORMAT_INT ? ((const int16_t *)at)[i] : ((const uint16_t *)at)[i]);
    if (r->bits == 32) return limited(r->format == SAMPLEFORMAT_IEEEFP ? (double)((const float *)at)[i]
                                                                       : (double)((const int32_t *)at)[i]);
    v = byte_at(r, row, i);
    if (r->bits < 8) v = (uint8_t)(v * (255 / ((1 << r->bits) - 1)));
    return r->photo == WHITE_IS_0 ? (uint8_t)~v : v;
}

static uint8_t without_alpha(uint8_t v, uint8_t alpha)
{
    const int full = !alpha ? 0 : 255 * v / alpha;

    return (uint8_t)(alpha == 255 ? v : full > 255 ? 255 : full);
}

/* The light that ink and black ink leave, as TIFF stores them; rounded as in PIL. */
static uint8_t without_ink(uint8_t ink, uint8_t key)
{
    const unsigned light = 255u - key;
    unsigned taken = ink * light + 128;

    taken = (taken + (taken >> 8)) >> 8;
    return (uint8_t)(light > taken ? light - taken : 0);
}

/* A pixel whose numbers begin with number i of the row. */
static void put_pixel(const reading *r, uint8_t out[3], const uint8_t *row, size_t i)
{
    const bool colours = r->photo == PHOTOMETRIC_RGB, associated = r->extras && r->extra == ASSOCIATED;

    if (r->photo == PHOTOMETRIC_PALETTE) {
        for (int k = 0; k < 3; k++) out[k] = (uint8_t)(r->map[k][byte_at(r, row, i)] >> 8);
    } else if (r->photo == PHOTOMETRIC_SEPARATED) {
        for (size_t k = 0; k < 3; k++) out[k] = without_ink(byte_at(r, row, i + k), byte_at(r, row, i + 3));
    } else {
        for (size_t k = 0; k < 3; k++) out[k] = colours ? byte_at(r, row, i + k) : grey_at(r, row, i);
        const size_t alpha = i + (colours ? 3 : 1);
        for (int k = 0; k < 3 && associated; k++) out[k] = without_alpha(out[k], byte_at(r, row, alpha));
    }
}

/* `n` pixels of a row of numbers, each pixel's side by side. */
static void put_row(const reading *r, uint8_t *out, const uint8_t *row, int n)
{
    if (r->photo == PHOTOMETRIC_RGB && r->bits == 8 && (!r->extras || r->extra != ASSOCIATED))      /* the usual one, fast */
        for (int x = 0; x < n; x++) memcpy(out + 3 * x, row + (size_t)x * r->samples, 3);
    else
        for (int x = 0; x < n; x++) put_pixel(r, out + 3 * x, row, (size_t)x * r->samples);
}

/* ---- rows, tiles, planes ---- */

/* Joins planes (samples, pitch) of a row to pixels. Their numbers have 8 or 16 bits. */
static void join_planes(const reading *r, uint8_t *row, const uint8_t *plane, size_t pitch, int n)
{
    const size_t each = r->bits / 8;

    for (size_t x = 0; x < (size_t)n; x++)
        for (size_t k = 0; k < r->samples; k++) memcpy(row + each * (x * r->samples + k), plane + k * pitch + each * x, each);
}

static const char *read_strips(spot_ctx *c, reading *r)
{
    spot_picture *p = r->picture;
    const size_t bytes = (size_t)TIFFScanlineSize(r->tiff);

    if (!bytes || bytes > (size_t)p->width * 8 * r->samples || bytes > p->work)
        return "its rows have another size than its pixels";
    r->refused = spot_room_need(c, &p->line, bytes);
    if (r->refused) return "";
    for (int y = 0; y < p->height; y++) {
        if (TIFFReadScanline(r->tiff, p->line.at, (uint32_t)y, 0) < 0) return r->why;
        put_row(r, p->rgb + 3 * (size_t)p->width * (size_t)y, p->line.at, p->width);
    }
    return NULL;
}

/* Planes lie one behind the other in the file, so a strip of each is read before a row is made. */
static const char *read_planes(spot_ctx *c, reading *r)
{
    spot_picture *p = r->picture;
    const size_t bytes = (size_t)p->width * r->bits / 8, whole = bytes * r->samples, strip = (size_t)TIFFStripSize(r->tiff);
    uint32_t rows = 0;

    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    if (rows > (uint32_t)p->height) rows = (uint32_t)p->height;
    if (!rows || strip != bytes * rows || strip * r->samples + whole > p->work)
        return "its rows have another size than its pixels";
    r->refused = spot_room_need(c, &p->line, strip * r->samples + whole);
    if (r->refused) return "";
    uint8_t *plane = p->line.at, *row = plane + strip * r->samples;
    for (uint32_t y = 0; y < (uint32_t)p->height; y++) {
        for (uint16_t k = 0; k < r->samples && y % rows == 0; k++)
            if (TIFFReadEncodedStrip(r->tiff, TIFFComputeStrip(r->tiff, y, k), plane + strip * k, (tmsize_t)strip) < 0)
                return r->why;
        join_planes(r, row, plane + bytes * (y % rows), strip, p->width);
        put_row(r, p->rgb + 3 * (size_t)p->width * y, row, p->width);
    }
    return NULL;
}

static void put_tile(reading *r, const uint8_t *tile, size_t pitch, uint32_t x, uint32_t y, uint32_t wide, uint32_t high)
{
    const spot_picture *p = r->picture;
    const uint32_t right = (uint32_t)p->width - x, low = (uint32_t)p->height - y;

    for (uint32_t j = 0; j < high && j < low; j++)
        put_row(r, p->rgb + 3 * ((size_t)p->width * (y + j) + x), tile + pitch * j, (int)(wide < right ? wide : right));
}

static const char *read_tiles(spot_ctx *c, reading *r)
{
    spot_picture *p = r->picture;
    const size_t bytes = (size_t)TIFFTileSize(r->tiff), pitch = (size_t)TIFFTileRowSize(r->tiff);
    uint32_t wide = 0, high = 0;

    TIFFGetField(r->tiff, TIFFTAG_TILEWIDTH, &wide);
    TIFFGetField(r->tiff, TIFFTAG_TILELENGTH, &high);
    if (!wide || !high || bytes > p->work || pitch * high > bytes || pitch < ((size_t)wide * r->bits * r->samples + 7) / 8)
        return "its tiles have another size than its pixels";
    if (r->planar == PLANARCONFIG_SEPARATE && r->samples > 1) return "its tiles are planes, which are not read";
    r->refused = spot_room_need(c, &p->line, bytes);
    if (r->refused) return "";
    for (uint32_t y = 0; y < (uint32_t)p->height; y += high)
        for (uint32_t x = 0; x < (uint32_t)p->width; x += wide) {
            if (TIFFReadTile(r->tiff, p->line.at, x, y, 0, 0) < 0) return r->why;
            put_tile(r, p->line.at, pitch, x, y, wide, high);
        }
    return NULL;
}

/* ---- the picture ---- */

static bool is_grey(const reading *r) { return r->photo == WHITE_IS_0 || r->photo == GREY; }

/* Whether put_pixel knows what the numbers mean. */
static bool is_known(const reading *r)
{
    const uint16_t own = r->photo == PHOTOMETRIC_SEPARATED ? 4 : r->photo == PHOTOMETRIC_RGB ? 3 : 1;
    const bool alone = is_grey(r) && r->samples == 1;
    const bool numbers = r->format == SAMPLEFORMAT_UINT || r->format == SAMPLEFORMAT_VOID;

    if (r->samples < own || (r->samples > 1 && r->bits < 8)) return false;
    if (r->extras && r->extra == ASSOCIATED && r->samples == own) return false;             /* an alpha that is not there */
    if (r->bits == 32) return alone;
    if (!numbers && !(r->format == SAMPLEFORMAT_INT && alone)) return false;
    if (r->photo == PHOTOMETRIC_PALETTE) return r->bits <= 8 && r->map[0];
    if (r->bits == 16) return r->photo == PHOTOMETRIC_RGB || r->photo == PHOTOMETRIC_SEPARATED || alone;
    return (is_grey(r) && r->bits < 8 && (r->bits == 1 || r->bits == 2 || r->bits == 4))
        || (r->bits == 8 && (is_grey(r) || own > 1));
}

/* A palette whose map cannot be read stays one: libtiff would call it grey. */
static spot_status keep_palette(spot_ctx *c, reading *r)
{
    const spot_blob in = spot_blob_memory(r->file, r->size, "");
    spot_tiff_head h;

    SPOT_TRY(spot_tiff_head_read(c, &h, &in));
    if (h.photo == PHOTOMETRIC_PALETTE) r->photo = PHOTOMETRIC_PALETTE;
    return SPOT_OK;
}

static spot_status read_tags(spot_ctx *c, reading *r)
{
    uint16_t compression = 0, *extra = NULL;

    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &compression);
    TIFFGetField(r->tiff, TIFFTAG_PHOTOMETRIC, &r->photo);
    SPOT_TRY(keep_palette(c, r));
    if (r->photo == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG) {
        TIFFSetField(r->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        r->photo = PHOTOMETRIC_RGB;
    }
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_BITSPERSAMPLE, &r->bits);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_SAMPLESPERPIXEL, &r->samples);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_SAMPLEFORMAT, &r->format);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_PLANARCONFIG, &r->planar);
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_EXTRASAMPLES, &r->extras, &extra);
    if (r->extras && extra) r->extra = extra[0];
    if (r->photo == PHOTOMETRIC_PALETTE && !TIFFGetField(r->tiff, TIFFTAG_COLORMAP, &r->map[0], &r->map[1], &r->map[2]))
        r->map[0] = NULL;
    return SPOT_OK;
}

/* NULL, or a reason; "": the context has the sentence. */
static const char *read_picture(spot_ctx *c, reading *r, const char *name)
{
    uint32_t width = 0, height = 0;

    TIFFGetField(r->tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(r->tiff, TIFFTAG_IMAGELENGTH, &height);
    r->refused = read_tags(c, r);
    if (r->refused) return "";
    if (!is_known(r)) return "its pixels have a form that is not read";
    r->refused = spot_picture_start(c, r->picture, width, height, name);
    if (r->refused) return "";
    if (TIFFIsTiled(r->tiff)) return read_tiles(c, r);
    return r->planar == PLANARCONFIG_SEPARATE && r->samples > 1 ? read_planes(c, r) : read_strips(c, r);
}

spot_status spot_tiff_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    reading r = { .file = file, .size = size, .picture = p };
    const char *why;

    r.tiff = open_tiff(&r, p->work > LEAST ? p->work : LEAST);
    why = r.tiff ? read_picture(c, &r, name) : r.why;
    if (r.tiff) TIFFClose(r.tiff);
    if (!why) return SPOT_OK;
    if (r.refused) return r.refused;
    return spot_fail(c, SPOT_INPUT, "{tiff.damaged} %s is no TIFF that can be read: %s", name, *why ? why : "it is damaged");
}
