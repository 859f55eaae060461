/* op_resize.h - pictures resized, for tests/test_cuda_resize.c and bench_resize.c. */
#ifndef SPOTTER_OP_RESIZE_H
#define SPOTTER_OP_RESIZE_H

#include "image/resize.h"
#include "op.h"

/* size: width, height, resize, crop, filter */
extern const spot_op spot_op_resize;

#endif
