/* render_light.h - the light of render.h's samples: where a triangle is met, textures, shading, bytes and facts, for C and
 * CUDA. */
#ifndef SPOTTER_RENDER_LIGHT_H
#define SPOTTER_RENDER_LIGHT_H

#include "image/render_step.h"

typedef struct { float x, y, z; } spot_render_vector;

static inline SPOT_HD spot_render_vector spot_render_vector_at(const float *v)
{
    return (spot_render_vector){ v[0], v[1], v[2] };
}

static inline SPOT_HD spot_render_vector spot_render_minus(spot_render_vector a, spot_render_vector b)
{
    return (spot_render_vector){ a.x - b.x, a.y - b.y, a.z - b.z };
}

/* a + t b */
static inline SPOT_HD spot_render_vector spot_render_along(spot_render_vector a, float t, spot_render_vector b)
{
    return (spot_render_vector){ fmaf(t, b.x, a.x), fmaf(t, b.y, a.y), fmaf(t, b.z, a.z) };
}

static inline SPOT_HD float spot_render_product(spot_render_vector a, spot_render_vector b)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z));
}

static inline SPOT_HD spot_render_vector spot_render_normal_of(spot_render_vector a, spot_render_vector b)
{
    return (spot_render_vector){ fmaf(a.y, b.z, -(a.z * b.y)), fmaf(a.z, b.x, -(a.x * b.z)), fmaf(a.x, b.y, -(a.y * b.x)) };
}

/* 1 / length; 0 of a vector without length. */
static inline SPOT_HD float spot_render_unit(spot_render_vector a)
{
    const float square = spot_render_product(a, a);

    return square > 1e-30f ? 1 / sqrtf(square) : 0;
}

/* -- rays and triangles (Moeller and Trumbore 1997) ---------------------------------------------------------------------- */

/* The ray of a sample: its part against `back` has length 1. */
static inline SPOT_HD spot_render_vector spot_render_ray(const spot_render_view *v, float x, float y)
{
    const float right = fmaf(v->step, x, v->first), up = -fmaf(v->step, y, v->first);

    return (spot_render_vector){ fmaf(right, v->right[0], fmaf(up, v->up[0], -v->back[0])),
                                 fmaf(right, v->right[1], fmaf(up, v->up[1], -v->back[1])),
                                 fmaf(right, v->right[2], fmaf(up, v->up[2], -v->back[2])) };
}

/* A triangle a, b, c from the eye: a ray's product with `second` over that with `all` is the weight of b, and so on. */
typedef struct { spot_render_vector all, second, third; } spot_render_weights;

static inline SPOT_HD spot_render_weights spot_render_weights_of(spot_render_vector eye, spot_render_vector a,
                                                                 spot_render_vector b, spot_render_vector c)
{
    const spot_render_vector to_b = spot_render_minus(b, a), to_c = spot_render_minus(c, a), to_eye = spot_render_minus(eye, a);

    return (spot_render_weights){ spot_render_normal_of(to_c, to_b), spot_render_normal_of(to_c, to_eye),
                                  spot_render_normal_of(to_eye, to_b) };
}

/* Where a ray meets a triangle: weights of its second and third corner, limited to the triangle, and the ray's product with
 * `all`, which is above 0 on the side on which the corners run against the clock. */
typedef struct { float second, third, all; } spot_render_hit;

static inline SPOT_HD spot_render_hit spot_render_meet(const spot_render_weights *w, spot_render_vector ray)
{
    const float all = spot_render_product(ray, w->all), one = 1 / all;
    float second = spot_render_product(ray, w->second) * one, third = spot_render_product(ray, w->third) * one;

    second = second > 0 ? second : 0;
    second = second < 1 ? second : 1;
    third = third > 0 ? third : 0;
    third = third < 1 - second ? third : 1 - second;
    return (spot_render_hit){ second, third, all };
}

static inline SPOT_HD float spot_render_mix(float a, float b, float c, spot_render_hit h)
{
    return fmaf(h.third, c - a, fmaf(h.second, b - a, a));
}

