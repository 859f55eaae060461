/* neighbours.h - the exact k nearest neighbours of every row of x (n,d), for `problems` independent matrices.
 *
 * Two ops, both exact on every device (gpu_to_gpu): squared distances (distance.h) of 256 rows at a time to all rows, and the
 * k smallest of each row (affinity.h). A row is not its own neighbour, but rows equal to it are. Of equal distances the lower
 * columns win. Among many rows the CPU finds the same neighbours in a third of the time: neighbours_cpu.c.
 * Arrays lie in the memory of c's device, the structs on the host. x must be finite. */
#ifndef SPOTTER_NEIGHBOURS_H
#define SPOTTER_NEIGHBOURS_H

#include <stdint.h>

#include "core/ops.h"
#include "spotter/arena.h"

typedef struct {
    spot_mat x;            /* (n, d) */
    int k;                 /* 0 < k < n */
    int   *column;         /* (n, k), out: rising in each row */
    float *near;           /* (n, k), out: the squared distances */
} spot_neighbours;

/* A counting scratch only counts. */
spot_status spot_neighbours_find(spot_ctx *c, spot_arena *scratch, int problems, const spot_neighbours *s);

enum { SPOT_NEIGHBOURS_TILE = 256, SPOT_NEIGHBOURS_MANY = 2048 };

/* The CPU's search for more than SPOT_NEIGHBOURS_MANY rows. left (tiles of 256 rows): 1 if the tile still needs the plain
 * search, because one of its rows has too many neighbours that rounding cannot separate. */
spot_status spot_neighbours_filter(spot_ctx *c, spot_arena *scratch, const spot_neighbours *s, uint8_t *left);

#endif
