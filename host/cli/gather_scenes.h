/* gather_scenes.h - new images of an EC of a sweep, for spotter gather. */
#ifndef SPOTTER_GATHER_SCENES_H
#define SPOTTER_GATHER_SCENES_H

#include "cli/gather.h"
#include "spotter/config.h"
#include "spotter/predictor.h"

enum { CLI_SCENES_BATCH = 64 };

/* An EC of a run, and its classifier. */
typedef struct {
    const char *run;
    spot_config *cfg;
    spot_source source;
    bool open;
    spot_ec ec;
    spot_model network;
    spot_arena weights, scratch;           /* of the network */
} cli_scenes;

/* SPOT_USAGE: no such EC, or its pictures come from files. close also after a failure; it accepts a zeroed struct. */
spot_status cli_scenes_open (spot_ctx *c, cli_scenes *k, const char *run, int ec);
void        cli_scenes_close(cli_scenes *k);

/* Draws up to `most` new images of the claim's class with its attributes, and as many that lack one of them, below claim->root.
 * The attributes are the claim's items, or its text as spot_blindspot_read takes it. SPOT_INPUT where no image has them, or
 * each has. */
spot_status cli_gather_scenes(spot_ctx *c, spot_new_pictures *p, const cli_scenes *k, const cli_claim *claim, int most,
                              int seed);

/* The EC's classifier as a predictor; k must outlive it. SPOT_INPUT where the run has not kept it. */
spot_status cli_scenes_network(spot_ctx *c, cli_scenes *k, spot_predictor_options *o);

#endif
