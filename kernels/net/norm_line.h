/* norm_line.h - batch norm's loops on the CPU run over planes: one image, one block of channels, all of its pixels, B channels
 * at a time. The functions of a plane are compiled twice: for fp32, whose planes lie in one piece, and for bf16 (`half`), whose
 * pixels hold all channels. */
#ifndef SPOTTER_NORM_LINE_H
#define SPOTTER_NORM_LINE_H

#include <stdint.h>
#include <string.h>

#include "core/lanes.h"
#include "net/norm.h"

enum { B = SPOT_CHANNELS, SHORT = 256 };   /* SHORT: pixels that are summed in fp32 */

#define FOR_BOTH static inline __attribute__((always_inline))

typedef float  nf __attribute__((vector_size(B * 4), may_alias));
typedef int    ni __attribute__((vector_size(B * 4), may_alias));
typedef unsigned nu __attribute__((vector_size(B * 4), may_alias));
typedef unsigned short nh __attribute__((vector_size(B * 2), may_alias));
typedef unsigned char nb __attribute__((vector_size(B), may_alias));
typedef double nd __attribute__((vector_size(B * 8), aligned(B * 4), may_alias));   /* as the arena aligns */

static const nf zero;

/* With bits, not fmax: a NaN is not <= 0 and stays, so that the loss becomes NaN. */
static inline ni above_zero(nf v) { return ~(ni)(v <= zero); }
static inline nf keep(nf v, ni mask) { return (nf)((ni)v & mask); }
static inline nf relu(nf v) { return keep(v, above_zero(v)); }

static inline nf at(const float *per_channel, int block) { return ((const nf *)per_channel)[block]; }

/* The B channels of a plane's pixels, `step` bytes from pixel to pixel; `first` is NULL where the tensor is. */
typedef struct { char *first; size_t step; } line;

FOR_BOTH line line_of(const void *tensor, const spot_plane *p, int row, int block, bool half)
{
    size_t pixels = (size_t)p->size * p->size, blocks = p->channels / B;
    size_t at = half ? row * pixels * blocks + block : (row * blocks + block) * pixels;
    size_t wide = half ? sizeof(nh) : sizeof(nf);

    return (line){ tensor ? (char *)(uintptr_t)tensor + at * wide : NULL, half ? blocks * wide : wide };
}

FOR_BOTH nf get(line l, int i, bool half)
{
    if (half) return (nf)(__builtin_convertvector(*(const nh *)(l.first + i * l.step), nu) << 16);
    return ((const nf *)l.first)[i];
}

/* bf16 is rounded to the nearest, ties to even (core/bf16.h). */
FOR_BOTH void put(line l, int i, nf v, bool half)
{
    nu bits = (nu)v;

    if (half) *(nh *)(l.first + i * l.step) = __builtin_convertvector((bits + 0x7fff + (bits >> 16 & 1)) >> 16, nh);
    else      ((nf *)l.first)[i] = v;
}

FOR_BOTH void blank(line l, int pixels, bool half)
{
    for (int i = 0; i < pixels; i++) put(l, i, zero, half);
}

/* The place of the winner of window w, channel block * B, in a pool's `which`. */
FOR_BOTH size_t winner_of(const spot_plane *q, int row, int block, int w, bool half)
{
    size_t windows = (size_t)q->size * q->size, blocks = q->channels / B;

    return (half ? (row * windows + w) * blocks + block : (row * blocks + block) * windows + w) * B;
}

/* Three sums for each plane, (blocks, rows, 3). */
static inline nd *partial(void *scratch, const spot_plane *p, int block, int row)
{
    return (nd *)scratch + ((size_t)block * p->rows + row) * 3;
}

static inline void add_up(nd sum[3], void *scratch, const spot_plane *p, int block)
{
    memset(sum, 0, 3 * sizeof *sum);
    for (int row = 0; row < p->live; row++)
        for (int k = 0; k < 3; k++) sum[k] += partial(scratch, p, block, row)[k];
}

/* Loops over the nine pixels of the window around (2*oy, 2*ox), clipped. */
#define FOR_WINDOW(k, i, oy, ox, size)                                                        \
    for (int y_ = 2 * (oy) - 1; y_ <= 2 * (oy) + 1; y_++)                                     \
        for (int x_ = 2 * (ox) - 1, k = (y_ - 2 * (oy) + 1) * 3, i = y_ * (size) + x_;        \
             x_ <= 2 * (ox) + 1; x_++, k++, i++)                                              \
            if (y_ >= 0 && y_ < (size) && x_ >= 0 && x_ < (size))

/* norm_back.c */
spot_status spot_norm_back_cpu(spot_ctx *c, const spot_norm_back *b, spot_plane p, void *scratch);
spot_status spot_norm_pool_back_cpu(spot_ctx *c, const spot_norm_pooled *b, const spot_norm *l, spot_plane p,
                                    void *scratch);

/* norm_fold.c */
spot_status spot_norm_fold_cpu(spot_ctx *c, const spot_norm_folding *f);

#endif
