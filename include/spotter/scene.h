/* scene.h - SpotCheck: the definition of a data set, its blindspots, and all its images.
 *
 * Plumb, Johnson, Cabrera, Talwalkar, "Towards a More Rigorous Science of Blindspot Discovery in Image
 * Classification Models" (TMLR 2023), section 3 and appendix A. Where paper and released code differ, a setting
 * chooses; the default is the authors' code.
 *
 * An EC (experimental configuration) is a few hundred bytes. Its images are pure functions of it: image i of a split has
 * the same bytes in any order and on any thread and device (gpu_to_gpu). */
#ifndef SPOTTER_SCENE_H
#define SPOTTER_SCENE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { SPOT_TRAIN, SPOT_VAL, SPOT_TEST, SPOT_SPLITS } spot_split;

/* The shapes besides the square: name, word in configs and JSON, position among the factors of a report (the paper's figure
 * has the circle first). To add one: a row here, a case in each switch of kernels/image/shapes.h, and a higher SPOT_NUMBERS
 * (config.h), because the same seed then draws other scenes. */
#define SPOT_SHAPES(X)                 \
    X(RECTANGLE, "rectangle", 1)       \
    X(CIRCLE,    "circle",    0)       \
    X(TEXT,      "text",      2)

typedef enum {
    SPOT_BACKGROUND, SPOT_SQUARE,
#define X(NAME, word, place) SPOT_##NAME,
    SPOT_SHAPES(X)
#undef X
    SPOT_LAYERS
} spot_layer;

enum { SPOT_EXTRAS = SPOT_LAYERS - 2 };    /* shapes besides the square */

typedef enum {
    SPOT_PRESENCE,             /* object layers: is it there?                      */
    SPOT_SIZE,                 /* object layers: 0 normal, 1 small                 */
    SPOT_COLOR,                /* objects: 0 blue, 1 orange; background: 0 white, 1 grey */
    SPOT_TEXTURE,              /* objects: 0 solid, 1 stripes; background: 0 solid, 1 salt and pepper */
    SPOT_NUMBER,               /* square only: 0 one, 1 two                        */
    SPOT_RELATIVE_POSITION,    /* background, computed: 1 above, 0 below, -1 no square */
    SPOT_ATTRIBUTES
} spot_attribute;

typedef enum { SPOT_CHOICE_PAIRS, SPOT_CHOICE_LAYER_FIRST } spot_attribute_choice;
typedef enum { SPOT_SQUARE_FORCED, SPOT_SQUARE_FREE } spot_square_presence;
typedef enum { SPOT_TEXT_LARGER, SPOT_TEXT_SMALLER } spot_text_alternative;

/* How blindspots are planted. The test split is the same in all modes.
 *   FLIP_LABELS  in train and val the label of an image in a blindspot is flipped with chance `flip` (paper, section 5.1)
 *   LEAVE_OUT    train has no image of a blindspot (appendix B); val is as it would be
 *   CORRELATE    in train and val an attribute goes with the label, with correlation c = `correlation`: both have mean 1/2
 *                and P(common value | label 1) = P(rare value | label 0) = (1 + c) / 2, the cells of Eyuboglu et al.,
 *                "Domino" (ICLR 2022). A blindspot is the square with the rare value, and the object that has the
 *                attribute. Each blindspot has an attribute of its own; specificity, attribute_choice and square_presence
 *                are not read
 *   RARE         a blindspot's share of train and val is `rare` times its natural share; other images with the same label take
 *                its place. With 0 train is that of LEAVE_OUT
 *   MIXED        three of these in one data set: blindspot 0 is that of a correlation, blindspots 1, 3, ... are rare, and the
 *                labels of 2, 4, ... are flipped. 1, 2, ... have the common value of the correlated attribute, or not its
 *                object, so that no image is in two blindspots */
