/* zoo_make.h - what the planted zoo consists of: its materials, its pictures, its files, its models, the truth. */
#ifndef SPOTTER_ZOO_MAKE_H
#define SPOTTER_ZOO_MAKE_H

#include <stdbool.h>

#include "background/zoo/zoo_ground.h"
#include "base/setting.h"
#include "spotter/rng.h"
#include "spotter/zoo.h"
#include "store/world.h"

extern const spot_setting spot_zoo_settings[];

enum { SPOT_ZOO_PATH = SPOT_WORLD_PATH, SPOT_ZOO_CLASSES = 12, SPOT_ZOO_STAMPS = 4, SPOT_ZOO_SCENES = 12,
       SPOT_ZOO_SCENE_SIDE = 192, SPOT_ZOO_WORDING = 200 };

const char *spot_zoo_class_name(int cls);

/* ---- zoo_stock.c: materials ---- */

/* Every cut-out is a square of cfg->size pixels a side that it touches with its longer side. */
typedef struct {
    const spot_background_zoo *cfg;
    int      stamps[SPOT_ZOO_CLASSES];     /* of each class, up to SPOT_ZOO_STAMPS */
    uint8_t *rgb, *alpha;                  /* (classes, SPOT_ZOO_STAMPS, size, size, 3) times alpha, and alpha */
    int      scenes;
    uint8_t *scene;                        /* (scenes, SPOT_ZOO_SCENE_SIDE, SPOT_ZOO_SCENE_SIDE, 3) */
    char     scene_name[SPOT_ZOO_SCENES][64];      /* "fallen leaf" */
} spot_zoo_stock;

/* Close it also after a failure. */
spot_status spot_zoo_stock_open (spot_ctx *c, spot_zoo_stock *s, const spot_background_zoo *cfg);
void        spot_zoo_stock_close(spot_zoo_stock *s);
size_t      spot_zoo_stock_bytes(const spot_background_zoo *cfg);

/* ---- zoo_compose.c: pictures ---- */

/* Sets of pictures and backgrounds; no two share a random number. */
typedef enum { SPOT_ZOO_TARGETS, SPOT_ZOO_GROUNDS, SPOT_ZOO_TRAIN, SPOT_ZOO_TESTED, SPOT_ZOO_SETS } spot_zoo_set;

/* Background `index` of a set and a family; the family behind the last one is the scenes. rgb (size, size, 3). words
 * (SPOT_ZOO_WORDING), or NULL: its keywords, "sky; grass; meadow". */
void spot_zoo_background(uint8_t *rgb, char *words, const spot_zoo_stock *s, spot_zoo_set set, int family, uint32_t index);

/* An object: which one and where. A family for what is behind it is drawn with it. */
typedef struct {
    int   cls, stamp, family, kin;         /* family: own with a chance of `own`, else any; kin: any family or the scenes */
    float scale, cosine, sine, x, y, light;/* sides of the picture; x, y: of its middle */
    bool  flip, black;                     /* black: nothing behind it */
} spot_zoo_object;

spot_zoo_object spot_zoo_object_of(const spot_zoo_stock *s, int cls, double own, double black, spot_rng *r);

/* rgb (size, size, 3): the object before `ground`, which may be rgb; NULL: before black. mask (size, size), or NULL. */
void spot_zoo_compose(uint8_t *rgb, uint8_t *mask, const spot_zoo_stock *s, const spot_zoo_object *o, const uint8_t *ground);

/* ---- zoo_augment.c: a picture changed as a whole ---- */

/* The picture is turned about its middle by an angle of at most 30 degrees, scaled by 0.7 to 1.3, or its light by 0.5 to 1.5;
 * beyond its border the background is reflected. */
typedef struct { float cosine, sine, zoom, light; bool moves; } spot_zoo_change;

spot_zoo_change spot_zoo_change_of(spot_zoo_augment augment, spot_rng *r);

