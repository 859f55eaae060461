/* mesh_parts.h - the pieces that spot_mesh_make is made of, and what the readers share. */
#ifndef SPOTTER_MESH_PARTS_H
#define SPOTTER_MESH_PARTS_H

#include "spotter/mesh.h"

/* A corner of a triangle as one row of numbers: place, normal, coordinate, colour. Equal rows are one vertex. */
enum { SPOT_ROW_NORMAL = 3, SPOT_ROW_COORDINATE = 6, SPOT_ROW_COLOUR = 8, SPOT_ROW = 11 };

/* number (rows): which of the different rows each is, counted in order of their first appearance; first: the index of each
 * different row's first appearance. Compares the first `width` numbers of rows of SPOT_ROW by their bits; there is no -0. */
spot_status spot_mesh_weld(spot_ctx *c, const float *row, size_t rows, size_t width, uint32_t *number, uint32_t *first,
                           size_t *different);

/* Normals of the corners, row (triangles, 3), whose normal has length 0. Returns their number in *made. */
spot_status spot_mesh_make_normals(spot_ctx *c, float *row, size_t triangles, double crease, int *made);

/* The size of level k of a texture, and the bytes of all levels. */
void   spot_mesh_level_size(int *width, int *height, int k);
size_t spot_mesh_texture_bytes(int width, int height, int levels);
int    spot_mesh_levels_of(int width, int height);

/* Halves a picture, RGBA (height, width): to (max(1, height / 2), max(1, width / 2)). to may be from. */
void spot_mesh_halve(uint8_t *to, const uint8_t *from, int width, int height);

/* Halves level 0 in its place until it has at most SPOT_MESH_TEXTURE_SIDE texels a side. */
void spot_mesh_reduce(spot_mesh_texture *t);

/* SPOT_INPUT where the bytes of a .gltf or .glb require an extension that is not drawn. */
spot_status spot_mesh_gltf_check(spot_ctx *c, const uint8_t *bytes, size_t n);

/* Endings of model files, for sentences. */
#define SPOT_MESH_FORMATS ".obj, .ply, .gltf, .glb, .stl, .off, .dae, .3ds and .fbx"

/* spot_mesh_make with a name for its sentences. */
spot_status spot_mesh_build(spot_ctx *c, spot_mesh *m, const spot_mesh_triangles *t, const spot_mesh_options *o,
                            const char *name);

#endif
