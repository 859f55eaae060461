/* ward_scratch.h - the scratch of ward.cu, which spot_ward_scratch counts. */
#ifndef SPOTTER_WARD_SCRATCH_H
#define SPOTTER_WARD_SCRATCH_H

#include <stdint.h>
#include <stdlib.h>

#include "core/hd.h"
#include "fit/ward.h"
#include "spotter/arena.h"

/* Clusters whose nearest a block looks for; blocks that fill a large GPU: with fewer tiles of clusters than blocks, several
 * blocks share a tile's search. */
enum { SPOT_WARD_TILE = 64, SPOT_WARD_BLOCKS = 512 };

/* The clusters of a job; and over all jobs: the most of any job, the tiles of all clusters whose nearest is not known, and the
 * number of jobs that have not ended. */
typedef struct { int live, queries, tiles, going; } spot_ward_round;

/* A mean rounded to bf16 (ward_near.cu) has this squared length; rounding took away a vector of squared length `off`. */
typedef struct { double square, off; } spot_ward_rounded;

/* All jobs' arrays, one job after the other. A cluster is named by its first row. */
typedef struct {
    spot_ward_job *job;        /* (count) */
    spot_ward_round *round;    /* (1 + count): over all jobs, then each job's */
    int *done, *pairs;         /* (count): merges made, and those of this round */
    double *mean, *size;       /* (count, n, d), (count, n): size 0 where there is no cluster */
    int *near;                 /* (count, n): the nearest cluster; at first the rows that equal a row */
    double *cost;              /* (count, n): of merging with it */
    int *merged;               /* (count, n): the last round in which it merged */
    int *live, *query;         /* (count, n): clusters, and those whose nearest is not known, in any order. At first query is
                                  the first row that equals a row */
    uint64_t *hash;            /* (count, n): of a row's bytes */
    double *part_cost;         /* (count, parts): the least cost in a part of the clusters, and ... */
    int *part_near;            /* ... whose it is */
    uint16_t *low;             /* (count, n, columns): the means in bf16. NULL where no job has many rows; then the next three
                                  are not set */
    spot_ward_rounded *rounded;        /* (count, n) */
    uint64_t *longest, *sifted;        /* (count): the bits of a double; (2): tiles decided in fp64, and all */
    int n, d;                  /* the most of any job */
    size_t parts;
} spot_ward_space;

static inline size_t spot_ward_tiles(size_t clusters) { return (clusters + SPOT_WARD_TILE - 1) / SPOT_WARD_TILE; }

/* `tiles` tiles of clusters look for their nearest among `live` ones: the parts in which each does. */
static inline int spot_ward_slices(int tiles, int live)
{
    int most = (int)spot_ward_tiles((size_t)live), slices = (SPOT_WARD_BLOCKS + tiles - 1) / tiles;

    return slices < most ? slices : most;
}

/* From so many clusters a part on, and up to so many columns, products on tensor cores search. For tests and for comparison
 * SPOT_WARD_SIFT=N in the environment is another number of clusters; with 1, products search in all rounds, in one part. */
enum { SPOT_WARD_MANY = 8192, SPOT_WARD_WIDE = 1 << 14, SPOT_WARD_EXTRA = 11 };

static inline int spot_ward_many(void)
{
    const int own = getenv("SPOT_WARD_SIFT") ? atoi(getenv("SPOT_WARD_SIFT")) : 0;

    return own > 0 ? own : (int)SPOT_WARD_MANY;
}

/* Columns of a rounded mean, with those behind it. */
static inline SPOT_HD size_t spot_ward_columns(int d) { return ((size_t)d + SPOT_WARD_EXTRA + 15) / 16 * 16; }

static inline spot_status spot_ward_space_take(spot_ctx *c, spot_arena *a, spot_ward_space *s, int count, int n, int d)
{
    size_t jobs = (size_t)count, rows = (size_t)n, few = rows * spot_ward_tiles(rows), many;

    many = (size_t)SPOT_WARD_TILE * SPOT_WARD_BLOCKS + rows;      /* q clusters in ceil(BLOCKS / (q / TILE)) slices */
    s->n = n, s->d = d;
    s->parts = few < many ? few : many;
    SPOT_TRY(SPOT_TAKE(c, a, s->job, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, s->round, 1 + jobs));
    SPOT_TRY(SPOT_TAKE(c, a, s->done, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, s->pairs, jobs));
    SPOT_TRY(SPOT_TAKE(c, a, s->mean, jobs * rows * (size_t)d));
    SPOT_TRY(SPOT_TAKE(c, a, s->size, jobs * rows));
    SPOT_TRY(SPOT_TAKE(c, a, s->near, jobs * rows));
    SPOT_TRY(SPOT_TAKE(c, a, s->cost, jobs * rows));
    SPOT_TRY(SPOT_TAKE(c, a, s->merged, jobs * rows));
    SPOT_TRY(SPOT_TAKE(c, a, s->live, jobs * rows));
    SPOT_TRY(SPOT_TAKE(c, a, s->query, jobs * rows));
    SPOT_TRY(SPOT_TAKE(c, a, s->hash, jobs * rows));
    SPOT_TRY(SPOT_TAKE(c, a, s->part_cost, jobs * s->parts));
    SPOT_TRY(SPOT_TAKE(c, a, s->part_near, jobs * s->parts));
    s->low = NULL;
    if (n < spot_ward_many() || d > SPOT_WARD_WIDE) return SPOT_OK;
    SPOT_TRY(SPOT_TAKE(c, a, s->low, jobs * rows * spot_ward_columns(d)));
    SPOT_TRY(SPOT_TAKE(c, a, s->rounded, jobs * rows));
    SPOT_TRY(SPOT_TAKE(c, a, s->longest, jobs));
    return SPOT_TAKE(c, a, s->sifted, 2);
}

#endif
