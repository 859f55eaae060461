/* class_map.h - a class in the plane, as map.npy shows it: by PCA, where no method has a map. */
#ifndef SPOTTER_CLASS_MAP_H
#define SPOTTER_CLASS_MAP_H

#include "spotter/arena.h"
#include "spotter/view.h"
#include "study/chain.h"

/* Writes points (view->n) into map (rows of the subject, 2). row (view->n): of the subject. */
void spot_class_map_put(float *map, const int *row, const spot_points *points);

/* Writes the class's two principal components into map, with scratch from work; a single row lies at 0. A class whose PCA fails
 * keeps what map holds. */
spot_status spot_class_map_draw(spot_ctx *c, spot_arena *work, float *map, const int *row, const spot_view *view,
                                const spot_seed *seed);

/* Bytes of scratch for n rows of d features. */
spot_bytes spot_class_map_needs(const spot_ctx *c, int n, int d);

#endif