static inline SPOT_HD spot_render_vector spot_render_normal_in(spot_render_vector a, spot_render_vector b,
                                                               spot_render_vector c, spot_render_hit h)
{
    return (spot_render_vector){ spot_render_mix(a.x, b.x, c.x, h), spot_render_mix(a.y, b.y, c.y, h),
                                 spot_render_mix(a.z, b.z, c.z, h) };
}

/* -- textures ------------------------------------------------------------------------------------------------------------ */

/* A place in a texture: coordinates, and what they change from a pixel to the next one to the right and below. */
typedef struct { float u, v, du[2], dv[2]; } spot_render_spot;

static inline SPOT_HD spot_render_spot spot_render_spot_of(const spot_render_view *view, const spot_render_weights *w,
                                                           spot_render_hit h, const float *a, const float *b, const float *c)
{
    const float pixel = view->step * (float)view->samples / h.all;
    const float *axis[2] = { view->right, view->up };
    spot_render_spot s = { spot_render_mix(a[0], b[0], c[0], h), spot_render_mix(a[1], b[1], c[1], h), { 0 }, { 0 } };

    for (int k = 0; k < 2; k++) {
        const spot_render_vector along = spot_render_vector_at(axis[k]);
        const float all = spot_render_product(along, w->all);
        const float second = (spot_render_product(along, w->second) - h.second * all) * pixel;
        const float third = (spot_render_product(along, w->third) - h.third * all) * pixel;
        s.du[k] = fmaf(third, c[0] - a[0], second * (b[0] - a[0]));
        s.dv[k] = fmaf(third, c[1] - a[1], second * (b[1] - a[1]));
    }
    return s;
}

/* log2 of the texels of level 0 (width, height) that a pixel spans, from 0 to the last level. */
static inline SPOT_HD float spot_render_level_of(float width, float height, float last, const spot_render_spot *s)
{
    float most = 1;

    for (int k = 0; k < 2; k++) {
        const float u = s->du[k] * width, v = s->dv[k] * height, square = fmaf(u, u, v * v);
        most = square > most ? square : most;
    }
    most = most < 1e9f ? most : 1e9f;
    most = spot_logf(most) * (0.5f / 0.693147181f);
    return most < last ? most : last;
}

static inline SPOT_HD float spot_render_level(const spot_render_texture *t, const spot_render_spot *s)
{
    return spot_render_level_of((float)t->width, (float)t->height, (float)(t->levels - 1), s);
}

/* A level of a texture. */
typedef struct { const uint8_t *texel; int width, height; } spot_render_face;

static inline SPOT_HD spot_render_face spot_render_smaller(spot_render_face f)
{
    return (spot_render_face){ f.texel + 4 * (size_t)f.width * (size_t)f.height, f.width > 1 ? f.width / 2 : 1,
                               f.height > 1 ? f.height / 2 : 1 };
}

static inline SPOT_HD spot_render_face spot_render_face_of(const spot_render_texture *t, int k)
{
    spot_render_face f = { t->texel, t->width, t->height };

    for (; k > 0; k--) f = spot_render_smaller(f);
    return f;
}

/* The four texels around a place, (0, 0), (0, 1), (1, 0) and (1, 1): their numbers in a level, and the part of the right and of
 * the lower ones. */
typedef struct { int number[4]; float right, below; } spot_render_taps;

static inline SPOT_HD int spot_render_whole(float x, int count)
{
    const int i = (int)x;

    return i < 0 ? count - 1 : i < count ? i : 0;
}

static inline SPOT_HD spot_render_taps spot_render_taps_of(int width, int height, float u, float v)
{
    const float x = (u - floorf(u)) * (float)width - 0.5f, y = (1 - (v - floorf(v))) * (float)height - 0.5f;
    const float left = floorf(x), top = floorf(y);
    const int column = spot_render_whole(left, width), next = spot_render_whole(left + 1, width);
    const int row = spot_render_whole(top, height) * width, under = spot_render_whole(top + 1, height) * width;

    return (spot_render_taps){ { row + column, row + next, under + column, under + next }, x - left, y - top };
}

