/* config_table.c - the settings of a whole config. */
#include "study/config_table.h"

#include "bdm/methods.h"
#include "metric/metric_settings.h"
#include "models/model_settings.h"
#include "worlds/scene_settings.h"

static bool reads_pictures(const void *config) { return ((const spot_config *)config)->data.coco[0]; }
bool spot_wants_clip(const spot_config *cfg)
{
    for (int b = 0; b < cfg->bdms; b++)
        if (cfg->bdm[b].representation == SPOT_BY_CLIP) return true;
    return false;
}

static bool looks_with_clip(const void *config) { return spot_wants_clip(config); }
static bool renders_scenes(const void *config) { return !reads_pictures(config); }

static const spot_setting variant_rows[] = {
    SPOT_ROW("name",  TEXT,  spot_variant, name,  "name of the variant, for the reader", .hi = 64,
             .affects = SPOT_AFFECTS_PRESENTATION),
    SPOT_ROW("scene", GROUP, spot_variant, scene, "changed settings of scene", .rows = spot_scene_settings,
             .size = sizeof(spot_scene_config)),
    SPOT_END
};

const spot_setting spot_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_config, field, help, __VA_ARGS__)
    S("seed",   SEED,  seed,   "seed of every random number", SPOT_DEF(1),
      .affects = SPOT_AFFECTS_PICTURES | SPOT_AFFECTS_BASE),
    S("ecs",    INT,   ecs,    "number of experimental configurations (ECs): data sets with their blindspots",
      SPOT_IN(1, 1000000), SPOT_DEF(100), .affects = SPOT_AFFECTS_EXTENT),
    S("data",   GROUP, data,   "pictures from files with what is annotated in them, in place of scene",
      .rows = spot_photos_settings, .when = reads_pictures, .otherwise = "needs data.coco, the file of annotations",
      .affects = SPOT_AFFECTS_PICTURES),
    S("scene",  GROUP, scene,  "rendered images", .rows = spot_scene_settings,
      .when = renders_scenes, .otherwise = "does not go with data: images are rendered, or read from files",
      .affects = SPOT_AFFECTS_PICTURES),
    S("variants", LIST, variant, "scenes that take turns by the number of the EC, each with what differs in scene, such as "
      "{scene: {induce: rare}}; none: every EC has scene", SPOT_IN(0, SPOT_MAX_VARIANTS), .rows = variant_rows,
      .size = sizeof(spot_variant), .count = offsetof(spot_config, variants), .inherits = true, .when = renders_scenes,
      .otherwise = "does not go with data: images are rendered, or read from files", .affects = SPOT_AFFECTS_PICTURES),
    S("model",  GROUP, model,  "classifier", .rows = spot_model_settings, .affects = SPOT_AFFECTS_MODEL | SPOT_AFFECTS_BASE),
    S("bdms",   LIST,  bdm,    "blindspot discovery methods, one column of the tables each", SPOT_IN(1, SPOT_MAX_BDMS),
      .rows = spot_bdm_settings, .size = sizeof(spot_bdm_config), .count = offsetof(spot_config, bdms),
      .affects = SPOT_AFFECTS_FINDING),
    S("encoder", GROUP, encoder, "CLIP for methods with representation: clip", .rows = spot_encoder_settings,
      .when = looks_with_clip, .otherwise = "is for methods with representation: clip, and there is none",
      .affects = SPOT_AFFECTS_VIEW),
    S("metric", GROUP, metric, "rule by which a blindspot counts as found", .rows = spot_metric_settings,
      .affects = SPOT_AFFECTS_JUDGING),
#undef S
    SPOT_END
};
