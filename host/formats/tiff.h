/* tiff.h - decodes the first picture of a TIFF. */
#ifndef SPOTTER_TIFF_H
#define SPOTTER_TIFF_H

#include "formats/picture.h"

/* To RGB, as picture.h describes and PIL does: greys, palettes, RGB and CMYK in strips, tiles and planes, with or without
 * alpha, and YCbCr by JPEG; greys of 16 and 32 bits and of floating point are limited to 0..255. The orientation is applied in
 * any case (picture.c), as PIL does since version 11. */
spot_status spot_tiff_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

/* From the header, in builds without libtiff, too. */
bool        spot_tiff_is(const uint8_t *mark, size_t n);
spot_status spot_tiff_cost       (spot_ctx *c, spot_picture_cost *cost, const spot_blob *in);
spot_status spot_tiff_orientation(spot_ctx *c, int *orientation, const spot_blob *in);

#endif
