/* sweep_pace.h - the time of each stage of a sweep on this machine, measured by short trials. */
#ifndef SPOTTER_SWEEP_PACE_H
#define SPOTTER_SWEEP_PACE_H

#include "study/method_timing.h"
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

typedef struct {
    const spot_config *cfg;
    const spot_source *source;
    spot_encoder *encoder;                 /* NULL: none */
    const spot_ec *ec;                     /* whose images the stages are timed on */
    const spot_layout *alone;              /* that EC's */
    int least, most;                       /* rows of the views that methods are timed on */
    double images;                         /* of all trainings */
    bool pictures;
} spot_pace_trial;

/* Times the stages. It takes less than a tenth of the time of training on all images, within 3 to 70 seconds unless a single
 * step takes longer. */
spot_status spot_pace_take(spot_ctx *c, spot_pace *p, const spot_pace_trial *t);

/* The time of an EC with a view of `rows` rows, without its methods; the time before the first EC. */
spot_spent spot_pace_of_ec   (const spot_pace *p, const spot_config *cfg, const spot_ec *ec, int rows);
spot_spent spot_pace_of_start(const spot_pace *p, const spot_config *cfg, const spot_source *source);

#endif
