/* conv_blocks.h - the gradient of a convolution by its weights on the CPU, for shapes of which oneDNN has only its reference
 * code (on a CPU without AVX-512 maps of few pixels), which takes up to a hundred times as long. */
#ifndef SPOTTER_CONV_BLOCKS_H
#define SPOTTER_CONV_BLOCKS_H

#include "net/conv.h"

/* dw (OIhw, in blocks of SPOT_CHANNELS inputs x outputs), x and dy (nChw in blocks of SPOT_CHANNELS): fp32, s->ci a multiple of
 * SPOT_CHANNELS. The same bits for any number of threads and lanes. */
void spot_conv_block_weights(spot_ctx *c, const spot_conv_shape *s, float *dw, const float *x, const float *dy, int rows);

#endif