typedef enum { SPOT_FLIP_LABELS, SPOT_LEAVE_OUT, SPOT_CORRELATE, SPOT_RARE, SPOT_MIXED, SPOT_INDUCE_COUNT } spot_induce;

#define SPOT_MAX_BLINDSPOTS 8
#define SPOT_MAX_TRIPLETS   20
#define SPOT_MAX_OBJECTS    (2 + SPOT_EXTRAS)    /* two squares, one of each other shape */

typedef struct {
    int size;                      /* pixels a side; the authors use 224. Scales the geometry                 */
    int rollable[2];               /* how many attributes vary, inclusive range; presences count              */
    int extra_layers[2];           /* object layers besides the square                                        */
    int blindspots[2];             /* per EC; 0: nothing is planted                                            */
    int specificity[2];            /* attributes that define a blindspot                                      */
    int per_bucket[SPOT_SPLITS];   /* images of a split = this * 2^rollable                                   */
    int attribute_choice;          /* spot_attribute_choice: uniform over pairs (code) or layer first (paper) */
    int square_presence;           /* spot_square_presence: every blindspot has a square (code) or not (paper)*/
    int text_alternative;          /* spot_text_alternative: "small" text is larger (code) or smaller (paper) */
    int jpeg_quality;              /* 0: lossless; 75: through JPEG, as the authors' files                    */
    double flip;                   /* chance that a blindspot's label is flipped in train and val; 1 in the paper */
    int induce;                    /* spot_induce */
    double correlation;            /* SPOT_CORRELATE, SPOT_MIXED: of the attribute with the label             */
    double rare;                   /* SPOT_RARE, SPOT_MIXED: share of a blindspot that train and val keep     */
} spot_scene_config;

typedef struct { uint8_t layer, attribute; int8_t value; } spot_triplet;

typedef struct {
    int len;                                  /* triplets, sorted by (layer, attribute) */
    int specificity;                          /* = len: the square's presence counts, the background's is not kept */
    spot_triplet triplet[SPOT_MAX_TRIPLETS];
} spot_blindspot;

/* A blindspot of real pictures (below): category `object`, with or without category `other`; other -1: object alone. */
typedef struct { int object, other; bool with; } spot_motif;

typedef struct {
    uint64_t seed;
    uint32_t index;                           /* which EC of the sweep */
    spot_scene_config scene;
    uint8_t  layer[SPOT_LAYERS];              /* 1: part of the data set */
    uint8_t  extra[SPOT_EXTRAS];              /* the object layers besides the square, in drawing order */
    int      extras;
    uint8_t  rollable[SPOT_LAYERS][SPOT_ATTRIBUTES];
    int      rollable_count;                  /* the meta attribute is not counted */
    int      blindspot_count;
    spot_blindspot blindspot[SPOT_MAX_BLINDSPOTS];   /* by specificity, ascending */
    int      images[SPOT_SPLITS];
    int      targets;                         /* outputs of the network: 1, or SPOT_BASE_TARGETS (spot_ec_base) */
    const struct spot_photos *photos;         /* pictures from files in place of rendered images (below); NULL: none */
    int      task;                            /* with photos: number of the task */
    spot_motif motif[SPOT_MAX_BLINDSPOTS];    /* with photos: the blindspots */
} spot_ec;

/* One object as drawn. The box is inclusive and clipped to the canvas; the shape may reach a pixel past it. */
typedef struct {
    uint8_t layer, size, color, texture;
    uint8_t stripe_phase;                     /* column x is black when (x + phase) mod 10 < 5 (224 px); 0 if solid */
    int16_t x0, y0, x1, y1;                   /* pixels that can hold ink, both ends included */
    int16_t place_x, place_y;                 /* corner of the box that keeps its margin; text has air above its ink */
} spot_object;

