/* render_holes.c - triangles with holes on the CPU: of the samples within the edges and in front, those that are solid, as
 * spot_render_is_solid says it. A triangle's samples are collected and read in textures together, in vectors. */
#include "image/render_texture.h"

enum { LANES = SPOT_RENDER_LANES };

/* Texture k, the cut-out for k = 1, of the collected samples; NULL: none. */
typedef struct {
    spot_render_weights weights;
    float at[3][2];                    /* coordinates of the corners */
    float wide, high, last;            /* the texture's level 0, and its last level */
    const float *x, *y;
} looked_at;

static looked_at look_at(const spot_render_view *v, const spot_render_body *m, const spot_render_hole *h,
                         const spot_render_texture *t)
{
    const spot_render_corners corner = spot_render_corners_of(m, (int)h->triangle);
    looked_at l = { .weights = spot_render_weights_from(v, corner), .wide = (float)t->width, .high = (float)t->height,
                    .last = (float)(t->levels - 1), .x = h->x, .y = h->y };

    for (int c = 0; c < 2; c++) l.at[0][c] = corner.a->at[c], l.at[1][c] = corner.b->at[c], l.at[2][c] = corner.c->at[c];
    return l;
}

/* Where sample i lies in the texture. */
static inline void find_place(const spot_render_view *v, const looked_at *at, spot_render_reading *to, int i)
{
    const spot_render_hit hit = spot_render_meet(&at->weights, spot_render_ray(v, at->x[i], at->y[i]));
    const spot_render_spot s = spot_render_spot_of(v, &at->weights, hit, at->at[0], at->at[1], at->at[2]);

    to->u[i] = s.u, to->v[i] = s.v;
    to->level[i] = spot_render_level_of(at->wide, at->high, at->last, &s);
}

/* Structs within a loop of lanes would be arrays in memory: a function of its own has them in registers. */
__attribute__((flatten)) static void find_places(const spot_render_view *view, const looked_at *of, spot_render_reading *to)
{
    const spot_render_view v = *view;
    const looked_at at = *of;

#pragma omp simd
    for (int i = 0; i < spot_render_whole_lanes(to->count); i++) find_place(&v, &at, to, i);
}

static inline void multiply(float *restrict opacity, const spot_render_reading *r, int channel, bool two)
{
#pragma omp simd
    for (int i = 0; i < spot_render_whole_lanes(r->count); i++) {
        const float a = spot_render_channel_in(r, 0, i, channel);
        opacity[i] *= two ? spot_render_between(r, i, a, spot_render_channel_in(r, 1, i, channel)) : a;
    }
}

/* opacity (h->count) times a channel of a texture. */
static void read_channel(float *restrict opacity, const spot_render_lane *lane, const spot_render_hole *h, int texture,
                         int channel)
{
    const spot_render_texture *t = lane->body->texture + texture;
    const looked_at at = look_at(&lane->view, lane->body, h, t);
    spot_render_reading r;

    r.count = h->count;
    for (int i = 0; i < spot_render_whole_lanes(r.count); i++) r.of[i] = t;
    find_places(&lane->view, &at, &r);
    spot_render_read(&r);
    if (r.two) multiply(opacity, &r, channel, true);
    else       multiply(opacity, &r, channel, false);
}

void spot_render_put_solid(const spot_render_lane *lane, spot_render_hole *h)
{
    const spot_mesh_material *look = lane->body->material + (lane->body->look[h->triangle] & SPOT_RENDER_MATERIAL);
    float opacity[SPOT_RENDER_CHUNK];

    if (!h->count) return;
    for (int i = 0; i < spot_render_whole_lanes(h->count); i++) opacity[i] = look->opacity;
    for (int i = h->count; i < spot_render_whole_lanes(h->count); i++) h->x[i] = h->x[0], h->y[i] = h->y[0];
    if (look->texture >= 0) read_channel(opacity, lane, h, look->texture, 3);
    if (look->cutout >= 0) read_channel(opacity, lane, h, look->cutout, 0);
    for (int i = 0; i < h->count; i++) {
        const int x = (int)h->x[i], y = (int)h->y[i];
        const size_t at = (size_t)y * lane->pitch + (size_t)x;
        if (!spot_render_is_covered(opacity[i], x, y)) continue;
        lane->depth[at] = h->depth[i];
        lane->triangle[at] = h->triangle;
    }
    h->count = 0;
}
