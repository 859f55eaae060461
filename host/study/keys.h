/* keys.h - names a sweep's values by hashing everything that determines them. Which settings these are stands in their rows
 * (config/settings_key.h). */
#ifndef SPOTTER_KEYS_H
#define SPOTTER_KEYS_H

#include "base/key.h"
#include "spotter/config.h"

typedef struct {
    char     init[33];         /* hash of the contents of model.init; "": none */
    char     data[33];         /* hash of the pictures and their annotations; "": rendered scenes */
    char     encoder[32];      /* name of the encoder (encoder.h); "": no method looks with it */
    spot_key config;           /* hash of every setting except `ecs`, so that a run may grow */
} spot_identity;

/* SPOT_IO if model.init cannot be read, SPOT_INPUT if the encoder is none. photos: of the source; NULL for scenes. */
spot_status spot_identify(spot_ctx *c, spot_identity *id, const spot_config *cfg, const spot_photos *photos);

/* Keys of one EC's values, and of the base model that all of them start from. A view has its network's key, because inference
 * has no settings. A robust network's key includes the model's, and so do the keys of everything that is found in its features.
 * The keys include the device's family (cpu, cuda), since trained weights agree between devices only within a tolerance. */
spot_key spot_key_of_model(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec);
spot_key spot_key_of_base(const spot_ctx *c, const spot_config *cfg);
spot_key spot_key_of_robust(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec);

/* The key of the encoder's features of an EC's pictures, which do not depend on the model. */
spot_key spot_key_of_clip(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec);

/* The key of an EC's attributes as features. */
spot_key spot_key_of_attributes(spot_key view);

/* features: the key of the view that has the method's features; for features from a file or by the
 * encoder, spot_key_of_features with the hash of the file or the key of the encoder's features. */
spot_key spot_key_of_features(spot_key view, spot_key content);
spot_key spot_key_of_points(spot_key features, const spot_bdm_config *cfg);
spot_key spot_key_of_found(spot_key points, const spot_bdm_config *cfg);

/* Keys of a method's settings without its label, equal for the same method in another run; and of the settings that
 * determine its points. */
spot_key spot_key_of_method(const spot_bdm_config *cfg);
spot_key spot_key_of_reduction(const spot_bdm_config *cfg);

/* Describes the first setting that differs: "scene.size is 64 there and 32 here". Ignores `ecs`. False if none differs. */
bool spot_config_differs(char *words, size_t size, const spot_config *saved, const spot_config *here);

/* List all settings that differ: "scene.size=64 (224), model.width=32 (64)", with there's values in brackets, and "and 3 more"
 * if the text is too short. For methods, only settings that can change numbers: not the label, and not the settings of a
 * reducer that `here` does not use. Return their number. */
int spot_config_differences(char *text, size_t size, const spot_config *saved, const spot_config *here);
int spot_method_differences(char *text, size_t size, const spot_bdm_config *saved, const spot_bdm_config *here);

#endif
