/* squares.h - pictures of files as squares in memory, with their masks: each is decoded once as long as it fits. */
#ifndef SPOTTER_SQUARES_H
#define SPOTTER_SQUARES_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/array.h"
#include "spotter/ctx.h"

typedef struct {
    int  n, size, fit;             /* fit: spot_background_fit */
    spot_picture_reading reading;
    const char *const *path;           /* (n) */
    bool masked;                   /* with masks: from ... */
    const char *const *mask;           /* (n) files, or NULL: ... */
    /* ... plane (height, width), which is 0, is filled with 255 where object i is; or NULL: the pictures' own alpha */
    spot_status (*draw)(spot_ctx *c, const void *user, int i, uint8_t *plane, int width, int height);
    const void *user;
} spot_square_source;

typedef struct {
    spot_square_source from;
    size_t   bytes;                /* of a slot: the square, then its mask */
    int      slots, hand, now;
    uint8_t *room;                 /* (slots, bytes) */
    int     *slot;                 /* (n): of a picture, -1: not there */
    int     *item, *used;          /* (slots): the picture, -1: none; the call that used it last */
    int     *missing;              /* (n) scratch */
    uint8_t *brightest;            /* (n) of the masks of the pictures that were present once; 0 of others */
    bool    *labelled;             /* (n): the mask is one of labels, the indices of a palette */
} spot_square_cache;

/* memory: most bytes for squares. At least `least` squares are held, however large. Close q also after a failure. */
spot_status spot_squares_open (spot_ctx *c, spot_square_cache *q, const spot_square_source *from, size_t memory, int least);
void        spot_squares_close(spot_square_cache *q);

/* Makes these pictures present until the next call; at most `least` of them. SPOT_INPUT names the first that cannot be read
 * (the log has up to ten) or whose mask does not fit. The stop flag is looked at. */
spot_status spot_squares_need(spot_ctx *c, spot_square_cache *q, const int *item, int n);

static inline const uint8_t *spot_square_rgb(const spot_square_cache *q, int item)
{
    return q->room + (size_t)q->slot[item] * q->bytes;
}

static inline const uint8_t *spot_square_mask(const spot_square_cache *q, int item)
{
    return spot_square_rgb(q, item) + 3 * (size_t)q->from.size * (size_t)q->from.size;
}

#endif
