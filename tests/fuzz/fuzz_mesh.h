/* fuzz_mesh.h - what the fuzz targets of meshes share: an answer of the parser of models is one sentence, or a mesh that can be
 * drawn. */
#ifndef SPOTTER_TESTS_FUZZ_MESH_H
#define SPOTTER_TESTS_FUZZ_MESH_H

#include "fuzz/fuzz_file.h"

#include <math.h>

#include "worlds/mesh_answer.h"
#include "worlds/mesh_parts.h"

typedef struct { const uint8_t *at; size_t left; } fuzz_bytes;

static inline spot_status fuzz_take(spot_ctx *c, void *from, void *out, size_t n)
{
    fuzz_bytes *b = from;

    if (n > b->left) return spot_fail(c, SPOT_INPUT, "the answer is cut short");
    memcpy(out, b->at, n);
    b->at += n;
    b->left -= n;
    return SPOT_OK;
}

/* An archive without members: no picture has a file. */
static inline spot_mesh_files *fuzz_no_files(spot_ctx *c)
{
    static const uint8_t empty[22] = "PK\5\6";
    static spot_mesh_files *f;

    if (!f && spot_mesh_files_open(c, &f, fuzz_file(0, "empty.zip", empty, sizeof empty)) != SPOT_OK) abort();
    return f;
}

static inline void fuzz_look(const spot_mesh *m)
{
    for (int i = 0; i < 3 * m->vertices; i++)
        if (!(fabsf(m->place[i]) <= 0.5001f) || !(fabsf(m->normal[i]) <= 1.0001f)) abort();
    for (int i = 0; m->coordinate && i < 2 * m->vertices; i++)
        if (!(fabsf(m->coordinate[i]) <= 500)) abort();
    for (int i = 0; i < 3 * m->triangles; i++)
        if (m->corner[i] >= (uint32_t)m->vertices) abort();
    for (int i = 0; i < m->triangles; i++)
        if (m->material[i] >= m->materials) abort();
    for (int i = 0; i < m->materials; i++)
        if (m->look[i].texture >= m->textures || !(m->look[i].opacity <= 1)) abort();
}

static inline spot_status fuzz_make(spot_ctx *c, spot_mesh *m, spot_mesh_answer *a, spot_mesh_texture *t)
{
    spot_mesh_repairs repairs = { 0 };

    SPOT_TRY(spot_mesh_pictures_read(c, t, &repairs, a, fuzz_no_files(c), "fuzz.obj", 1 << 20));
    for (int i = 0; i < a->materials; i++)
        if (a->look[i].texture >= 0 && !t[a->look[i].texture].width) a->look[i].texture = -1;
    for (int i = 0; i < a->textures; i++)
        if (!t[i].width) t[i] = (spot_mesh_texture){ 1, 1, 1, calloc(4, 1) };
    return spot_mesh_build(c, m, &(spot_mesh_triangles){ a->triangles, a->materials, a->textures, a->place, a->normal,
                           a->coordinate, a->colour, a->material, a->look, t }, NULL, "it");
}

/* The answer becomes a mesh, or one sentence. */
static inline void fuzz_answer(const uint8_t *data, size_t size)
{
    fuzz_bytes b = { data, size };
    spot_answer_source in = { fuzz_take, &b };
    spot_mesh_texture *t = NULL;
    spot_mesh m = { 0 };
    spot_mesh_answer a;
    spot_ctx c = { 0 };
    spot_status s = spot_mesh_answer_read(&c, &a, &in, 1 << 20);

    if (s == SPOT_OK && !(t = calloc((size_t)a.textures + 1, sizeof *t))) abort();
    if (s == SPOT_OK) s = fuzz_make(&c, &m, &a, t);
    if (s == SPOT_OK) fuzz_look(&m);
    else if (!c.message[0] || strchr(c.message, '\n')) abort();
    for (int i = 0; t && i < a.textures; i++) free(t[i].texel);
    free(t);
    spot_mesh_close(&m);
    spot_mesh_answer_close(&a);
}

#endif
