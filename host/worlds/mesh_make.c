/* mesh_make.c - triangles as they come -> a mesh: what is broken is dropped, the rest is turned, centred, scaled and welded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/key.h"
#include "spotter/arena.h"
#include "worlds/mesh_parts.h"

/* A triangle whose height is less than this share of its longest side has no area. */
#define THIN 1e-8
/* Greatest coordinate of a texture. They repeat, so a greater one is a smaller one. */
#define FAR_COORDINATE 500.0f
enum { MOST_MATERIALS = 65536, MOST_TEXTURES = 65536, MOST_SIDE = 32768 };

spot_mesh_options spot_mesh_defaults(void)
{
    return (spot_mesh_options){ .crease = 45, .seconds = 60, .memory = (size_t)2 << 30, .file = (size_t)256 << 20 };
}

typedef struct {
    const spot_mesh_triangles *t;
    const char *name;
    double turn[9];                        /* row by row: the file's axes -> ours */
    double middle[3], scale;
    size_t triangles;                      /* that are kept ... */
    int  *kept;                            /* ... (t->triangles), in order */
    float *row;                            /* (triangles, 3, SPOT_ROW) */
    uint32_t *number, *first;              /* (triangles, 3): vertices; the row of each vertex */
    size_t vertices;
    int flat, not_finite, made;
} maker;

/* -- checks --------------------------------------------------------------------------------------------------------------- */

static bool within(double v, double least, double most) { return v >= least && v <= most; }

static spot_status check_looks(spot_ctx *c, const spot_mesh_triangles *t, const char *name)
{
    for (int i = 0; i < t->materials; i++) {
        const spot_mesh_material *l = &t->look[i];
        bool ok = within(l->shininess, 1, 1000) && within(l->opacity, 0, 1);
        for (int k = 0; k < 3; k++) ok = ok && within(l->diffuse[k], 0, 1) && within(l->specular[k], 0, 1);
        if (!ok)
            return spot_fail(c, SPOT_INVALID, "{mesh.material} %s: material %d has a colour or an opacity outside 0 to 1, or a "
                             "shininess outside 1 to 1000", name, i);
        if (l->texture < -1 || l->texture >= t->textures || l->cutout < -1 || l->cutout >= t->textures)
            return spot_fail(c, SPOT_INVALID, "{mesh.material_texture} %s: material %d has texture %d and cut-out %d of %d",
                             name, i, l->texture, l->cutout, t->textures);
    }
    for (int i = 0; i < t->textures; i++) {
        const spot_mesh_texture *x = &t->texture[i];
        if (!within(x->width, 1, MOST_SIDE) || !within(x->height, 1, MOST_SIDE) || !x->texel)
            return spot_fail(c, SPOT_INVALID, "%s: texture %d has %d x %d texels", name, i, x->width, x->height);
    }
    return SPOT_OK;
}

static spot_status check_triangles(spot_ctx *c, const spot_mesh_triangles *t, const char *name)
{
    if (t->triangles < 1) return spot_fail(c, SPOT_INPUT, "{mesh.no_triangles} %s has no triangles", name);
    if (t->triangles > SPOT_MESH_MOST_TRIANGLES)
        return spot_fail(c, SPOT_INPUT, "{mesh.triangles} %s has %d triangles; at most %d are read: reduce it with a modelling "
                         "program", name, t->triangles, SPOT_MESH_MOST_TRIANGLES);
    if (!within(t->materials, 1, MOST_MATERIALS) || !within(t->textures, 0, MOST_TEXTURES))
        return spot_fail(c, SPOT_INPUT, "{mesh.materials} %s has %d materials and %d textures; 1 to %d materials and at most "
                         "%d textures can be read", name, t->materials, t->textures, MOST_MATERIALS, MOST_TEXTURES);
    for (int i = 0; t->material && i < t->triangles; i++)
        if (t->material[i] < 0 || t->material[i] >= t->materials)
            return spot_fail(c, SPOT_INVALID, "{mesh.triangle_material} %s: triangle %d has material %d of %d", name, i,
                             t->material[i], t->materials);
    return check_looks(c, t, name);
}

