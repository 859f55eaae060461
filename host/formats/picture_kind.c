/* picture_kind.c - see picture_kind.h. */
#include "formats/picture_kind.h"

#include <string.h>

#include "formats/bmp.h"
#include "formats/gif.h"
#include "formats/jpeg.h"
#include "formats/png.h"
#include "formats/tiff.h"
#include "formats/webp.h"

#ifndef SPOT_HAS_WEBP
#define spot_webp_decode NULL
#endif
#ifndef SPOT_HAS_TIFF
#define spot_tiff_decode NULL
#endif
#ifndef SPOT_HAS_GIF
#define spot_gif_decode NULL
#endif

static bool is_jpeg(const uint8_t *mark, size_t n) { return n >= 3 && !memcmp(mark, "\xff\xd8\xff", 3); }

static const spot_picture_kind kinds[] = {
    { "PNG",  spot_png_is,  spot_png_cost,  spot_png_orientation,  spot_png_decode,  NULL, false },
    { "JPEG", is_jpeg,      spot_jpeg_cost, spot_jpeg_orientation, spot_jpeg_decode, NULL, false },
    { "WebP", spot_webp_is, spot_webp_cost, spot_webp_orientation, spot_webp_decode, "libwebp", false },
    { "BMP",  spot_bmp_is,  spot_bmp_cost,  NULL,                  spot_bmp_decode,  NULL, false },
    { "TIFF", spot_tiff_is, spot_tiff_cost, spot_tiff_orientation, spot_tiff_decode, "libtiff", true },
    { "GIF",  spot_gif_is,  spot_gif_cost,  NULL,                  spot_gif_decode,  "giflib", false },
};

const spot_picture_kind *spot_picture_kind_of(const uint8_t *file, size_t size)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is(file, size)) return &kinds[i];
    return NULL;
}

/* The name of an unsupported format. The brand of an ISO file follows "ftyp". */
static const char *format_name(const uint8_t *file, size_t size)
{
    static const struct { const char *name; int at; const char *mark; } others[] = {
        { "an AVIF", 4, "ftypavi" }, { "a HEIC", 4, "ftyphei" }, { "a HEIC", 4, "ftyphev" }, { "a HEIC", 4, "ftypmif1" },
        { "a HEIC", 4, "ftypmsf1" }, { "a JPEG XL", 0, "\xff\x0a" }, { "a JPEG XL", 4, "JXL " },
        { "a JPEG 2000", 4, "jP  " }, { "an AppleDouble, attributes of another file from macOS", 0, "\x00\x05\x16\x07" },
        { "an SVG or another text", 0, "<" }, { "a PPM or its like", 0, "P" },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const size_t n = others[i].mark[0] ? strlen(others[i].mark) : 4, end = (size_t)others[i].at + n;
        if (size >= end && !memcmp(file + others[i].at, others[i].mark, n)) return others[i].name;
    }
    return size ? "something else" : "empty";
}

spot_status spot_picture_kind_none(spot_ctx *c, const uint8_t *file, size_t size, const char *name)
{
    return spot_fail(c, SPOT_INPUT, "{picture.format} %s is none of PNG, JPEG, WebP, BMP, TIFF and GIF: it is %s", name,
                     format_name(file, size));
}

spot_status spot_picture_kind_decode(spot_ctx *c, const spot_picture_kind *kind, spot_picture *p, const uint8_t *file,
                                     size_t size, const char *name)
{
    if (kind->decode) return kind->decode(c, p, file, size, name);
    return spot_fail(c, SPOT_INPUT, "{picture.library} %s is a %s, which this program was built without: build it with %s, or "
                     "convert the picture", name, kind->name, kind->library);
}
