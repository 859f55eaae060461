/* claim_scenes.h - new images of an EC of a sweep, for spotter gather. */
#ifndef SPOTTER_CLAIM_SCENES_H
#define SPOTTER_CLAIM_SCENES_H

#include "claims/slice_claim.h"
#include "models/network.h"
#include "spotter/config.h"
#include "spotter/predictor.h"

/* An EC of a run of spotter sweep, and its classifier. */
typedef struct {
    const char *run;
    const spot_config *cfg;                /* of the run */
    spot_source source;
    spot_ec ec;
    spot_look_pixels network;              /* zeroed until it is asked for */
} spot_claim_scenes;

/* The caller fills run and cfg, which outlive k. SPOT_USAGE: no such EC, or its pictures come from files. close also after a
 * failure. */
spot_status spot_claim_scenes_open (spot_ctx *c, spot_claim_scenes *k, int ec);
void        spot_claim_scenes_close(spot_ctx *c, spot_claim_scenes *k);

/* Draws up to `most` new images of the claim's class with its attributes, and as many that lack one of them, below claim->root.
 * The attributes are the claim's items, or its text as spot_blindspot_read takes it. SPOT_INPUT where no image has them, or
 * each has. */
spot_status spot_claim_scenes_draw(spot_ctx *c, spot_new_pictures *p, const spot_claim_scenes *k, const spot_slice_claim *claim,
                                   int most, int seed);

/* The EC's classifier as a predictor; k must outlive it. SPOT_INPUT where the run has not kept it. */
spot_status spot_claim_scenes_network(spot_ctx *c, spot_claim_scenes *k, spot_predictor_options *o);

#endif
