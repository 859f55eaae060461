/* mesh_parser_scene.h - what assimp has read -> what the reader is told (mesh_wire.h). It is a part of spotter-mesh. */
#ifndef SPOTTER_MESH_PARSER_SCENE_H
#define SPOTTER_MESH_PARSER_SCENE_H

#include <assimp/scene.h>
#include <stdbool.h>
#include <stddef.h>

#include "worlds/mesh_parser_bones.h"
#include "worlds/mesh_parser_obj.h"
#include "worlds/mesh_wire.h"

/* Nodes that lie deeper in each other are not read. */
enum { SPOT_PARSER_DEEPEST = 512 };

/* The pipe: mesh_parser.c has it. fail: a sentence ends the program. give_up: nobody waits for an answer. */
void spot_parser_put(const void *bytes, size_t n);
_Noreturn void spot_parser_fail(const char *sentence);
_Noreturn void spot_parser_give_up(void);

/* A scene, and what its file says beside it. */
typedef struct {
    const struct aiScene *scene;
    spot_mtl_places places;
    bool upright;                          /* the file says which axis points up, and with `turn` it is y */
    bool shows;                            /* materials of opacity 0 are shown: exporters do not agree which end is opaque */
    bool reverses;                         /* and if there is one, all others' opacity o means 1 - o */
    bool replaces;                         /* a picture stands for its material's colour, as in Collada, 3DS and FBX */
    spot_axes turn;                       /* around the whole scene */
    bool linear;                           /* colours of vertices are linear light, as in glTF; else sRGB */
    const char *picture;                   /* of a file without materials: its texture; NULL or "": none */
    bool white;                            /* what has no material is white, else grey */
    uint32_t lost;                         /* faces without their normals or coordinates */
    uint32_t most, materials;              /* triangles and materials that are wanted */
} spot_parser_scene;

void spot_parser_put_scene(const spot_parser_scene *s);

#endif