static inline SPOT_HD float spot_render_weight(const spot_render_taps *t, int i)
{
    return (i % 2 ? t->right : 1 - t->right) * (i / 2 ? t->below : 1 - t->below);
}

/* Red, green and blue times alpha, and alpha, which is 255 where it is full. linear (256): the light of bytes. */
typedef struct { float sum[4]; } spot_render_texel;

static inline SPOT_HD spot_render_texel spot_render_look_up(const spot_render_texture *t, int k, const spot_render_spot *s,
                                                            const float *linear)
{
    const spot_render_face f = spot_render_face_of(t, k);
    const spot_render_taps taps = spot_render_taps_of(f.width, f.height, s->u, s->v);
    spot_render_texel out = { { 0 } };

    for (int i = 0; i < 4; i++) {
        const uint8_t *p = f.texel + 4 * (size_t)taps.number[i];
        const float alpha = spot_render_weight(&taps, i) * (float)p[3];
        for (int c = 0; c < 3; c++) out.sum[c] = fmaf(alpha, linear[p[c]], out.sum[c]);
        out.sum[3] += alpha;
    }
    return out;
}

/* colour (3) times a texture's colour. */
static inline SPOT_HD void spot_render_tint(float *colour, const spot_render_texture *t, const spot_render_spot *s,
                                            const float *linear)
{
    const float level = spot_render_level(t, s), part = level - floorf(level);
    spot_render_texel a = spot_render_look_up(t, (int)level, s, linear);

    if (part > 0) {
        const spot_render_texel b = spot_render_look_up(t, (int)level + 1, s, linear);
        for (int c = 0; c < 4; c++) a.sum[c] = fmaf(part, b.sum[c] - a.sum[c], a.sum[c]);
    }
    for (int c = 0; c < 3; c++) colour[c] *= a.sum[3] > 0 ? a.sum[c] / a.sum[3] : 0;
}

/* colour (3) times the colours of a triangle's corners. */
static inline SPOT_HD void spot_render_dye(float *colour, const spot_render_body *m, int triangle, spot_render_hit h)
{
    const uint32_t *corner = m->corner + triangle;
    const uint32_t a = corner[0], b = corner[m->triangles], c = corner[2 * (size_t)m->triangles];

    for (int k = 0; k < 3; k++) {
        const float *of = m->colour + (size_t)k * (size_t)m->vertices;
        colour[k] *= spot_render_mix(of[a], of[b], of[c], h);
    }
}

/* One channel of a texture, from 0 to 1. */
static inline SPOT_HD float spot_render_channel_at(const spot_render_texture *t, int k, const spot_render_spot *s, int channel)
{
    const spot_render_face f = spot_render_face_of(t, k);
    const spot_render_taps taps = spot_render_taps_of(f.width, f.height, s->u, s->v);
    float sum = 0;

    for (int i = 0; i < 4; i++)
        sum = fmaf(spot_render_weight(&taps, i), (float)f.texel[4 * (size_t)taps.number[i] + (size_t)channel], sum);
    return sum * (1.0f / 255);
}

static inline SPOT_HD float spot_render_channel(const spot_render_texture *t, const spot_render_spot *s, int channel)
{
    const float level = spot_render_level(t, s), part = level - floorf(level);
    const float a = spot_render_channel_at(t, (int)level, s, channel);

    return part > 0 ? fmaf(part, spot_render_channel_at(t, (int)level + 1, s, channel) - a, a) : a;
}

/* The light of a byte, and the byte of light: the sRGB curve. */
static inline SPOT_HD float spot_render_linear(int byte)
{
    const float v = (float)byte / 255;

    return v <= 0.04045f ? v * (1 / 12.92f) : spot_expf_within(2.4f * spot_logf((v + 0.055f) * (1 / 1.055f)));
}

