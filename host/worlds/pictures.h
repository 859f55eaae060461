/* pictures.h - the members of spot_photos. */
#ifndef SPOTTER_PICTURES_H
#define SPOTTER_PICTURES_H

#include "formats/coco.h"
#include "formats/picture.h"
#include "image/photo.h"
#include "spotter/arena.h"
#include "spotter/scene.h"

enum { SPOT_MAX_ANNOTATIONS = 16 };

/* A task's pictures by split, ascending, and the frequencies of its categories. category[k] is the index of the task's category
 * k among all categories. */
typedef struct {
    char *name;
    int   categories, *category;   /* (categories) */
    uint64_t *mask;                /* (words): bit k: category k of all is the task's */
    int   images[SPOT_SPLITS];
    uint32_t *picture[SPOT_SPLITS];
    int  *count;                   /* (categories): pictures in all splits */
    int  *train;                   /* (categories): pictures in the training split ... */
    int  *both;                    /* (categories, all categories): ... that also show the other category */
} spot_task;

/* The used pictures in the memory of a GPU, in the order of `use`. */
typedef struct {
    spot_arena arena;
    uint8_t   *rgb;                /* (used, size, size, 3); NULL: not there */
    uint64_t  *shows;              /* (used, words) */
    uint64_t  *task[SPOT_MAX_TASKS];                     /* (words): a task's mask */
    uint32_t  *row[SPOT_MAX_TASKS][SPOT_SPLITS];         /* (a task's images of a split): numbers of used pictures */
} spot_resident;

struct spot_photos {
    spot_photos_config cfg;
    spot_memory *lists;            /* copies of its lists, split into words; the pointers below point to them */
    uint64_t   seed;
    int        files;
    spot_coco  coco[SPOT_MAX_ANNOTATIONS];
    char      *folder[SPOT_MAX_ANNOTATIONS];
    int        first[SPOT_MAX_ANNOTATIONS + 1];     /* file f has the pictures first[f] .. first[f+1] - 1 */
    int        pictures, categories, words, tasks;
    spot_arena arena;              /* memory of the arrays below */
    uint64_t  *shows;              /* (pictures, words): bit k: it shows category k */
    spot_task  task[SPOT_MAX_TASKS];
    uint8_t   *induced;            /* (categories): allowed in conditioned pools */
    int        used;               /* pictures in any list ... */
    uint32_t  *use;                /* (used): ... ascending */
    int       *row;                /* (pictures): index in use; -1: unused */
    char       hash[33];
    int        fd;                 /* the pixel cache; -1: none */
    uint64_t  *checksum;           /* (used): checksums of its pictures */
    spot_resident resident;
};

static inline bool spot_shows(const spot_photos *p, uint32_t picture, int category)
{
    return p->shows[(size_t)picture * (size_t)p->words + (size_t)category / 64] >> category % 64 & 1;
}

static inline const char *spot_category(const spot_photos *p, int category) { return p->coco[0].category[category].name; }

/* split (pictures): each picture's spot_split, by cfg.splits. order (pictures): scratch memory. SPOT_INPUT names a picture of a
 * file without a split. */
spot_status spot_photos_split(spot_ctx *c, const spot_photos *p, uint8_t *split, uint32_t *order);

/* used.c: lists the pictures of all tasks and hashes their contents; SPOT_INPUT if some are missing. */
spot_status spot_photos_use(spot_ctx *c, spot_photos *p);

/* The path of a picture's file. */
enum { SPOT_PHOTO_PATH = 4096 };
void spot_photo_path(const spot_photos *p, uint32_t picture, char path[SPOT_PHOTO_PATH]);

/* The pixels of used picture `row` (size, size, 3): its file decoded, made square and resized. Zero d before the first picture
 * and reuse it for the next ones. */
typedef struct { spot_picture picture, square; } spot_decode_buffers;
spot_status spot_photo_decode(spot_ctx *c, uint8_t *rgb, const spot_photos *p, int row, spot_decode_buffers *d);
void        spot_decode_buffers_close(spot_decode_buffers *d);

/* The same from the pixel cache, if p has one. */
spot_status spot_photo_row(spot_ctx *c, uint8_t *rgb, const spot_photos *p, int row);

/* resident.c: the pictures as the ops of image/photo.h take them, on the host (without pixels) or on c's device. */
spot_photo_set spot_photos_on_host(const spot_ec *ec);
spot_status    spot_photos_on_device(spot_ctx *c, spot_photo_set *set, const spot_ec *ec);

/* Makes p read pixels from this open file: row r starts at byte r * size * size * 3, and checksum holds the XXH3-64 of each
 * row. p owns fd and checksum (malloc'd). */
void spot_photos_pixel_cache(spot_photos *p, int fd, uint64_t *checksum);

/* Splits "a, b" into "a", "b" in place, without spaces around them. Returns their number, or -1 for more than `most`. */
int spot_cut(char *text, char at, char **part, int most);

#endif
