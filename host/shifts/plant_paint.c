/* plant_paint.c - see plant_paint.h. */
#include "shifts/plant_paint.h"

#include <stdlib.h>
#include <string.h>

#include "image/raster_pixel.h"

static const uint32_t table_rgb[SPOT_PLANT_TABLES] = { 0x8b5a2b, 0xe08cb4, 0x289696, 0x8c8c28 };
static const uint32_t cross_rgb = 0xc83c78, rain_rgb = 0xb4c8e6;

static void put_rgb(uint8_t *at, uint32_t rgb)
{
    at[0] = (uint8_t)(rgb >> 16);
    at[1] = (uint8_t)(rgb >> 8);
    at[2] = (uint8_t)rgb;
}

static uint8_t byte_of(int v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v); }

/* -- colours ------------------------------------------------------------------------------------------------------- */

static uint32_t body_rgb(const spot_plant_look *look, uint32_t drawn)
{
    return look->body == SPOT_BODY_RED ? 0xc81e1e : look->body == SPOT_BODY_PURPLE ? 0x8232b4 : drawn;
}

/* Ground at (x, y). The drawn one is white, grey or a speck; specks stay on every ground but a table. */
static uint32_t ground_rgb(const spot_plant_look *look, uint32_t drawn, int x, int y, int side)
{
    int field = side / 8;

    if (look->table && y >= side - side / 5) return table_rgb[look->table - 1];
    if (drawn == spot_ink_rgb(SPOT_NOISE)) return drawn;
    if (look->ground == SPOT_GROUND_GREEN) return drawn == spot_ink_rgb(SPOT_WHITE) ? 0x50a05a : 0x468c50;
    if (look->ground == SPOT_GROUND_CHECKERED) return (x / field + y / field) % 2 ? 0xe6e6e6 : 0x9696aa;
    return drawn;
}

static uint32_t pixel_rgb(const spot_plant_look *look, const uint8_t *scene, int x, int y, int side)
{
    uint32_t drawn = (uint32_t)scene[0] << 16 | (uint32_t)scene[1] << 8 | scene[2];

    if (drawn == spot_ink_rgb(SPOT_BLUE) || drawn == spot_ink_rgb(SPOT_ORANGE)) return body_rgb(look, drawn);
    return drawn == spot_ink_rgb(SPOT_BLACK) ? drawn : ground_rgb(look, drawn, x, y, side);
}

static void paint_cross(uint8_t *rgb, const spot_plant_look *look, int side)
{
    int n = spot_plant_cross_side(side), arm = n / 3;

    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            if (x / arm == 1 || y / arm == 1)
                put_rgb(rgb + 3 * ((look->cross_y + y) * side + look->cross_x + x), cross_rgb);
}

/* -- effects ------------------------------------------------------------------------------------------------------- */

static int luma_at(const uint8_t *rgb, int x, int y, int side)
{
    const uint8_t *p = rgb + 3 * ((y < side ? y : side - 1) * side + (x < side ? x : side - 1));

    return (77 * p[0] + 150 * p[1] + 29 * p[2]) >> 8;
}

/* Dark lines on paper, where brightness changes from a pixel to the next. */
static void sketch(uint8_t *rgb, int side, uint8_t *scratch)
{
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            int here = luma_at(rgb, x, y, side);
            int change = abs(luma_at(rgb, x + 1, y, side) - here) + abs(luma_at(rgb, x, y + 1, side) - here);
            scratch[y * side + x] = byte_of(245 - 2 * change < 50 ? 50 : 245 - 2 * change);
        }
    for (int i = 0; i < side * side; i++) memset(rgb + 3 * i, scratch[i], 3);
}

/* The mean of each tile in place of its pixels. */
static void mosaic(uint8_t *rgb, int side)
{
    int tile = side / 16;

    for (int y = 0; y < side; y += tile)
        for (int x = 0; x < side; x += tile)
            for (int k = 0; k < 3; k++) {
                int sum = tile * tile / 2;
                for (int i = 0; i < tile * tile; i++) sum += rgb[3 * ((y + i / tile) * side + x + i % tile) + k];
                for (int i = 0; i < tile * tile; i++)
                    rgb[3 * ((y + i / tile) * side + x + i % tile) + k] = (uint8_t)(sum / (tile * tile));
            }
}

