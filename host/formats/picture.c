/* picture.c - reads pictures through png.c and jpeg.c. */
#include "formats/picture.h"

#include <inttypes.h>
#include <string.h>

#include "formats/jpeg.h"
#include "formats/png.h"

/* The name of an unsupported format. */
static const char *format_name(const uint8_t *file, size_t size)
{
    static const struct { const char *name; int at; const char *mark; } kinds[] = {
        { "a GIF", 0, "GIF8" }, { "a BMP", 0, "BM" }, { "a TIFF", 0, "II*" }, { "a TIFF", 0, "MM" },
        { "a WebP", 8, "WEBP" }, { "an AVIF or HEIF", 4, "ftyp" }, { "a PPM or its like", 0, "P" },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t end = (size_t)kinds[i].at + strlen(kinds[i].mark);
        if (size >= end && !memcmp(file + kinds[i].at, kinds[i].mark, strlen(kinds[i].mark))) return kinds[i].name;
    }
    return size ? "something else" : "empty";
}

static spot_status decode_file(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, size_t work, const char *name)
{
    spot_status s;

    p->work = work;
    if (spot_png_is(file, size))
        s = spot_png_decode(c, p, file, size, name);
    else if (size >= 3 && !memcmp(file, "\xff\xd8\xff", 3))
        s = spot_jpeg_decode(c, p, file, size, name);
    else
        s = spot_fail(c, SPOT_INPUT, "{picture.format} %s is neither PNG nor JPEG: it is %s", name, format_name(file, size));
    if (s) p->rgb = NULL;
    return s;
}

static spot_status read_file(spot_ctx *c, spot_picture *p, const spot_blob *in)
{
    spot_picture_cost cost;

    if (in->size > SPOT_PICTURE_BYTES)
        return spot_fail(c, SPOT_INPUT, "%s has %" PRIu64 " bytes; of a picture %d are read", in->name, in->size,
                         SPOT_PICTURE_BYTES);
    SPOT_TRY(spot_picture_cost_of(c, &cost, in));
    SPOT_TRY(spot_gate_take(c, p, &cost, in->name));
    SPOT_TRY(spot_room_need(c, &p->file, (size_t)in->size + 1));
    SPOT_TRY(spot_blob_read(c, in, 0, p->file.at, (size_t)in->size));
    return decode_file(c, p, p->file.at, (size_t)in->size, cost.work, in->name);
}

spot_status spot_picture_read(spot_ctx *c, spot_picture *p, const char *path)
{
    spot_blob in;
    spot_status s;

    spot_picture_give_back(p);
    SPOT_TRY(spot_blob_open(c, &in, path));
    s = read_file(c, p, &in);
    spot_blob_close(&in);
    if (s) spot_picture_give_back(p);
    return s;
}

spot_status spot_picture_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    spot_blob in = spot_blob_memory(file, size, name);
    spot_picture_cost cost;

    SPOT_TRY(spot_picture_cost_of(c, &cost, &in));
    return decode_file(c, p, file, size, cost.work, name);
}
