/* op_blend.h - composites by pyramids, for tests/test_cuda_blend.c and bench_blend.c. */
#ifndef SPOTTER_OP_BLEND_H
#define SPOTTER_OP_BLEND_H

#include "image/blend.h"
#include "op.h"

/* size: width, height, levels, targets, backgrounds, pairs, kind of pixels, kind of alphas. Every target goes with every
 * background, or with one where there are no more pairs than backgrounds. */
extern const spot_op spot_op_blend;

#endif