/* Means over 2 * reach + 1 neighbours along a line of the picture; the ends are repeated. step: bytes between neighbours. */
static void smooth_line(uint8_t *to, const uint8_t *from, int n, int step, int reach)
{
    for (int i = 0; i < n; i++) {
        int sum = reach;
        for (int k = i - reach; k <= i + reach; k++) sum += from[(k < 0 ? 0 : k >= n ? n - 1 : k) * step];
        to[i * step] = (uint8_t)(sum / (2 * reach + 1));
    }
}

/* Two box filters in each direction, about a Gaussian of 2.8 pixels at 64 pixels a side. */
static void blur(uint8_t *rgb, int side, uint8_t *scratch)
{
    int reach = side * 3 / 64 > 1 ? side * 3 / 64 : 1;

    for (int pass = 0; pass < 2; pass++) {
        for (int y = 0; y < side; y++)
            for (int k = 0; k < 3; k++) smooth_line(scratch + 3 * y * side + k, rgb + 3 * y * side + k, side, 3, reach);
        for (int x = 0; x < 3 * side; x++) smooth_line(rgb + x, scratch + x, side, 3 * side, reach);
    }
}

/* (part * v + (256 - part) * to) / 256 */
static void fade(uint8_t *rgb, int side, int part, uint32_t to)
{
    for (int i = 0; i < 3 * side * side; i++) {
        int goal = (int)(to >> (16 - 8 * (i % 3)) & 255);
        rgb[i] = (uint8_t)((part * rgb[i] + (256 - part) * goal) >> 8);
    }
}

/* Slanting streaks. */
static void rain(uint8_t *rgb, int side, spot_rng *r)
{
    for (int k = 0; k < side; k++) {
        int x = (int)spot_rng_below(r, (uint32_t)side), y = (int)spot_rng_below(r, (uint32_t)side);
        int length = side / 8 + (int)spot_rng_below(r, (uint32_t)side / 8 + 1);
        for (int i = 0; i < length; i++)
            if (y + i < side && x >= i / 3) put_rgb(rgb + 3 * ((y + i) * side + x - i / 3), rain_rgb);
    }
}

/* Adds the sum of four random bytes less its mean, nearly normal: standard deviation 148 * 80 / 256 = 46 levels. */
static void add_noise(uint8_t *rgb, int side, spot_rng *r)
{
    for (int i = 0; i < 3 * side * side; i++) {
        uint32_t w = spot_rng_u32(r);
        int sum = (int)((w & 255) + (w >> 8 & 255) + (w >> 16 & 255) + (w >> 24)) - 510;
        rgb[i] = byte_of(rgb[i] + sum * 80 / 256);
    }
}

void spot_plant_paint(uint8_t *rgb, const spot_plant_canvas *p, uint8_t *scratch)
{
    const spot_plant_look *look = &p->look;
    int side = p->side;
    spot_rng r = p->noise;

    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++)
            put_rgb(rgb + 3 * (y * side + x), pixel_rgb(look, p->scene + y * p->stride + 3 * x, x, y, side));
    if (look->cross) paint_cross(rgb, look, side);
    if (look->effects & SPOT_EFFECT_SKETCH) sketch(rgb, side, scratch);
    if (look->effects & SPOT_EFFECT_MOSAIC) mosaic(rgb, side);
    if (look->effects & SPOT_EFFECT_BLUR)   blur(rgb, side, scratch);
    if (look->effects & SPOT_EFFECT_NIGHT)  fade(rgb, side, 64, 0x00000a);
    if (look->effects & SPOT_EFFECT_FOG)    fade(rgb, side, 56, 0xdce1e6);
    if (look->effects & SPOT_EFFECT_RAIN)   rain(rgb, side, &r);
    if (look->effects & SPOT_EFFECT_NOISE)  add_noise(rgb, side, &r);
}
