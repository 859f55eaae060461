/* feature_blocks.h - features of several sources side by side: each source is a block of columns of total variance 1. */
#ifndef SPOTTER_FEATURE_BLOCKS_H
#define SPOTTER_FEATURE_BLOCKS_H

#include "spotter/subject.h"

/* Puts (n, d) behind the features of s, which become its first block; without features they are these, borrowed. Of what was
 * joined, blocks that s owns are freed. The encoder is that of the block; "": not known. SPOT_INPUT beyond SPOT_MOST_BLOCKS. */
spot_status spot_block_add(spot_ctx *c, spot_subject *s, float *feature, int d, const char *encoder);

/* Bytes that it takes for a while beside the features of s and the block. */
size_t spot_block_bytes(const spot_subject *s, int d);

/* When all rows are there: scales each block, by 1 over the root of the sum of its columns' variances, or as `known` (blocks)
 * says, and names the encoder of all blocks together. SPOT_INPUT where the blocks are not the known ones. One block stays as it
 * is. */
spot_status spot_blocks_scale(spot_ctx *c, spot_subject *s, const spot_feature_block *known, int blocks);

#endif