/* One image: its contents, which are also its draw list. */
typedef struct {
    uint32_t index;
    uint8_t  split;
    uint8_t  label, train_label;              /* the truth; the label in training */
    uint32_t blindspots;                      /* bit m: belongs to blindspot m */
    uint8_t  background_color, background_texture;
    int8_t   relative_position;
    int8_t   value[SPOT_LAYERS][SPOT_ATTRIBUTES];   /* every attribute of a present layer; 0 where not rollable */
    uint8_t  object_count;
    spot_object object[SPOT_MAX_OBJECTS];     /* in drawing order */
    uint64_t seed; uint32_t ec;               /* address of the noise */
} spot_image;

/* The paper's sizes and the authors' choices. */
spot_scene_config spot_scene_defaults(void);

/* SPOT_USAGE when the settings cannot be met: an empty range, a blindspot of more attributes than the data set can have, ... */
spot_status spot_scene_check(spot_ctx *c, const spot_scene_config *cfg);

/* "flip", "leave_out", "correlate", "rare", "mixed"; and the number that the mode reads: flip, 0, correlation, rare; 0 for
 * mixed, which reads three. */
const char *spot_induce_name(int induce);
double      spot_induce_strength(const spot_scene_config *cfg);

/* Draws EC number `index` of the sweep with this seed. SPOT_USAGE as spot_scene_check, and when many thousand tries found no
 * unambiguous set of blindspots. */
spot_status spot_ec_draw(spot_ctx *c, spot_ec *ec, const spot_scene_config *cfg, uint64_t seed, uint32_t index);

/* The data set of a base model: every layer, every attribute rolled, no blindspots, its own stream of images. The network
 * learns all SPOT_BASE_TARGETS attributes, so it knows those of every EC. Never fails. */
#define SPOT_BASE_TARGETS (8 + 4 * SPOT_EXTRAS)
void spot_ec_base(spot_ec *ec, const spot_scene_config *cfg, uint64_t seed, int train, int val);

/* Image `index` of a split: attributes, places, labels. Pure; never fails for 0 <= index. */
void spot_image_draw(spot_image *image, const spot_ec *ec, spot_split split, uint32_t index);

/* The targets of an image in training: (ec->targets) floats. One target: the train label. SPOT_BASE_TARGETS: every rolled
 * attribute and the relative position in (layer, attribute) order, 0.5 where the object is absent. */
void spot_image_targets(float *target, const spot_image *image, const spot_ec *ec);

/* Writes the indices of the images with label 1, ascending, to index (may be NULL) and returns their number. Renders none. */
int spot_ec_positives(int *index, const spot_ec *ec, spot_split split);

/* The share of all test images that belongs to blindspot m; exact, except for positions that took over 10,000 tries. */
double spot_blindspot_share(const spot_ec *ec, int m);

/* Renders n images into rgb (n, size, size, 3) bytes, by the raster op of c's device; image and rgb lie in its memory.
 * Applies JPEG where cfg asks for it: the same bytes on every device. */
spot_status spot_image_render(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_scene_config *cfg);

/* Draws and renders image `index` of a split on c's device; image and rgb (size, size, 3) bytes lie on the host. */
spot_status spot_image_picture(spot_ctx *c, spot_image *image, uint8_t *rgb, const spot_ec *ec, spot_split split,
                               uint32_t index);

/* Names in JSON and configs: "square", "relative_position", "train", ... */
const char *spot_layer_name(spot_layer layer);
const char *spot_attribute_name(spot_attribute attribute);
const char *spot_split_name(spot_split split);

/* "small", "orange", "salt_and_pepper", "above", ...; "" for a value below 0. */
const char *spot_value_name(spot_layer layer, spot_attribute attribute, int value);

/* Writes a blindspot in words, "square above, square, circle blue, no text" (NUL-terminated, cut at size). */
void spot_blindspot_describe(char *text, size_t size, const spot_blindspot *b);

/* Reads such words: triplets in their order. False for words that describe no blindspot. */
bool spot_blindspot_read(spot_blindspot *b, const char *text);