/* The file's axes -> ours: its own rotation, then the y that points up becomes z, as in Blender's import. */
static spot_status set_turn(spot_ctx *c, maker *k, const spot_mesh_options *o)
{
    static const double none[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, zero[9] = { 0 };
    const double *r = memcmp(o->turn, zero, sizeof zero) ? o->turn : none;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double product = r[3 * i] * r[3 * j] + r[3 * i + 1] * r[3 * j + 1] + r[3 * i + 2] * r[3 * j + 2];
            if (!within(product, (i == j) - 1e-3, (i == j) + 1e-3))
                return spot_fail(c, SPOT_INVALID, "{mesh.turn} %s: the turn is no rotation: rows %d and %d have a product of "
                                 "%g", k->name, i, j, product);
        }
    for (int j = 0; j < 3; j++) {
        k->turn[j] = r[j];
        k->turn[3 + j] = o->z_up ? r[3 + j] : -r[6 + j];
        k->turn[6 + j] = o->z_up ? r[6 + j] : r[3 + j];
    }
    return within(o->crease, 0, 180) ? SPOT_OK
         : spot_fail(c, SPOT_INVALID, "{mesh.crease} %s: a crease angle of %g; 0 to 180 degrees are possible", k->name,
                     o->crease);
}

/* -- triangles that are kept ---------------------------------------------------------------------------------------------- */

static void turned(const maker *k, double *to, const float *v)
{
    for (int i = 0; i < 3; i++) to[i] = k->turn[3 * i] * v[0] + k->turn[3 * i + 1] * v[1] + k->turn[3 * i + 2] * v[2];
}

/* Twice the area, squared, and the longest side, squared, of p (3, 3). */
static double area_of(const double *p, double *longest)
{
    double d[3][3], a[3], sum = 0;

    *longest = 0;
    for (int e = 0; e < 3; e++) {
        double length = 0;
        for (int j = 0; j < 3; j++) {
            d[e][j] = p[3 * ((e + 1) % 3) + j] - p[3 * e + j];
            length += d[e][j] * d[e][j];
        }
        *longest = length > *longest ? length : *longest;
    }
    for (int j = 0; j < 3; j++) {
        a[j] = d[0][(j + 1) % 3] * d[1][(j + 2) % 3] - d[0][(j + 2) % 3] * d[1][(j + 1) % 3];
        sum += a[j] * a[j];
    }
    return sum;
}

/* Lists the triangles that are finite and have an area, and finds their box. */
static void keep_whole(maker *k)
{
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY }, diagonal = 0;

    for (int i = 0; i < k->t->triangles; i++) {
        const float *v = k->t->place + 9 * (size_t)i;
        double p[9], longest, area;
        bool finite = true;
        for (int e = 0; e < 9; e++) finite = finite && isfinite(v[e]);
        for (int e = 0; e < 3; e++) turned(k, p + 3 * e, v + 3 * e);
        k->not_finite += !finite;
        if (!finite) continue;
        area = area_of(p, &longest);
        if (!(area > THIN * THIN * longest * longest)) {
            k->flat++;
            continue;
        }
        k->kept[k->triangles++] = i;
        for (int e = 0; e < 9; e++) low[e % 3] = fmin(low[e % 3], p[e]), high[e % 3] = fmax(high[e % 3], p[e]);
    }
    for (int j = 0; j < 3; j++) {
        k->middle[j] = low[j] + (high[j] - low[j]) / 2;
        diagonal += (high[j] - low[j]) * (high[j] - low[j]);
    }
    k->scale = 1 / sqrt(diagonal);
}

/* -- rows ----------------------------------------------------------------------------------------------------------------- */

