/* jpeg_trip.cu - JPEG on CUDA in two launches. First the blocks of 8 x 8 samples there and back, eight threads to a block, each
 * with a row, then a column, then a row in its registers; then the pixels, a thread each. */
#include "core/cuda.cuh"
#include "image/jpeg_step.h"

enum { THREADS = 256, BLOCKS = THREADS / 8 };

/* Samples of an image's planes, in blocks: number b of all becomes a plane, its side and place. */
typedef struct { int plane, side, x, y; size_t at; } place;

static __device__ place place_of(int b, int size)
{
    const int luma = spot_jpeg_blocks(size, false), chroma = spot_jpeg_blocks(size, true);
    place p = { 0, luma, 0, 0, 0 };

    if (b >= luma * luma) {
        b -= luma * luma;
        p.plane = 1 + b / (chroma * chroma);
        p.side = chroma;
        p.at = 64 * ((size_t)luma * luma + (size_t)(p.plane - 1) * chroma * chroma);
        b %= chroma * chroma;
    }
    p.x = 8 * (b % p.side);
    p.y = 8 * (b / p.side);
    return p;
}

/* grid (images * tiles), tiles = ceil(blocks of an image / 32) */
static __global__ void __launch_bounds__(THREADS) block_kernel(uint8_t *planes, const uint8_t *rgb, int size, int blocks,
                                                               int tiles, const __grid_constant__ spot_jpeg_quant quant)
{
    SPOT_SHARED(int, between, BLOCKS * 72);      /* (blocks, 8 rows of 9): columns lie in different banks */
    const int image = blockIdx.x / tiles, b = blockIdx.x % tiles * BLOCKS + threadIdx.x / 8, own = threadIdx.x % 8;
    const place p = place_of(min(b, blocks - 1), size);
    int *block = between + threadIdx.x / 8 * 72, v[8];

    rgb += 3 * (size_t)size * size * image;
    for (int x = 0; x < 8; x++) v[x] = spot_jpeg_sample(rgb, size, p.plane, p.x + x, p.y + own) - 128;
    spot_jpeg_forward(v, true);
    for (int x = 0; x < 8; x++) block[9 * own + x] = v[x];
    __syncthreads();
    for (int y = 0; y < 8; y++) v[y] = block[9 * y + own];
    spot_jpeg_forward(v, false);
    for (int y = 0; y < 8; y++) v[y] = spot_jpeg_quantised(v[y], quant.at[p.plane > 0][8 * y + own]);
    spot_jpeg_back(v, true);
    for (int y = 0; y < 8; y++) block[9 * y + own] = v[y];
    __syncthreads();
    for (int x = 0; x < 8; x++) v[x] = block[9 * own + x];
    spot_jpeg_back(v, false);
    planes += (size_t)blocks * 64 * image + p.at + (size_t)(p.y + own) * 8 * p.side + p.x;
    for (int x = 0; x < 8 && b < blocks; x++) planes[x] = spot_jpeg_byte(v[x] + 128);
}

/* grid (images * tiles), tiles = ceil(size^2 / 256) */
static __global__ void __launch_bounds__(THREADS) pixel_kernel(uint8_t *rgb, const uint8_t *planes, int size, int blocks,
                                                               int tiles)
{
    const int image = blockIdx.x / tiles, pixel = blockIdx.x % tiles * THREADS + threadIdx.x;

    if (pixel >= size * size) return;
    spot_jpeg_pixel(rgb + 3 * ((size_t)size * size * image + pixel), planes + (size_t)blocks * 64 * image, size, pixel % size,
                    pixel / size);
}

static spot_status trip_cuda(spot_ctx *c, uint8_t *rgb, uint8_t *planes, int n, int size, const spot_jpeg_quant *quant)
{
    const int luma = spot_jpeg_blocks(size, false), chroma = spot_jpeg_blocks(size, true);
    const int blocks = luma * luma + 2 * chroma * chroma, tiles = spot_blocks(blocks, BLOCKS);
    const int spots = spot_blocks((size_t)size * size, THREADS);

    if (!n) return SPOT_OK;
    SPOT_TRY(spot_cuda_needs_all(c, "jpeg.trip", { { rgb, "rgb" }, { planes, "planes" } }));
    if (n > INT32_MAX / spots) return spot_fail(c, SPOT_INVALID, "jpeg.trip of %d images at once", n);
    SPOT_LAUNCH(block_kernel, dim3(n * tiles), THREADS, 0, spot_cuda_stream(c), planes, rgb, size, blocks, tiles, *quant);
    SPOT_TRY(spot_cuda_launched(c, "jpeg.trip: blocks of %d images, %d pixels a side", n, size));
    SPOT_LAUNCH(pixel_kernel, dim3(n * spots), THREADS, 0, spot_cuda_stream(c), rgb, planes, size, blocks, spots);
    return spot_cuda_launched(c, "jpeg.trip: pixels of %d images, %d pixels a side", n, size);
}

extern const spot_jpeg_ops spot_jpeg_cuda = { .trip = trip_cuda };
