/* mesh_parser_scene.c - the scene that assimp has read: polygons cut into triangles, and the answer.
 *
 * Places are counted in double: nodes may lie far from the origin. The box's middle is taken off there. */
#define _GNU_SOURCE
#include "worlds/mesh_parser_scene.h"

#include <assimp/cimport.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worlds/mesh_parser_ears.h"
#include "worlds/mesh_parser_fade.h"

/* -- triangles ------------------------------------------------------------------------------------------------------------ */

/* A mesh's faces as triangles: (triangles, 3) of its vertices; and their materials, NULL: the mesh's. */
typedef struct { uint32_t *corner; uint64_t triangles; uint32_t *material; } cut_mesh;

typedef struct { uint32_t polygons, crossed; } cut_count;

static void *need(void *memory)
{
    if (!memory) spot_parser_give_up();
    return memory;
}

static void cut_face(cut_mesh *to, const struct aiMesh *mesh, const struct aiFace *f, cut_count *n)
{
    const size_t corners = f->mNumIndices;
    uint32_t *triangle = to->corner + 3 * to->triangles;

    for (size_t i = 0; i < corners; i++)
        if (f->mIndices[i] >= mesh->mNumVertices) spot_parser_fail("a face has a corner that is not there");
    to->triangles += corners - 2;
    if (corners == 3) {
        memcpy(triangle, f->mIndices, 3 * sizeof *triangle);
        return;
    }
    double *place = need(malloc(7 * corners * sizeof *place));
    for (size_t i = 0; i < corners; i++) {
        const struct aiVector3D v = mesh->mVertices[f->mIndices[i]];
        place[3 * i] = v.x, place[3 * i + 1] = v.y, place[3 * i + 2] = v.z;
    }
    n->polygons++;
    n->crossed += !spot_ears_cut(triangle, place, (uint32_t)corners, place + 3 * corners);
    for (size_t i = 0; i < 3 * (corners - 2); i++) triangle[i] = f->mIndices[triangle[i]];
    free(place);
}

/* Faces of one corner or two are points and lines. */
static cut_mesh cut_polygons(const struct aiMesh *mesh, uint64_t most, cut_count *n)
{
    cut_mesh to = { NULL, 0, NULL };
    uint64_t triangles = 0;

    for (unsigned i = 0; i < mesh->mNumFaces; i++)
        if (mesh->mFaces[i].mNumIndices > 2) triangles += mesh->mFaces[i].mNumIndices - 2;
    if (triangles > most) return (cut_mesh){ NULL, triangles, NULL };
    to.corner = need(malloc(3 * (triangles + 1) * sizeof *to.corner));
    for (unsigned i = 0; i < mesh->mNumFaces; i++)
        if (mesh->mFaces[i].mNumIndices > 2) cut_face(&to, mesh, &mesh->mFaces[i], n);
    return to;
}

enum { COUNT, PLACES, NORMALS, COORDINATES, COLOURS, MATERIALS };

/* A walk over the scene's nodes: counts, or writes one of the arrays. */
typedef struct {
    const spot_parser_scene *of;
    const cut_mesh *cut;                   /* (meshes) */
    spot_axes *const *hung;               /* (meshes): of each vertex, where bones move it; NULL: no bones */
    const spot_picture_place *place;       /* (materials) */
    int what;
    uint64_t triangles;
    bool normals, coordinates, colours;
    double low[3], high[3], origin[3];
    float brightest;                       /* of all colours */
} walk;

static void put_place(const walk *w, const spot_axes *f, struct aiVector3D v)
{
    double at[3];
    float to[3];

    spot_axes_place(at, f, v);
    for (int i = 0; i < 3; i++) to[i] = (float)(at[i] - w->origin[i]);
    spot_parser_put(to, sizeof to);
}

static void stretch_box(walk *w, const spot_axes *f, struct aiVector3D v)
{
    double at[3];

    spot_axes_place(at, f, v);
    if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2])) return;
    for (int i = 0; i < 3; i++) w->low[i] = fmin(w->low[i], at[i]), w->high[i] = fmax(w->high[i], at[i]);
}

/* Writes a normal turned by the cofactors: the inverse transposed times the determinant, whose sign is taken out. */
static void put_normal(const spot_axes *m, struct aiVector3D v)
{
    const double x[3] = { v.x, v.y, v.z };
    double f[3][3], sign, n[3], length;
    float to[3];

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            f[i][j] = m->m[a][c] * m->m[b][d] - m->m[a][d] * m->m[b][c];
        }
    sign = m->m[0][0] * f[0][0] + m->m[0][1] * f[0][1] + m->m[0][2] * f[0][2] < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++) n[i] = sign * (f[i][0] * x[0] + f[i][1] * x[1] + f[i][2] * x[2]);
    length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++) to[i] = length > 0 ? (float)(n[i] / length) : 0;
    spot_parser_put(to, sizeof to);
}