/* + 0.0f makes -0 the same as 0, whose bits weld. */
static void put_normal(const maker *k, float *to, const float *v)
{
    double n[3], length;

    turned(k, n, v);
    length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int j = 0; j < 3; j++) to[j] = length > 0 && isfinite(length) ? (float)(n[j] / length) + 0.0f : 0;
}

/* Coordinates repeat: those of a triangle far from 0 are moved by whole numbers, which a file's rounding already spoils. */
static void put_coordinates(float *row, const float *v)
{
    for (int j = 0; j < 2; j++) {
        bool far = false;
        float first;
        for (int e = 0; e < 3; e++) far = far || !(fabsf(v[2 * e + j]) <= FAR_COORDINATE);
        first = far && isfinite(v[j]) ? floorf(v[j]) : 0;
        for (int e = 0; e < 3; e++) {
            const float moved = v[2 * e + j] - first;
            row[e * SPOT_ROW + SPOT_ROW_COORDINATE + j] = fabsf(moved) <= FAR_COORDINATE ? moved + 0.0f : 0;
        }
    }
}

/* Not a number is 0. */
static float part_of_one(float v) { return v > 0 ? v < 1 ? v : 1 : 0; }

/* Three rows. False: rounding has left the triangle no area. */
static bool put_rows(const maker *k, float *row, size_t triangle)
{
    const spot_mesh_triangles *t = k->t;
    double p[9], longest;

    for (size_t e = 0; e < 3; e++) {
        float *to = row + e * SPOT_ROW;
        turned(k, p + 3 * e, t->place + 9 * triangle + 3 * e);
        for (size_t j = 0; j < 3; j++) {
            to[j] = (float)((p[3 * e + j] - k->middle[j]) * k->scale) + 0.0f;
            p[3 * e + j] = to[j];
        }
        memset(to + SPOT_ROW_NORMAL, 0, (SPOT_ROW - SPOT_ROW_NORMAL) * sizeof *to);
        if (t->normal) put_normal(k, to + SPOT_ROW_NORMAL, t->normal + 9 * triangle + 3 * e);
    }
    if (t->coordinate) put_coordinates(row, t->coordinate + 6 * triangle);
    for (size_t e = 0; t->colour && e < 9; e++)
        row[e / 3 * SPOT_ROW + SPOT_ROW_COLOUR + e % 3] = part_of_one(t->colour[9 * triangle + e]);
    return area_of(p, &longest) > 0;
}

static void put_all_rows(maker *k)
{
    size_t kept = 0;

    for (size_t i = 0; i < k->triangles; i++) {
        k->kept[kept] = k->kept[i];
        if (put_rows(k, k->row + 3 * kept * SPOT_ROW, (size_t)k->kept[i])) kept++;
        else k->flat++;
    }
    k->triangles = kept;
}

/* -- the mesh ------------------------------------------------------------------------------------------------------------- */

static spot_mesh_texture frame_of(const spot_mesh_texture *x)
{
    spot_mesh_texture to = { x->width, x->height, 0, NULL };

    while (to.width > SPOT_MESH_TEXTURE_SIDE || to.height > SPOT_MESH_TEXTURE_SIDE)
        spot_mesh_level_size(&to.width, &to.height, 1);
    to.levels = spot_mesh_levels_of(to.width, to.height);
    return to;
}

static spot_status fill_first_level(spot_ctx *c, uint8_t *to, const spot_mesh_texture *x)
{
    const size_t bytes = 4 * (size_t)x->width * (size_t)x->height;
    spot_mesh_texture copy = *x;

    if (x->width <= SPOT_MESH_TEXTURE_SIDE && x->height <= SPOT_MESH_TEXTURE_SIDE) {
        memcpy(to, x->texel, bytes);
        return SPOT_OK;
    }
    copy.texel = malloc(bytes);
    if (!copy.texel) return spot_fail(c, SPOT_NOMEM, "no memory to reduce a texture of %d x %d texels", x->width, x->height);
    memcpy(copy.texel, x->texel, bytes);
    spot_mesh_reduce(&copy);
    memcpy(to, copy.texel, 4 * (size_t)copy.width * (size_t)copy.height);
    free(copy.texel);
    return SPOT_OK;
}