/* v from 0 to 1. */
static inline SPOT_HD float spot_render_curve(float v)
{
    const float safe = v > 0.0031308f ? v : 0.0031308f;
    const float high = fmaf(1.055f, spot_expf_within(spot_logf(safe) * (1 / 2.4f)), -0.055f);

    return v > 0.0031308f ? high : v * 12.92f;
}

static inline SPOT_HD int spot_render_byte(float v) { return (int)fmaf(255, spot_render_curve(v), 0.5f); }

/* -- opacity ------------------------------------------------------------------------------------------------------------- */

/* Whether a sample lets an opacity through: an ordered pattern of 4 x 4 (Bayer 1973). */
static inline SPOT_HD bool spot_render_is_covered(float opacity, int x, int y)
{
    const int a = x ^ y, order = (a & 1) << 3 | (y & 1) << 2 | (a & 2) | (y & 2) >> 1;

    return opacity * 16 > (float)order + 0.5f;
}

/* Three corners of a triangle. */
typedef struct { const spot_render_vertex *a, *b, *c; } spot_render_corners;

static inline SPOT_HD spot_render_corners spot_render_corners_of(const spot_render_body *m, int triangle)
{
    const size_t t = (size_t)triangle, count = (size_t)m->triangles;

    return (spot_render_corners){ m->vertex + m->corner[t], m->vertex + m->corner[count + t],
                                  m->vertex + m->corner[2 * count + t] };
}

static inline SPOT_HD spot_render_weights spot_render_weights_from(const spot_render_view *v, spot_render_corners t)
{
    return spot_render_weights_of(spot_render_vector_at(v->eye), spot_render_vector_at(t.a->place),
                                  spot_render_vector_at(t.b->place), spot_render_vector_at(t.c->place));
}

/* Whether triangle t, which has holes, covers sample (x, y) within its edges. */
static inline SPOT_HD bool spot_render_is_solid(const spot_render_view *v, const spot_render_body *m, int triangle, int x,
                                                int y)
{
    const spot_mesh_material *look = m->material + (m->look[triangle] & SPOT_RENDER_MATERIAL);
    float opacity = look->opacity;

    if (look->texture >= 0 || look->cutout >= 0) {
        const spot_render_corners t = spot_render_corners_of(m, triangle);
        const spot_render_weights w = spot_render_weights_from(v, t);
        const spot_render_hit hit = spot_render_meet(&w, spot_render_ray(v, (float)x, (float)y));
        const spot_render_spot s = spot_render_spot_of(v, &w, hit, t.a->at, t.b->at, t.c->at);
        if (look->texture >= 0) opacity *= spot_render_channel(m->texture + look->texture, &s, 3);
        if (look->cutout >= 0) opacity *= spot_render_channel(m->texture + look->cutout, &s, 0);
    }
    return spot_render_is_covered(opacity, x, y);
}

/* -- light --------------------------------------------------------------------------------------------------------------- */

/* x^n of x from 0 to 1. */
static inline SPOT_HD float spot_render_power(float x, float n)
{
    const float safe = x > 1e-9f ? x : 1e-9f, power = spot_expf(n * spot_logf(safe));

    return x > 1e-9f ? power : 0;
}

/* Light from a side, times max(0, N.L); and with Blinn and Phong's power. */
typedef struct { float plain, shine; } spot_render_light;

static inline SPOT_HD spot_render_light spot_render_from(spot_render_vector light, spot_render_vector normal,
                                                         spot_render_vector to_eye, float energy, float shininess, bool shiny)
{
    const float facing = spot_render_product(normal, light), plain = energy * (facing > 0 ? facing : 0);
    const spot_render_vector half = { light.x + to_eye.x, light.y + to_eye.y, light.z + to_eye.z };

    if (!shiny) return (spot_render_light){ plain, 0 };
    return (spot_render_light){ plain, plain * spot_render_power(spot_render_product(normal, half) * spot_render_unit(half),
                                                                 shininess) };
}

