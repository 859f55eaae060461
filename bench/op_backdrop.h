/* op_backdrop.h - pictures without their objects, for tests/test_cuda_blend.c and bench_backdrop.c. */
#ifndef SPOTTER_OP_BACKDROP_H
#define SPOTTER_OP_BACKDROP_H

#include "image/backdrop.h"
#include "op.h"

/* size: width, height, pictures, kind, least, ten times sigma. Every picture has its object at another place; in every fifth it
 * is the whole picture, and the next one has none. */
extern const spot_op spot_op_backdrop;

#endif
