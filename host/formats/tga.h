/* tga.h - decodes TGA, whose files have no mark of their own: only textures of models are taken for TGA, by their names. */
#ifndef SPOTTER_TGA_H
#define SPOTTER_TGA_H

#include "formats/picture.h"

/* Whether the first bytes are a TGA's header that spot_tga_decode reads, and its size (NULL: not wanted); whether it says that
 * its pixels have alpha. */
bool spot_tga_is       (const uint8_t *file, size_t size, uint64_t *width, uint64_t *height);
bool spot_tga_has_alpha(const uint8_t *file, size_t size);

/* To RGB; mask: to one byte a pixel, its alpha where it has some, else its red. Plain and run-length pictures with a palette,
 * in grey of 8 bits or in colours of 15, 16, 24 or 32. SPOT_INPUT: damaged or cut short. */
spot_status spot_tga_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name, bool mask);

#endif
