/* picture_cut.c - a part of a decoded picture. */
#include "formats/picture.h"

#include <math.h>
#include <string.h>

/* [*from, *to): the pixels of n that the box covers from `at` on, at least one. */
static void cover(int *from, int *to, double at, double length, int n)
{
    *from = (int)fmin(fmax(floor(at), 0), n - 1);
    *to = (int)fmin(fmax(ceil(at + length), *from + 1), n);
}

static spot_status find_part(spot_ctx *c, int at[4], const spot_picture *p, const float box[4])
{
    for (int k = 0; k < 4; k++)
        if (!isfinite(box[k])) return spot_fail(c, SPOT_INVALID, "a box has the number %g", box[k]);
    if (!p->rgb) return spot_fail(c, SPOT_INVALID, "a part of a picture that is not decoded");
    cover(&at[0], &at[2], box[0], box[2], p->width);
    cover(&at[1], &at[3], box[1], box[3], p->height);
    return SPOT_OK;
}

/* Rows move to the front: out may be p's own pixels. */
static void copy_part(uint8_t *out, const spot_picture *p, const int at[4])
{
    const size_t line = 3 * (size_t)(at[2] - at[0]);

    for (int y = at[1]; y < at[3]; y++, out += line)
        memmove(out, p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)at[0]), line);
}

spot_status spot_picture_cut(spot_ctx *c, spot_picture *out, const spot_picture *p, const float box[4])
{
    int at[4];

    SPOT_TRY(find_part(c, at, p, box));
    SPOT_TRY(spot_picture_start(c, out, (uint64_t)(at[2] - at[0]), (uint64_t)(at[3] - at[1]), "a part of a picture"));
    copy_part(out->rgb, p, at);
    out->reading = p->reading;
    return SPOT_OK;
}

spot_status spot_picture_keep(spot_ctx *c, spot_picture *p, const float box[4])
{
    int at[4];

    SPOT_TRY(find_part(c, at, p, box));
    copy_part(p->rgb, p, at);
    p->width = at[2] - at[0];
    p->height = at[3] - at[1];
    return SPOT_OK;
}
