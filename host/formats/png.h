/* png.h - pixels as a PNG file in memory, and back. spot_file_write puts it to disk, whole or not at all. */
#ifndef SPOTTER_PNG_H
#define SPOTTER_PNG_H

#include <stddef.h>
#include <stdint.h>

#include "formats/picture.h"
#include "spotter/status.h"

/* rgb (height, width, 3) into *png, *size bytes, malloc'd: free it. NULL on failure. */
spot_status spot_png_encode(spot_ctx *c, unsigned char **png, size_t *size, const uint8_t *rgb, int width, int height);

/* Any PNG as RGB, as picture.h says. */
spot_status spot_png_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

#endif
