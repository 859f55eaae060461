/* pictures.h - what spot_photos is, for the files of this folder that make it. */
#ifndef SPOTTER_PICTURES_H
#define SPOTTER_PICTURES_H

#include "formats/coco.h"
#include "formats/picture.h"
#include "spotter/arena.h"
#include "spotter/photos.h"

enum { SPOT_MAX_ANNOTATIONS = 16 };

/* A task's pictures by split, ascending, and how often its categories are among them. Category k of the task is number
 * category[k] of all. */
typedef struct {
    char *name;
    int   categories, *category;   /* (categories) */
    int   images[SPOT_SPLITS];
    uint32_t *picture[SPOT_SPLITS];
    int  *count;                   /* (categories): of all splits */
    int  *train;                   /* (categories): of the training split ... */
    int  *both;                    /* (categories, all categories): ... and with the other category, too */
} spot_task;

struct spot_photos {
    spot_photos_config cfg;        /* its lists of words are cut into words, to which the pointers below point */
    uint64_t   seed;
    int        files;
    spot_coco  coco[SPOT_MAX_ANNOTATIONS];
    char      *folder[SPOT_MAX_ANNOTATIONS];
    int        first[SPOT_MAX_ANNOTATIONS + 1];     /* of the pictures: those of file f are first[f] .. first[f+1] - 1 */
    int        pictures, categories, words, tasks;
    spot_arena arena;              /* holds what follows */
    uint64_t  *shows;              /* (pictures, words): bit k: category k is in it */
    spot_task  task[SPOT_MAX_TASKS];
    uint8_t   *induced;            /* (categories): conditioned pools may take it */
    int        used;               /* pictures of any list ... */
    uint32_t  *use;                /* (used): ... ascending */
    int       *row;                /* (pictures): where in use; -1 */
    char       hash[33];
    int        fd;                 /* of the album; -1: none */
    uint64_t  *checksum;           /* (used): of its pictures */
};

static inline bool spot_shows(const spot_photos *p, uint32_t picture, int category)
{
    return p->shows[(size_t)picture * (size_t)p->words + (size_t)category / 64] >> category % 64 & 1;
}

static inline const char *spot_category(const spot_photos *p, int category) { return p->coco[0].category[category].name; }

/* used.c: lists the pictures of all tasks and hashes what they are; SPOT_INPUT when some are not there. */
spot_status spot_photos_use(spot_ctx *c, spot_photos *p);

/* Where the file of a picture lies. */
enum { SPOT_PHOTO_PATH = 4096 };
void spot_photo_path(const spot_photos *p, uint32_t picture, char path[SPOT_PHOTO_PATH]);

/* The pixels of used picture `row` (size, size, 3): its file decoded, made square and resized. A darkroom is zeroed before the
 * first picture and serves one after another. */
typedef struct { spot_picture picture, square; } spot_decode_buffers;
spot_status spot_photo_develop (spot_ctx *c, uint8_t *rgb, const spot_photos *p, int row, spot_decode_buffers *d);
void        spot_darkroom_close(spot_decode_buffers *d);

/* From now on pixels are read from this open file: those of row r from byte r * size * size * 3 on, whose XXH3-64 hashes are
 * given. p owns fd and checksum (malloc'd). */
void spot_photos_pixel_cache(spot_photos *p, int fd, uint64_t *checksum);

/* "a, b" -> "a", "b" in place, without spaces around them; how many, -1 for more than `most`. */
int spot_cut(char *text, char at, char **part, int most);

#endif
