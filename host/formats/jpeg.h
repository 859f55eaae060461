/* jpeg.h - what JPEG does to an image, and what it keeps of one. */
#ifndef SPOTTER_JPEG_H
#define SPOTTER_JPEG_H

#include <stddef.h>
#include <stdint.h>

#include "formats/picture.h"
#include "spotter/status.h"

/* rgb (height, width, 3) to JPEG and back, in place, as PIL saves and loads it: libjpeg's defaults, 4:2:0. */
spot_status spot_jpeg_round_trip(spot_ctx *c, uint8_t *rgb, int width, int height, int quality);

/* rgb (height, width, 3) as a JPEG file: *jpeg, *size bytes, malloc'd: free it. NULL on failure. */
spot_status spot_jpeg_encode(spot_ctx *c, unsigned char **jpeg, size_t *size, uint8_t *rgb, int width, int height, int quality);

/* Any JPEG of 8 bits as RGB, as picture.h says. What libjpeg calls corrupt but can go on from is shown as PIL shows it; a
 * file that ends before its last row is cut short. */
spot_status spot_jpeg_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

#endif
