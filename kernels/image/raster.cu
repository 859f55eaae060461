/* raster.cu - a block paints 1,024 consecutive pixels of an image: first the ink of each, by raster_pixel.h, then the values
 * of those inks, 128 bits a store where an image is a multiple of that. */
#include "core/cuda.cuh"
#include "image/raster.h"

/* A thread finds OWN inks: the pixels of one Philox block. NONE marks the pixels of an invalid draw list. */
enum { THREADS = 256, OWN = 4, TILE = THREADS * OWN, NONE = SPOT_INKS };

/* The value of an ink in a channel, for each type of output. */
static __device__ void put_level(uint8_t *level, int ink, int channel)
{
    *level = (uint8_t)(spot_ink_rgb((spot_ink)ink) >> (16 - 8 * channel));
}

static __device__ void put_level(float *level, int ink, int channel)
{
    uint8_t byte = 0;

    if (channel < 3) put_level(&byte, ink, channel);
    *level = ink == NONE ? NAN : spot_byte_level(byte, channel);
}

static __device__ void put_level(uint16_t *level, int ink, int channel)
{
    float x;

    put_level(&x, ink, channel);
    *level = spot_bf16_bits(x);
}

/* The objects in rows top..bottom of an image; count -1: the draw list is invalid. */
typedef struct { int count; spot_object object[SPOT_MAX_OBJECTS]; } objects;

static __device__ void find_objects(objects *near, const spot_geometry *g, const spot_image *image, int top, int bottom)
{
    int count = image->object_count > SPOT_MAX_OBJECTS ? -1 : 0;

    for (int k = 0; count >= 0 && k < image->object_count; k++) {
        const spot_object *o = &image->object[k];
        if (!spot_raster_placed(g, o)) count = -1;
        else if (o->y0 <= bottom && o->y1 >= top) near->object[count++] = *o;
    }
    near->count = count;
}

/* The values of one store. */
template <typename T> struct alignas(16) pack { enum { N = 16 / sizeof(T) }; T v[N]; };

/* The v-th pack of a tile's values. */
template <typename T, int CHANNELS>
static __device__ pack<T> values_at(int v, const uint8_t *ink, const pack<T> *levels)
{
    enum { N = pack<T>::N };
    pack<T> p;

    if constexpr (CHANNELS == SPOT_STEM)                   /* one pixel's numbers together: 8 bytes of bf16, 16 of fp32 */
        for (int e = 0; e < N; e += CHANNELS) {
            const T *from = &levels->v[CHANNELS * ink[(v * N + e) / CHANNELS]];
            memcpy(&p.v[e], __builtin_assume_aligned(from, CHANNELS * sizeof(T)), CHANNELS * sizeof(T));
        }
    else
        for (int e = 0; e < N; e++) p.v[e] = levels->v[CHANNELS * ink[(v * N + e) / CHANNELS] + (v * N + e) % CHANNELS];
    return p;
}

/* Finds the inks of OWN pixels from place `own` of a tile's order on. Row by row they are those of one Philox block. */
static __device__ void find_inks(uint8_t *ink, int own, const spot_image *image, const spot_geometry *g, const objects *near)
{
    uint32_t word[4] = { 0 };
    int x = own % g->size, y = own / g->size;

    if (image->background_texture) spot_raster_words(word, image, own / 4);
    for (int k = 0; k < OWN; k++) {     /* also past the end of the image; those inks are not used */
        spot_ink ground = spot_raster_ground(image, word[k]);
        ink[k] = near->count < 0 ? (int)NONE : spot_raster_over(g, near->object, near->count, x, y, ground);
        if (++x == g->size) x = 0, y++;
    }
}

/* The same for a block of 2 x 2 pixels. Each of its rows lies in half of a Philox block. */
static __device__ void find_block(uint8_t *ink, int own, const spot_image *image, const spot_geometry *g, const objects *near)
{
    uint32_t word[4] = { 0 };

    for (int k = 0; k < OWN; k++) {
        int pixel = spot_stem_pixel(own + k, g->size);
        if (image->background_texture && k % 2 == 0) spot_raster_words(word, image, pixel / 4);
        spot_ink ground = spot_raster_ground(image, pixel & 2 ? word[2 + k % 2] : word[k % 2]);      /* k % 2 is pixel % 2 */
        ink[k] = near->count < 0 ? (int)NONE : spot_raster_over(g, near->object, near->count, pixel % g->size, pixel / g->size,
                                                                ground);
    }
}

