/* mesh_texture.c - the levels of a texture: means in linear light, colours by their alpha. */
#include "image/render_light.h"
#include "worlds/mesh_parts.h"

static int half(int side) { return side > 1 ? side / 2 : 1; }

void spot_mesh_level_size(int *width, int *height, int k)
{
    for (; k > 0; k--) *width = half(*width), *height = half(*height);
}

int spot_mesh_levels_of(int width, int height)
{
    int levels = 1;

    for (; width > 1 || height > 1; levels++) width = half(width), height = half(height);
    return levels;
}

size_t spot_mesh_texture_bytes(int width, int height, int levels)
{
    size_t bytes = 0;

    for (int k = 0; k < levels; k++) {
        bytes += 4 * (size_t)width * (size_t)height;
        width = half(width), height = half(height);
    }
    return bytes;
}

/* The texels that texel i of a level covers in one direction, and their integer weights: an odd side has 2 n + 1 texels for n,
 * so each covers two texels and an nth. */
typedef struct { int first, count; float weight[3]; } taps;

static taps taps_of(int i, int side)
{
    const int n = side / 2;

    if (side == 1)     return (taps){ 0, 1, { 1, 0, 0 } };
    if (side % 2 == 0) return (taps){ 2 * i, 2, { 1, 1, 0 } };
    return (taps){ 2 * i, 3, { (float)(n - i), (float)n, (float)(i + 1) } };
}

static void mean_of(uint8_t *to, const uint8_t *from, int width, const taps *x, const taps *y, const float *light)
{
    float plain[3] = { 0 }, colour[3] = { 0 }, all = 0, alpha = 0;

    for (int j = 0; j < y->count; j++)
        for (int i = 0; i < x->count; i++) {
            const uint8_t *p = from + 4 * ((size_t)(y->first + j) * (size_t)width + (size_t)(x->first + i));
            const float w = x->weight[i] * y->weight[j];
            all += w, alpha += w * p[3];
            for (int k = 0; k < 3; k++) plain[k] += w * light[p[k]], colour[k] += w * p[3] * light[p[k]];
        }
    for (int k = 0; k < 3; k++) {
        const float v = alpha > 0 ? colour[k] / alpha : plain[k] / all;
        to[k] = (uint8_t)spot_render_byte(v < 1 ? v : 1);
    }
    to[3] = (uint8_t)(alpha / all + 0.5f);
}

void spot_mesh_halve(uint8_t *to, const uint8_t *from, int width, int height)
{
    const int across = half(width), down = half(height);
    float light[256];

    for (int i = 0; i < 256; i++) light[i] = spot_render_linear(i);
    for (int i = 0; i < down; i++) {
        const taps y = taps_of(i, height);
        for (int j = 0; j < across; j++, to += 4) {
            const taps x = taps_of(j, width);
            mean_of(to, from, width, &x, &y, light);
        }
    }
}

/* A texel is read before its place is written. */
void spot_mesh_reduce(spot_mesh_texture *t)
{
    while (t->width > SPOT_MESH_TEXTURE_SIDE || t->height > SPOT_MESH_TEXTURE_SIDE) {
        spot_mesh_halve(t->texel, t->texel, t->width, t->height);
        spot_mesh_level_size(&t->width, &t->height, 1);
    }
}
