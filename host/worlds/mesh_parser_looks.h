/* mesh_parser_looks.h - materials of assimp -> looks, textures and pictures of the answer. It is a part of spotter-mesh. */
#ifndef SPOTTER_MESH_PARSER_LOOKS_H
#define SPOTTER_MESH_PARSER_LOOKS_H

#include "worlds/mesh_parser_scene.h"

/* A picture's coordinates: u = u[0] x + u[1] y + u[2] of a set's x and y, and v. alpha: that of vertices is not wanted, wanted,
 * or cut at `cutoff`. */
typedef struct { unsigned set; double u[3], v[3]; int alpha; float cutoff; } spot_picture_place;

typedef struct {
    const spot_parser_scene *of;
    spot_wire_texture  *texture;           /* (2 a material) */
    char              (*picture)[SPOT_WIRE_NAME];          /* names; those of embedded ones begin with '*' */
    uint32_t textures, pictures;
} spot_looks;

/* The look of a material, and where its picture lies; adds its texture and its pictures to l. */
spot_wire_material spot_look_of(spot_looks *l, const struct aiMaterial *m, spot_picture_place *place);

/* Makes materials of opacity 0 opaque; returns how many. reverses: if there is one, opacity o of the others becomes 1 - o. */
uint32_t spot_looks_show(spot_wire_material *look, uint32_t materials, bool reverses);

/* Whether the file has no such material: the parser made it. */
bool spot_look_is_plain(const struct aiMaterial *m);

/* Writes the name of a picture, or its bytes if it is embedded. */
void spot_look_put_picture(const spot_looks *l, const char *name);

#endif
