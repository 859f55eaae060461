/* op_photo.h - batches of pictures, and images through JPEG, for tests/test_cuda_photo.c, bench_photo.c and bench_jpeg.c. */
#ifndef SPOTTER_OP_PHOTO_H
#define SPOTTER_OP_PHOTO_H

#include "image/photo.h"
#include "op.h"

/* size: pixels a side, pictures in the set, pictures of a batch, channels (0: labels alone), precision, split (SPOT_SPLITS: the
 * set's first pictures, without labels), categories, numbers between a store of 128 bits and the output's begin. */
typedef struct {
    spot_ec ec;
    spot_photo_set set;
    spot_sample sample;
    int channels;
    spot_precision precision;
    unsigned char *out;                  /* (images, size, size, channels) */
} spot_op_photos;
extern const spot_op spot_op_photo;

/* size: pixels a side, images, quality, kind (0: noise; 1: colours that change slowly; 2: edges). */
typedef struct { int size, images, quality; uint8_t *rgb, *planes, *before; } spot_op_trips;
extern const spot_op spot_op_jpeg;

#endif