/* The light that a sample's k_d and k_s take. ray: through the sample; normal: of any length, on either side. */
typedef struct { spot_render_vector ray, normal; float q, shininess; bool turned; } spot_render_sight;

static inline SPOT_HD spot_render_light spot_render_lit(const spot_render_view *v, const spot_render_sight *s, bool shiny)
{
    const float unit = spot_render_unit(s->normal), turn = s->turned ? -unit : unit, back = -spot_render_unit(s->ray);
    const spot_render_vector normal = { s->normal.x * turn, s->normal.y * turn, s->normal.z * turn };
    const spot_render_vector to_eye = { s->ray.x * back, s->ray.y * back, s->ray.z * back };
    const spot_render_vector place = spot_render_along(spot_render_vector_at(v->eye), 1 / s->q, s->ray);
    const spot_render_vector to_lamp = spot_render_minus(spot_render_vector_at(v->lamp), place);
    const float square = spot_render_product(to_lamp, to_lamp), one = spot_render_unit(to_lamp), reach = v->reach;
    const spot_render_vector lamp = { to_lamp.x * one, to_lamp.y * one, to_lamp.z * one };
    const float fall = v->falloff == SPOT_FALLOFF_SQUARE ? reach * reach / fmaf(reach, reach, square)
                                                         : reach / (reach + sqrtf(square));
    const spot_render_light a = spot_render_from(spot_render_vector_at(v->sun), normal, to_eye, v->sun_energy, s->shininess,
                                                 shiny);
    const spot_render_light b = spot_render_from(lamp, normal, to_eye, v->lamp_energy * fall, s->shininess, shiny);

    return (spot_render_light){ v->ambient + (a.plain + b.plain), v->specular * (a.shine + b.shine) };
}

/* A channel of a sample, from 0 to 1. */
static inline SPOT_HD float spot_render_shown(spot_render_light l, float diffuse, float specular)
{
    const float v = fmaf(specular, l.shine, diffuse * l.plain);

    return v > 0 ? v < 1 ? v : 1 : 0;
}

/* A channel of a pixel: the sum of its covered samples, and how many are not. */
static inline SPOT_HD float spot_render_mean(float sum, int bare, float ground, float one)
{
    const float v = fmaf((float)bare, ground, sum) * one;

    return v < 1 ? v : 1;
}

/* -- facts --------------------------------------------------------------------------------------------------------------- */

/* Sums of an image: covered samples, covered pixels of the border, luminance of the covered samples and its square. */
enum { SPOT_RENDER_COVERED, SPOT_RENDER_BORDER, SPOT_RENDER_LIGHT, SPOT_RENDER_SQUARE, SPOT_RENDER_SUMS };

/* A whole number from 0 to 65,535. */
static inline SPOT_HD uint32_t spot_render_luminance(float r, float g, float b)
{
    return (uint32_t)fmaf(65535, fmaf(0.2126f, r, fmaf(0.7152f, g, 0.0722f * b)), 0.5f);
}

/* ground: the background's mean luminance, from 0 to 65,535. */
static inline SPOT_HD spot_shot_facts spot_render_facts_of(const spot_render_view *v, const unsigned long long *sum,
                                                           double ground)
{
    const double covered = (double)sum[SPOT_RENDER_COVERED], count = covered > 0 ? covered : 1;
    const double mean = (double)sum[SPOT_RENDER_LIGHT] / count, square = (double)sum[SPOT_RENDER_SQUARE] / count - mean * mean;
    spot_shot_facts f = { 0 };

    f.inside = v->inside;
    if (!(covered > 0)) return f;
    f.area = (float)(covered / ((double)v->side * v->side));
    f.border = (float)((double)sum[SPOT_RENDER_BORDER] / (4 * (v->size - 1)));
    f.light = (float)(mean / 65535);
    f.spread = (float)(square > 0 ? sqrt(square) / 65535 : 0);
    f.contrast = fabsf(spot_render_curve(f.light) - spot_render_curve((float)(ground / 65535)));
    return f;
}

#endif
