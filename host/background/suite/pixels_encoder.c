/* pixels_encoder.c - see pixels_encoder.h. */
#include "background/suite/pixels_encoder.h"

#include <math.h>
#include <string.h>

enum { COLOURS = 8, EDGES = 4, WAYS = 8, EDGES_AT = COLOURS * COLOURS * 3, LAST = EDGES_AT + EDGES * EDGES * WAYS };

static void scale_part(float *part, int n)
{
    double squares = 0;

    for (int i = 0; i < n; i++) squares += (double)part[i] * part[i];
    const float scale = squares > 1e-12 ? (float)(1 / sqrt(squares)) : 0;
    for (int i = 0; i < n; i++) part[i] *= scale;
}

static void add_colours(float *row, const uint8_t *rgb, int size)
{
    for (int cy = 0; cy < COLOURS; cy++)
        for (int cx = 0; cx < COLOURS; cx++) {
            const int top = cy * size / COLOURS, end = (cy + 1) * size / COLOURS;
            const int left = cx * size / COLOURS, right = (cx + 1) * size / COLOURS;
            uint32_t sum[3] = { 0 };
            for (int y = top; y < end; y++)
                for (int x = left; x < right; x++)
                    for (int k = 0; k < 3; k++) sum[k] += rgb[3 * ((size_t)y * (size_t)size + (size_t)x) + (size_t)k];
            for (int k = 0; k < 3; k++)
                row[3 * (cy * COLOURS + cx) + k] = (float)((double)sum[k] / (255.0 * (end - top) * (right - left)) - 0.5);
        }
    scale_part(row, EDGES_AT);
}

static int luma(const uint8_t *p) { return 77 * p[0] + 150 * p[1] + 29 * p[2]; }

/* The eighth of a half turn in which (dx, dy) lies, without an arc tangent: bits would depend on the library. */
static int way_of(int dx, int dy)
{
    static const int tangent[3] = { 27146, 65536, 158218 };        /* of 22.5, 45 and 67.5 degrees, times 65536 */
    int way = 0;

    if (dy < 0 || (!dy && dx < 0)) dx = -dx, dy = -dy;
    const long long a = dx < 0 ? -dx : dx, b = dy;
    while (way < 3 && b * 65536 >= a * tangent[way]) way++;
    return dx >= 0 ? way : WAYS - 1 - way;
}

static void add_edges(float *row, const uint8_t *rgb, int size)
{
    double sum[EDGES * EDGES * WAYS] = { 0 };

    for (int y = 1; y < size - 1; y++)
        for (int x = 1; x < size - 1; x++) {
            const uint8_t *at = rgb + 3 * ((size_t)y * (size_t)size + (size_t)x);
            const int dx = luma(at + 3) - luma(at - 3), dy = luma(at + 3 * (size_t)size) - luma(at - 3 * (size_t)size);
            const int cell = y * EDGES / size * EDGES + x * EDGES / size;
            if (dx || dy) sum[cell * WAYS + way_of(dx, dy)] += sqrt((double)dx * dx + (double)dy * dy);
        }
    for (int cell = 0; cell < EDGES * EDGES; cell++) {
        double all = 0;
        for (int k = 0; k < WAYS; k++) all += sum[cell * WAYS + k];
        for (int k = 0; k < WAYS; k++)
            row[cell * WAYS + k] = all > 0 ? (float)(sum[cell * WAYS + k] / all - 1.0 / WAYS) : 0;
    }
    scale_part(row, EDGES * EDGES * WAYS);
}

void spot_pixels_encode(float *row, const uint8_t *rgb, int size)
{
    add_colours(row, rgb, size);
    add_edges(row + EDGES_AT, rgb, size);
    row[LAST] = 0.1f;
    scale_part(row, SPOT_PIXELS_DIM);
}
