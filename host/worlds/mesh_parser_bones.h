/* mesh_parser_bones.h - axes of nodes, and the vertices that bones move. It is a part of spotter-mesh. */
#ifndef SPOTTER_MESH_PARSER_BONES_H
#define SPOTTER_MESH_PARSER_BONES_H

#include <assimp/scene.h>

/* A node's axes: row by row, and what is added. */
typedef struct { double m[3][4]; } spot_axes;

extern const spot_axes spot_axes_none;

spot_axes spot_axes_in   (const spot_axes *outer, const struct aiMatrix4x4 *inner);
void       spot_axes_place(double to[3], const spot_axes *f, struct aiVector3D v);

/* hung (meshes): of each mesh that has bones the axes of its vertices, (vertices), in the pose of the scene's nodes; the node
 * that such a mesh hangs on does not move it, as glTF, Collada and FBX say. NULL: it has no bones, or a vertex of it has none.
 * outer: around the whole scene. */
void spot_bones_hang(spot_axes **hung, const struct aiScene *scene, const spot_axes *outer);

#endif
