/* op_blend.h - composites by pyramids, for tests/test_cuda_blend.c and bench_blend.c. */
#ifndef SPOTTER_OP_BLEND_H
#define SPOTTER_OP_BLEND_H

#include "image/blend.h"
#include "op.h"

/* size: width, height, levels, targets, backgrounds, pairs, kind of pixels, kind of alphas. Pair i is target i / backgrounds and
 * background i % backgrounds, both modulo their number. */
extern const spot_op spot_op_blend;

#endif
