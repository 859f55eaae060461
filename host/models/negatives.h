/* negatives.h - inference on negatives of a split. */
#ifndef SPOTTER_NEGATIVES_H
#define SPOTTER_NEGATIVES_H

#include "spotter/model.h"

/* spot_model_look on images with label 0: on all, or on as many as there are positives, evenly spread, so that memory for the
 * positives suffices for them. view->label is NULL although all rows are negatives. */
spot_status spot_model_look_negatives(spot_ctx *c, spot_arena *a, spot_view *view, spot_truth *truth, const spot_model *m,
                                      const spot_ec *ec, spot_split split, const spot_model_config *cfg);

#endif
