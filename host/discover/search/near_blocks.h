/* near_blocks.h - the nearest rows on the CPU (vote.h). Products in fp32 rule out nearly all rows; the rest is compared by the
 * distances of gemm.h, which alone decide. */
#ifndef SPOTTER_NEAR_BLOCKS_H
#define SPOTTER_NEAR_BLOCKS_H

#include "discover/search/vote.h"

/* The rows that are searched, in blocks of columns, less their mean. */
typedef struct {
    spot_some_rows y;
    int    d, k;
    float *block;              /* (blocks, d, columns of a block) */
    float *length;             /* (blocks, columns): squared lengths less what rounding may add; infinite behind the last row */
    float *mean;               /* (d) */
    float *own;                /* (threads, a tile's scratch) */
    double keep;               /* a squared distance is at least this part of what products say; NaN: they say nothing */
} spot_near_blocks;

/* Takes memory from a, which may count. */
spot_status spot_near_blocks_take(spot_ctx *c, spot_arena *a, spot_near_blocks *b, spot_some_rows y, int d, int k);
void        spot_near_blocks_fill(const spot_ctx *c, spot_near_blocks *b);

/* nearest (x.n, k), as spot_nearest_rows. */
void spot_near_blocks_search(const spot_ctx *c, const spot_near_blocks *b, int *nearest, const spot_some_rows *x);

#endif
