/* png.h - encodes and decodes PNG in memory. spot_file_write writes it to disk, whole or not at all. */
#ifndef SPOTTER_PNG_H
#define SPOTTER_PNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/picture.h"
#include "spotter/status.h"

/* *has: whether the file is a PNG that says so, wherever the chunk stands before its pixels. */
spot_status spot_png_transparency(spot_ctx *c, bool *has, const spot_blob *in);

/* Encodes rgb (height, width, 3): *png (*size bytes) is malloc'd; NULL on failure. */
spot_status spot_png_encode(spot_ctx *c, unsigned char **png, size_t *size, const uint8_t *rgb, int width, int height);

/* The same of grey (height, width): one byte a pixel. */
spot_status spot_png_encode_grey(spot_ctx *c, unsigned char **png, size_t *size, const uint8_t *grey, int width, int height);

/* Decodes any PNG to RGB, as picture.h describes. */
spot_status spot_png_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

/* Decodes a PNG to one byte a pixel, p->rgb (height, width): its alpha where it has some (also of a palette), else its grey, of
 * colours PIL's convert("L"). 16-bit greys lose their low byte. */
spot_status spot_png_mask(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

/* Decodes a PNG with a palette to the indices of its colours, p->rgb (height, width). */
spot_status spot_png_labels(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

/* Whether the bytes begin as a PNG's do; whether that PNG says that it has alpha; whether it has a palette with a colour that
 * is no grey, and no alpha: then an index names what a pixel shows. */
bool spot_png_is(const uint8_t *file, size_t size);
bool spot_png_has_alpha(const uint8_t *file, size_t size);
bool spot_png_has_labels(const uint8_t *file, size_t size);

#endif