/* JSON into text (NUL-terminated); SPOT_INVALID when it does not fit. SPOT_SCENE_JSON bytes always suffice. An image: one
 * line with its line feed, "file" as given. An EC: one object with layers, rollable attributes, how blindspots are planted
 * (induce, strength) and the blindspots; with photos the task in place of the first three. */
#define SPOT_SCENE_JSON 32768
spot_status spot_scene_jsonl(spot_ctx *c, char *text, size_t size, const spot_image *image, const char *file);
spot_status spot_ec_json(spot_ctx *c, char *text, size_t size, const spot_ec *ec);

/* The same attributes as columns of 0 and 1, for methods with representation: attributes. Scenes: two columns of each
 * attribute, one of each value; an absent object's are both 0. Pictures: one of each category that the picture may show.
 * spot_ec_items: their number; item has as many. */
int  spot_ec_items   (const spot_ec *ec);
void spot_image_items(float *item, const spot_image *image, const spot_ec *ec);

/* A table of attributes in CSV, for `spotter discover --attributes`: its header, and the record of an image. The columns are
 * "file" and each attribute that varies in the EC: "circle" (0, 1), "circle color" (blue, orange), "relative_position" (above,
 * below), ...; with photos each category (0, 1). The cell of an absent object's attribute is empty. */
void spot_ec_columns(FILE *f, const spot_ec *ec);
void spot_ec_record (FILE *f, const spot_ec *ec, const spot_image *image, const char *file);

/* Reads an item of such a table (spot_attributes): "circle", "not circle", "circle color=blue", "relative_position=above".
 * False for what is no attribute of scenes. holds: whether the image has the value; an absent object has none. */
bool spot_triplet_read (spot_triplet *t, const char *item);
bool spot_triplet_holds(const spot_triplet *t, const spot_image *image);

/* ---- new images with wanted attributes ---- */

/* The same data set with images that the EC does not have: set `number` of them, seeded at (ec->seed, SPOT_RNG_NEW_IMAGES,
 * index of the EC, number). SPOT_INVALID for an EC of pictures from files. */
spot_status spot_ec_renew(spot_ctx *c, spot_ec *renewed, const spot_ec *ec, uint32_t number);

/* Indices of the first `most` test images with this label that have all n attributes, with (most), and of the first `most` that
 * lack at least one, without (most). found: their numbers, fewer than `most` where SPOT_DRAWS images do not have them. Renders
 * none. SPOT_STOPPED. */
#define SPOT_DRAWS 1000000
typedef struct { uint32_t *with, *without; int found[2]; } spot_drawn_images;
spot_status spot_images_with(spot_ctx *c, spot_drawn_images *d, int most, const spot_ec *ec, int label, const spot_triplet *t,
                             int n);

/* ---- annotated pictures in place of scenes ---- */

/* Annotated real pictures in place of rendered scenes: data sets and pools of ECs.
 *
 * Plumb et al. (TMLR 2023), section 5.2 and appendices G (COCO) and H (OpenImages). A task asks whether a picture shows an
 * object of a super-category ("animal"). Pictures with two different ones are dropped, classes are made equal in each split,
 * and a blindspot is one of the task's categories ("zebra"), alone or with or without a category outside of the task
 * ("elephant with person"): its pictures have the wrong label in training.
 *
 * The paper leaves three points open. Here pictures are split once, at random from the seed or as their file says. Classes are
 * made equal once per task, so all ECs of a task share pictures. Where a more-specific blindspot needs a second category and a
 * category has no eligible one, another category is drawn. */

/* The set of ECs. A pool has cells, and consecutive ECs belong to different cells, so that the first n ECs are well mixed.
 * GENERAL (G.4): a cell is a task and a number of blindspots; each blindspot is less- or more-specific by a coin.
 * SINGLES: each category of each task alone; shows which categories can be induced.
 * NUMBER, SPECIFICITY: the two conditioned pools (G.5), with `induced` categories only. NUMBER: a cell is a task and a number
 * of less-specific blindspots. SPECIFICITY: a cell is a task with one blindspot, less- or more-specific. */
