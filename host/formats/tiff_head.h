/* tiff_head.h - the tags of a TIFF file's first directory that tell a picture's size, and its orientation. EXIF is such a
 * directory, too: in a JPEG, a PNG, a WebP. Damage is no failure here: what cannot be read keeps its default. */
#ifndef SPOTTER_TIFF_HEAD_H
#define SPOTTER_TIFF_HEAD_H

#include "formats/byte_scan.h"

typedef struct {
    uint64_t width, height;                /* 0: not said */
    uint64_t tile_width, tile_height;      /* 0: in strips */
    uint64_t samples, bits, compression;   /* a pixel's numbers, the bits of its first; 1: as they are */
    uint64_t photo, rows, planar;          /* what the numbers mean; rows of a strip; 2: in planes */
    int      orientation;                  /* 1 to 8; 1: upright, or not said */
} spot_tiff_head;

/* Reads a TIFF: byte order, version (42, or 43 of BigTIFF), first directory. Of a tag that is there twice the first counts, as
 * in libtiff. */
spot_status spot_tiff_head_read(spot_ctx *c, spot_tiff_head *h, const spot_blob *in);

/* The same of `size` bytes of EXIF from `at` on, before which the bytes "Exif\0\0" may stand; the last counts, as in PIL. */
spot_status spot_exif_orientation(spot_ctx *c, int *orientation, const spot_blob *in, uint64_t at, uint64_t size);

#endif
