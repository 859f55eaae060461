/* picture_batches.h - pictures by their paths -> batches of squares, each handed to a function such as a network.
 *
 * All threads decode a batch, then `take` has it. On the CPU the two take turns, since both use every core. On a device the
 * next batch is decoded while `take` works. Needs the memory of one batch, on a device of two, and of decoding, for any number
 * of pictures. */
#ifndef SPOTTER_PICTURE_BATCHES_H
#define SPOTTER_PICTURE_BATCHES_H

#include <stdbool.h>

#include "formats/picture.h"

enum { SPOT_PICTURES_NAMED = 10 };        /* unreadable pictures that are named in the log */

typedef struct {
    int            n;                     /* squares, at least 1 */
    const int     *picture;               /* (n): the picture of each square, ascending */
    const uint8_t *rgb;                   /* (n, crop, crop, 3) */
} spot_picture_batch;

typedef struct {
    char *const *path;                    /* (n) */
    const float *box;                     /* (n, 4): spot_picture_cut; NULL: whole ones. Equal paths in turn: decoded once */
    int          n, batch;                /* batch: most pictures of a batch */
    int          early;                   /* pictures of a smaller first batch, after which the time is logged; 0: none */
    int          resize, crop;
    spot_filter  filter;
    spot_picture_reading reading;
    size_t       memory;                  /* most bytes for decoding; 0: SPOT_PICTURE_MEMORY */
    const char  *stage;                   /* progress; NULL: none */
    int          before, total;           /* progress counts pictures from `before` of `total`; total 0: of n */
    bool         skip;                    /* leave out unreadable pictures; false: the first one is SPOT_INPUT */
    const char  *option;                  /* what leaves them out, for that sentence; NULL: the reader has no such option */
    int         *skipped;                 /* is raised by the number of pictures left out */
    spot_status (*take)(spot_ctx *c, void *user, const spot_picture_batch *b);
    void        *user;
} spot_picture_batches;

/* Batches begin at the pictures 0, early, early + batch ...; unreadable pictures make them shorter. `take`, the log and
 * failures come in the order of pictures, in the caller's thread. The stop flag is looked at before each batch. */
spot_status spot_picture_batches_run(spot_ctx *c, const spot_picture_batches *b);

/* The bytes that it holds beside those of decoding. */
size_t spot_picture_batches_bytes(const spot_ctx *c, const spot_picture_batches *b);

#endif
