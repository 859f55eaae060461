/* png.c - libpng's simple interface. */
#include "png.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

spot_status spot_png_encode(spot_ctx *c, unsigned char **png, size_t *size, const uint8_t *rgb, int width, int height)
{
    png_image image = { .version = PNG_IMAGE_VERSION, .width = (png_uint_32)width, .height = (png_uint_32)height,
                        .format = PNG_FORMAT_RGB };
    png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);

    *size = 0;
    *png = malloc(bytes);
    if (!*png) return spot_fail(c, SPOT_NOMEM, "no memory for a PNG of %dx%d pixels", width, height);
    if (!png_image_write_to_memory(&image, *png, &bytes, 0, rgb, 0, NULL)) {
        free(*png);
        *png = NULL;
        return spot_fail(c, SPOT_NUMERIC, "PNG of %dx%d pixels: %s", width, height, image.message);
    }
    *size = bytes;
    return SPOT_OK;
}
