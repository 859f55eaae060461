/* mesh_parser_bones.c - see mesh_parser_bones.h. */
#include "worlds/mesh_parser_bones.h"

#include <stdlib.h>
#include <string.h>

#include "worlds/mesh_parser_scene.h"

const spot_axes spot_axes_none = { { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } } };

spot_axes spot_axes_in(const spot_axes *outer, const struct aiMatrix4x4 *t)
{
    const double b[3][4] = { { t->a1, t->a2, t->a3, t->a4 }, { t->b1, t->b2, t->b3, t->b4 }, { t->c1, t->c2, t->c3, t->c4 } };
    spot_axes f;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            f.m[i][j] = outer->m[i][0] * b[0][j] + outer->m[i][1] * b[1][j] + outer->m[i][2] * b[2][j]
                      + (j == 3 ? outer->m[i][3] : 0);
    return f;
}

void spot_axes_place(double to[3], const spot_axes *f, struct aiVector3D v)
{
    for (int i = 0; i < 3; i++) to[i] = f->m[i][0] * v.x + f->m[i][1] * v.y + f->m[i][2] * v.z + f->m[i][3];
}

/* The axes of the first node of that name. False: there is none. */
static bool find_axes(spot_axes *to, const struct aiNode *node, const char *name, const spot_axes *outer, int depth)
{
    const spot_axes mine = spot_axes_in(outer, &node->mTransformation);

    if (!strcmp(node->mName.data, name)) {
        *to = mine;
        return true;
    }
    for (unsigned i = 0; i < node->mNumChildren && depth < SPOT_PARSER_DEEPEST; i++)
        if (find_axes(to, node->mChildren[i], name, &mine, depth + 1)) return true;
    return false;
}

/* Adds the axes of a bone to those of its vertices, by its weights. */
static bool add_bone(spot_axes *hung, double *weight, const struct aiMesh *mesh, const struct aiBone *b, const spot_axes *at)
{
    const spot_axes bone = spot_axes_in(at, &b->mOffsetMatrix);

    for (unsigned i = 0; i < b->mNumWeights; i++) {
        const unsigned v = b->mWeights[i].mVertexId;
        const double part = b->mWeights[i].mWeight;
        if (v >= mesh->mNumVertices) return false;
        if (!(part > 0)) continue;
        weight[v] += part;
        for (int j = 0; j < 12; j++) hung[v].m[j / 4][j % 4] += part * bone.m[j / 4][j % 4];
    }
    return true;
}

static bool hang(spot_axes *hung, double *weight, const struct aiScene *scene, const struct aiMesh *mesh,
                 const spot_axes *outer)
{
    spot_axes at;

    for (unsigned i = 0; i < mesh->mNumBones; i++) {
        const struct aiBone *b = mesh->mBones[i];
        if (!find_axes(&at, scene->mRootNode, b->mName.data, outer, 0)) return false;
        if (!add_bone(hung, weight, mesh, b, &at)) return false;
    }
    for (unsigned v = 0; v < mesh->mNumVertices; v++) {
        if (!(weight[v] > 0)) return false;
        for (int j = 0; j < 12; j++) hung[v].m[j / 4][j % 4] /= weight[v];
    }
    return true;
}

void spot_bones_hang(spot_axes **hung, const struct aiScene *scene, const spot_axes *outer)
{
    for (unsigned i = 0; i < scene->mNumMeshes; i++) {
        const struct aiMesh *mesh = scene->mMeshes[i];
        if (!mesh->mNumBones) continue;
        double *weight = calloc((size_t)mesh->mNumVertices + 1, sizeof *weight);
        hung[i] = calloc((size_t)mesh->mNumVertices + 1, sizeof *hung[i]);
        if (!weight || !hung[i]) spot_parser_give_up();
        if (!hang(hung[i], weight, scene, mesh, outer)) free(hung[i]), hung[i] = NULL;
        free(weight);
    }
}
