/* gif.h - decodes the first frame of a GIF. */
#ifndef SPOTTER_GIF_H
#define SPOTTER_GIF_H

#include "formats/picture.h"

/* To RGB, as picture.h describes and PIL does: a frame that is smaller than its canvas lies on its transparent colour, else on
 * colour 0; one that is larger enlarges the canvas; the colour of transparent pixels is shown. */
spot_status spot_gif_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

/* From the header, in builds without giflib, too. */
bool        spot_gif_is(const uint8_t *mark, size_t n);
spot_status spot_gif_cost(spot_ctx *c, spot_picture_cost *cost, const spot_blob *in);

#endif
