/* mesh_answer.c - reads what spotter-mesh says. A parser that a hostile file has taken over may say anything. */
#include "worlds/mesh_answer.h"

#include <stdlib.h>
#include <string.h>

static spot_status wrong(spot_ctx *c, const char *what, uint64_t v, uint64_t most)
{
    return spot_fail(c, SPOT_INPUT, "{mesh.parser_count} the parser says %s %llu where at most %llu is possible; the file has "
                     "broken it", what, (unsigned long long)v, (unsigned long long)most);
}

static spot_status check_counts(spot_ctx *c, const spot_wire_mesh *m)
{
    if (!m->triangles) return spot_fail(c, SPOT_INPUT, "{mesh.no_triangles} it has no triangles");
    if (m->triangles > SPOT_MESH_MOST_TRIANGLES) return wrong(c, "triangles:", m->triangles, SPOT_MESH_MOST_TRIANGLES);
    if (m->normals > 1) return wrong(c, "with normals:", m->normals, 1);
    if (m->coordinates > 1) return wrong(c, "with coordinates:", m->coordinates, 1);
    if (m->colours > 1) return wrong(c, "with colours:", m->colours, 1);
    if (m->upright > 1) return wrong(c, "upright:", m->upright, 1);
    if (m->replaces > 1) return wrong(c, "replacing:", m->replaces, 1);
    if (m->materials > SPOT_WIRE_MATERIALS) return wrong(c, "materials:", m->materials, SPOT_WIRE_MATERIALS);
    if (m->textures > m->materials) return wrong(c, "textures:", m->textures, m->materials);
    return m->pictures <= SPOT_WIRE_PICTURES ? SPOT_OK : wrong(c, "pictures:", m->pictures, SPOT_WIRE_PICTURES);
}

/* One array; *out is malloc'd. */
static spot_status take_array(spot_ctx *c, spot_answer_source *in, void *out, size_t count, size_t size)
{
    void *to = malloc(count * size + 1);

    if (!to) return spot_fail(c, SPOT_NOMEM, "no memory for %zu bytes of a model", count * size);
    memcpy(out, &to, sizeof to);
    return in->take(c, in->from, to, count * size);
}

/* Not a number is the least. */
static float within(float v, float least, float most) { return !(v >= least) ? least : v > most ? most : v; }

static spot_status take_materials(spot_ctx *c, spot_mesh_answer *a, spot_answer_source *in)
{
    a->look = calloc((size_t)a->materials + 1, sizeof *a->look);
    if (!a->look) return spot_fail(c, SPOT_NOMEM, "no memory for %d materials", a->materials);
    for (int i = 0; i < a->materials; i++) {
        spot_wire_material m;
        spot_mesh_material *to = &a->look[i];
        SPOT_TRY(in->take(c, in->from, &m, sizeof m));
        if (m.texture < -1 || m.texture >= a->textures)
            return wrong(c, "of a material texture", (uint32_t)m.texture, (uint64_t)a->textures);
        for (int k = 0; k < 3; k++) {
            to->diffuse[k] = within(m.diffuse[k], 0, 1);
            to->specular[k] = within(m.specular[k], 0, 1);
        }
        to->shininess = within(m.shininess, 1, 1000);
        to->opacity = within(m.opacity, 0, 1);
        to->texture = m.texture, to->cutout = -1;
    }
    return SPOT_OK;
}

static spot_status take_textures(spot_ctx *c, spot_mesh_answer *a, spot_answer_source *in, int pictures)
{
    SPOT_TRY(take_array(c, in, &a->texture, (size_t)a->textures, sizeof *a->texture));
    for (int i = 0; i < a->textures; i++) {
        const spot_wire_texture *t = &a->texture[i];
        if (t->colour < -1 || t->colour >= pictures || t->holes < -1 || t->holes >= pictures)
            return wrong(c, "of a texture picture", (uint32_t)(t->colour < pictures ? t->holes : t->colour),
                         (uint32_t)pictures);
        if (t->alpha < SPOT_WIRE_OPAQUE || t->alpha > SPOT_WIRE_CUT)
            return wrong(c, "of a texture alpha", (uint32_t)t->alpha, SPOT_WIRE_CUT);
    }
    return SPOT_OK;
}

