/* graph.h - the graph of each point's nearest neighbours, for methods, and votes of the neighbours of new points. */
#ifndef SPOTTER_GRAPH_H
#define SPOTTER_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/twin.h"
#include "map/neighbours.h"
#include "spotter/bdm.h"

enum { SPOT_GRAPH_MOST = 64 };         /* neighbours of a point */

/* cosine: the distance is 1 - the cosine of the angle, 1 from a point at the origin to others; else it is Euclidean. Distances
 * are those of fp32 points (distance.h), the same bits on every device. */
typedef struct {
    int n, d, k;               /* k: fewer than n */
    bool cosine;
    const int *column;         /* (n, k): the neighbours of a point, rising, without itself */
    float *distance;           /* (n, k) */

    float *unit;               /* (n, d), on the device: points of length 1; NULL unless cosine */
    const float *x;            /* (n, d), on the device */
    spot_twin columns, near;
} spot_graph;

/* Sets n, d and k (no more than n - 1) and takes the graph's arrays. A counting arena needs only n and d of the points. */
spot_status spot_graph_take(spot_ctx *c, spot_arena *host, spot_arena *work, spot_graph *g, const spot_points *points, int k,
                            bool cosine);

/* Finds column and distance of all graphs. work: scratch. It only counts if work does. */
spot_status spot_graphs_find(spot_ctx *c, spot_arena *work, int graphs, spot_graph *g, const spot_points *points);

/* The distance of two points of d coordinates, in fp64. */
double spot_graph_distance(const float *a, const float *b, int d, bool cosine);

/* near (k), far (k): the k of n fitted points that are nearest to x, and their distances; the first of equals comes first. */
void spot_graph_nearest(int *near, double *far, int k, const float *x, const float *fitted, int n, int d, bool cosine);

#endif
