/* render_step.h - cameras, projected vertices and triangles of render.h, for C and CUDA.
 *
 * Samples have whole numbers, from the upper left one. Their centres lie at 256 i + 128 in the units of projected vertices. */
#ifndef SPOTTER_RENDER_STEP_H
#define SPOTTER_RENDER_STEP_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/vmath.h"
#include "image/render.h"

enum {
    SPOT_RENDER_GUARD = 1 << 22,        /* projected vertices lie so near to the image's middle; triangles are cut there */
    SPOT_RENDER_WIDE = 1 << 18,         /* edge functions of triangles of this side fit into 32 bits */
    SPOT_RENDER_CORNERS = 8             /* of a triangle that five planes have cut */
};

/* -- meshes -------------------------------------------------------------------------------------------------------------- */

typedef struct { float place[3], normal[3], at[2]; } spot_render_vertex;      /* at: coordinates in textures */

typedef struct {
    const uint8_t *texel;
    int width, height, levels;
} spot_render_texture;

/* A triangle's look: its material, and these. */
enum {
    SPOT_RENDER_MATERIAL = 0xffff,
    SPOT_RENDER_TURNED = 1 << 16,       /* the normals point away from the side on which its corners run against the clock */
    SPOT_RENDER_HOLES = 1 << 17         /* opacity is below 1 somewhere */
};

/* Arrays in the memory of a device. */
typedef struct {
    int vertices, triangles;
    const float *place;                 /* (3, vertices) */
    const float *colour;                /* (3, vertices); NULL: none */
    const uint32_t *corner;             /* (3, triangles) */
    const spot_render_vertex *vertex;   /* (vertices) */
    const uint32_t *look;               /* (triangles) */
    const spot_mesh_material *material;
    const spot_render_texture *texture;
} spot_render_body;

struct spot_render_mesh {
    spot_render_body body;
    float  low[3], high[3];             /* the box of the vertices that triangles use */
    void  *owned;                       /* memory of the device */
};

/* -- cameras ------------------------------------------------------------------------------------------------------------- */

/* Conditions and settings, ready for drawing. */
typedef struct {
    int   size, samples, side;          /* side: samples of the image's side */
    int   picture, inside, falloff;
    float right[3], up[3], back[3];     /* the camera's axes; it looks against `back` */
    float distance, near;
    float eye[3], sun[3], lamp[3];      /* sun: towards it */
    float scale, middle;                /* units of a slope of 1, and of half an image */
    float step, first;                  /* slopes: of a sample's width, and of the first sample's centre */
    float ambient, specular, sun_energy, lamp_energy;      /* ambient and energies times exposure */
    float reach;                        /* falloff_distance */
    float ground[3];                    /* background */
} spot_render_view;

static inline void spot_render_towards(float *to, double azimuth, double elevation)
{
    const double turn = 3.14159265358979323846 / 180, a = azimuth * turn, u = elevation * turn;

    to[0] = (float)(cos(a) * cos(u));
    to[1] = (float)(sin(a) * cos(u));
    to[2] = (float)sin(u);
}

static inline void spot_render_axes(spot_render_view *v, double azimuth, double elevation, double roll)
{
    const double turn = 3.14159265358979323846 / 180, a = azimuth * turn, u = elevation * turn, t = roll * turn;
    const double right[3] = { -sin(a), cos(a), 0 }, up[3] = { -sin(u) * cos(a), -sin(u) * sin(a), cos(u) };

    spot_render_towards(v->back, azimuth, elevation);
    for (int k = 0; k < 3; k++) {
        v->right[k] = (float)(cos(t) * right[k] - sin(t) * up[k]);
        v->up[k] = (float)(sin(t) * right[k] + cos(t) * up[k]);
    }
}

/* R (0, 0, 1) of three angles. */
static inline void spot_render_sun(float *sun, double x, double y, double z)
{
    const double turn = 3.14159265358979323846 / 180, a = x * turn, b = y * turn, c = z * turn;

    sun[0] = (float)(cos(c) * sin(b) * cos(a) + sin(c) * sin(a));
    sun[1] = (float)(sin(c) * sin(b) * cos(a) - cos(c) * sin(a));
    sun[2] = (float)(cos(b) * cos(a));
}

