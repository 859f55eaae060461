/* encoder_view.h - the encoder's features of an EC's test positives: from the store, or computed. */
#ifndef SPOTTER_ENCODER_VIEW_H
#define SPOTTER_ENCODER_VIEW_H

#include "sweep/pipeline.h"

#define SPOT_ENCODED "clip"        /* the kind of these features in the store */

/* Opens the encoder that cfg names; NULL if no method looks with it. SPOT_NOMEM when its file is larger than the free
 * memory. */
spot_status spot_sweep_encoder_open(spot_ctx *c, spot_encoder **e, const spot_config *cfg);

/* Computes the features and keeps them under `key`, unless the store has them. a is for scratch. */
spot_status spot_encoder_view(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key, const spot_ec *ec);

/* Points the view to the features in the store. *found: the store has them, for as many pictures. */
spot_status spot_encoder_view_recall(spot_ctx *c, spot_arena *a, const spot_store *s, spot_key key, spot_view *view,
                                     bool *found);

#endif
