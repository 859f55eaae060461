/* photos.h - annotated real pictures in place of rendered scenes: data sets and pools of ECs.
 *
 * Plumb et al. (TMLR 2023), section 5.2 and appendices G (COCO) and H (OpenImages). A task asks whether a picture shows an
 * object of a super-category ("animal"). Pictures with two different ones are dropped, classes are made equal in each split,
 * and a blindspot is one of the task's categories ("zebra"), alone or with or without a category outside of the task
 * ("elephant with person"): its pictures have the wrong label in training.
 *
 * The paper leaves three points open. Here pictures are split once, at random from the seed. Classes are made equal once per
 * task, so all ECs of a task share pictures. Where a more-specific blindspot needs a second category and a category has no
 * eligible one, another category is drawn. */
#ifndef SPOTTER_PHOTOS_H
#define SPOTTER_PHOTOS_H

#include "spotter/ctx.h"
#include "spotter/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The set of ECs. A pool has cells, and consecutive ECs belong to different cells, so that the first n ECs are well mixed.
 * GENERAL (G.4): a cell is a task and a number of blindspots; each blindspot is less- or more-specific by a coin.
 * SINGLES: each category of each task alone; shows which categories can be induced.
 * NUMBER, SPECIFICITY: the two conditioned pools (G.5), with `induced` categories only. NUMBER: a cell is a task and a number
 * of less-specific blindspots. SPECIFICITY: a cell is a task with one blindspot, less- or more-specific. */
typedef enum { SPOT_POOL_GENERAL, SPOT_POOL_SINGLES, SPOT_POOL_NUMBER, SPOT_POOL_SPECIFICITY } spot_pool;
typedef enum { SPOT_FIT_PAD, SPOT_FIT_CROP } spot_photo_fit;       /* black bars, or the middle */

#define SPOT_MAX_TASKS 16

typedef struct {
    const char *coco;          /* annotation files in COCO's format, ':' between them; "": scenes are rendered */
    const char *images;        /* folders of the pictures: one for all files, or as many, ':' between them */
    const char *tasks;         /* super-categories, ',' between them */
    const char *against;       /* negatives show an object of this super-category; "": anything but the task's (COCO) */
    int    size, fit;          /* pixels a side; spot_photo_fit: how a picture becomes square */
    double val, test;          /* shares of all pictures; the rest is for training */
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
const char *spot_photos_hash(const spot_photos *p);         /* of their names, bytes and categories: 32 hexadecimal digits */

#ifdef __cplusplus
}
#endif
#endif
