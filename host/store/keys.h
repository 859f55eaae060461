/* keys.h - what makes a value, hashed to the value's name.
 *
 * A stage's key holds the names and values (as text) of the settings that can change that stage's numbers and of no
 * others, so that a value is found again whenever nothing that matters to it has changed. No struct is hashed as bytes:
 * padding has no meaning. */
#ifndef SPOTTER_KEYS_H
#define SPOTTER_KEYS_H

#include "spotter/config.h"
#include "spotter/store.h"

typedef struct {
    char     init[33];         /* hash of what model.init holds, "" for none: a path does not say what is in it */
    char     data[33];         /* of the pictures and what is annotated in them, "" where scenes are rendered */
    spot_key config;           /* of every setting but `ecs`: a run may grow */
} spot_identity;

/* SPOT_IO when model.init cannot be read. photos: those of the source, NULL for scenes. */
spot_status spot_identify(spot_ctx *c, spot_identity *id, const spot_config *cfg, const spot_photos *photos);

/* The keys of one EC's values, and of the base model that all of them start from. A view has its network's key: looking
 * has no settings of its own; and a robust network's grows from the model's, so that what is found in its features does. The
 * device's family (cpu, cuda) is part of them, since trained weights agree between devices only within a tolerance. */
spot_key spot_key_of_model(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec);
spot_key spot_key_of_base(const spot_ctx *c, const spot_config *cfg);
spot_key spot_key_of_robust(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec);

/* features: the key of the view that the method's features are from, or for those of a file spot_key_of_features. */
spot_key spot_key_of_features(spot_key view, spot_key content);
spot_key spot_key_of_points(spot_key features, const spot_bdm_config *cfg);
spot_key spot_key_of_found(spot_key points, const spot_bdm_config *cfg);

/* Of a method's settings alone, without its label: the same method in another run has the same one. And of those that
 * make its points. */
spot_key spot_key_of_method(const spot_bdm_config *cfg);
spot_key spot_key_of_reduction(const spot_bdm_config *cfg);

/* Names the first setting in which the configs differ, "scene.size is 64 there and 32 here"; false when only `ecs` does. */
bool spot_config_differs(char *words, size_t size, const spot_config *there, const spot_config *here);

/* All of them, "scene.size=64 (224), model.width=32 (64)" with there's values in brackets and "and 3 more" for those that the
 * text has no room for; and those of two methods' settings that can change their numbers: not the label, nor what belongs to
 * a reducer that `here` has not. How many. */
int spot_config_differences(char *text, size_t size, const spot_config *there, const spot_config *here);
int spot_method_differences(char *text, size_t size, const spot_bdm_config *there, const spot_bdm_config *here);

#endif
