/* mesh_parser_flat.c - vertices and polygons -> a scene as assimp makes it. */
#include "worlds/mesh_parser_flat.h"

#include <assimp/cimport.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worlds/mesh_parser_scene.h"

void *spot_flat_take(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);

    if (!memory) spot_parser_fail("there is no memory for its vertices and faces");
    return memory;
}

_Noreturn void spot_flat_fail_short(const char *what, double said)
{
    char text[160];

    snprintf(text, sizeof text, "it says that it has %.0f %s and ends before the last: it is damaged or cut short", said, what);
    spot_parser_fail(text);
}

static size_t grown(size_t used) { return used < 64 ? 64 : 2 * used; }

/* Room for `more` numbers behind `used`, which grows by doubling. */
static void *grow(void *at, size_t used, size_t more, size_t size)
{
    size_t room = 64;

    while (room < used) room = grown(room);
    if (at && used + more <= room) return at;
    while (room < used + more) room = grown(room);
    at = realloc(at, room * size);
    if (!at) spot_parser_give_up();
    return at;
}

void spot_flat_add(spot_flat *to, const uint32_t *corner, size_t corners)
{
    for (size_t i = 0; i < corners; i++)
        if (corner[i] >= to->vertices) spot_parser_fail("a face has a corner that is not there");
    to->first = grow(to->first, to->faces + 1, 1, sizeof *to->first);
    to->corner = grow(to->corner, to->corners, corners, sizeof *to->corner);
    memcpy(to->corner + to->corners, corner, corners * sizeof *corner);
    if (!to->faces) to->first[0] = 0;
    to->corners += corners;
    to->first[++to->faces] = to->corners;
}

/* -- the scene ------------------------------------------------------------------------------------------------------------ */

static void find_origin(double origin[3], const spot_flat *f)
{
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };

    for (size_t i = 0; i < f->corners; i++)
        for (int k = 0; k < 3; k++) {
            const double v = f->place[3 * (size_t)f->corner[i] + (size_t)k];
            if (isfinite(v)) low[k] = fmin(low[k], v), high[k] = fmax(high[k], v);
        }
    spot_parser_origin(origin, low, high);
}

/* Numbers of vertices, one each for a corner: colours of faces and coordinates of corners have them alone. */
static void put_vertex(struct aiMesh *m, size_t to, const spot_flat *f, size_t from, const double *origin)
{
    const double *p = f->place + 3 * from;

    m->mVertices[to] = (struct aiVector3D){ (float)(p[0] - origin[0]), (float)(p[1] - origin[1]), (float)(p[2] - origin[2]) };
    if (f->normal) memcpy(&m->mNormals[to], f->normal + 3 * from, 3 * sizeof(float));
    if (f->at) memcpy(&m->mTextureCoords[0][to], f->at + 2 * from, 2 * sizeof(float));
    if (f->colour) memcpy(&m->mColors[0][to], f->colour + 4 * from, 4 * sizeof(float));
}

static void put_corners(struct aiMesh *m, const spot_flat *f, const double *origin)
{
    for (size_t i = 0; i < f->faces; i++)
        for (size_t k = f->first[i]; k < f->first[i + 1]; k++) {
            put_vertex(m, k, f, f->corner[k], origin);
            if (f->face_colour) memcpy(&m->mColors[0][k], f->face_colour + 4 * i, 4 * sizeof(float));
            if (f->corner_at) memcpy(&m->mTextureCoords[0][k], f->corner_at + 2 * k, 2 * sizeof(float));
        }
}

static struct aiMesh *mesh_of(const spot_flat *f)
{
    const bool apart = f->face_colour || f->corner_at;
    const size_t vertices = apart ? f->corners : f->vertices;
    struct aiMesh *m = spot_flat_take(1, sizeof *m);
    unsigned *corner = spot_flat_take(f->corners, sizeof *corner);
    double origin[3];

    find_origin(origin, f);
    m->mNumVertices = (unsigned)vertices, m->mNumFaces = (unsigned)f->faces;
    m->mVertices = spot_flat_take(vertices, sizeof *m->mVertices);
    m->mFaces = spot_flat_take(f->faces, sizeof *m->mFaces);
    if (f->normal) m->mNormals = spot_flat_take(vertices, sizeof *m->mNormals);
    if (f->at || f->corner_at) m->mTextureCoords[0] = spot_flat_take(vertices, sizeof *m->mTextureCoords[0]);
    if (f->colour || f->face_colour) m->mColors[0] = spot_flat_take(vertices, sizeof *m->mColors[0]);
    if (apart) put_corners(m, f, origin);
    for (size_t i = 0; !apart && i < vertices; i++) put_vertex(m, i, f, i, origin);
    for (size_t i = 0; i < f->corners; i++) corner[i] = apart ? (unsigned)i : f->corner[i];
    for (size_t i = 0; i < f->faces; i++) {
        m->mFaces[i].mNumIndices = (unsigned)(f->first[i + 1] - f->first[i]);
        m->mFaces[i].mIndices = corner + f->first[i];
    }
    return m;
}

const struct aiScene *spot_flat_scene(const spot_flat *from)
{
    struct aiScene *s = spot_flat_take(1, sizeof *s);
    struct aiNode *root = spot_flat_take(1, sizeof *root);

    if (from->corners > UINT32_MAX || from->vertices > UINT32_MAX) spot_parser_fail("it has more than 4294967295 corners");
    s->mRootNode = root;
    s->mNumMaterials = s->mNumMeshes = root->mNumMeshes = 1;
    s->mMaterials = spot_flat_take(1, sizeof *s->mMaterials);
    s->mMaterials[0] = spot_flat_take(1, sizeof *s->mMaterials[0]);
    s->mMeshes = spot_flat_take(1, sizeof *s->mMeshes);
    s->mMeshes[0] = mesh_of(from);
    root->mMeshes = spot_flat_take(1, sizeof *root->mMeshes);
    aiIdentityMatrix4(&root->mTransformation);
    return s;
}