static spot_status take_pictures(spot_ctx *c, spot_mesh_answer *a, spot_answer_source *in, uint32_t pictures, size_t most)
{
    a->picture = calloc((size_t)pictures + 1, sizeof *a->picture);
    if (!a->picture) return spot_fail(c, SPOT_NOMEM, "no memory for %u pictures", pictures);
    for (; a->pictures < (int)pictures; a->pictures++) {
        spot_mesh_picture *to = &a->picture[a->pictures];
        spot_wire_picture p;
        SPOT_TRY(in->take(c, in->from, &p, sizeof p));
        if (p.embedded > 1) return wrong(c, "of a picture embedded:", p.embedded, 1);
        if (!p.embedded && p.length > SPOT_WIRE_NAME) return wrong(c, "of a picture's name bytes:", p.length, SPOT_WIRE_NAME);
        if (p.embedded && p.length > most) return wrong(c, "of a picture bytes:", p.length, most);
        if (p.embedded) most -= p.length;
        to->embedded = p.embedded, to->n = p.length;
        to->bytes = calloc((size_t)p.length + 1, 1);
        if (!to->bytes) return spot_fail(c, SPOT_NOMEM, "no memory for %u bytes of a picture", p.length);
        SPOT_TRY(in->take(c, in->from, to->bytes, p.length));
    }
    return SPOT_OK;
}

static spot_status take_triangles(spot_ctx *c, spot_mesh_answer *a, spot_answer_source *in, const spot_wire_mesh *m)
{
    const size_t corners = 3 * (size_t)m->triangles;

    a->triangles = (int)m->triangles;
    SPOT_TRY(take_array(c, in, &a->place, 3 * corners, sizeof *a->place));
    if (m->normals) SPOT_TRY(take_array(c, in, &a->normal, 3 * corners, sizeof *a->normal));
    if (m->coordinates) SPOT_TRY(take_array(c, in, &a->coordinate, 2 * corners, sizeof *a->coordinate));
    if (m->colours) SPOT_TRY(take_array(c, in, &a->colour, 3 * corners, sizeof *a->colour));
    SPOT_TRY(take_array(c, in, &a->material, m->triangles, sizeof *a->material));
    for (int i = 0; i < a->triangles; i++)
        if (a->material[i] < 0 || (uint32_t)a->material[i] >= m->materials)
            return wrong(c, "of a triangle material", (uint32_t)a->material[i], m->materials);
    return SPOT_OK;
}

static int count_of(uint32_t n) { return n > SPOT_MESH_MOST_TRIANGLES ? SPOT_MESH_MOST_TRIANGLES : (int)n; }

spot_status spot_mesh_answer_read(spot_ctx *c, spot_mesh_answer *a, spot_answer_source *in, size_t most)
{
    spot_wire_mesh m;

    memset(a, 0, sizeof *a);
    SPOT_TRY(in->take(c, in->from, &m, sizeof m));
    SPOT_TRY(check_counts(c, &m));
    a->upright = m.upright, a->replaces = m.replaces;
    a->polygons = count_of(m.polygons), a->crossed = count_of(m.crossed), a->lost = count_of(m.lost);
    a->shown = count_of(m.shown), a->mixed = count_of(m.mixed);
    SPOT_TRY(take_triangles(c, a, in, &m));
    a->materials = (int)m.materials, a->textures = (int)m.textures;
    SPOT_TRY(take_materials(c, a, in));
    SPOT_TRY(take_textures(c, a, in, (int)m.pictures));
    return take_pictures(c, a, in, m.pictures, most);
}

void spot_mesh_answer_close(spot_mesh_answer *a)
{
    free(a->place), free(a->normal), free(a->coordinate), free(a->colour), free(a->material);
    free(a->look), free(a->texture);
    for (int i = 0; a->picture && i <= a->pictures; i++) free(a->picture[i].bytes);
    free(a->picture);
    memset(a, 0, sizeof *a);
}
