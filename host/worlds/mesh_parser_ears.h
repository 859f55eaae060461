/* mesh_parser_ears.h - a polygon of a model file -> triangles. It is a part of spotter-mesh. */
#ifndef SPOTTER_MESH_PARSER_EARS_H
#define SPOTTER_MESH_PARSER_EARS_H

#include <stdbool.h>
#include <stdint.h>

/* A polygon of more corners is cut from its first corner, and said to be unsure. */
enum { SPOT_EARS_CORNERS = 4096 };

/* Cuts the polygon place (corners, 3), corners >= 3, into corners - 2 triangles: triangle (corners - 2, 3) numbers of corners,
 * which turn as the polygon does. The polygon may be concave, may lie in any plane or bend, and may touch itself, as one with a
 * hole does whose outline runs to the hole and back. scratch (4, corners).
 * Returns false where the triangles do not cover the polygon once: its outline crosses itself, or it has too many corners. */
bool spot_ears_cut(uint32_t *triangle, const double *place, uint32_t corners, double *scratch);

#endif
