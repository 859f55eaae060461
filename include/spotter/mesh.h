/* mesh.h - 3-D objects: triangles with normals, materials and textures. render.h draws them.
 *
 * A mesh is centred and scaled by the vertices that its triangles use: the middle of their box lies at the origin, and the
 * box's diagonal is 1. z points up, as in the papers' Blender. A vertex of a mesh is one place, normal and texture coordinate,
 * so a place can be several vertices. */
#ifndef SPOTTER_MESH_H
#define SPOTTER_MESH_H

#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MESH_MOST_TRIANGLES 4000000
#define SPOT_MESH_TEXTURE_SIDE   1024                    /* larger textures are reduced when they are read */

/* Colours are linear light, 0 to 1. */
typedef struct {
    float diffuse[3], specular[3];
    float shininess;               /* exponent of Blinn-Phong, 1 to 1000 */
    float opacity;                 /* 1: opaque; 0: not drawn */
    int   texture;                 /* multiplies diffuse, and its alpha opacity; -1: none */
    int   cutout;                  /* its first channel multiplies opacity; -1: none */
} spot_mesh_material;

/* Bytes RGBA in sRGB (alpha linear), the first row on top. Level k + 1 is half of level k in both directions, rounded down, at
 * least 1, down to 1 x 1; colours are averaged in linear light, by alpha. Coordinates repeat. */
typedef struct {
    int width, height, levels;
    uint8_t *texel;                /* all levels, one behind the other */
} spot_mesh_texture;

/* Things that were missing, wrong or repaired in the file. */
typedef struct {
    int polygons;                  /* with more than three corners */
    int flat;                      /* triangles without area, dropped */
    int not_finite;                /* triangles with a NaN or infinite vertex, dropped */
    int made_normals;              /* corners whose normal was made */
    int lost_textures;             /* that are not there or cannot be read: the material's plain colour is drawn */
    int refused;                   /* files outside the model's folder */
} spot_mesh_repairs;

typedef struct {
    int vertices, triangles, materials, textures;
    float    *place;               /* (3, vertices): all x, all y, all z */
    float    *normal;              /* (3, vertices), length 1 */
    float    *coordinate;          /* (2, vertices); NULL: no texture */
    uint32_t *corner;              /* (3, triangles): vertices */
    uint16_t *material;            /* (triangles) */
    spot_mesh_material *look;      /* (materials) */
    spot_mesh_texture  *texture;   /* (textures) */
    spot_mesh_repairs   repairs;
    size_t bytes;                  /* of all that */
    char   hash[33];               /* of all that: equal meshes draw equal images */
    void  *owned;
} spot_mesh;

#ifdef __cplusplus
}
#endif
#endif