static inline bool spot_render_is_within(const struct spot_render_mesh *m, const float *eye)
{
    for (int k = 0; k < 3; k++)
        if (!(eye[k] >= m->low[k] && eye[k] <= m->high[k])) return false;
    return true;
}

static inline spot_render_view spot_render_view_of(const spot_render_settings *s, const spot_shot *shot,
                                                   const struct spot_render_mesh *m)
{
    const float *f = shot->at.value;
    const double slope = tan(s->view / 2 * (3.14159265358979323846 / 180));
    spot_render_view v = { .size = s->size, .samples = s->samples, .side = s->size * s->samples, .picture = shot->picture,
                           .falloff = s->falloff, .distance = f[SPOT_CAMERA_DISTANCE], .near = (float)s->near,
                           .specular = (float)s->specular, .reach = (float)s->falloff_distance };

    spot_render_axes(&v, f[SPOT_CAMERA_AZIMUTH], f[SPOT_CAMERA_ELEVATION], f[SPOT_CAMERA_ROLL]);
    spot_render_sun(v.sun, f[SPOT_SUN_X], f[SPOT_SUN_Y], f[SPOT_SUN_Z]);
    spot_render_towards(v.lamp, f[SPOT_LAMP_AZIMUTH], f[SPOT_LAMP_ELEVATION]);
    for (int k = 0; k < 3; k++) {
        v.lamp[k] *= f[SPOT_LAMP_DISTANCE];
        v.eye[k] = v.back[k] * v.distance;
        v.ground[k] = (float)s->background[k];
    }
    v.inside = spot_render_is_within(m, v.eye);
    v.middle = 128.0f * (float)v.side;
    v.scale = (float)(128 * v.side / slope);
    v.step = (float)(2 * slope / v.side);
    v.first = (float)(slope / v.side - slope);
    v.ambient = (float)(s->ambient * s->exposure);
    v.sun_energy = (float)(s->sun_scale * s->exposure * f[SPOT_SUN_ENERGY]);
    v.lamp_energy = (float)(s->lamp_scale * s->exposure * f[SPOT_LAMP_ENERGY]);
    return v;
}

static inline SPOT_HD float spot_render_dot(const float *a, float x, float y, float z)
{
    return fmaf(a[0], x, fmaf(a[1], y, a[2] * z));
}

/* -- vertices ------------------------------------------------------------------------------------------------------------ */

typedef struct { float x, y, depth; } spot_render_place;       /* along right, up and against back */

/* A projected vertex, to the right and downwards. q: reciprocal depth; 0 where it is too near or too far aside to have one. */
typedef struct { int32_t x, y; float q; } spot_render_point;

static inline SPOT_HD spot_render_place spot_render_place_of(const spot_render_view *v, float x, float y, float z)
{
    return (spot_render_place){ spot_render_dot(v->right, x, y, z), spot_render_dot(v->up, x, y, z),
                                v->distance - spot_render_dot(v->back, x, y, z) };
}

static inline SPOT_HD float spot_render_limit(float x, float most)
{
    x = x < most ? x : most;
    return x > -most ? x : -most;
}

/* The place is not cut off. */
static inline SPOT_HD spot_render_point spot_render_project(const spot_render_view *v, spot_render_place p)
{
    const float q = 1 / p.depth, most = (float)SPOT_RENDER_GUARD;
    const float x = spot_render_limit(p.x * v->scale * q, most), y = spot_render_limit(p.y * v->scale * q, most);

    return (spot_render_point){ (int32_t)rintf(v->middle + x), (int32_t)rintf(v->middle - y), q };
}

static inline SPOT_HD spot_render_point spot_render_point_of(const spot_render_view *v, spot_render_place p)
{
    const float most = (float)SPOT_RENDER_GUARD * p.depth;
    const bool in = (p.depth >= v->near) & (fabsf(p.x) * v->scale <= most) & (fabsf(p.y) * v->scale <= most);
    const spot_render_place safe = { in ? p.x : 0, in ? p.y : 0, in ? p.depth : 1 };
    spot_render_point out = spot_render_project(v, safe);

    out.q = in ? out.q : 0;
    return out;
}

/* -- triangles ----------------------------------------------------------------------------------------------------------- */