static spot_status fill_texture(spot_ctx *c, const spot_mesh_texture *to, const spot_mesh_texture *x)
{
    int width = to->width, height = to->height;
    uint8_t *at = to->texel;

    SPOT_TRY(fill_first_level(c, at, x));
    for (int k = 1; k < to->levels; k++) {
        uint8_t *next = at + 4 * (size_t)width * (size_t)height;
        spot_mesh_halve(next, at, width, height);
        spot_mesh_level_size(&width, &height, 1);
        at = next;
    }
    return SPOT_OK;
}

static void *part(char *base, size_t *used, size_t bytes)
{
    void *at = base ? base + *used : NULL;

    *used += spot_arena_room(bytes);
    return at;
}

/* Lays the arrays out in one piece of memory; with base NULL only counts. */
static size_t lay_out(spot_mesh *m, const maker *k, char *base)
{
    const size_t vertices = k->vertices, triangles = k->triangles;
    size_t used = 0;

    m->place = part(base, &used, 3 * vertices * sizeof *m->place);
    m->normal = part(base, &used, 3 * vertices * sizeof *m->normal);
    m->coordinate = k->t->coordinate ? part(base, &used, 2 * vertices * sizeof *m->coordinate) : NULL;
    m->colour = k->t->colour ? part(base, &used, 3 * vertices * sizeof *m->colour) : NULL;
    m->corner = part(base, &used, 3 * triangles * sizeof *m->corner);
    m->material = part(base, &used, triangles * sizeof *m->material);
    m->look = part(base, &used, (size_t)k->t->materials * sizeof *m->look);
    m->texture = part(base, &used, (size_t)k->t->textures * sizeof *m->texture);
    for (int i = 0; i < k->t->textures; i++) {
        spot_mesh_texture x = frame_of(&k->t->texture[i]);
        x.texel = part(base, &used, spot_mesh_texture_bytes(x.width, x.height, x.levels));
        if (base) m->texture[i] = x;
    }
    return used;
}

static void fill_arrays(spot_mesh *m, const maker *k)
{
    for (size_t v = 0; v < k->vertices; v++) {
        const float *row = k->row + (size_t)k->first[v] * SPOT_ROW;
        for (size_t j = 0; j < 3; j++) {
            m->place[j * k->vertices + v] = row[j];
            m->normal[j * k->vertices + v] = row[SPOT_ROW_NORMAL + j];
            if (m->colour) m->colour[j * k->vertices + v] = row[SPOT_ROW_COLOUR + j];
            if (j < 2 && m->coordinate) m->coordinate[j * k->vertices + v] = row[SPOT_ROW_COORDINATE + j];
        }
    }
    for (size_t i = 0; i < k->triangles; i++) {
        for (size_t j = 0; j < 3; j++) m->corner[j * k->triangles + i] = k->number[3 * i + j];
        m->material[i] = k->t->material ? (uint16_t)k->t->material[k->kept[i]] : 0;
    }
    memcpy(m->look, k->t->look, (size_t)k->t->materials * sizeof *m->look);
}

static void set_hash(spot_mesh *m)
{
    const size_t vertices = (size_t)m->vertices, triangles = (size_t)m->triangles;
    spot_key key = spot_key_of(&m->vertices, 4 * sizeof(int));

    key = spot_key_join(key, "place", m->place, 3 * vertices * sizeof *m->place);
    key = spot_key_join(key, "normal", m->normal, 3 * vertices * sizeof *m->normal);
    if (m->coordinate) key = spot_key_join(key, "coordinate", m->coordinate, 2 * vertices * sizeof *m->coordinate);
    if (m->colour) key = spot_key_join(key, "colour", m->colour, 3 * vertices * sizeof *m->colour);
    key = spot_key_join(key, "corner", m->corner, 3 * triangles * sizeof *m->corner);
    key = spot_key_join(key, "material", m->material, triangles * sizeof *m->material);
    key = spot_key_join(key, "look", m->look, (size_t)m->materials * sizeof *m->look);
    for (int i = 0; i < m->textures; i++) {
        const spot_mesh_texture *x = &m->texture[i];
        key = spot_key_join(key, "size", &x->width, 2 * sizeof(int));
        key = spot_key_join(key, "texel", x->texel, spot_mesh_texture_bytes(x->width, x->height, x->levels));
    }
    spot_key_text(m->hash, key);
}

