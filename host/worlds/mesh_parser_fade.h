/* mesh_parser_fade.h - alpha of vertices: a triangle has its corners' mean, and with it a copy of its material that has less
 * opacity. It is a part of spotter-mesh. */
#ifndef SPOTTER_MESH_PARSER_FADE_H
#define SPOTTER_MESH_PARSER_FADE_H

#include "worlds/mesh_parser_looks.h"

typedef struct {
    spot_wire_material *look;              /* (materials): the file's, (given), and behind them the copies; it grows */
    const spot_picture_place *place;       /* (given) */
    uint32_t **copy;                       /* (given), each (256) or NULL: the copy of an alpha; 0: none yet */
    uint32_t given, materials, most;
    uint32_t mixed;                        /* triangles whose corners have other alphas */
} spot_fades;

/* The material of each triangle, corner (triangles, 3) of the mesh's vertices; NULL: all have the mesh's own. unit: 1, or 255
 * where colours are bytes. */
uint32_t *spot_fades_of(spot_fades *f, const struct aiMesh *mesh, const uint32_t *corner, uint64_t triangles, double unit);

#endif
