/* mesh_wire.h - the bytes between spot_mesh_read and the program spotter-mesh, both on one machine.
 *
 *     reader                                parser
 *     spot_wire_start, the model's name
 *                                           spot_wire_frame OPEN, a name
 *     uint64_t size, the bytes                                              any number of times
 *                                           spot_wire_frame FAIL, a sentence; or
 *                                           spot_wire_frame MESH, spot_wire_mesh, then its arrays
 *
 * The reader trusts nothing that the parser says. */
#ifndef SPOTTER_MESH_WIRE_H
#define SPOTTER_MESH_WIRE_H

#include <stdint.h>

#define SPOT_WIRE_MAGIC 0x33307368656d7073u                /* "spmesh03" */
#define SPOT_WIRE_NO_FILE UINT64_MAX

enum { SPOT_WIRE_OPEN = 1, SPOT_WIRE_FAIL, SPOT_WIRE_MESH };
enum { SPOT_WIRE_NAME = 4096, SPOT_WIRE_SENTENCE = 512, SPOT_WIRE_MATERIALS = 65536, SPOT_WIRE_PICTURES = 4096 };

typedef struct { uint64_t magic, memory; uint32_t seconds, triangles, materials, name; } spot_wire_start;
typedef struct { uint32_t kind, length; } spot_wire_frame;

/* Arrays behind it: places float (triangles, 3, 3); normals the same, if `normals`; coordinates float (triangles, 3, 2), if
 * `coordinates`; colours float (triangles, 3, 3), if `colours`; int32_t material (triangles); spot_wire_material (materials);
 * spot_wire_texture (textures); then each of the pictures as spot_wire_picture and its bytes. crossed: of the polygons those
 * that triangles do not cover once. lost: faces that name normals or coordinates that are not there. upright: y points up, for
 * the file says which axis does, and it was turned. shown: materials whose opacity is 0 in the file, and 1 here.
 * replaces: a picture stands for its material's colour, else it multiplies it. mixed: triangles whose corners have other
 * alphas, and whose material has the mean. */
typedef struct {
    uint32_t triangles, normals, coordinates, colours, polygons, crossed, lost, upright, shown, replaces, mixed, materials,
             textures, pictures;
} spot_wire_mesh;

typedef struct { float diffuse[3], specular[3], shininess, opacity; int32_t texture; } spot_wire_material;

/* The picture whose alpha is not wanted, wanted, or cut at `cutoff`; and one whose grey or alpha multiplies it. -1: none. */
enum { SPOT_WIRE_OPAQUE, SPOT_WIRE_BLEND, SPOT_WIRE_CUT };
typedef struct { int32_t colour, holes, alpha; float cutoff; } spot_wire_texture;

typedef struct { uint32_t embedded, length; } spot_wire_picture;       /* 0: `length` bytes of a name; 1: of a PNG or JPEG */

#endif
