/* examine_networks.h - networks that are trained on renders, with a weakness that may be planted. */
#ifndef SPOTTER_EXAMINE_NETWORKS_H
#define SPOTTER_EXAMINE_NETWORKS_H

#include "examine/examine_look.h"

/* Whether the model is trained here; the file of its weights, OUT/models/NAME.safetensors. */
bool spot_examine_is_trained(const spot_examine_model *m);
void spot_examine_network_path(char path[SPOT_EXAMINE_PATH], const char *out, const spot_examine_model *m);

/* Trains model m, unless its file is there. */
spot_status spot_examine_train(spot_ctx *c, const char *out, const spot_examine_model *m, spot_examine_objects_list *o,
                               const spot_examine_backgrounds *pictures);

/* The memory of that training on so many objects, without their meshes. */
spot_status spot_examine_training_bytes(spot_ctx *c, size_t *bytes, const spot_examine_model *m, spot_examine_objects_list *o,
                                        int objects);

/* Whether the renders of a training stay in memory for the next pass. */
bool spot_examine_keeps_renders(const spot_examine_objects_list *o, double images);

/* Trains a network of model m on a few renders of some objects, whose meshes are there: learn: the time of a picture in a pass.
 * Then it looks at the first n[0] and n[1] squares of rgb: look: the time of each call. */
typedef struct {
    const int *entry;
    int objects, n[2];
    const uint8_t *rgb;
    spot_spent learn, look[2];
} spot_examine_paces;
spot_status spot_examine_time_training(spot_ctx *c, spot_examine_paces *p, const spot_examine_model *m,
                                       spot_examine_objects_list *o, const spot_examine_backgrounds *pictures);

/* Renders of one pass over the model's objects, and passes; 0 passes: more than SPOT_MAX_EPOCHS. */
double spot_examine_passes(const spot_examine_model *m, double objects, int *epochs);

/* Whether conditions lie in the planted region. margin: in shares of the paper's ranges; above 0 the region shrinks by it,
 * below 0 it grows, but not at the ends of the ranges. */
bool spot_examine_in_region(const spot_examine_model *m, const spot_conditions *at, double margin);

/* Whether an object's renders show the planted weakness: the share of right answers on valid renders outside of the region and
 * inside, each a margin away from its border, since a network is unsure there. -1 and NaN: nothing is planted. */
typedef struct { int learned; double outside, inside; } spot_examine_lesson;
int         spot_examine_verified(const spot_examine_model *m);        /* renders that it takes of an object */
spot_status spot_examine_verify(spot_ctx *c, spot_examine_lesson *l, spot_examine_looker *look, const spot_examine_model *m,
                                int entry);

#endif