/* The samples whose centres lie in a triangle's box, and its planes there. A sample is covered where all three edges are at
 * least 0. An edge is exact: rounded down to a whole number of 256 units^2, so it has the sign of the edge's function. */
typedef struct {
    int32_t x, y, wide, high;           /* the first sample, and how many; wide 0: none */
    double  edge[3];                    /* of the first sample */
    int32_t right[3], down[3];          /* what the next one adds */
    float   q, q_right, q_down, least, most;       /* reciprocal depth, and its limits */
    int32_t large;                      /* edges do not fit into 32 bits */
} spot_render_triangle;

static inline SPOT_HD int32_t spot_render_less(int32_t a, int32_t b) { return a < b ? a : b; }
static inline SPOT_HD int32_t spot_render_more(int32_t a, int32_t b) { return a > b ? a : b; }

/* Conditions are -1 or 0 and choose bit by bit, so that loops of lanes stay without branches. */
static inline SPOT_HD int32_t spot_render_all(bool condition) { return -(int32_t)condition; }
static inline SPOT_HD int32_t spot_render_pick(int32_t first, int32_t a, int32_t b) { return (a & first) | (b & ~first); }

static inline SPOT_HD spot_render_point spot_render_either(int32_t first, spot_render_point a, spot_render_point b)
{
    return (spot_render_point){ spot_render_pick(first, a.x, b.x), spot_render_pick(first, a.y, b.y),
                                spot_bits_float(spot_render_pick(first, spot_float_bits(a.q), spot_float_bits(b.q))) };
}

/* The edge from a to b, of which the inside lies on the right hand, at (x, y). A left or an upper edge owns its samples. */
static inline SPOT_HD double spot_render_edge(spot_render_point a, spot_render_point b, int32_t x, int32_t y)
{
    const double across = (double)(b.x - a.x) * (y - a.y) - (double)(b.y - a.y) * (x - a.x);
    const int32_t owned = spot_render_all(b.y < a.y) | (spot_render_all(b.y == a.y) & spot_render_all(b.x > a.x));

    return floor((across - (double)(1 + owned)) * (1.0 / 256));
}

static inline SPOT_HD int32_t spot_render_before(spot_render_point a, spot_render_point b)
{
    return spot_render_all(a.y < b.y) | (spot_render_all(a.y == b.y) & spot_render_all(a.x < b.x));
}

/* The planes of a triangle with its first corner on top and the others in the order of the clock. */
static inline SPOT_HD spot_render_triangle spot_render_planes(spot_render_point a, spot_render_point b, spot_render_point c,
                                                              double area, int32_t x, int32_t y)
{
    const double bx = b.x - a.x, by = b.y - a.y, cx = c.x - a.x, cy = c.y - a.y, bq = (double)b.q - a.q, cq = (double)c.q - a.q;
    const double one = 1 / area, right = (bq * cy - cq * by) * one, down = (cq * bx - bq * cx) * one;
    const int32_t cx_first = 256 * x + 128, cy_first = 256 * y + 128;
    spot_render_triangle t;

    t.edge[0] = spot_render_edge(a, b, cx_first, cy_first);
    t.edge[1] = spot_render_edge(b, c, cx_first, cy_first);
    t.edge[2] = spot_render_edge(c, a, cx_first, cy_first);
    t.right[0] = a.y - b.y, t.right[1] = b.y - c.y, t.right[2] = c.y - a.y;
    t.down[0] = b.x - a.x, t.down[1] = c.x - b.x, t.down[2] = a.x - c.x;
    t.q = (float)(a.q + (right * (cx_first - a.x) + down * (cy_first - a.y)));
    t.q_right = (float)(256 * right);
    t.q_down = (float)(256 * down);
    t.least = a.q < b.q ? a.q : b.q, t.least = c.q < t.least ? c.q : t.least;
    t.most = a.q > b.q ? a.q : b.q, t.most = c.q > t.most ? c.q : t.most;
    return t;
}