static spot_status fill_mesh(spot_ctx *c, spot_mesh *m, const maker *k)
{
    m->vertices = (int)k->vertices, m->triangles = (int)k->triangles;
    m->materials = k->t->materials, m->textures = k->t->textures;
    m->bytes = lay_out(m, k, NULL);
    m->owned = calloc(m->bytes, 1);
    if (!m->owned) return spot_fail(c, SPOT_NOMEM, "%s: no memory for a mesh of %.1f MB", k->name, (double)m->bytes / 1e6);
    lay_out(m, k, m->owned);
    fill_arrays(m, k);
    for (int i = 0; i < m->textures; i++) SPOT_TRY(fill_texture(c, &m->texture[i], &k->t->texture[i]));
    m->repairs = (spot_mesh_repairs){ .flat = k->flat, .not_finite = k->not_finite, .made_normals = k->made };
    set_hash(m);
    return SPOT_OK;
}

static spot_status fail_empty(spot_ctx *c, const maker *k)
{
    return spot_fail(c, SPOT_INPUT, "{mesh.not_drawable} %s has no triangle that can be drawn: of %d, %d have no area and %d "
                     "are not finite", k->name, k->t->triangles, k->flat, k->not_finite);
}

static spot_status make(spot_ctx *c, spot_mesh *m, maker *k, const spot_mesh_options *o)
{
    k->kept = malloc((size_t)k->t->triangles * sizeof *k->kept);
    if (!k->kept) return spot_fail(c, SPOT_NOMEM, "%s: no memory for %d triangles", k->name, k->t->triangles);
    keep_whole(k);
    if (!k->triangles) return fail_empty(c, k);
    k->row = malloc(3 * k->triangles * SPOT_ROW * sizeof *k->row);
    k->number = malloc(3 * k->triangles * sizeof *k->number);
    k->first = malloc(3 * k->triangles * sizeof *k->first);
    if (!k->row || !k->number || !k->first)
        return spot_fail(c, SPOT_NOMEM, "%s: no memory for %zu triangles", k->name, k->triangles);
    put_all_rows(k);
    if (!k->triangles) return fail_empty(c, k);
    SPOT_TRY(spot_mesh_make_normals(c, k->row, k->triangles, o->crease, &k->made));
    SPOT_TRY(spot_mesh_weld(c, k->row, 3 * k->triangles, SPOT_ROW, k->number, k->first, &k->vertices));
    return fill_mesh(c, m, k);
}

spot_status spot_mesh_build(spot_ctx *c, spot_mesh *m, const spot_mesh_triangles *t, const spot_mesh_options *o,
                            const char *name)
{
    const spot_mesh_options usual = spot_mesh_defaults();
    maker k = { .t = t, .name = name };
    spot_status s;

    memset(m, 0, sizeof *m);
    o = o ? o : &usual;
    SPOT_TRY(check_triangles(c, t, name));
    SPOT_TRY(set_turn(c, &k, o));
    s = make(c, m, &k, o);
    free(k.kept), free(k.row), free(k.number), free(k.first);
    return s;
}

spot_status spot_mesh_make(spot_ctx *c, spot_mesh *m, const spot_mesh_triangles *t, const spot_mesh_options *o)
{
    return spot_mesh_build(c, m, t, o, "the mesh");
}

void spot_mesh_close(spot_mesh *m)
{
    free(m->owned);
    memset(m, 0, sizeof *m);
}
