/* attention.cuh - shared by attention.cu (fp32) and attention_bf16.cu (tensor cores): which queries of which head a block
 * has. */
#ifndef SPOTTER_ATTENTION_CUH
#define SPOTTER_ATTENTION_CUH

#include "core/lanes.cuh"
#include "net/attention.h"

/* The widest head; CLIP's have 64 to 104 numbers. */
enum { SPOT_HEAD_WIDTH = 128, SPOT_HEAD_CHUNK = 16 };

typedef struct {
    int heads, d, width, tiles;      /* d: numbers of a head; tiles: blocks that a head of the longest sequence takes */
    bool causal;
    const int *start, *only;
    float scale;                     /* 1 / sqrt(d), here so that it takes no register */
} spot_attended;

/* The part of a block: queries `first` to first + rows - 1 of a sequence of n rows; rows < 1: none. */
typedef struct {
    size_t q;                        /* in qkv: row 0 of the sequence, the head's q; k and v lie `width` and 2 width behind */
    size_t step;                     /* from a row to the next */
    size_t out;                      /* the first number of the first query's result */
    int n, first, rows, keys;        /* keys: that a query of the block may see */
} spot_head_part;

/* Blocks are counted by tile, then head, then sequence: those that read the same keys run at the same time. */
static __device__ inline spot_head_part spot_head_part_of(const spot_attended &a, int tile_rows)
{
    const int tile = (int)(blockIdx.x % a.tiles), head = (int)(blockIdx.x / a.tiles % a.heads);
    const int sequence = (int)(blockIdx.x / a.tiles / a.heads), begin = a.start[sequence];
    spot_head_part p;

    p.n = a.start[sequence + 1] - begin;
    p.first = a.only ? a.only[sequence] - begin : tile * tile_rows;
    p.rows = a.only ? 1 : min(tile_rows, p.n - p.first);
    p.keys = a.causal ? p.first + p.rows : p.n;
    p.step = (size_t)3 * a.width;
    p.q = begin * p.step + (size_t)head * a.d;
    p.out = (size_t)(a.only ? sequence : begin + p.first) * a.width + (size_t)head * a.d;
    return p;
}

/* Products of bf16 on tensor cores. */
spot_status spot_attend_bf16(spot_ctx *c, spot_bf16 *out, const spot_bf16 *qkv, const spot_attended *a, int sequences,
                             int longest);

#endif
