/* jpeg.h - encodes and decodes JPEG. */
#ifndef SPOTTER_JPEG_H
#define SPOTTER_JPEG_H

#include <stddef.h>
#include <stdint.h>

#include "formats/picture.h"
#include "spotter/status.h"

/* Encodes and decodes rgb (height, width, 3) in place, as PIL saves and loads it: libjpeg's defaults, 4:2:0. */
spot_status spot_jpeg_round_trip(spot_ctx *c, uint8_t *rgb, int width, int height, int quality);

/* Encodes rgb (height, width, 3) as a JPEG file: *jpeg (*size bytes) is malloc'd; NULL on failure. */
spot_status spot_jpeg_encode(spot_ctx *c, unsigned char **jpeg, size_t *size, uint8_t *rgb, int width, int height, int quality);

/* Decodes any 8-bit JPEG to RGB, as picture.h describes. Damage that libjpeg can skip is decoded as PIL does; a file that ends
 * before its last row is an error. */
spot_status spot_jpeg_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

#endif
