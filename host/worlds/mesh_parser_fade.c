/* mesh_parser_fade.c - see mesh_parser_fade.h. */
#include "worlds/mesh_parser_fade.h"

#include <math.h>
#include <stdlib.h>

enum { CLEAR = 0, SOLID = 255 };

static int alpha_of(const struct aiMesh *mesh, uint32_t vertex, double unit)
{
    const double a = mesh->mColors[0][vertex].a / unit;

    return a < 1 ? a > 0 ? (int)lround(SOLID * a) : CLEAR : SOLID;         /* not a number is solid */
}

static bool is_cut(const spot_picture_place *p, int alpha) { return alpha < (double)p->cutoff * SOLID; }

static uint32_t copy_of(spot_fades *f, uint32_t material, int alpha)
{
    const spot_picture_place *p = &f->place[material];
    uint32_t **copy = &f->copy[material];
    spot_wire_material *more;

    if (!*copy && !(*copy = calloc(SOLID + 1, sizeof **copy))) spot_parser_give_up();
    if ((*copy)[alpha] || f->materials == f->most) return (*copy)[alpha] ? (*copy)[alpha] : material;
    more = realloc(f->look, (f->materials + 1) * sizeof *more);
    if (!more) spot_parser_give_up();
    f->look = more;
    more[f->materials] = more[material];
    if (p->alpha != SPOT_WIRE_CUT) more[f->materials].opacity *= (float)alpha / SOLID;
    else if (is_cut(p, alpha)) more[f->materials].opacity = 0;
    return (*copy)[alpha] = f->materials++;
}

uint32_t *spot_fades_of(spot_fades *f, const struct aiMesh *mesh, const uint32_t *corner, uint64_t triangles, double unit)
{
    const uint32_t own = mesh->mMaterialIndex;
    bool fades = false;

    if (!mesh->mColors[0] || own >= f->given || f->place[own].alpha == SPOT_WIRE_OPAQUE) return NULL;
    for (unsigned v = 0; v < mesh->mNumVertices; v++) fades = fades || alpha_of(mesh, v, unit) < SOLID;
    if (!fades) return NULL;
    uint32_t *material = malloc((triangles + 1) * sizeof *material);
    if (!material) spot_parser_give_up();
    for (uint64_t i = 0; i < triangles; i++) {
        const uint32_t *e = corner + 3 * i;
        const int a = alpha_of(mesh, e[0], unit), b = alpha_of(mesh, e[1], unit), c = alpha_of(mesh, e[2], unit);
        const int mean = (a + b + c + 1) / 3;
        f->mixed += a != b || b != c;
        material[i] = mean == SOLID ? own : copy_of(f, own, mean);
    }
    return material;
}
