/* rbf_scratch.h - the scratch of one problem of variance matrices, which rbf.c counts; both devices use it. */
#ifndef SPOTTER_RBF_SCRATCH_H
#define SPOTTER_RBF_SCRATCH_H

#include <stdint.h>
#include <string.h>

#include "map/rbf_step.h"

enum { SPOT_RBF_ROWS = 8 };            /* rows of a matrix that a thread of the CPU owns at a time */
enum { SPOT_RBF_SLICES = 64 };         /* groups of targets whose sums CUDA's blocks own, at most */

typedef struct {
    int *held;                 /* (l): a target's images that take part */
    float *x;                  /* (l, m): their places, ascending */
    float *s;                  /* (signals, l, m): their responses, in that order; on the CPU those at one place ascend */
    int *bin;                  /* (grid, grid + 1): points in cells, summed along rows (rbf_step.h) */
    double *bin_v;             /* binned: (signals, grid, grid + 1): sums of their values */
    int *square;               /* on CUDA: (grid, grid): spot_rbf_nearest_square, where column >= row */
    double *sum;               /* (signals + 1, grid, grid): numerators, then the denominator; CUDA: of each slice */
    int *counted;              /* exact on CUDA: (slices, grid, grid) points in the window */
    float *near_square;        /* exact on the CPU: (grid, padded l): least square of an image's distance to a row's centre */
    uint8_t *near;             /* exact on the CPU: (grid, padded l): that image */
    uint8_t *first, *last;     /* exact on the CPU: (l, m): the first and the last image at an image's place */
    double *mean;              /* exact on CUDA: (signals, grid, grid): u */
    double *tie;               /* on the CPU: (threads, 2, signals): sums of the nearest points */
    float *window;             /* exact on the CPU: (threads, spot_rbf_window_floats) */
    size_t padded;             /* l up to whole vectors */
    int slices, slice;         /* CUDA: their number, and the targets of one */
} spot_rbf_space;

/* Columns of a window in whole vectors of 16, and the floats of a row of sums, with room for windows over both ends. */
static inline int spot_rbf_wide(const spot_rbf_config *cfg) { return (cfg->kernel + 31) / 32 * 32; }
static inline int spot_rbf_pitch(const spot_rbf_config *cfg) { return (cfg->grid + 15) / 16 * 16 + 2 * spot_rbf_wide(cfg); }

/* A thread's tables of a target's windows, then its sums, then the double sums of signals + 2 planes of SPOT_RBF_ROWS rows. */
static inline size_t spot_rbf_table_floats(const spot_rbf_config *cfg, const spot_rbf_problem *p)
{
    size_t m = (size_t)p->images, wide = (size_t)spot_rbf_wide(cfg), value = (m + 15) / 16 * 16 * (size_t)p->signals;

    return (2 * m * wide + 2 * SPOT_RBF_ROWS * m + value + 15) / 16 * 16;
}

static inline size_t spot_rbf_window_floats(const spot_rbf_config *cfg, const spot_rbf_problem *p)
{
    size_t planes = (size_t)p->signals + 2, line = (size_t)spot_rbf_pitch(cfg) + 2 * ((size_t)cfg->grid + 15) / 16 * 16;

    return spot_rbf_table_floats(cfg, p) + planes * SPOT_RBF_ROWS * line;
}

static inline spot_status spot_rbf_take_exact(spot_ctx *c, spot_arena *a, spot_rbf_space *o, const spot_rbf_config *cfg,
                                              const spot_rbf_problem *p, int threads)
{
    size_t grid = (size_t)cfg->grid, cells = grid * grid, signals = (size_t)p->signals;

    if (threads) {
        SPOT_TRY(SPOT_TAKE(c, a, o->near_square, grid * o->padded));
        SPOT_TRY(SPOT_TAKE(c, a, o->near, grid * o->padded));
        SPOT_TRY(SPOT_TAKE(c, a, o->first, (size_t)p->targets * (size_t)p->images));
        SPOT_TRY(SPOT_TAKE(c, a, o->last, (size_t)p->targets * (size_t)p->images));
        return SPOT_TAKE(c, a, o->window, (size_t)threads * spot_rbf_window_floats(cfg, p));
    }
    SPOT_TRY(SPOT_TAKE(c, a, o->counted, (size_t)o->slices * cells));
    return SPOT_TAKE(c, a, o->mean, signals * cells);
}

/* threads 0: CUDA's. */
static inline spot_status spot_rbf_take(spot_ctx *c, spot_arena *a, spot_rbf_space *o, const spot_rbf_config *cfg,
                                        const spot_rbf_problem *p, int threads)
{
    size_t l = (size_t)p->targets, images = l * (size_t)p->images, grid = (size_t)cfg->grid, signals = (size_t)p->signals;
    int chunks = (p->targets + SPOT_RBF_CHUNK - 1) / SPOT_RBF_CHUNK, each = (chunks + SPOT_RBF_SLICES - 1) / SPOT_RBF_SLICES;

    memset(o, 0, sizeof *o);
    o->padded = (l + 15) / 16 * 16;
    o->slice = each * SPOT_RBF_CHUNK;
    o->slices = !threads && cfg->method == SPOT_RBF_EXACT ? (chunks + each - 1) / each : 1;
    SPOT_TRY(SPOT_TAKE(c, a, o->held, l));
    SPOT_TRY(SPOT_TAKE(c, a, o->x, images));
    SPOT_TRY(SPOT_TAKE(c, a, o->s, signals * images));
    SPOT_TRY(SPOT_TAKE(c, a, o->bin, grid * (grid + 1)));
    if (threads) SPOT_TRY(SPOT_TAKE(c, a, o->tie, (size_t)threads * 2 * signals));
    else         SPOT_TRY(SPOT_TAKE(c, a, o->square, grid * grid));
    SPOT_TRY(SPOT_TAKE(c, a, o->sum, (size_t)o->slices * (signals + 1) * grid * grid));
    if (cfg->method == SPOT_RBF_EXACT) return spot_rbf_take_exact(c, a, o, cfg, p, threads);
    return SPOT_TAKE(c, a, o->bin_v, signals * grid * (grid + 1));
}

#endif
