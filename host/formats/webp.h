/* webp.h - decodes WebP, lossy or lossless; of an animation the first frame. */
#ifndef SPOTTER_WEBP_H
#define SPOTTER_WEBP_H

#include "formats/picture.h"

/* To RGB, as picture.h describes. Black where the first frame of an animation leaves its canvas free. */
spot_status spot_webp_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

/* Whether a picture that is no animation says that it has alpha; that, one byte a pixel. */
bool        spot_webp_has_alpha(const uint8_t *file, size_t size);
spot_status spot_webp_alpha(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name);

/* From the header, in builds without libwebp, too. */
bool        spot_webp_is(const uint8_t *mark, size_t n);
spot_status spot_webp_cost       (spot_ctx *c, spot_picture_cost *cost, const spot_blob *in);
spot_status spot_webp_orientation(spot_ctx *c, int *orientation, const spot_blob *in);

#endif
