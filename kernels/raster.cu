/* raster.cu - a thread paints a pixel, by asking raster_pixel.h. */
#include "cuda.cuh"
#include "raster.h"

/* Draw lists lie on the host; they travel as a launch's argument, of at most 4 kB, so that nothing is allocated. */
enum { THREADS = 256, BATCH = (4096 - 16 - sizeof(spot_geometry)) / sizeof(spot_image) };
typedef struct { spot_geometry g; spot_image image[BATCH]; } canvases;

static __device__ float normalised(unsigned value, int channel)
{
    /* spot_imagenet, whose memory a kernel cannot read */
    const float mean[3] = { 0.485f, 0.456f, 0.406f }, deviation[3] = { 0.229f, 0.224f, 0.225f };

    return ((float)value / 255.0f - mean[channel]) / deviation[channel];
}

/* grid (ceil(size^2 / 256), images); exactly one of rgb and x, each (images, size, size, 3), is given */
static __global__ void __launch_bounds__(THREADS) paint_kernel(uint8_t *rgb, float *x,
                                                               const __grid_constant__ canvases all)
{
    const int size = all.g.size, pixel = blockIdx.x * THREADS + threadIdx.x;
    size_t at = 3 * ((size_t)blockIdx.y * size * size + pixel);

    if (pixel >= size * size) return;
    uint32_t color = spot_raster_pixel(&all.g, &all.image[blockIdx.y], pixel % size, pixel / size);
    for (int k = 0; k < 3; k++) {
        unsigned value = color >> (16 - 8 * k) & 0xff;
        if (rgb) rgb[at + k] = (uint8_t)value;
        else     x[at + k] = normalised(value, k);
    }
}

/* grid (ceil(values / 256)) */
static __global__ void __launch_bounds__(THREADS) normalise_kernel(float *x, const uint8_t *rgb, size_t values)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

    if (i < values) x[i] = normalised(rgb[i], i % 3);
}

static spot_status paint(spot_ctx *c, uint8_t *rgb, float *x, const spot_image *image, int n, const spot_geometry *g)
{
    const size_t values = 3 * (size_t)g->size * g->size;

    if (n) SPOT_TRY(spot_cuda_needs(c, rgb ? (const void *)rgb : x, "raster: the pixels"));
    for (int first = 0; first < n; first += BATCH) {
        int count = n - first < BATCH ? n - first : BATCH;
        canvases all = { *g };

        for (int i = 0; i < count; i++) all.image[i] = image[first + i];
        SPOT_LAUNCH(paint_kernel, dim3((g->size * g->size + THREADS - 1) / THREADS, count), THREADS, 0,
                    spot_cuda_stream(c), rgb ? rgb + values * first : NULL, x ? x + values * first : NULL, all);
        SPOT_TRY(spot_cuda_launched(c, "raster.%s of %d images, %d pixels a side", rgb ? "draw" : "input", n, g->size));
    }
    return SPOT_OK;
}

static spot_status draw_cuda(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_geometry *g)
{
    return paint(c, rgb, NULL, image, n, g);
}

static spot_status input_cuda(spot_ctx *c, float *x, const spot_image *image, int n, const spot_geometry *g)
{
    return paint(c, NULL, x, image, n, g);
}

static spot_status normalise_cuda(spot_ctx *c, float *x, const uint8_t *rgb, int n, int size)
{
    const size_t values = 3 * (size_t)n * size * size;

    if (!n) return SPOT_OK;
    SPOT_TRY(spot_cuda_needs(c, x, "raster.normalise: x"));
    SPOT_TRY(spot_cuda_needs(c, rgb, "raster.normalise: rgb"));
    if (rgb < (const uint8_t *)(x + values) && rgb + values > (const uint8_t *)x)
        return spot_fail(c, SPOT_UNSUPPORTED, "raster.normalise: the bytes lie within x, which only the CPU can do");
    SPOT_LAUNCH(normalise_kernel, dim3((values + THREADS - 1) / THREADS), THREADS, 0, spot_cuda_stream(c), x, rgb,
                values);
    return spot_cuda_launched(c, "raster.normalise of %d images, %d pixels a side", n, size);
}

extern const spot_raster_ops spot_raster_cuda = { .draw = draw_cuda, .input = input_cuda, .normalise = normalise_cuda };
