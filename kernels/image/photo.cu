/* photo.cu - images: a thread describes a picture. input: a block writes 4,096 pixels of a picture, a thread a pixel at a time,
 * in one store where it has 4 channels. */
#include "core/cuda.cuh"
#include "image/photo_step.h"

enum { THREADS = 256, TILE = 16 * THREADS };

typedef struct { spot_ec ec; spot_sample of; spot_photo_set set; } image_job;

/* grid (ceil(n / 256)) */
static __global__ void __launch_bounds__(THREADS) images_kernel(const __grid_constant__ image_job job)
{
    const spot_sample *s = &job.of;
    const int i = blockIdx.x * THREADS + threadIdx.x;
    spot_image image;
    bool known;

    if (i >= s->n) return;
    uint32_t at = s->first + (s->cursor ? *s->cursor : 0) + i, index = s->index ? s->index[at] : at;
    known = spot_photo_has(&job.set, s->split, index);
    memset(&image, 0, sizeof image);
    image.split = SPOT_SPLITS;
    if (known) spot_photo_describe(&image, &job.set, &job.ec, s->split, index);
    if (s->image) memcpy(&s->image[i], &image, sizeof image);      /* an assignment may leave out the padding between fields */
    if (s->target) s->target[i] = known ? image.train_label : NAN;
    if (s->mask) s->mask[i] = image.blindspots;
}

static spot_status images_cuda(spot_ctx *c, const spot_photo_set *set, const spot_sample *s)
{
    image_job job;

    if (!s->n) return SPOT_OK;
    SPOT_TRY(spot_cuda_needs_all(c, "photo.images", { { set->shows, "shows" }, { set->task, "task" },
                                 { set->row[s->split], "row" } }));
    if (s->index) SPOT_TRY(spot_cuda_needs(c, s->index, "photo.images: index"));
    if (s->cursor) SPOT_TRY(spot_cuda_needs(c, s->cursor, "photo.images: cursor"));
    if (s->image) SPOT_TRY(spot_cuda_needs(c, s->image, "photo.images: image"));
    if (s->target) SPOT_TRY(spot_cuda_needs(c, s->target, "photo.images: target"));
    if (s->mask) SPOT_TRY(spot_cuda_needs(c, s->mask, "photo.images: mask"));
    job.ec = *s->ec;
    job.of = *s;
    job.set = *set;
    SPOT_LAUNCH(images_kernel, dim3(spot_blocks(s->n, THREADS)), THREADS, 0, spot_cuda_stream(c), job);
    return spot_cuda_launched(c, "photo.images of %d pictures", s->n);
}

static __device__ void put_number(float *to, float v)    { *to = v; }
static __device__ void put_number(uint16_t *to, float v) { *to = spot_bf16_bits(v); }

/* The bytes of image number i; NULL: the set has no such picture. */
static __device__ const uint8_t *bytes_of(const spot_photo_set *set, const spot_image *image, int i)
{
    const size_t bytes = 3 * (size_t)set->size * set->size;

    if (!image) return set->rgb + bytes * i;
    if (!spot_photo_has(set, image[i].split, image[i].index)) return NULL;
    return set->rgb + bytes * set->row[image[i].split][image[i].index];
}

template <typename T> struct alignas(SPOT_STEM * sizeof(T)) pixel { T v[SPOT_STEM]; };

/* grid (n * tiles), tiles = ceil(size^2 / 4096): x (n, size, size, CHANNELS). wide: x begins at 128 bits. */
template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(THREADS) input_kernel(T *x, const spot_image *image, int tiles,
                                                               const __grid_constant__ spot_photo_set set, bool wide)
{
    SPOT_SHARED(T, level, 3 * 256);      /* (3, 256) */
    const int number = blockIdx.x / tiles, pixels = set.size * set.size, first = blockIdx.x % tiles * TILE;
    const int end = min(first + (int)TILE, pixels);
    const uint8_t *rgb = bytes_of(&set, image, number);
    T *out = x + CHANNELS * (size_t)number * pixels;

    for (int k = 0; k < 3; k++)
        put_number(&level[256 * k + threadIdx.x], rgb ? spot_byte_level_by(&set.pixels, threadIdx.x, k) : NAN);
    __syncthreads();
    for (int p = first + threadIdx.x; p < end; p += THREADS) {
        pixel<T> v;
        const int from = CHANNELS == SPOT_STEM ? spot_stem_pixel(p, set.size) : p;
        for (int k = 0; k < 3; k++) v.v[k] = level[256 * k + (rgb ? rgb[3 * from + k] : 0)];
        put_number(&v.v[3], rgb ? 0 : NAN);
        if (CHANNELS == SPOT_STEM && wide) ((pixel<T> *)out)[p] = v;
        else for (int k = 0; k < CHANNELS; k++) out[(size_t)CHANNELS * p + k] = v.v[k];
    }
}

template <typename T, int CHANNELS>
static spot_status put_input(spot_ctx *c, T *x, const spot_photo_set *set, const spot_image *image, int n)
{
    const auto kernel = input_kernel<T, CHANNELS>;
    const int tiles = spot_blocks((size_t)set->size * set->size, TILE);

    if (n > INT32_MAX / tiles) return spot_fail(c, SPOT_INVALID, "photo.input of %d pictures at once", n);
    SPOT_LAUNCH(kernel, dim3(n * tiles), THREADS, 0, spot_cuda_stream(c), x, image, tiles, *set, (uintptr_t)x % 16 == 0);
    return spot_cuda_launched(c, "photo.input of %d pictures, %d pixels a side", n, set->size);
}

static spot_status input_cuda(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_photo_set *set,
                              const spot_image *image, int n)
{
    if (!n) return SPOT_OK;
    SPOT_TRY(spot_cuda_needs_all(c, "photo.input", { { x, "x" }, { set->rgb, "rgb" } }));
    if (image) SPOT_TRY(spot_cuda_needs(c, image, "photo.input: image"));
    for (int k = 0; image && k < SPOT_SPLITS; k++)
        if (set->images[k]) SPOT_TRY(spot_cuda_needs(c, set->row[k], "photo.input: row"));
    if (precision == SPOT_BF16)
        return channels == 3 ? put_input<uint16_t, 3>(c, (uint16_t *)x, set, image, n) :
                               put_input<uint16_t, SPOT_STEM>(c, (uint16_t *)x, set, image, n);
    return channels == 3 ? put_input<float, 3>(c, (float *)x, set, image, n) :
                           put_input<float, SPOT_STEM>(c, (float *)x, set, image, n);
}

extern const spot_photo_ops spot_photo_cuda = { .images = images_cuda, .input = input_cuda };
