/* tiff_cost.c - a TIFF's size, orientation and memory.
 *
 * libtiff holds the decoder's tables and a tile or, of a strip, some rows; of planes, tiff.c holds a strip of each. libjpeg
 * holds the coefficients of a progressive JPEG; libtiff lets it have 100 MB. tiff.c passes libtiff this limit. */
#include <string.h>

#include "formats/tiff.h"
#include "formats/tiff_head.h"

enum { WORK = 8 << 20, PLANES = 2, SAMPLES_MOST = 65535, JPEG = 7, JPEG_MOST = 100000000 };

bool spot_tiff_is(const uint8_t *mark, size_t n)
{
    return n >= 4 && (!memcmp(mark, "II*\0", 4) || !memcmp(mark, "MM\0*", 4) || !memcmp(mark, "II+\0", 4)
                      || !memcmp(mark, "MM\0+", 4));
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

spot_status spot_tiff_cost(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in)
{
    spot_tiff_head h;

    SPOT_TRY(spot_tiff_head_read(c, &h, in));
    cost->width = h.width, cost->height = h.height;
    if (h.width > SPOT_PICTURE_PIXELS || h.height > SPOT_PICTURE_PIXELS) return SPOT_OK;
    const uint64_t samples = least(h.samples, SAMPLES_MOST), bits = least(h.bits, 64);
    const uint64_t pixels = h.tile_width ? least(h.tile_width, 65536) * least(h.tile_height, 65536)
                          : h.planar == PLANES ? h.width * least(h.rows, h.height) : 0;
    cost->work = WORK + (size_t)(2 * (least(pixels, SPOT_PICTURE_PIXELS) + 4 * h.width) * samples * ((bits + 7) / 8));
    if (h.compression == JPEG) cost->work += (size_t)least(6 * h.width * h.height, JPEG_MOST);
    if (h.orientation > 1) cost->turned = 3 * (size_t)least(h.width * h.height, SPOT_PICTURE_PIXELS);
    return SPOT_OK;
}

spot_status spot_tiff_orientation(spot_ctx *c, int *orientation, const spot_blob *in)
{
    spot_tiff_head h;

    SPOT_TRY(spot_tiff_head_read(c, &h, in));
    *orientation = h.orientation;
    return SPOT_OK;
}
