/* jpeg_trip.c - JPEG on the CPU, an image to a thread, and the tables of steps. */
#include "image/jpeg_step.h"

/* ITU T.81, tables K.1 and K.2. */
static const uint8_t annex_k[2][64] = {
    {
        16, 11, 10, 16, 24, 40, 51, 61,
        12, 12, 14, 19, 26, 58, 60, 55,
        14, 13, 16, 24, 40, 57, 69, 56,
        14, 17, 22, 29, 51, 87, 80, 62,
        18, 22, 37, 56, 68, 109, 103, 77,
        24, 35, 55, 64, 81, 104, 113, 92,
        49, 64, 78, 87, 103, 121, 120, 101,
        72, 92, 95, 98, 112, 100, 103, 99,
    },
    {
        17, 18, 24, 47, 99, 99, 99, 99,
        18, 21, 26, 66, 99, 99, 99, 99,
        24, 26, 56, 99, 99, 99, 99, 99,
        47, 66, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99,
    },
};

static spot_jpeg_quant steps_of(int quality)
{
    int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    spot_jpeg_quant quant;

    for (int t = 0; t < 2; t++)
        for (int k = 0; k < 64; k++) {
            int step = (annex_k[t][k] * percent + 50) / 100;
            quant.at[t][k] = (uint16_t)(step < 1 ? 1 : step > 255 ? 255 : step);
        }
    return quant;
}

/* Block (bx, by) of a plane (side blocks, side blocks), there and back. */
static void trip_block(uint8_t *plane, const uint8_t *rgb, int size, int which, int side, int bx, int by, const uint16_t *step)
{
    int v[8][8], line[8];

    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 8; x++) v[y][x] = spot_jpeg_sample(rgb, size, which, 8 * bx + x, 8 * by + y) - 128;
        spot_jpeg_forward(v[y], true);
    }
    for (int x = 0; x < 8; x++) {
        for (int y = 0; y < 8; y++) line[y] = v[y][x];
        spot_jpeg_forward(line, false);
        for (int y = 0; y < 8; y++) line[y] = spot_jpeg_quantised(line[y], step[8 * y + x]);
        spot_jpeg_back(line, true);
        for (int y = 0; y < 8; y++) v[y][x] = line[y];
    }
    for (int y = 0; y < 8; y++) {
        spot_jpeg_back(v[y], false);
        for (int x = 0; x < 8; x++) plane[(8 * by + y) * 8 * side + 8 * bx + x] = spot_jpeg_byte(v[y][x] + 128);
    }
}

static void trip_image(uint8_t *rgb, uint8_t *planes, int size, const spot_jpeg_quant *quant)
{
    uint8_t *plane = planes;

    for (int which = 0; which < 3; which++) {
        int side = spot_jpeg_blocks(size, which > 0);
        for (int b = 0; b < side * side; b++)
            trip_block(plane, rgb, size, which, side, b % side, b / side, quant->at[which > 0]);
        plane += 64 * side * side;
    }
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) spot_jpeg_pixel(rgb + 3 * (y * size + x), planes, size, x, y);
}

static spot_status trip_cpu(spot_ctx *c, uint8_t *rgb, uint8_t *planes, int n, int size, const spot_jpeg_quant *quant)
{
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++)
        trip_image(rgb + 3 * (size_t)size * (size_t)size * (size_t)i, planes + spot_jpeg_planes(size) * (size_t)i, size, quant);
    return SPOT_OK;
}

const spot_jpeg_ops spot_jpeg_cpu = { .trip = trip_cpu };

size_t spot_jpeg_planes(int size)
{
    size_t luma = (size_t)spot_jpeg_blocks(size, false), chroma = (size_t)spot_jpeg_blocks(size, true);

    return 64 * (luma * luma + 2 * chroma * chroma);
}

spot_status spot_jpeg_trip(spot_ctx *c, uint8_t *rgb, uint8_t *planes, int n, int size, int quality)
{
    spot_jpeg_quant quant;

    if (n < 0 || size < 8 || size > 4096 || quality < 1 || quality > 100 || (n && (!rgb || !planes)))
        return spot_fail(c, SPOT_INVALID, "{jpeg_trip.sizes} jpeg.trip: %d images of %d pixels a side at quality %d", n, size,
                         quality);
    quant = steps_of(quality);
    SPOT_DISPATCH(c, jpeg, trip, rgb, planes, n, size, &quant);
}
