/* render_texture.c - the texels around places in textures: places in vectors, texels one by one. */
#include "image/render_texture.h"

enum { LANES = SPOT_RENDER_LANES };

/* Lanes without a texture read a texel of their own. */
static void find_levels(spot_render_reading *r, int count)
{
    static const uint8_t nothing[4];

    for (int i = 0; i < count; i++) {
        const spot_render_texture *t = r->of[i];
        const int k = t ? (int)r->level[i] : 0;
        spot_render_face f = t ? spot_render_face_of(t, k) : (spot_render_face){ nothing, 1, 1 };
        r->from[0][i] = f.texel, r->width[0][i] = f.width, r->height[0][i] = f.height;
        if (!r->two) continue;
        if (t && k + 1 < t->levels) f = spot_render_smaller(f);
        r->from[1][i] = f.texel, r->width[1][i] = f.width, r->height[1][i] = f.height;
    }
}

/* restrict: texels are stored beside what says where they are. */
static void fetch(uint32_t *restrict texel, const uint8_t *const *restrict from, const int *restrict number, int count)
{
    for (int i = 0; i < count; i++) memcpy(texel + i, from[i] + 4 * (size_t)number[i], sizeof *texel);
}

static inline void find_one(spot_render_reading *r, int n, int i)
{
    const spot_render_taps t = spot_render_taps_of(r->width[n][i], r->height[n][i], r->u[i], r->v[i]);

    for (int k = 0; k < 4; k++) r->number[n][k][i] = t.number[k];
    r->right[n][i] = t.right, r->below[n][i] = t.below;
}

/* Structs within a loop of lanes would be arrays in memory: a function of its own has them in registers. */
__attribute__((flatten)) static void find_taps(spot_render_reading *r, int n)
{
#pragma omp simd
    for (int i = 0; i < spot_render_whole_lanes(r->count); i++) find_one(r, n, i);
}

static bool find_parts(spot_render_reading *r)
{
    int two = 0;

#pragma omp simd reduction(| : two)
    for (int i = 0; i < spot_render_whole_lanes(r->count); i++) {
        r->part[i] = r->level[i] - floorf(r->level[i]);
        two |= r->part[i] > 0;
    }
    return two;
}

void spot_render_read(spot_render_reading *r)
{
    const int count = spot_render_whole_lanes(r->count);

    r->two = find_parts(r);
    find_levels(r, count);
    for (int n = 0; n <= r->two; n++) {
        find_taps(r, n);
        for (int k = 0; k < 4; k++) fetch(r->texel[n][k], r->from[n], r->number[n][k], count);
    }
}
