/* spotlight_scratch.h - the scratch of spotlight_fit.cu and spotlight_full.cu, which spot_spotlight_scratch counts. */
#ifndef SPOTTER_SPOTLIGHT_SCRATCH_H
#define SPOTTER_SPOTLIGHT_SCRATCH_H

#include "fit/spotlight_step.h"

/* The state of a problem on the device. */
typedef struct {
    spot_spotlight_problem p;
    spot_spotlight_state state;
    int     tiles, lost;
    double  mean2;           /* |mean|^2 */
    double *square;          /* spherical (n): |x|^2; full (n): D */
    double *partial;         /* (tiles, 2 d + SUMS): each tile's sum u x, sum u l x and SUMS; full: only SUMS */
    double *moment;          /* (2, parameters): Adam's */
    double *k, *c;           /* full (n): weights, dJ/dD */
    double *y, *z;           /* full (n, d): (x - mean) V; c y */
    double *m, *gram, *turned;    /* full (d, d) */
    double *sum;             /* full (d): sum c y */
    double  off, shrink, factor;  /* full: V's distance from orthogonal, and factors that shorten V first */
    int     straight;
} spot_spotlight_device;

typedef struct {
    spot_spotlight_device *problem;      /* (problems) */
    unsigned *left;                   /* problems whose V is not orthogonal yet */
    spot_spotlight_device first;       /* the first problem's arrays; the others follow at the strides below */
    size_t rows, partials, moments, points, matrix, columns;   /* strides: entries of one problem */
} spot_spotlight_space;

/* Takes the space for problems of at most n x d. */
static inline spot_status spot_spotlight_space_take(spot_ctx *c, spot_arena *a, spot_spotlight_space *s, int problems, int n,
                                                    int d, int full)
{
    size_t many = (size_t)problems, tiles = (size_t)((n + SPOTLIGHT_TILE - 1) / SPOTLIGHT_TILE);
    spot_spotlight_device *f = &s->first;

    s->rows = (size_t)n;
    s->columns = (size_t)d;
    s->matrix = (size_t)d * (size_t)d;
    s->points = (size_t)n * (size_t)d;
    s->partials = tiles * ((full ? 0 : 2 * s->columns) + SPOTLIGHT_SUMS);
    s->moments = 2 * (full ? s->matrix + 2 * s->columns : s->columns + 1);
    SPOT_TRY(SPOT_TAKE(c, a, s->problem, many));
    SPOT_TRY(SPOT_TAKE(c, a, s->left, 1));
    SPOT_TRY(SPOT_TAKE(c, a, f->square, many * s->rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->partial, many * s->partials));
    SPOT_TRY(SPOT_TAKE(c, a, f->moment, many * s->moments));
    if (!full) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, a, f->k, many * s->rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->c, many * s->rows));
    SPOT_TRY(SPOT_TAKE(c, a, f->y, many * s->points));
    SPOT_TRY(SPOT_TAKE(c, a, f->z, many * s->points));
    SPOT_TRY(SPOT_TAKE(c, a, f->m, many * s->matrix));
    SPOT_TRY(SPOT_TAKE(c, a, f->gram, many * s->matrix));
    SPOT_TRY(SPOT_TAKE(c, a, f->turned, many * s->matrix));
    return SPOT_TAKE(c, a, f->sum, many * s->columns);
}

#endif
