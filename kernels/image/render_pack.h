/* render_pack.h - a mesh as kernels read it: what spot_render_take makes of a spot_mesh. */
#ifndef SPOTTER_RENDER_PACK_H
#define SPOTTER_RENDER_PACK_H

#include "image/render_light.h"

/* to (vertices) */
static inline void spot_render_pack_vertices(spot_render_vertex *to, const spot_mesh *m)
{
    const size_t count = (size_t)m->vertices;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 3; k++) {
            to[i].place[k] = m->place[k * count + i];
            to[i].normal[k] = m->normal[k * count + i];
        }
        for (size_t k = 0; k < 2; k++) to[i].at[k] = m->coordinate ? m->coordinate[k * count + i] : 0;
    }
}

static inline bool spot_render_has_holes(const spot_mesh *m, const spot_mesh_material *look)
{
    const spot_mesh_texture *t = look->texture >= 0 ? &m->texture[look->texture] : NULL;
    const size_t texels = t ? (size_t)t->width * (size_t)t->height : 0;

    if (look->opacity < 1 || look->cutout >= 0) return true;
    for (size_t i = 0; i < texels; i++)
        if (t->texel[4 * i + 3] < 255) return true;
    return false;
}

/* Whether the sum of a triangle's normals points away from the side on which its corners run against the clock. */
static inline bool spot_render_is_turned(const spot_render_vertex *a, const spot_render_vertex *b, const spot_render_vertex *c)
{
    const spot_render_vector to_b = spot_render_minus(spot_render_vector_at(b->place), spot_render_vector_at(a->place));
    const spot_render_vector to_c = spot_render_minus(spot_render_vector_at(c->place), spot_render_vector_at(a->place));
    const spot_render_vector sum = { a->normal[0] + b->normal[0] + c->normal[0], a->normal[1] + b->normal[1] + c->normal[1],
                                     a->normal[2] + b->normal[2] + c->normal[2] };

    return spot_render_product(spot_render_normal_of(to_b, to_c), sum) < 0;
}

/* look (triangles); vertex: as packed. `holes` (materials) is scratch. */
static inline void spot_render_pack_looks(uint32_t *look, const spot_mesh *m, const spot_render_vertex *vertex, bool *holes)
{
    const size_t count = (size_t)m->triangles;

    for (int i = 0; i < m->materials; i++) holes[i] = spot_render_has_holes(m, &m->look[i]);
    for (size_t t = 0; t < count; t++) {
        const bool turned = spot_render_is_turned(vertex + m->corner[t], vertex + m->corner[count + t],
                                                  vertex + m->corner[2 * count + t]);
        look[t] = m->material[t] | (turned ? SPOT_RENDER_TURNED : 0) | (holes[m->material[t]] ? SPOT_RENDER_HOLES : 0);
    }
}

/* Bytes of a texture with all its levels. */
static inline size_t spot_render_texture_bytes(const spot_mesh_texture *t)
{
    size_t bytes = 0, width = (size_t)t->width, height = (size_t)t->height;

    for (int k = 0; k < t->levels; k++) {
        bytes += 4 * width * height;
        width = width > 1 ? width / 2 : 1, height = height > 1 ? height / 2 : 1;
    }
    return bytes;
}

static inline void spot_render_pack_box(struct spot_render_mesh *to, const spot_mesh *m)
{
    const size_t corners = 3 * (size_t)m->triangles, vertices = (size_t)m->vertices;

    for (size_t k = 0; k < 3; k++) {
        to->low[k] = INFINITY, to->high[k] = -INFINITY;
        for (size_t i = 0; i < corners; i++) {
            const float at = m->place[k * vertices + m->corner[i]];
            to->low[k] = at < to->low[k] ? at : to->low[k];
            to->high[k] = at > to->high[k] ? at : to->high[k];
        }
    }
}

/* Where the arrays of a body begin in one piece of memory; it ends with its texels, texture by texture. */
typedef struct { size_t place, colour, corner, look, material, texture, texel, bytes; } spot_render_piece;

static inline spot_render_piece spot_render_piece_of(const spot_mesh *m)
{
    const size_t size[7] = { (size_t)m->vertices * sizeof(spot_render_vertex), 3 * (size_t)m->vertices * sizeof(float),
                             m->colour ? 3 * (size_t)m->vertices * sizeof(float) : 0,
                             3 * (size_t)m->triangles * sizeof(uint32_t),
                             (size_t)m->triangles * sizeof(uint32_t), (size_t)m->materials * sizeof(spot_mesh_material),
                             (size_t)m->textures * sizeof(spot_render_texture) };
    size_t at[8] = { 0 };
    spot_render_piece p;

    for (int k = 0; k < 7; k++) at[k + 1] = at[k] + spot_arena_room(size[k]);
    p.place = at[1], p.colour = at[2], p.corner = at[3], p.look = at[4], p.material = at[5], p.texture = at[6];
    p.texel = p.bytes = at[7];
    for (int i = 0; i < m->textures; i++) p.bytes += spot_render_texture_bytes(&m->texture[i]);
    return p;
}

/* Fills `host`, of p->bytes, to be copied to `on_device`. holes (materials) is
 * scratch. The body's pointers are those of the copy. */
static inline spot_render_body spot_render_pack(char *host, char *on_device, const spot_mesh *m, const spot_render_piece *p,
                                                bool *holes)
{
    spot_render_vertex *vertex = (spot_render_vertex *)(void *)host;
    spot_render_texture *texture = (spot_render_texture *)(void *)(host + p->texture);
    size_t at = p->texel;
    spot_render_body b;

    spot_render_pack_vertices(vertex, m);
    memcpy(host + p->place, m->place, 3 * (size_t)m->vertices * sizeof *m->place);
    if (m->colour) memcpy(host + p->colour, m->colour, 3 * (size_t)m->vertices * sizeof *m->colour);
    memcpy(host + p->corner, m->corner, 3 * (size_t)m->triangles * sizeof *m->corner);
    spot_render_pack_looks((uint32_t *)(void *)(host + p->look), m, vertex, holes);
    memcpy(host + p->material, m->look, (size_t)m->materials * sizeof *m->look);
    for (int i = 0; i < m->textures; i++) {
        const size_t bytes = spot_render_texture_bytes(&m->texture[i]);
        memcpy(host + at, m->texture[i].texel, bytes);
        texture[i].texel = (const uint8_t *)on_device + at;
        texture[i].width = m->texture[i].width, texture[i].height = m->texture[i].height;
        texture[i].levels = m->texture[i].levels;
        at += bytes;
    }
    b.vertices = m->vertices, b.triangles = m->triangles;
    b.place = (const float *)(void *)(on_device + p->place);
    b.colour = m->colour ? (const float *)(void *)(on_device + p->colour) : NULL;
    b.vertex = (const spot_render_vertex *)(void *)on_device;
    b.corner = (const uint32_t *)(void *)(on_device + p->corner);
    b.look = (const uint32_t *)(void *)(on_device + p->look);
    b.material = (const spot_mesh_material *)(void *)(on_device + p->material);
    b.texture = (const spot_render_texture *)(void *)(on_device + p->texture);
    return b;
}

#endif
