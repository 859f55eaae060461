/* mesh_repairs.c - what is not drawn as a model's file says: a model of which nothing would be seen, and the words. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "worlds/mesh_answer.h"
#include "worlds/mesh_parts.h"

bool spot_mesh_is_model(const char *name)
{
    static const char *const known[] = { ".obj", ".ply", ".gltf", ".glb", ".stl", ".off", ".dae", ".3ds", ".fbx" };
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(dot, known[i])) return true;
    return false;
}

/* -- what nothing is seen of ---------------------------------------------------------------------------------------------- */

static bool shows(const spot_mesh_material *l, const spot_mesh_texture *texture)
{
    const spot_mesh_texture *t = l->texture >= 0 ? &texture[l->texture] : NULL;

    if (!(l->opacity > 0)) return false;
    for (size_t i = 0; t && i < (size_t)t->width * (size_t)t->height; i++)
        if (t->texel[4 * i + 3]) return true;
    return !t || !t->width;
}

bool spot_mesh_is_seen(const spot_mesh_answer *a, const spot_mesh_texture *texture)
{
    int last = -1;

    for (int i = 0; i < a->triangles; i++) {
        if (a->material[i] == last) continue;
        last = a->material[i];
        if (shows(&a->look[last], texture)) return true;
    }
    return false;
}

int spot_mesh_make_opaque(spot_mesh_answer *a, spot_mesh_texture *texture)
{
    int hidden = 0;

    for (int i = 0; i < a->materials; i++) hidden += !shows(&a->look[i], texture);
    for (int i = 0; i < a->materials; i++) a->look[i].opacity = 1;
    for (int k = 0; k < a->textures; k++)
        for (size_t i = 0; i < (size_t)texture[k].width * (size_t)texture[k].height; i++) texture[k].texel[4 * i + 3] = 255;
    return hidden;
}

/* -- words ---------------------------------------------------------------------------------------------------------------- */

void spot_mesh_repairs_name(spot_mesh_repairs *r, const char *name)
{
    if (*r->lost) return;
    snprintf(r->lost, sizeof r->lost, "%s", name);
    spot_plain(r->lost);
}

typedef struct { char *to; size_t used; } sentence;

/* Adds "3 textures are not there" of {3, "texture", "is not there", "are not there"}. */
static void add(sentence *s, int n, const char *noun, const char *one, const char *many)
{
    if (!n || s->used >= SPOT_MESH_WORDS - 1) return;
    s->used += (size_t)snprintf(s->to + s->used, SPOT_MESH_WORDS - s->used, "%s%d %s%s %s", s->used ? "; " : "", n, noun,
                                n == 1 ? "" : "s", n == 1 ? one : many);
    if (s->used >= SPOT_MESH_WORDS) s->used = SPOT_MESH_WORDS - 1;
}

const char *spot_mesh_repairs_say(char to[SPOT_MESH_WORDS], const spot_mesh_repairs *r)
{
    sentence s = { to, 0 };

    *to = 0;
    add(&s, r->lost_textures, "texture", "is not there or cannot be read", "are not there or cannot be read");
    add(&s, r->lost_materials, "file", "of materials is not there", "of materials are not there");
    if (*r->lost && s.used < SPOT_MESH_WORDS - 1) {
        s.used += (size_t)snprintf(to + s.used, SPOT_MESH_WORDS - s.used, " (%s)", r->lost);
        if (s.used >= SPOT_MESH_WORDS) s.used = SPOT_MESH_WORDS - 1;
    }
    add(&s, r->refused, "file", "outside of its folder is not read", "outside of its folder are not read");
    add(&s, r->made_opaque, "material", "lets nothing of it be seen and is drawn opaque",
        "let nothing of it be seen and are drawn opaque");
    add(&s, r->mixed, "triangle", "whose corners have other alphas is drawn with their mean",
        "whose corners have other alphas are drawn with their mean");
    add(&s, r->crossed, "polygon", "crosses itself", "cross themselves");
    add(&s, r->not_finite, "triangle", "has a place that is no number and is left out",
        "have places that are no numbers and are left out");
    add(&s, r->lost_corners, "face", "names normals or coordinates that are not there",
        "name normals or coordinates that are not there");
    return to;
}
