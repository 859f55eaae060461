/* jpeg_step.h - the arithmetic of JPEG for C and CUDA: colours, the DCT of a line of 8 numbers, chroma between its samples.
 *
 * The DCT is that of Loeffler, Ligtenberg and Moschytz (1989) with constants of 13 bits. Rows come first on the way there, with
 * 2 more bits until the columns are done; columns come first on the way back. */
#ifndef SPOTTER_JPEG_STEP_H
#define SPOTTER_JPEG_STEP_H

#include <stdbool.h>

#include "core/hd.h"
#include "image/jpeg_trip.h"

enum { SPOT_JPEG_BITS = 13, SPOT_JPEG_MORE = 2 };

static inline SPOT_HD int spot_jpeg_blocks(int size, bool chroma) { return chroma ? (size + 15) / 16 : (size + 7) / 8; }

static inline SPOT_HD int spot_jpeg_shift(int x, int bits) { return (x + (1 << (bits - 1))) >> bits; }

static inline SPOT_HD uint8_t spot_jpeg_byte(int x) { return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x); }

/* Y (0), Cb (1) or Cr (2) of a pixel. */
static inline SPOT_HD int spot_jpeg_colour(const uint8_t *rgb, int plane)
{
    const int r = rgb[0], g = rgb[1], b = rgb[2], middle = (128 << 16) + 32767;

    if (plane == 0) return (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;
    if (plane == 1) return (-11059 * r - 21709 * g + 32768 * b + middle) >> 16;
    return (32768 * r - 27439 * g - 5329 * b + middle) >> 16;
}

/* Sample (x, y) of a plane, which may lie past the image: its last column is repeated, and the last row of the plane. A chroma
 * sample is the mean of 2 x 2 pixels, rounded down and up in turn. */
static inline SPOT_HD int spot_jpeg_sample(const uint8_t *rgb, int size, int plane, int x, int y)
{
    int last = size - 1, sum = 0;

    if (!plane) return spot_jpeg_colour(rgb + 3 * ((y < last ? y : last) * size + (x < last ? x : last)), 0);
    y = y < last / 2 ? y : last / 2;
    for (int k = 0; k < 4; k++) {
        int px = 2 * x + k % 2, py = 2 * y + k / 2;
        sum += spot_jpeg_colour(rgb + 3 * ((py < last ? py : last) * size + (px < last ? px : last)), plane);
    }
    return (sum + 1 + x % 2) >> 2;
}

/* The odd half of both transforms: t and what it becomes, in the order of the forward DCT's 7, 5, 3, 1. */
static inline SPOT_HD void spot_jpeg_odd(int t[4])
{
    int z1 = -7373 * (t[0] + t[3]), z2 = -20995 * (t[1] + t[2]), z3 = t[0] + t[2], z4 = t[1] + t[3], z5 = 9633 * (z3 + z4);

    z3 = z5 - 16069 * z3;
    z4 = z5 - 3196 * z4;
    t[0] = 2446 * t[0] + z1 + z3;
    t[1] = 16819 * t[1] + z2 + z4;
    t[2] = 25172 * t[2] + z2 + z3;
    t[3] = 12299 * t[3] + z1 + z4;
}

/* A line there; `rows`: the first of the two passes. */
static inline SPOT_HD void spot_jpeg_forward(int v[8], bool rows)
{
    const int shift = rows ? SPOT_JPEG_BITS - SPOT_JPEG_MORE : SPOT_JPEG_BITS + SPOT_JPEG_MORE;
    int odd[4] = { v[3] - v[4], v[2] - v[5], v[1] - v[6], v[0] - v[7] };
    int a = v[0] + v[7] + v[3] + v[4], d = v[0] + v[7] - v[3] - v[4];
    int b = v[1] + v[6] + v[2] + v[5], e = v[1] + v[6] - v[2] - v[5], z = 4433 * (e + d);

    spot_jpeg_odd(odd);
    v[0] = rows ? (a + b) * (1 << SPOT_JPEG_MORE) : spot_jpeg_shift(a + b, SPOT_JPEG_MORE);
    v[4] = rows ? (a - b) * (1 << SPOT_JPEG_MORE) : spot_jpeg_shift(a - b, SPOT_JPEG_MORE);
    v[2] = spot_jpeg_shift(z + 6270 * d, shift);
    v[6] = spot_jpeg_shift(z - 15137 * e, shift);
    for (int k = 0; k < 4; k++) v[7 - 2 * k] = spot_jpeg_shift(odd[k], shift);
}

/* A line back; `columns`: the first of the two passes. */
static inline SPOT_HD void spot_jpeg_back(int v[8], bool columns)
{
    const int shift = columns ? SPOT_JPEG_BITS - SPOT_JPEG_MORE : SPOT_JPEG_BITS + SPOT_JPEG_MORE + 3;
    int odd[4] = { v[7], v[5], v[3], v[1] }, z = 4433 * (v[2] + v[6]);
    int low = z - 15137 * v[6], high = z + 6270 * v[2];
    int sum = (v[0] + v[4]) * (1 << SPOT_JPEG_BITS), difference = (v[0] - v[4]) * (1 << SPOT_JPEG_BITS);
    int even[4] = { sum + high, difference + low, difference - low, sum - high };

    spot_jpeg_odd(odd);
    for (int k = 0; k < 4; k++) {
        v[k] = spot_jpeg_shift(even[k] + odd[3 - k], shift);
        v[7 - k] = spot_jpeg_shift(even[k] - odd[3 - k], shift);
    }
}

/* A coefficient, which the DCT made 8 times too large, to the nearest multiple of its step. */
static inline SPOT_HD int spot_jpeg_quantised(int v, int step)
{
    int size = ((v < 0 ? -v : v) + 4 * step) / (8 * step) * step;

    return v < 0 ? -size : size;
}

/* Chroma at pixel (x, y): three parts of the nearest sample and one of the next, in both directions. side: samples, and `line`:
 * bytes, of a row. */
static inline SPOT_HD int spot_jpeg_chroma(const uint8_t *plane, int line, int side, int x, int y)
{
    int sx = x / 2, sy = y / 2, nx = x % 2 ? sx + 1 : sx - 1, ny = y % 2 ? sy + 1 : sy - 1;

    nx = nx < 0 ? 0 : nx < side ? nx : side - 1;
    ny = ny < 0 ? 0 : ny < side ? ny : side - 1;
    return (3 * (3 * plane[sy * line + sx] + plane[ny * line + sx]) + 3 * plane[sy * line + nx] + plane[ny * line + nx]
            + 8 - x % 2) >> 4;
}

/* Pixel (x, y) from the planes of an image. */
static inline SPOT_HD void spot_jpeg_pixel(uint8_t *rgb, const uint8_t *planes, int size, int x, int y)
{
    const int wide = 8 * spot_jpeg_blocks(size, false), line = 8 * spot_jpeg_blocks(size, true), side = (size + 1) / 2;
    const uint8_t *cb = planes + wide * wide, *cr = cb + line * line;
    int l = planes[y * wide + x], b = spot_jpeg_chroma(cb, line, side, x, y) - 128;
    int r = spot_jpeg_chroma(cr, line, side, x, y) - 128;

    rgb[0] = spot_jpeg_byte(l + ((91881 * r + 32768) >> 16));
    rgb[1] = spot_jpeg_byte(l + ((-22554 * b - 46802 * r + 32768) >> 16));
    rgb[2] = spot_jpeg_byte(l + ((116130 * b + 32768) >> 16));
}

#endif
