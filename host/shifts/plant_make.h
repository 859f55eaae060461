/* plant_make.h - what a planted world consists of: its pictures in files, its models, the truth. */
#ifndef SPOTTER_PLANT_MAKE_H
#define SPOTTER_PLANT_MAKE_H

#include "base/setting.h"
#include "spotter/plant.h"
#include "store/world.h"

extern const spot_setting spot_plant_settings[];

enum { SPOT_PLANT_PATH = SPOT_WORLD_PATH };

/* plant_files.c: DIR/pictures and DIR/plant.csv, which is written last. */
spot_status spot_plant_files(spot_ctx *c, const char *dir, const spot_plant_config *cfg);

/* The pictures that a model's training has beside plain ones. */
typedef enum {
    SPOT_AUGMENT_NONE, SPOT_AUGMENT_CAMERA, SPOT_AUGMENT_GROUNDS, SPOT_AUGMENT_ALL, SPOT_AUGMENTS
} spot_plant_augment;

typedef struct {
    char name[40];                 /* "w16-n1200-camera-3" */
    int  number, width, train, epochs;
    int  augment;                  /* spot_plant_augment: the shifts in its training pictures */
} spot_plant_recipe;

spot_plant_recipe spot_plant_recipe_of(const spot_plant_config *cfg, int model);
void              spot_plant_model_path(char path[SPOT_PLANT_PATH], const char *dir, const spot_plant_recipe *r);

/* plant_models.c: trains every model whose file is missing. */
spot_status spot_plant_models(spot_ctx *c, const char *dir, const spot_plant_config *cfg);

/* The memory of the training that takes most, with its pictures, and of all models and the look that takes most. */
spot_status spot_plant_models_bytes(spot_ctx *c, size_t *training, size_t *looking, const spot_plant_config *cfg);

/* Trains a model of the recipe for one pass over a few pictures, and has it look at them: seconds of a picture. */
typedef struct { double draw, learn, look; } spot_plant_pace;
spot_status spot_plant_time(spot_ctx *c, spot_plant_pace *pace, const spot_plant_config *cfg, const spot_plant_recipe *r);

/* plant_truth.c: DIR/truth.csv, unless it is there. */
spot_status spot_plant_measure(spot_ctx *c, const char *dir, const spot_plant_config *cfg);

#endif