/* The object before `ground`, which is not rgb (NULL: before black), changed. */
void spot_zoo_compose_changed(uint8_t *rgb, const spot_zoo_stock *s, const spot_zoo_object *o, const uint8_t *ground,
                              const spot_zoo_change *c);

/* The numbers of picture `index` of a class, or of a model's training (unit: model). */
static inline spot_rng spot_zoo_numbers(const spot_zoo_stock *s, spot_zoo_set set, int unit, uint32_t index)
{
    return spot_rng_at(s->cfg->seed, SPOT_RNG_ZOO, ((uint32_t)set + 1) << 16 | (uint32_t)unit, index);
}

/* Some backgrounds of each family and the scenes, from which training and the truth draw. */
typedef struct { int each; uint8_t *rgb; } spot_zoo_pool;

spot_status spot_zoo_pool_open (spot_ctx *c, spot_zoo_pool *p, const spot_zoo_stock *s, spot_zoo_set set, int each);
void        spot_zoo_pool_close(spot_zoo_pool *p);
size_t      spot_zoo_pool_bytes(const spot_background_zoo *cfg, int each);

static inline const uint8_t *spot_zoo_pooled(const spot_zoo_pool *p, int size, int family, uint32_t number)
{
    return p->rgb + ((size_t)family * (size_t)p->each + number % (uint32_t)p->each) * 3 * (size_t)size * (size_t)size;
}

/* ---- the parts of the world ---- */

spot_status spot_zoo_files (spot_ctx *c, const char *dir, const spot_zoo_stock *s);      /* backgrounds.csv is the last */
spot_status spot_zoo_models(spot_ctx *c, const char *dir, const spot_zoo_stock *s);      /* trains those without a file */
spot_status spot_zoo_measure(spot_ctx *c, const char *dir, const spot_zoo_stock *s);     /* truth.csv, unless it is there */

/* The memory that making them takes, beside the stock: of c's host, with as many models at once as c has threads. */
spot_status spot_zoo_models_needs (spot_ctx *c, size_t *bytes, const spot_background_zoo *cfg);
spot_status spot_zoo_measure_needs(spot_ctx *c, size_t *bytes, const spot_background_zoo *cfg);

/* Trains a model, with memory of its own. dir NULL: it is not kept. */
enum { SPOT_ZOO_BATCH = 32, SPOT_ZOO_POOL = 150 };     /* pictures of a step; backgrounds of a family that it draws from */
spot_status spot_zoo_train(spot_ctx *c, const char *dir, const spot_zoo_stock *stock, const spot_zoo_pool *pool,
                           const spot_zoo_recipe *r);

/* A training that fails with SPOT_NUMERIC is done again at half the rate, then at a quarter and an eighth, with a warning each
 * time: else a seed with one model that diverges could have no world. DIR/models/NAME.halved keeps how often; spot_zoo_rate:
 * the peak rate with which a model was trained. */
typedef spot_status spot_zoo_training(spot_ctx *c, void *user, double rate);
spot_status spot_zoo_steady(spot_ctx *c, int *halvings, double rate, const char *name, spot_zoo_training *train, void *user);
double      spot_zoo_rate  (const char *dir, const spot_zoo_recipe *r);

/* The seconds of making a world on c and of `looks` looks of every model at its pictures, by timing the opening of its
 * materials and some pictures of the training and of the looks of each kind of network. */
spot_status spot_zoo_time(spot_ctx *c, double *seconds, const spot_background_zoo *cfg, double looks);

/* Pictures that a model is asked about for its truth. */
int spot_zoo_asked(const spot_background_zoo *cfg);

/* The folder of the world of a run: OUT/zoo. */
spot_status spot_zoo_folder(spot_ctx *c, char *dir, size_t size, const char *out);

void spot_zoo_model_path(char path[SPOT_ZOO_PATH], const char *dir, const spot_zoo_recipe *r);

#endif
