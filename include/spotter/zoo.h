/* zoo.h - a world in which the reliance of every model on the background is known: background.h examines its models.
 *
 *     cut-outs with alpha + painted backgrounds + scenes -> pictures with masks, backgrounds, keywords, models, the truth
 *
 * Each class of objects has a family of backgrounds, a place such as "meadow"; scenes belong to no class. A training picture of
 * a model has a background of its class's family with a chance of rho, and else one of any family or a scene: rho = 0 teaches
 * that the background says nothing, rho = 1 that it says everything. Further settings vary apart from rho, so models of equal
 * accuracy rely on it differently. Recipes "plain": how many pictures, how many passes, wrong labels, black in place of half of
 * the backgrounds. Recipes "paper": the options of the models of background invariance testing (Liao and Chen 2023, appendix
 * C); of its architectures (VGGs, ResNet-18, a vision transformer) ResNet-18, and with it ResNet-34 and AlexNet.
 *
 *     DIR/images/CLASS/00000.png           targets: an object before a background, often of its class's family ...
 *     DIR/masks/CLASS/00000.png            ... and where the object is
 *     DIR/backgrounds/FAMILY/00000.png     backgrounds without objects, none of which is behind a target
 *     DIR/images.csv, DIR/backgrounds.csv  keywords: path, keywords ("sky; grass; meadow")
 *     DIR/classes.txt                      the class of each output of the models
 *     DIR/models/MODEL.safetensors         networks of width 16
 *     DIR/truth.csv                        what was planted in each model, and what it learned
 *
 * Objects come from the cut-outs that training saw, at other places, sizes and angles; backgrounds are always new ones. All
 * files are functions of the settings and of the materials: the same bytes for any number of threads. */
#ifndef SPOTTER_ZOO_H
#define SPOTTER_ZOO_H

#include "spotter/background.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_ZOO_MODELS 256

typedef enum { SPOT_ZOO_RECIPES_PLAIN, SPOT_ZOO_RECIPES_PAPER } spot_zoo_recipes;

/* Plain models of one rho differ in this, too. */
typedef enum {
    SPOT_ZOO_PLAIN,
    SPOT_ZOO_SHORT,                /* a third of the passes */
    SPOT_ZOO_FEW,                  /* a sixth of the pictures, as many steps */
    SPOT_ZOO_MISLABELLED,          /* a quarter of the labels are wrong */
    SPOT_ZOO_BLACK,                /* half of the pictures have black behind the object */
    SPOT_ZOO_KINDS
} spot_zoo_kind;

/* Models of the paper's recipes differ in these, too. TRIPLET: cross-entropy and 0.5 times the triplet loss of the
 * embeddings (margin 0.2). FGSM: cross-entropy of pictures that were changed by 4/256 along the gradient's sign. Optimizers are
 * spot_optimizer, architectures spot_arch (model.h), all of width 16. AlexNet needs zoo.size of 64 or more. FOREGROUND: all
 * pictures have black behind the object, so these models never see a background, and their rho is 0. */
typedef enum { SPOT_ZOO_LOSS_CE, SPOT_ZOO_LOSS_TRIPLET, SPOT_ZOO_LOSS_FGSM, SPOT_ZOO_LOSSES } spot_zoo_loss;
typedef enum {
    SPOT_ZOO_AUGMENT_NONE, SPOT_ZOO_AUGMENT_ROTATE, SPOT_ZOO_AUGMENT_BRIGHTNESS, SPOT_ZOO_AUGMENT_SCALE,
    SPOT_ZOO_AUGMENT_FOREGROUND, SPOT_ZOO_AUGMENTS
} spot_zoo_augment;
enum { SPOT_ZOO_OPTIMIZERS = 3, SPOT_ZOO_ARCHS = 3, SPOT_ZOO_WIDTH = 16 };

const char *spot_zoo_kind_name(spot_zoo_kind kind);
const char *spot_zoo_loss_name(spot_zoo_loss loss);
const char *spot_zoo_optimizer_name(int optimizer);
const char *spot_zoo_augment_name(spot_zoo_augment augment);
const char *spot_zoo_arch_name(int arch);

typedef struct {
    char   name[48];               /* "plain-rho060-03", "triplet-sgd-rotate-resnet34-rho060-03" */
    int    number, kind;           /* kind: spot_zoo_kind */
    int    loss, optimizer, augment, arch;
    double rho;                    /* planted reliance */
    int    train, epochs;
    double wrong, black;           /* shares of labels and backgrounds */
} spot_zoo_recipe;

spot_zoo_recipe spot_zoo_recipe_of(const spot_background_zoo *cfg, int model);

/* Shares, measured on `tested` objects that are in no other picture. same, random: of right answers before backgrounds of the
 * own family, and of any; alone: before black. follows: of the objects before the family of another class, those that are
 * answered with that class. reliance: same - random. */
typedef struct {
    spot_zoo_recipe recipe;
    int    tested;
    double same, random, alone, follows, reliance;
} spot_zoo_truth;

/* Makes the world in DIR. What is there is kept: an interrupted call goes on. SPOT_USAGE for wrong settings and for a folder
 * with another world; SPOT_INPUT, with the names of the packages, where cut-outs or scenes are missing. */
spot_status spot_zoo_make(spot_ctx *c, const char *dir, const spot_background_zoo *cfg);

/* t (cfg->models), from DIR/truth.csv. Only the paper's recipes have columns for loss, optimizer, augmentation, architecture and
 * the peak learning rate. */
spot_status spot_zoo_truth_read(spot_ctx *c, spot_zoo_truth *t, const char *dir, const spot_background_zoo *cfg);

#define SPOT_ZOO_RANKS (6 + SPOT_BACKGROUND_MATRICES * SPOT_BACKGROUND_FEATURES)

/* The order in which a measure of the study puts the planted models: Spearman's rank correlation with rho, and with the
 * reliance that they learned; 95 % by a bootstrap over models (percentiles of 2,000 draws). NaN for fewer than three models,
 * and where all have equal numbers. */
typedef struct spot_zoo_rank {
    char name[64];                 /* "BG-gap", "mean of neurons, vertical std" */
    int  models;                   /* that have the measure */
    spot_interval planted, learned;
} spot_zoo_rank;

/* rank[*n], the measures without matrices first. out: the run directory with the world in zoo/. */
spot_status spot_zoo_ranks(spot_ctx *c, spot_zoo_rank rank[SPOT_ZOO_RANKS], int *n, const spot_background_results *r,
                           const char *out);

#ifdef __cplusplus
}
#endif
#endif
