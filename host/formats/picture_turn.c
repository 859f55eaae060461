/* picture_turn.c - a picture turned by EXIF's orientation, so that it stands as it was taken. */
#include "formats/picture.h"

#include <string.h>

spot_status spot_picture_turn(spot_ctx *c, spot_picture *p)
{
    /* by orientation: whether the first column of what is shown is a row of what is stored, and whether columns and rows of
     * what is stored are gone through from their ends */
    static const struct { bool across, left, up; } how[9] = { [2] = { false, true, false }, [3] = { false, true, true },
        [4] = { false, false, true }, [5] = { true, false, false }, [6] = { true, false, true }, [7] = { true, true, true },
        [8] = { true, true, false } };
    const bool across = how[p->orientation].across, left = how[p->orientation].left, up = how[p->orientation].up;
    const ptrdiff_t width = p->width, height = p->height, row = 3 * width;
    const ptrdiff_t x_step = left ? -3 : 3, y_step = up ? -row : row;
    const uint8_t *first = p->rgb + (left ? 3 * (width - 1) : 0) + (up ? row * (height - 1) : 0);
    const spot_room stored = p->pixels;

    SPOT_TRY(spot_room_need(c, &p->turned, 3 * (size_t)width * (size_t)height));
    uint8_t *out = p->turned.at;
    for (ptrdiff_t y = 0; y < (across ? width : height); y++, first += across ? x_step : y_step) {
        const uint8_t *in = first;
        for (ptrdiff_t x = 0; x < (across ? height : width); x++, out += 3, in += across ? y_step : x_step) memcpy(out, in, 3);
    }
    p->pixels = p->turned;
    p->turned = stored;
    p->rgb = p->pixels.at;
    p->width = (int)(across ? height : width);
    p->height = (int)(across ? width : height);
    p->orientation = 1;
    return SPOT_OK;
}