static const struct aiVector3D *coordinates_of(const walk *w, const struct aiMesh *mesh)
{
    const unsigned material = mesh->mMaterialIndex, set = material < w->of->materials ? w->place[material].set : 0;

    return mesh->mTextureCoords[set];
}

static void put_coordinate(const walk *w, const struct aiMesh *mesh, unsigned v)
{
    static const spot_picture_place usual = { 0, { 1, 0, 0 }, { 0, 1, 0 }, 0, 0 };
    const struct aiVector3D *at = coordinates_of(w, mesh);
    const spot_picture_place *p = mesh->mMaterialIndex < w->of->materials ? &w->place[mesh->mMaterialIndex] : &usual;
    float to[2] = { 0, 0 };

    if (at) to[0] = (float)(p->u[0] * at[v].x + p->u[1] * at[v].y + p->u[2]);
    if (at) to[1] = (float)(p->v[0] * at[v].x + p->v[1] * at[v].y + p->v[2]);
    spot_parser_put(to, sizeof to);
}

/* Linear light of a colour of a file: numbers up to 255 are bytes. */
static float light_of(const walk *w, double v)
{
    v = w->brightest > 1 ? v / 255 : v;
    v = v > 0 ? v < 1 ? v : 1 : 0;
    if (w->of->linear) return (float)v;
    return (float)(v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
}

static void put_colour(const walk *w, const struct aiMesh *mesh, unsigned v)
{
    const struct aiColor4D *at = mesh->mColors[0];
    float to[3] = { 1, 1, 1 };

    if (at) to[0] = light_of(w, at[v].r), to[1] = light_of(w, at[v].g), to[2] = light_of(w, at[v].b);
    spot_parser_put(to, sizeof to);
}

static void put_corner(walk *w, const spot_axes *f, const struct aiMesh *mesh, unsigned v)
{
    static const float none[3] = { 0 };

    if (w->what == COUNT) stretch_box(w, f, mesh->mVertices[v]);
    if (w->what == PLACES) put_place(w, f, mesh->mVertices[v]);
    if (w->what == NORMALS && mesh->mNormals) put_normal(f, mesh->mNormals[v]);
    if (w->what == NORMALS && !mesh->mNormals) spot_parser_put(none, sizeof none);
    if (w->what == COORDINATES) put_coordinate(w, mesh, v);
    if (w->what == COLOURS) put_colour(w, mesh, v);
}

static void note_arrays(walk *w, const struct aiMesh *mesh)
{
    w->normals = w->normals || mesh->mNormals;
    w->coordinates = w->coordinates || coordinates_of(w, mesh);
    w->colours = w->colours || mesh->mColors[0];
    for (unsigned i = 0; w->what == COUNT && mesh->mColors[0] && i < mesh->mNumVertices; i++) {
        const struct aiColor4D *v = &mesh->mColors[0][i];
        w->brightest = fmaxf(w->brightest, fmaxf(v->r, fmaxf(v->g, v->b)));
    }
}

static void walk_mesh(walk *w, const spot_axes *f, unsigned number)
{
    const struct aiMesh *mesh = w->of->scene->mMeshes[number];
    const cut_mesh *cut = &w->cut[number];
    const spot_axes *hung = w->hung[number];

    note_arrays(w, mesh);
    w->triangles += cut->triangles;
    if (w->triangles > w->of->most) return;
    for (uint64_t i = 0; i < cut->triangles; i++) {
        const int32_t material = (int32_t)(cut->material ? cut->material[i] : mesh->mMaterialIndex);
        if (w->what == MATERIALS) spot_parser_put(&material, sizeof material);
        for (int e = 0; w->what != MATERIALS && e < 3; e++) {
            const uint32_t v = cut->corner[3 * i + (uint64_t)e];
            put_corner(w, hung ? &hung[v] : f, mesh, v);
        }
    }
}

/* One mesh may hang on many nodes: the count stops where it is too large. */
static void walk_node(walk *w, const struct aiNode *node, const spot_axes *outer, int depth)
{
    const spot_axes mine = spot_axes_in(outer, &node->mTransformation);

    if (depth > SPOT_PARSER_DEEPEST) spot_parser_fail("its nodes lie deeper than 512 in each other");
    for (unsigned i = 0; i < node->mNumMeshes && w->triangles <= w->of->most; i++) walk_mesh(w, &mine, node->mMeshes[i]);
    for (unsigned i = 0; i < node->mNumChildren && w->triangles <= w->of->most; i++)
        walk_node(w, node->mChildren[i], &mine, depth + 1);
}

static void walk_scene(walk *w, int what)
{
    w->what = what, w->triangles = 0;
    walk_node(w, w->of->scene->mRootNode, &w->of->turn, 0);
}

static void count(walk *w)
{
    char text[128];

    for (int k = 0; k < 3; k++) w->low[k] = INFINITY, w->high[k] = -INFINITY;
    walk_scene(w, COUNT);
    if (w->triangles > w->of->most) {
        snprintf(text, sizeof text, "it has more than %u triangles: reduce it with a modelling program", w->of->most);
        spot_parser_fail(text);
    }
    spot_parser_origin(w->origin, w->low, w->high);
}

/* -- the answer ----------------------------------------------------------------------------------------------------------- */

static void put_head(const spot_wire_mesh *m)
{
    spot_parser_put(&(spot_wire_frame){ SPOT_WIRE_MESH, sizeof *m }, sizeof(spot_wire_frame));
    spot_parser_put(m, sizeof *m);
}

/* Copies of materials for triangles that let something through. */
static spot_fades fade(walk *w, cut_mesh *cut, spot_wire_material *look, uint32_t materials)
{
    const struct aiScene *scene = w->of->scene;
    spot_fades f = { .look = look, .place = w->place, .given = materials, .materials = materials, .most = SPOT_WIRE_MATERIALS };

    f.copy = need(calloc(materials + 1, sizeof *f.copy));
    for (unsigned i = 0; i < scene->mNumMeshes; i++)
        cut[i].material = spot_fades_of(&f, scene->mMeshes[i], cut[i].corner, cut[i].corner ? cut[i].triangles : 0,
                                        w->brightest > 1 ? 255 : 1);
    return f;
}

static void put_arrays(walk *w)
{
    walk_scene(w, PLACES);
    if (w->normals) walk_scene(w, NORMALS);
    if (w->coordinates) walk_scene(w, COORDINATES);
    if (w->colours) walk_scene(w, COLOURS);
    walk_scene(w, MATERIALS);
}

/* Colours stand for the grey that assimp gives to faces without a material. */
static void whiten_coloured(const struct aiScene *scene, spot_wire_material *look, uint32_t materials)
{
    for (unsigned i = 0; i < scene->mNumMeshes; i++) {
        const struct aiMesh *mesh = scene->mMeshes[i];
        if (!mesh->mColors[0] || mesh->mMaterialIndex >= materials) continue;
        if (!spot_look_is_plain(scene->mMaterials[mesh->mMaterialIndex])) continue;
        for (int k = 0; k < 3; k++) look[mesh->mMaterialIndex].diffuse[k] = 1;
    }
}

void spot_parser_put_scene(const spot_parser_scene *s)
{
    const struct aiScene *scene = s->scene;
    const uint32_t materials = scene->mNumMaterials < s->materials ? scene->mNumMaterials : s->materials;
    spot_wire_material *look = need(calloc(materials + 1, sizeof *look));
    spot_picture_place *place = need(calloc(materials + 1, sizeof *place));
    cut_mesh *cut = need(calloc(scene->mNumMeshes + 1, sizeof *cut));
    spot_looks l = { .of = s, .texture = need(calloc(materials + 1, sizeof *l.texture)) };
    spot_parser_scene mine = *s;
    spot_axes **hung = need(calloc(scene->mNumMeshes + 1, sizeof *hung));
    walk w = { .of = &mine, .cut = cut, .hung = hung, .place = place };
    cut_count n = { 0, 0 };

    mine.materials = materials;
    for (unsigned i = 0; i < scene->mNumMeshes; i++) cut[i] = cut_polygons(scene->mMeshes[i], s->most, &n);
    spot_bones_hang(hung, scene, &s->turn);
    for (uint32_t i = 0; i < materials; i++) look[i] = spot_look_of(&l, scene->mMaterials[i], &place[i]);
    const uint32_t shown = s->shows ? spot_looks_show(look, materials, s->reverses) : 0;
    whiten_coloured(scene, look, materials);
    count(&w);
    const spot_fades f = fade(&w, cut, look, materials);
    put_head(&(spot_wire_mesh){ (uint32_t)w.triangles, w.normals, w.coordinates, w.colours, n.polygons, n.crossed, s->lost,
                                s->upright, shown, s->replaces, f.mixed, f.materials, l.textures, l.pictures });
    put_arrays(&w);
    spot_parser_put(f.look, f.materials * sizeof *f.look);
    spot_parser_put(l.texture, l.textures * sizeof *l.texture);
    for (uint32_t i = 0; i < l.pictures; i++) spot_look_put_picture(&l, l.picture[i]);
}
