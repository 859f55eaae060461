/* picture.c - reads pictures through the decoders of picture_kind.h. */
#include "formats/picture.h"

#include <inttypes.h>

#include "formats/picture_kind.h"

/* Turns the picture where the format or the caller wants it; else p tells what was not applied. */
static spot_status apply_orientation(spot_ctx *c, spot_picture *p, const spot_picture_kind *kind, spot_blob file)
{
    SPOT_TRY(kind->orientation(c, &p->orientation, &file));
    return p->orientation > 1 && (kind->turns || p->reading.exif == SPOT_EXIF_APPLY) ? spot_picture_turn(c, p) : SPOT_OK;
}

static spot_status decode_file(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, size_t work, const char *name)
{
    const spot_picture_kind *kind = spot_picture_kind_of(file, size);
    spot_status s;

    p->work = work;
    p->orientation = 1;
    s = kind ? spot_picture_kind_decode(c, kind, p, file, size, name) : spot_picture_kind_none(c, file, size, name);
    if (!s && kind->orientation) s = apply_orientation(c, p, kind, spot_blob_memory(file, size, name));
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
    if (!p->gate) SPOT_TRY(spot_gate_take(c, p, &cost, name));
    return decode_file(c, p, file, size, cost.work, name);
}
