/* op_photo.h - batches of pictures, for tests/test_cuda_photo.c and bench_photo.c. */
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

#endif