/* side: samples of the image's side. The corners come in any order. */
static inline SPOT_HD spot_render_triangle spot_render_set_up(int side, spot_render_point a, spot_render_point b,
                                                              spot_render_point c)
{
    const double twice = (double)(b.x - a.x) * (c.y - a.y) - (double)(c.x - a.x) * (b.y - a.y);
    const int32_t turned = spot_render_all(twice < 0);
    const spot_render_point second = spot_render_either(turned, c, b), third = spot_render_either(turned, b, c);
    const int32_t to_second = spot_render_before(second, a) & ~spot_render_before(third, second);
    const int32_t to_third = spot_render_before(third, a) & spot_render_before(third, second);
    const spot_render_point p = spot_render_either(to_second, second, spot_render_either(to_third, third, a));
    const spot_render_point q = spot_render_either(to_second, third, spot_render_either(to_third, a, second));
    const spot_render_point r = spot_render_either(to_second, a, spot_render_either(to_third, second, third));
    const int32_t left = spot_render_less(a.x, spot_render_less(b.x, c.x)), top = p.y;
    const int32_t end = spot_render_more(a.x, spot_render_more(b.x, c.x)), bottom = spot_render_more(q.y, r.y);
    const int32_t x = spot_render_more((left + 127) >> 8, 0), y = spot_render_more((top + 127) >> 8, 0);
    const int32_t wide = spot_render_less((end - 128) >> 8, side - 1) - x + 1;
    const int32_t high = spot_render_less((bottom - 128) >> 8, side - 1) - y + 1;
    spot_render_triangle t = spot_render_planes(p, q, r, fabs(twice), x, y);

    t.x = x;
    t.y = y;
    t.wide = wide & spot_render_all(wide > 0) & spot_render_all(high > 0) & spot_render_all(twice != 0);
    t.high = high;
    t.large = spot_render_all(spot_render_more(end - left, bottom - top) >= SPOT_RENDER_WIDE);
    return t;
}

/* The bits of the reciprocal depth of a row's sample, `right` samples beside the triangle's first; q: of the row. Greater ones
 * are nearer. */
static inline SPOT_HD int32_t spot_render_depth(const spot_render_triangle *t, float q, float right)
{
    float at = q + t->q_right * right;

    at = at > t->least ? at : t->least;
    at = at < t->most ? at : t->most;
    return spot_float_bits(at);
}

static inline SPOT_HD float spot_render_row(const spot_render_triangle *t, float down) { return t->q + t->q_down * down; }

/* -- cutting ------------------------------------------------------------------------------------------------------------- */

typedef struct { int corners; spot_render_place at[SPOT_RENDER_CORNERS]; } spot_render_polygon;

/* How far a place lies within plane k of five. */
static inline SPOT_HD float spot_render_within(const spot_render_view *v, int k, spot_render_place p)
{
    const float aside = k < 3 ? p.x : p.y, most = (float)SPOT_RENDER_GUARD * p.depth;

    if (k == 0) return p.depth - v->near;
    return fmaf(k % 2 ? -aside : aside, v->scale, most);
}

/* From a place within to one outside: triangles on either side of an edge get the same place. */
static inline SPOT_HD spot_render_place spot_render_cross(const spot_render_view *v, spot_render_place in,
                                                          spot_render_place out, float a, float b)
{
    const float t = a / (a - b), depth = fmaf(t, out.depth - in.depth, in.depth);

    return (spot_render_place){ fmaf(t, out.x - in.x, in.x), fmaf(t, out.y - in.y, in.y),
                                depth > v->near ? depth : v->near };
}

static inline SPOT_HD void spot_render_cut(const spot_render_view *v, spot_render_polygon *p)
{
    for (int k = 0; k < 5; k++) {
        spot_render_polygon kept;
        kept.corners = 0;
        for (int i = 0; i < p->corners; i++) {
            const spot_render_place here = p->at[i], next = p->at[i + 1 < p->corners ? i + 1 : 0];
            const float a = spot_render_within(v, k, here), b = spot_render_within(v, k, next);
            if (a >= 0 && kept.corners < SPOT_RENDER_CORNERS) kept.at[kept.corners++] = here;
            if ((a >= 0) != (b >= 0) && kept.corners < SPOT_RENDER_CORNERS)
                kept.at[kept.corners++] = a >= 0 ? spot_render_cross(v, here, next, a, b)
                                                 : spot_render_cross(v, next, here, b, a);
        }
        *p = kept;
    }
}

#endif
