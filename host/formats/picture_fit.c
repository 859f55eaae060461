/* picture_fit.c - a decoded picture -> a square, by kernels/image/resize. */
#include "formats/picture.h"

size_t spot_picture_fit_bytes(uint64_t width, uint64_t height, int resize, int crop)
{
    /* the cubic needs more than the triangle; either order may need more than the other */
    spot_resize p[2] = { { .width = (int)width, .height = (int)height, .resize = resize, .crop = crop,
                           .filter = SPOT_BICUBIC, .pillow = SPOT_PILLOW_13 } };

    p[1] = p[0];
    p[1].pillow = SPOT_PILLOW_12;
    return spot_resize_scratch(2, p, 1);
}

spot_status spot_picture_fit_by(spot_ctx *c, uint8_t *out, spot_picture *p, int resize, int crop, spot_filter filter)
{
    const spot_resize fit = { p->rgb, p->width, p->height, resize, crop, filter, out, p->reading.pillow };

    if (!p->rgb || resize < SPOT_RESIZE_SQUASH || crop < 1 || crop > SPOT_PICTURE_CROP)
        return spot_fail(c, SPOT_INVALID, "{picture.fit} a picture cannot be fit to %d and then %d pixels", resize, crop);
    SPOT_TRY(spot_room_need(c, &p->taps, spot_resize_scratch(1, &fit, 1)));
    spot_resize_one(&fit, p->taps.at);
    return SPOT_OK;
}

spot_status spot_picture_fit(spot_ctx *c, uint8_t *out, spot_picture *p, int resize, int crop)
{
    return spot_picture_fit_by(c, out, p, resize, crop, SPOT_BILINEAR);
}