typedef enum { SPOT_POOL_GENERAL, SPOT_POOL_SINGLES, SPOT_POOL_NUMBER, SPOT_POOL_SPECIFICITY } spot_pool;
typedef enum { SPOT_FIT_PAD, SPOT_FIT_CROP } spot_photo_fit;       /* black bars, or the middle */

/* At random from the seed; or as the annotations say in each picture's "split", which keeps pictures that belong together, as
 * those of one place, video or artist do, in one split. */
typedef enum { SPOT_SPLITS_BY_SHARE, SPOT_SPLITS_BY_FILE } spot_photo_splits;

#define SPOT_MAX_TASKS 16

typedef struct {
    int follow_links;          /* pictures may be symbolic links that lead out of their folder */
    const char *coco;          /* annotation files in COCO's format, ':' between them; "": scenes are rendered */
    const char *images;        /* folders of the pictures: one for all files, or as many, ':' between them */
    const char *tasks;         /* super-categories, ',' between them */
    const char *against;       /* negatives show an object of this super-category; "": anything but the task's (COCO) */
    int    size, fit;          /* pixels a side; spot_photo_fit: how a picture becomes square */
    int    splits;             /* spot_photo_splits: how a picture comes to its split */
    double val, test;          /* SPOT_SPLITS_BY_SHARE: shares of all pictures; the rest is for training */
    int    pool;               /* spot_pool */
    int    blindspots[2];      /* per EC */
    int    each;               /* most ECs per cell of a conditioned pool */
    const char *induced;       /* categories of conditioned pools, ',' between them; "": all */
    const char *induced_from;  /* in place of induced: a run of SINGLES (spot_sweep_induced); "": none */
    int    pair_least;         /* an eligible second category: least training pictures with it, and without it */
    int    category_least;     /* a category for a blindspot: least pictures in all splits; at least 1 */
    double flip;               /* chance that a blindspot's label is flipped in train, and in val if flip_val */
    int    flip_val;
} spot_photos_config;

typedef struct spot_photos spot_photos;

spot_photos_config spot_photos_defaults(void);

/* Reads the annotations and lists the pictures of each task. The files must exist; they are not decoded. SPOT_INPUT and
 * SPOT_USAGE name the wrong file or setting. Close it also after a failure; close accepts NULL. */
spot_status spot_photos_open(spot_ctx *c, spot_photos **photos, const spot_photos_config *cfg, uint64_t seed);
void        spot_photos_close(spot_photos *p);

/* Copies the pictures to the memory of c's device, where training and looking need them; nothing to do on the CPU. It decodes
 * them, unless p has a pixel cache. distinct above 0: only so many, repeated, which is enough to measure time. c must outlive
 * p. */
spot_status spot_photos_upload(spot_ctx *c, spot_photos *p, int distinct);

/* EC number `index` of the pool; SPOT_USAGE when the pool has fewer. Valid as long as p. */
spot_status spot_photos_ec(spot_ctx *c, spot_ec *ec, const spot_photos *p, uint32_t index);

/* Number of ECs in the pool, INT_MAX where it is endless (GENERAL). */
int spot_photos_pool(const spot_photos *p);

/* A scene config for pictures: their size, and in each split the number of images of the largest task. */
spot_scene_config spot_photos_scene(const spot_photos *p);

int         spot_photos_count(const spot_photos *p);        /* pictures that ECs may use */
size_t      spot_photos_bytes(const spot_photos *p);        /* memory that p takes */
bool        spot_photos_are_resident(const spot_photos *p);                         /* after spot_photos_upload */
size_t      spot_photos_device_bytes(const spot_ctx *c, const spot_photos *p);      /* what spot_photos_upload takes */
const char *spot_photos_hash(const spot_photos *p);         /* of their names, sizes of files, categories: 32 digits */

#ifdef __cplusplus
}
#endif
#endif
