/* photos.h - real pictures with what is annotated in them, in place of rendered scenes: data sets, pools of ECs, pixels.
 *
 * Plumb et al. (TMLR 2023), section 5.2 and appendices G (COCO) and H (OpenImages). A task asks whether a picture shows an
 * object of a super-category ("animal"). Pictures with two different ones are dropped, classes are made equal in each split,
 * and a blindspot is one of the task's categories ("zebra"), alone or with or without a category outside of the task
 * ("elephant with person"): its pictures have the wrong label in training.
 *
 * What the paper leaves open and what is done here: pictures are split once, at random from the seed, and classes are made
 * equal once a task, so that all ECs of a task share pictures; where a more-specific blindspot is wanted of a category that
 * has no eligible second one, another category is drawn. */
#ifndef SPOTTER_PHOTOS_H
#define SPOTTER_PHOTOS_H

#include "spotter/ctx.h"
#include "spotter/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which ECs there are. They go round cells, so that the first n of them are as mixed as can be: of GENERAL, every task with
 * every number of blindspots, each drawn with a coin for its specificity (G.4). SINGLES: each category of each task alone,
 * which tells what can be induced. NUMBER, SPECIFICITY: the two conditioned pools (G.5), of `induced` categories only: every
 * task with every number of less-specific blindspots; every task with one blindspot, less- or more-specific. */
typedef enum { SPOT_POOL_GENERAL, SPOT_POOL_SINGLES, SPOT_POOL_NUMBER, SPOT_POOL_SPECIFICITY } spot_pool;
typedef enum { SPOT_FIT_PAD, SPOT_FIT_CROP } spot_photo_fit;       /* black bars, or the middle */

#define SPOT_MAX_TASKS 16

typedef struct {
    char   coco[512];          /* annotation files in COCO's format, ':' between them; "": scenes are rendered */
    char   images[512];        /* folders of the pictures: one for all files, or as many, ':' between them */
    char   tasks[256];         /* super-categories, ',' between them */
    char   against[64];        /* negatives show an object of this super-category; "": anything but the task's (COCO) */
    int    size, fit;          /* pixels a side; spot_photo_fit: how a picture becomes square */
    double val, test;          /* shares of all pictures; the rest is for training */
    int    pool;               /* spot_pool */
    int    blindspots[2];      /* per EC */
    int    each;               /* ECs of a cell of a conditioned pool, at most */
    char   induced[1024];      /* categories of conditioned pools, ',' between them; "": all */
    int    pair_least;         /* training pictures with, and without, the second category that it needs to be eligible */
    int    category_least;     /* pictures of all splits that a category needs to be a blindspot, at least 1 */
    double flip;               /* chance that a blindspot's label is flipped in train, and where flip_val says so in val */
    int    flip_val;
} spot_photos_config;

typedef struct spot_photos spot_photos;

spot_photos_config spot_photos_defaults(void);

/* Reads the annotations and lists each task's pictures, which must be there. It does not look into them. SPOT_INPUT and
 * SPOT_USAGE say what is wrong with which file or setting. Close it, also after a failure; NULL is fine. */
spot_status spot_photos_open(spot_ctx *c, spot_photos **photos, const spot_photos_config *cfg, uint64_t seed);
void        spot_photos_close(spot_photos *p);

/* EC number `index` of the pool; SPOT_USAGE when it has fewer. Valid as long as p. */
spot_status spot_photos_ec(spot_ctx *c, spot_ec *ec, const spot_photos *p, uint32_t index);

/* ECs that a pool has, INT_MAX where it is endless (GENERAL). */
int spot_photos_pool(const spot_photos *p);

/* What stands for a scene where there are pictures: their size, and as many images as the largest task has in each split. */
spot_scene_config spot_photos_scene(const spot_photos *p);

/* Pictures that any EC may ask for, and what stands for all of them: 32 hexadecimal digits of a hash of names, sizes in bytes
 * and categories. */
int         spot_photos_count(const spot_photos *p);
size_t      spot_photos_bytes(const spot_photos *p);        /* of memory that p takes */
const char *spot_photos_hash(const spot_photos *p);

#ifdef __cplusplus
}
#endif
#endif
