/* plant.c - the settings of a planted world, and its making, which can be interrupted and goes on where it stopped. */
#include "spotter/plant.h"

#include <string.h>

#include "shifts/plant_make.h"
#include "store/store.h"

const spot_setting spot_plant_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_plant_config, field, help, __VA_ARGS__)
    S("seed",     SEED, seed,     "seed of pictures and models", SPOT_DEF(1)),
    S("size",     INT,  size,     "pixels a side", SPOT_IN(32, 224), .unit = 32, SPOT_DEF(64)),
    S("classes",  INT,  classes,  "classes: shapes, solid or striped, alone or in pairs", SPOT_IN(2, SPOT_PLANT_CLASSES),
      SPOT_DEF(SPOT_PLANT_CLASSES)),
    S("confounded", INT, confounded, "classes that nearly always stand on a table of their own",
      SPOT_IN(0, SPOT_PLANT_CLASSES), SPOT_DEF(4)),
    S("shifts",   INT,  shifts,   "shifts, from the first of the list on", SPOT_IN(1, SPOT_PLANT_KINDS - 1),
      SPOT_DEF(SPOT_PLANT_KINDS - 1)),
    S("pictures", INT,  pictures, "pictures of a source for each class and shift, and for each class of base; 0: no "
      "planted world", SPOT_IN(0, 10000)),
    S("real",     INT,  real,     "real pictures of each class", SPOT_IN(1, 10000), SPOT_DEF(40)),
    S("missing",  REAL, missing,  "share of a shift's pictures without the shift", SPOT_IN(0, 1), SPOT_DEF(0.15)),
    S("wrong",    REAL, wrong,    "share of a source's pictures with another object, or with none", SPOT_IN(0, 1),
      SPOT_DEF(0.1)),
    S("table_train", REAL, table_train, "share of a confounded class's training pictures with its table", SPOT_IN(0, 1),
      SPOT_DEF(0.97)),
    S("table_real", REAL, table_real, "share of a confounded class's real pictures with its table", SPOT_IN(0, 1),
      SPOT_DEF(0.9)),
    S("strength", REAL, strength, "strength of every shift: 1 as designed, 0 none", SPOT_IN(0, 1), SPOT_DEF(1)),
    S("models",   INT,  models,   "models that are trained; 0: neither models nor the truth about them",
      SPOT_IN(0, SPOT_PLANT_MODELS), SPOT_DEF(20)),
    S("train",    INT,  train,    "training pictures of the models that have most; others have a half or a quarter",
      SPOT_IN(8, 1e6), SPOT_DEF(2000)),
    S("epochs",   INT,  epochs,   "passes over the training pictures", SPOT_IN(1, SPOT_MAX_EPOCHS), SPOT_DEF(10)),
    S("truth",    INT,  truth,    "pictures of each class and shift by which the true accuracies are measured",
      SPOT_IN(1, 100000), SPOT_DEF(60)),
#undef S
    SPOT_END
};

spot_plant_config spot_plant_defaults(void)
{
    spot_plant_config cfg = { 0 };

    spot_settings_defaults(spot_plant_settings, &cfg);
    return cfg;
}

spot_status spot_shifts_plant(spot_ctx *c, const char *dir, const spot_plant_config *cfg)
{
    if (strlen(dir) > SPOT_PLANT_PATH - 200)
        return spot_fail(c, SPOT_USAGE, "the name of the folder %.40s... is too long", dir);
    SPOT_TRY(spot_settings_check(c, SPOT_USAGE, spot_plant_settings, cfg, "plant"));
    if (cfg->confounded > cfg->classes)
        return spot_fail(c, SPOT_USAGE, "{plant.confounded} plant.confounded is %d, and there are %d classes", cfg->confounded,
                         cfg->classes);
    if (!cfg->pictures) return SPOT_OK;
    SPOT_TRY(spot_folder_make(c, dir));
    SPOT_TRY(spot_world_claim(c, dir, "plant.yaml", "planted world", spot_plant_settings, cfg));
    SPOT_TRY(spot_plant_files(c, dir, cfg));
    if (!cfg->models) return SPOT_OK;
    SPOT_TRY(spot_plant_models(c, dir, cfg));
    return spot_plant_measure(c, dir, cfg);
}
