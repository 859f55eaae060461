/* zoo.c - the settings of the planted zoo, and its making, which can be interrupted and goes on where it stopped. */
#include "spotter/zoo.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "background/background_config.h"
#include "background/zoo/zoo_make.h"
#include "models/idle_cores.h"
#include "spotter/model.h"
#include "store/store.h"

const spot_setting spot_zoo_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_background_zoo, field, help, __VA_ARGS__)
#define FOLDER(field, def, help) S(#field, TEXT, field, help, .text = def, .hi = 256, .affects = SPOT_AFFECTS_PATH)
    S("seed",        SEED, seed,        "seed of the world and its models", SPOT_DEF(1)),
    FOLDER(stamps, "/usr/share/tuxpaint/stamps", "folder of cut-outs with alpha (package tuxpaint-stamps-default)"),
    FOLDER(scenes, "/usr/share/wallpapers", "folder of scenes (package plasma-workspace-wallpapers)"),
    S("size",        INT,  size,        "pixels a side of the pictures", SPOT_IN(32, 224), .unit = 32, SPOT_DEF(64)),
    S("classes",     INT,  classes,     "classes of objects", SPOT_IN(2, SPOT_ZOO_CLASSES), SPOT_DEF(9)),
    S("families",    INT,  families,    "families of painted backgrounds, the first of which belong to the classes",
      SPOT_IN(2, SPOT_ZOO_FAMILIES), SPOT_DEF(SPOT_ZOO_FAMILIES)),
    S("targets",     INT,  targets,     "targets of each class", SPOT_IN(1, 100000), SPOT_DEF(20)),
    S("natural",     REAL, natural,     "share of the targets before a background of their class's family; the others have any",
      SPOT_IN(0, 1), SPOT_DEF(0.8)),
    S("backgrounds", INT,  backgrounds, "backgrounds of each family, and as many parts of scenes", SPOT_IN(1, 100000),
      SPOT_DEF(40)),
    S("models",      INT,  models,      "models that are trained; 0: there is no planted world", SPOT_IN(0, SPOT_ZOO_MODELS)),
    S("recipes",     NAME, recipes,     "what varies in the models beside rho; plain: pictures, passes, labels and black "
      "backgrounds (ResNet-18s of width 16, cross-entropy, Adam); paper: loss (cross-entropy; with 0.5 triplet loss; against "
      "FGSM of 4/256), optimizer (Adam, SGD, RMSprop), augmentation (none, rotation, brightness, scale, foreground only) and "
      "architecture (ResNet-18, ResNet-34, AlexNet, of width 16)", SPOT_ONE_OF("plain", "paper"),
      SPOT_DEF(SPOT_ZOO_RECIPES_PLAIN), .newer = SPOT_NEWER),
    S("train",       INT,  train,       "pictures of a model's training", SPOT_IN(8, 1e6), SPOT_DEF(1000)),
    S("epochs",      INT,  epochs,      "passes over them", SPOT_IN(1, SPOT_MAX_EPOCHS / 6), SPOT_DEF(6)),
    S("tested",      INT,  tested,      "objects of each class by which it is measured what a model has learned",
      SPOT_IN(1, 100000), SPOT_DEF(60)),
#undef FOLDER
#undef S
    SPOT_END
};

static spot_status make_parts(spot_ctx *c, const char *dir, const spot_background_zoo *cfg)
{
    char path[SPOT_ZOO_PATH];
    spot_zoo_stock stock = { 0 };
    spot_status s;

    snprintf(path, sizeof path, "%s/truth.csv", dir);
    if (!access(path, F_OK)) return SPOT_OK;               /* the last part */
    spot_warn_of_fp32_alone(c, "the networks of the zoo");
    s = spot_zoo_stock_open(c, &stock, cfg);
    if (!s) s = spot_zoo_files(c, dir, &stock);
    if (!s) s = spot_zoo_models(c, dir, &stock);
    if (!s) s = spot_zoo_measure(c, dir, &stock);
    spot_zoo_stock_close(&stock);
    return s;
}

spot_status spot_zoo_make(spot_ctx *c, const char *dir, const spot_background_zoo *cfg)
{
    if (strlen(dir) > SPOT_ZOO_PATH - 200)
        return spot_fail(c, SPOT_USAGE, "the name of the folder %.40s... is too long", dir);
    SPOT_TRY(spot_settings_check(c, SPOT_USAGE, spot_zoo_settings, cfg, "zoo"));
    if (cfg->families < cfg->classes)
        return spot_fail(c, SPOT_USAGE, "{zoo.families} zoo.families is %d, and each of the %d classes needs a family of its "
                         "own", cfg->families, cfg->classes);
    if (cfg->recipes == SPOT_ZOO_RECIPES_PAPER && cfg->size < 64)
        return spot_fail(c, SPOT_USAGE, "{zoo.size} zoo.size is %d, and AlexNet, one of the architectures of zoo.recipes: "
                         "paper, needs 64 or more", cfg->size);
    if (!cfg->models) return SPOT_OK;
    SPOT_TRY(spot_folder_make(c, dir));
    SPOT_TRY(spot_world_claim(c, dir, "zoo.yaml", "planted zoo", spot_zoo_settings, cfg));
    return make_parts(c, dir, cfg);
}

/* -- its folder ---------------------------------------------------------------------------------------------------- */

/* A variant of a run (background.h) has the run's world. */
spot_status spot_zoo_folder(spot_ctx *c, char *dir, size_t size, const char *out)
{
    const char *const place[] = { "zoo", "../../zoo" };
    char world[SPOT_ZOO_PATH], variants[SPOT_ZOO_PATH];
    bool above;

    snprintf(variants, sizeof variants, "%.1000s/../../variants", out);
    snprintf(world, sizeof world, "%.1000s/../../zoo/zoo.yaml", out);
    above = !access(variants, F_OK) && !access(world, F_OK);
    snprintf(world, sizeof world, "%.1000s/zoo", out);
    if (snprintf(dir, size, "%s/%s", out, place[above && access(world, F_OK)]) < (int)size) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "the name of the folder %.40s... is too long", out);
}