/* grid (images * tiles), tiles = ceil(size^2 / 1024): out (images, size, size, CHANNELS), 4 in the order of core/stem.h. wide:
 * every image begins and ends at 128 bits. */
template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(THREADS) paint_kernel(T *out, const spot_image *images, int tiles,
                                                               const __grid_constant__ spot_geometry g, bool wide)
{
    enum { N = pack<T>::N, LEVELS = CHANNELS * (SPOT_INKS + 1) };
    SPOT_SHARED(pack<T>, levels, (LEVELS + N - 1) / N);
    SPOT_SHARED(uint8_t, ink, TILE);
    SPOT_SHARED(objects, near, 1);
    const int number = blockIdx.x / tiles, pixels = g.size * g.size, first = blockIdx.x % tiles * TILE;
    const int thread = threadIdx.x, own = first + OWN * thread, values = CHANNELS * min((int)TILE, pixels - first);
    const spot_image *image = images + number;
    const int tall = CHANNELS == SPOT_STEM ? SPOT_STEM_SIDE : 1, across = tall * g.size;    /* rows and pixels of a strip */
    T *tile = out + CHANNELS * ((size_t)number * pixels + first), *level = levels->v;

    if (thread < LEVELS) put_level(&level[thread], thread / CHANNELS, thread % CHANNELS);
    if (thread == 0)
        find_objects(near, &g, image, first / across * tall, (first + TILE - 1) / across * tall + tall - 1);
    __syncthreads();
    if constexpr (CHANNELS == SPOT_STEM) find_block(&ink[OWN * thread], own, image, &g, near);
    else                                 find_inks(&ink[OWN * thread], own, image, &g, near);
    __syncthreads();
    for (int v = thread; wide && v < values / N; v += THREADS) ((pack<T> *)tile)[v] = values_at<T, CHANNELS>(v, ink, levels);
    for (int v = thread; !wide && v < values; v += THREADS) tile[v] = level[CHANNELS * ink[v / CHANNELS] + v % CHANNELS];
}

template <typename T, int CHANNELS>
static spot_status paint(spot_ctx *c, T *out, const spot_image *image, int n, const spot_geometry *g, const char *what)
{
    const auto kernel = paint_kernel<T, CHANNELS>;
    const size_t pixels = (size_t)g->size * g->size;
    const int tiles = (pixels + TILE - 1) / TILE;
    const bool wide = (uintptr_t)out % 16 == 0 && CHANNELS * pixels * sizeof(T) % 16 == 0;

    if (!n) return SPOT_OK;
    SPOT_TRY(spot_cuda_needs(c, out, "raster: the pixels"));
    SPOT_TRY(spot_cuda_needs(c, image, "raster: the draw lists"));
    if (n > INT32_MAX / tiles) return spot_fail(c, SPOT_INVALID, "raster.%s of %d images at once", what, n);
    SPOT_LAUNCH(kernel, dim3(n * tiles), THREADS, 0, spot_cuda_stream(c), out, image, tiles, *g, wide);
    return spot_cuda_launched(c, "raster.%s of %d images, %d pixels a side", what, n, g->size);
}

static spot_status draw_cuda(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_geometry *g)
{
    return paint<uint8_t, 3>(c, rgb, image, n, g, "draw");
}

static spot_status input_cuda(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                              const spot_geometry *g)
{
    float *fp32 = (float *)x;
    uint16_t *bf16 = (uint16_t *)x;

    if (precision == SPOT_BF16)
        return channels == 3 ? paint<uint16_t, 3>(c, bf16, image, n, g, "input") :
                               paint<uint16_t, SPOT_STEM>(c, bf16, image, n, g, "input");
    return channels == 3 ? paint<float, 3>(c, fp32, image, n, g, "input") :
                           paint<float, SPOT_STEM>(c, fp32, image, n, g, "input");
}

extern const spot_raster_ops spot_raster_cuda = { .draw = draw_cuda, .input = input_cuda };
