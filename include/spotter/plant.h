/* plant.h - a world of planted distribution shifts, in which the truth about every model and every picture is known.
 *
 *     config -> pictures in folders + models + the truth about both
 *
 * A class is a shape, its texture and its number, "a pair of striped circles"; a picture is a window of a scene of SpotCheck
 * (scene.h). A shift changes the background, the light, the object's colour, ..., always in the same way. Some classes are
 * confounded: in training and real pictures they nearly always stand on a table whose colour belongs to the class, so models
 * come to rely on the table (as on the food upon the paper's plates).
 *
 *     DIR/pictures/real/<class>/00000.png               real pictures, all of them right
 *     DIR/pictures/<source>/base/<class>/00000.png      what a source claims to be pictures of the class ...
 *     DIR/pictures/<source>/<shift>/<class>/00000.png   ... and of the class with the shift
 *     DIR/plant.csv                                 path, source, shift, class, shift_there, object_there: what they are
 *     DIR/models/<model>.safetensors                small ResNet-18s that differ in width, pictures, epochs and augmentation
 *     DIR/truth.csv                                 accuracy of each model for each class and shift on pictures that are right
 *
 * In both sources the shift is missing in a known share of the pictures of shifts, and the object is wrong (another class, or
 * nothing) in a known share of all. The source "clean" has tables as often as real pictures. In the base pictures of the
 * source "confounded" no class stands on a table (its plates are empty), so its base accuracy, and with it every impact, is too
 * low; no filter by captions can see that, but real pictures show it.
 *
 * All pictures are pure functions of the config: the same bytes for any number of threads. */
#ifndef SPOTTER_PLANT_H
#define SPOTTER_PLANT_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/ctx.h"
#include "spotter/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name of the folder, caption, category, whether the shift is a style. A row here and a case in plant_draw.c. */
#define SPOT_PLANT_SHIFTS(X)                                                                       \
    X(GREEN,   "green_background",     "a photo on a green background",     "background",    false) \
    X(CHECKER, "checkered_background", "a photo on a checkered background", "background",    false) \
    X(NIGHT,   "at_night",             "a photo at night",                  "lighting",      false) \
    X(FOG,     "in_the_fog",           "a photo in the fog",                "weather",       false) \
    X(RAIN,    "in_the_rain",          "a photo in the rain",               "weather",       false) \
    X(RED,     "red",                  "a photo of something red",          "attribute",     false) \
    X(PURPLE,  "purple",               "a photo of something purple",       "attribute",     false) \
    X(CROSS,   "and_a_cross",          "a photo of something and a cross",  "co-occurrence", false) \
    X(NOISE,   "with_noise",           "a photo with noise",                "camera",        false) \
    X(BLUR,    "out_of_focus",         "a photo out of focus",              "camera",        false) \
    X(SKETCH,  "pencil_sketch",        "a pencil sketch",                   "style",         true)  \
    X(MOSAIC,  "mosaic",               "a mosaic",                          "style",         true)

typedef enum {
    SPOT_PLANT_BASE,
#define X(NAME, folder, caption, category, style) SPOT_PLANT_##NAME,
    SPOT_PLANT_SHIFTS(X)
#undef X
    SPOT_PLANT_KINDS
} spot_plant_shift;

typedef struct { const char *folder, *caption, *category; bool style; } spot_plant_shift_info;

#define SPOT_PLANT_CLASSES 16
#define SPOT_PLANT_MODELS  64

/* The sets of pictures; those of different sets share no random number. */
typedef enum { SPOT_PLANT_CLEAN, SPOT_PLANT_CONFOUNDED, SPOT_PLANT_REAL, SPOT_PLANT_TRAIN, SPOT_PLANT_TRUTH,
               SPOT_PLANT_SETS } spot_plant_set;

typedef struct {
    uint64_t seed;                 /* of pictures and models */
    int    size;                   /* pixels a side */
    int    classes, confounded;    /* the first classes of 16; how many of them are confounded */
    int    shifts;                 /* the first of the list */
    int    pictures;               /* of a source, for each class and shift, and for each class of base; 0: no world is made */
    int    real;                   /* of each class */
    double missing;                /* share of a shift's pictures without the shift */
    double wrong;                  /* share of all pictures of a source with another object or none */
    double table_train, table_real;/* shares of the pictures of a confounded class on its table */
    double strength;               /* of every shift: 1 as designed, 0 none */
    int    models;                 /* 0: no models and no truth */
    int    train, epochs;          /* pictures that the models with most learn from; passes over them */
    int    truth;                  /* pictures of each class and shift by which a model's true accuracy is measured */
} spot_plant_config;

/* No pictures: a config asks for a planted world by their number. */
spot_plant_config spot_plant_defaults(void);

/* "pair of striped circles"; what it is called in a caption and, with '_' for ' ', as a folder. */
const char *spot_plant_class_name(int cls);
const spot_plant_shift_info *spot_plant_shift_about(spot_plant_shift shift);
const char *spot_plant_set_name(spot_plant_set set);

/* The contents of picture `index` of a set: which class and shift it is to show, and what it shows. */
typedef struct {
    uint64_t seed;
    uint32_t unit, index;          /* its address: set, shift and class; number */
    spot_plant_shift shift;        /* wanted */
    int  cls, shown;               /* wanted; shown, or -1: nothing */
    bool shift_there, object_there;
    bool table;                    /* it stands on a table */
} spot_plant_picture;

/* Pure. */
void spot_plant_draw(spot_plant_picture *p, const spot_plant_config *cfg, spot_plant_set set, spot_plant_shift shift, int cls,
                     uint32_t index);

/* Makes everything that the comment at the top lists, in DIR. What is there is kept: an interrupted call goes on. SPOT_USAGE
 * for wrong settings, and for a folder with a planted world of other settings. */
spot_status spot_shifts_plant(spot_ctx *c, const char *dir, const spot_plant_config *cfg);

/* The truth about the models, from DIR/truth.csv. Accuracies are means over the classes, all of them; impact is the mean of
 * base less shift over the models, slope the least-squares slope of shift on base (NaN: fewer than two models, or equal
 * bases). */
typedef struct {
    int    models, shifts;
    char   name[SPOT_PLANT_MODELS][40];
    double accuracy[SPOT_PLANT_KINDS][SPOT_PLANT_MODELS];
    double impact[SPOT_PLANT_KINDS], slope[SPOT_PLANT_KINDS];      /* [SPOT_PLANT_BASE]: 0 and 1 */
} spot_plant_truth;

spot_status spot_plant_truth_read(spot_ctx *c, spot_plant_truth *t, const char *dir, const spot_plant_config *cfg);

/* Renders n pictures into rgb (n, size, size, 3), on the host. */
spot_status spot_plant_render(spot_ctx *c, uint8_t *rgb, const spot_plant_picture *p, int n, const spot_plant_config *cfg);

#ifdef __cplusplus
}
#endif
#endif
