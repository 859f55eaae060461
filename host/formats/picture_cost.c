/* picture_cost.c - what the header of a picture says: its size, its orientation and the memory of decoding. */
#include "formats/picture_kind.h"

#include <inttypes.h>

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
    *h = (spot_picture_head){ (int)cost.width, (int)cost.height, 1, kind->turns };
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
