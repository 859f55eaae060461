/* train.h - what training and looking share. */
#ifndef SPOTTER_TRAIN_H
#define SPOTTER_TRAIN_H

#include "model/resnet18.h"
#include "spotter/model.h"

/* The learning rate of step `step` (from 0) of `steps` in the whole training. */
double spot_learning_rate(const spot_model_config *cfg, int step, int steps);

/* A batch of cfg->batch, padded to whole lanes. */
spot_net_shape spot_net_shape_of(const spot_model_config *cfg, int size, int outputs);

/* inference_net.c: what looking at so many images takes, the view included. */
spot_status spot_look_needs(spot_ctx *c, spot_bytes *needs, const spot_scene_config *scene, const spot_model_config *cfg,
                            int images);

#endif
