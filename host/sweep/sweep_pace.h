/* sweep_pace.h - the time of each stage of a sweep on this machine, measured by short trials. */
#ifndef SPOTTER_SWEEP_PACE_H
#define SPOTTER_SWEEP_PACE_H

#include "steps/method_timing.h"
#include "sweep/pipeline.h"

typedef struct {
    spot_spent  start;                     /* once per run: oneDNN or CUDA prepares its kernels */
    spot_spent  open;                      /* once per training */
    spot_spent  train, robust, watch, look;/* per image: training, adversarial training, validation, the view */
    spot_spent  encode;                    /* per image of a view, by the encoder */
    spot_spent  decode;                    /* per picture file, once per run */
    spot_spent  picture;                   /* per PNG */
    double      picture_bytes;
    spot_method_timing method[SPOT_MAX_BDMS];
} spot_pace;

/* Times the stages on the images of ec, and methods on views of `least` to `most` rows. It takes less than a tenth of the time
 * of training on `images` images, within 3 to 70 seconds unless a single step takes longer. alone: the layout of that EC.
 * encoder: NULL without one. */
spot_status spot_pace_take(spot_ctx *c, spot_pace *p, const spot_config *cfg, const spot_source *source, spot_encoder *encoder,
                           const spot_ec *ec, const spot_layout *alone, int least, int most, double images, bool pictures);

/* The time of an EC with a view of `rows` rows, without its methods; the time before the first EC. */
spot_spent spot_pace_of_ec   (const spot_pace *p, const spot_config *cfg, const spot_ec *ec, int rows);
spot_spent spot_pace_of_start(const spot_pace *p, const spot_config *cfg, const spot_source *source);

#endif
