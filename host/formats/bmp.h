/* bmp.h - decodes BMP: 1, 4, 8, 16, 24 and 32 bits a pixel, run lengths, bit fields, from the bottom up or from the top. */
#ifndef SPOTTER_BMP_H
#define SPOTTER_BMP_H

#include "formats/picture.h"

/* To RGB, as picture.h describes and PIL does. Pixels that run lengths leave out are those of colour 0. */
spot_status spot_bmp_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

bool        spot_bmp_is(const uint8_t *mark, size_t n);
spot_status spot_bmp_cost(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in);

#endif
