/* sweep_pace.h - how fast the stages of a sweep go here, by trying each for a short time. */
#ifndef SPOTTER_SWEEP_PACE_H
#define SPOTTER_SWEEP_PACE_H

#include "steps/method_timing.h"
#include "sweep/pipeline.h"

typedef struct {
    spot_spent  start;                     /* once: kernels are made */
    spot_spent  open;                      /* of each training */
    spot_spent  train, robust, watch, look;/* on an image: learn it, against an adversary too; watch it; look at it */
    spot_spent  decode;                    /* a picture from a file, once */
    spot_spent  picture;                   /* a PNG */
    double      picture_bytes;
    spot_method_timing method[SPOT_MAX_BDMS];
} spot_pace;

/* Times the stages on the images of ec, and methods on views of `least` to `most` rows. Takes less than a tenth of the time of
 * training on `images` images, but from 3 to 70 seconds where no single step takes longer. alone: the layout of that EC. */
spot_status spot_pace_take(spot_ctx *c, spot_pace *p, const spot_config *cfg, const spot_source *source, const spot_ec *ec,
                           const spot_layout *alone, int least, int most, double images, bool pictures);

/* The time of an EC with a view of so many rows, without its methods; and the time before the first EC. */
spot_spent spot_pace_of_ec   (const spot_pace *p, const spot_config *cfg, const spot_ec *ec, int rows);
spot_spent spot_pace_of_start(const spot_pace *p, const spot_config *cfg, const spot_source *source);

#endif
