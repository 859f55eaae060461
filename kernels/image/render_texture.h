/* render_texture.h - textures read for many samples together, as spot_render_tint and spot_render_channel read them, for
 * render_shade.c and render_holes.c. */
#ifndef SPOTTER_RENDER_TEXTURE_H
#define SPOTTER_RENDER_TEXTURE_H

#include "image/render_cpu.h"

/* Loops of lanes run over whole vectors: the rest of one would run number by number. */
static inline int spot_render_whole_lanes(int count)
{
    return (int)(((unsigned)count + SPOT_RENDER_LANES - 1) / SPOT_RENDER_LANES * SPOT_RENDER_LANES);
}

/* Up to a whole vector behind `count`, places are any, and `of` is NULL. */
typedef struct {
    int count;
    const spot_render_texture *of[SPOT_RENDER_CHUNK];  /* NULL: none, whose texels are 0 */
    float u[SPOT_RENDER_CHUNK], v[SPOT_RENDER_CHUNK], level[SPOT_RENDER_CHUNK];
    /* what is read, of the level before `level` and of the next one, which counts where part is above 0: where two is set */
    bool  two;
    int   width[2][SPOT_RENDER_CHUNK], height[2][SPOT_RENDER_CHUNK];
    const uint8_t *from[2][SPOT_RENDER_CHUNK];
    int   number[2][4][SPOT_RENDER_CHUNK];
    float right[2][SPOT_RENDER_CHUNK], below[2][SPOT_RENDER_CHUNK], part[SPOT_RENDER_CHUNK];
    uint32_t texel[2][4][SPOT_RENDER_CHUNK];
} spot_render_reading;

/* of, u, v and level -> the rest. */
void spot_render_read(spot_render_reading *r);

/* The mean of two levels. */
static inline float spot_render_between(const spot_render_reading *r, int i, float a, float b)
{
    return r->part[i] > 0 ? fmaf(r->part[i], b - a, a) : a;
}

static inline float spot_render_weight_at(const spot_render_reading *r, int n, int k, int i)
{
    const spot_render_taps t = { { 0 }, r->right[n][i], r->below[n][i] };

    return spot_render_weight(&t, k);
}

static inline float spot_render_channel_in(const spot_render_reading *r, int n, int i, int channel)
{
    float sum = 0;

    for (int k = 0; k < 4; k++)
        sum = fmaf(spot_render_weight_at(r, n, k, i), (float)(int)(r->texel[n][k][i] >> 8 * channel & 255), sum);
    return sum * (1.0f / 255);
}

#endif
