/* mesh.h - 3-D objects: triangles with normals, materials and textures, from OBJ with MTL, PLY and glTF. render.h draws them.
 *
 *     folder or archive -> spot_mesh_files -> model file -> `spotter-mesh`, a process of its own -> triangles -> spot_mesh
 *
 * The parsers of such files are not made for hostile input, so they run in a program of their own, which has limits of memory
 * and time, opens no file and asks for each by a pipe. This process answers with files of the opened folder or archive only.
 * The program lies beside the library or program that this code is in, in ../bin, or in the folder $SPOT_PARSER_DIR.
 *
 * A mesh is centred and scaled by the vertices that its triangles use: the middle of their box lies at the origin, and the
 * box's diagonal is 1. z points up, as in the papers' Blender. A vertex of a mesh is one place, normal and texture coordinate,
 * so a place can be several vertices. */
#ifndef SPOTTER_MESH_H
#define SPOTTER_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MESH_MOST_TRIANGLES 4000000
#define SPOT_MESH_TEXTURE_SIDE   1024                    /* larger textures are reduced when they are read */

/* Colours are linear light, 0 to 1. The numbers of a file (Kd, Ks; glTF's base colour) are taken as they are, as Blender and
 * glTF do; pictures are sRGB. Colours of vertices are not read. */
typedef struct {
    float diffuse[3], specular[3];
    float shininess;               /* exponent of Blinn-Phong, 1 to 1000 */
    float opacity;                 /* 1: opaque; 0: not drawn */
    int   texture;                 /* multiplies diffuse, and its alpha opacity; -1: none */
    int   cutout;                  /* its first channel multiplies opacity; -1: none. spot_mesh_read has none: it multiplies
                                    * a map_d into the texture's alpha */
} spot_mesh_material;

/* Bytes RGBA in sRGB (alpha linear), the first row on top. Level k + 1 is half of level k in both directions, rounded down, at
 * least 1, down to 1 x 1; colours are averaged in linear light, by alpha. Coordinates repeat; (0, 0) is the lower left corner,
 * and the second one grows upwards. */
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

/* ---- files ---- */

/* A folder, or a zip archive (.zip, .sh3f), from which models and what they name are read. Names are relative, with "/"; an
 * absolute name, a colon (drive letters), a backslash, a link or a ".." that leads out are refused. */
typedef struct spot_mesh_files spot_mesh_files;

spot_status spot_mesh_files_open (spot_ctx *c, spot_mesh_files **f, const char *path);
void        spot_mesh_files_close(spot_mesh_files *f);

typedef struct {
    double crease;                 /* degrees: corners without a normal share one across edges that bend by less; 45 */
    double turn[9];                /* a rotation of the file's places before all else, row by row; all 0: none */
    bool   z_up;                   /* the file's z points up; else its y does, as in OBJ and glTF */
    double seconds;                /* that the parser may take; 60 */
    size_t memory;                 /* that the parser may take, bytes; 2 GiB */
    size_t file;                   /* greatest size of a file that is read, bytes; 256 MiB */
} spot_mesh_options;

spot_mesh_options spot_mesh_defaults(void);

/* Reads model `name` of the files. o: NULL for the defaults. SPOT_INPUT with a sentence: no such file, too large, not a format
 * that is known, a parser that failed, died or took too long, no triangle left, more than SPOT_MESH_MOST_TRIANGLES. SPOT_IO:
 * the parser is not installed. Missing textures and materials are no failure: m->repairs counts them. Free with
 * spot_mesh_close, also after a failure. Equal bytes on every machine with one version of assimp. */
spot_status spot_mesh_read (spot_ctx *c, spot_mesh *m, spot_mesh_files *f, const char *name, const spot_mesh_options *o);
void        spot_mesh_close(spot_mesh *m);

/* A mesh of the caller's triangles. */
typedef struct {
    int triangles, materials, textures;
    const float *place;            /* (triangles, 3 corners, 3): x, y, z */
    const float *normal;           /* the same; of length 0 where there is none; NULL: none at all */
    const float *coordinate;       /* (triangles, 3, 2); NULL: none */
    const int   *material;         /* (triangles); NULL: all 0 */
    const spot_mesh_material *look;     /* (materials), at least 1 */
    const spot_mesh_texture  *texture;  /* (textures): level 0 alone, copied; levels are made */
} spot_mesh_triangles;

/* Corners that are equal in all become one vertex; made normals, centre and scale as above. SPOT_INPUT as spot_mesh_read;
 * SPOT_INVALID for an index, a colour or an option out of range. */
spot_status spot_mesh_make(spot_ctx *c, spot_mesh *m, const spot_mesh_triangles *t, const spot_mesh_options *o);

#ifdef __cplusplus
}
#endif
#endif
