/* picture_kind.c - see picture_kind.h. */
#include "formats/picture_kind.h"

#include <string.h>

#include "formats/jpeg.h"
#include "formats/png.h"

static bool is_jpeg(const uint8_t *mark, size_t n) { return n >= 3 && !memcmp(mark, "\xff\xd8\xff", 3); }

static const spot_picture_kind kinds[] = {
    { "PNG",  spot_png_is, spot_png_cost,  spot_png_orientation,  spot_png_decode },
    { "JPEG", is_jpeg,     spot_jpeg_cost, spot_jpeg_orientation, spot_jpeg_decode },
};

const spot_picture_kind *spot_picture_kind_of(const uint8_t *file, size_t size)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is(file, size)) return &kinds[i];
    return NULL;
}

/* The name of an unsupported format. */
static const char *format_name(const uint8_t *file, size_t size)
{
    static const struct { const char *name; int at; const char *mark; } others[] = {
        { "a GIF", 0, "GIF8" }, { "a BMP", 0, "BM" }, { "a TIFF", 0, "II*" }, { "a TIFF", 0, "MM" },
        { "a WebP", 8, "WEBP" }, { "an AVIF or HEIF", 4, "ftyp" }, { "a PPM or its like", 0, "P" },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t end = (size_t)others[i].at + strlen(others[i].mark);
        if (size >= end && !memcmp(file + others[i].at, others[i].mark, strlen(others[i].mark))) return others[i].name;
    }
    return size ? "something else" : "empty";
}

spot_status spot_picture_kind_none(spot_ctx *c, const uint8_t *file, size_t size, const char *name)
{
    return spot_fail(c, SPOT_INPUT, "{picture.format} %s is neither PNG nor JPEG: it is %s", name, format_name(file, size));
}
