/* bench_raster.c - images per second. On the CPU the peer is bench/peers/render_pil.py; --threads 1 gives the figure per core.
 * On a GPU image numbers go in and the network's input comes out, as in training: sampling and drawing, nothing else. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/device.h"
#include "image/raster.h"
#include "image/sample.h"
#include "net/conv.h"

enum { MOST_ECS = 16, CHECKED = 128 };

typedef struct {
    spot_scene_config cfg;
    spot_ec ec[MOST_ECS];
    spot_sample sample[MOST_ECS];      /* a share of the images each */
    int ecs, each, images;
    int channels;                      /* 0: bytes */
    spot_precision precision;
    spot_image *image;                 /* (images), on c's device as out is */
    void *out;                         /* (images, size, size, channels or 3 bytes) */
} scenes;

static void close_scenes(spot_ctx *c, void *state)
{
    scenes *s = state;

    spot_device_give(c, s->out);
    spot_device_give(c, s->image);
    free(s);
}

static size_t bytes_of_image(const scenes *s)
{
    size_t pixels = (size_t)s->cfg.size * (size_t)s->cfg.size;

    return s->channels ? pixels * (size_t)s->channels * spot_precision_bytes(s->precision) : pixels * 3;
}

static spot_status sample(spot_ctx *c, void *state)
{
    scenes *s = state;

    return spot_sample_images(c, s->ecs, s->sample);
}

/* size: pixels a side, ECs, images of each, channels, precision. Many ECs with the authors' settings give their share of
 * noise and stripes. */
static spot_status open_scenes(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    scenes *s = *state = calloc(1, sizeof *s);

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for the scenes of a bench");
    s->cfg = spot_scene_defaults();
    s->cfg.size = size[0], s->ecs = size[1], s->each = size[2], s->channels = size[3];
    s->precision = (spot_precision)size[4];
    s->images = s->ecs * s->each;
    work->items = s->images;
    work->bytes = (double)s->images * (double)bytes_of_image(s);
    SPOT_TRY(spot_device_take(c, (void **)&s->image, (size_t)s->images * sizeof *s->image));
    SPOT_TRY(spot_device_take(c, &s->out, (size_t)s->images * bytes_of_image(s)));
    for (int e = 0; e < s->ecs; e++) {
        SPOT_TRY(spot_ec_draw(c, &s->ec[e], &s->cfg, 1, (uint32_t)e));
        s->sample[e] = (spot_sample){ .ec = &s->ec[e], .split = SPOT_TEST, .n = s->each, .image = s->image + e * s->each };
    }
    return sample(c, s);
}

static spot_status draw(spot_ctx *c, void *state)
{
    scenes *s = state;

    if (!s->channels) return spot_raster_draw(c, s->out, s->image, s->images, &s->cfg);
    return spot_raster_input(c, s->out, s->channels, s->precision, s->image, s->images, &s->cfg);
}

static spot_status sample_and_draw(spot_ctx *c, void *state)
{
    SPOT_TRY(sample(c, state));
    return draw(c, state);
}

/* Writes channel k of a pixel by the pixel rule to `to`; returns its bytes. */
static size_t wanted(unsigned char *to, const scenes *s, uint32_t rgb, int k)
{
    uint8_t byte = (uint8_t)(k < 3 ? rgb >> (16 - 8 * k) : 0);
    float v = k < 3 ? ((float)byte / 255.0f - spot_imagenet[0][k]) / spot_imagenet[1][k] : 0;
    uint16_t bits = spot_bf16_bits(v);

    if (!s->channels)                    return memcpy(to, &byte, 1), sizeof byte;
    if (s->precision == SPOT_BF16)       return memcpy(to, &bits, 2), sizeof bits;
    return memcpy(to, &v, 4), sizeof v;
}

static spot_status check_image(spot_ctx *c, const scenes *s, int i, unsigned char *got)
{
    const spot_geometry g = spot_geometry_of(&s->cfg);
    spot_image image;

    spot_image_draw(&image, &s->ec[i / s->each], SPOT_TEST, (uint32_t)(i % s->each));
    SPOT_TRY(spot_device_copy(c, got, (unsigned char *)s->out + (size_t)i * bytes_of_image(s), bytes_of_image(s)));
    for (int y = 0; y < g.size; y++)
        for (int x = 0; x < g.size; x++) {
            uint32_t rgb = spot_raster_pixel(&g, &image, x, y);
            for (int k = 0; k < (s->channels ? s->channels : 3); k++) {
                unsigned char want[4];
                size_t n = wanted(want, s, rgb, k);
                if (memcmp(got, want, n))
                    return spot_fail(c, SPOT_CHECK, "channel %d of pixel (%d,%d) of image %d is not as raster_pixel.h says", k,
                                     x, y, i);
                got += n;
            }
        }
    return SPOT_OK;
}

/* Compares every byte of up to 128 images, with the last, with the pixel rule. */
static spot_status check(spot_ctx *c, void *state, spot_status (*run)(spot_ctx *c, void *state))
{
    scenes *s = state;
    int step = (s->images + CHECKED - 1) / CHECKED;
    unsigned char *got = malloc(bytes_of_image(s));
    spot_status e = got ? run(c, s) : spot_fail(c, SPOT_NOMEM, "no memory to check images");

    for (int i = s->images - 1; i >= 0 && e == SPOT_OK; i -= step) e = check_image(c, s, i, got);
    free(got);
    return e;
}

static spot_status check_draw(spot_ctx *c, void *state) { return check(c, state, draw); }
static spot_status check_both(spot_ctx *c, void *state) { return check(c, state, sample_and_draw); }

static const spot_bench_kind drawn = { open_scenes, check_draw, draw, close_scenes };
static const spot_bench_kind sampled = { open_scenes, check_both, sample_and_draw, close_scenes };

const spot_bench_row spot_bench_raster[] = {
    { "render", "224 px, bytes",         "images", SPOT_ON_CPU, &drawn, { 224, 16, 8, 0 }, { 64, 2, 2, 0 } },
    { "render", "224 px, network input", "images", SPOT_ON_CPU, &drawn, { 224, 16, 8, 3 }, { 64, 2, 2, 3 } },
    { "render", "64 px, bytes",          "images", SPOT_ON_CPU, &drawn, { 64, 16, 8, 0 },  { 32, 2, 2, 0 } },
    { "render", "64 px, network input",  "images", SPOT_ON_CPU, &drawn, { 64, 16, 8, 3 },  { 32, 2, 2, 3 } },
    { "render", "224 px, batch 256, bf16 input", "images", SPOT_ON_CUDA, &sampled, { 224, 16, 16, 8, SPOT_BF16 },
      { 32, 2, 2, 8, SPOT_BF16 } },
    { "render", "224 px, batch 256, fp32 input", "images", SPOT_ON_CUDA, &sampled, { 224, 16, 16, 8, SPOT_FP32 },
      { 32, 2, 2, 8, SPOT_FP32 } },
    { "render", "224 px, batch 256, bf16 input, drawing alone", "images", SPOT_ON_CUDA, &drawn, { 224, 16, 16, 8, SPOT_BF16 },
      { 32, 2, 2, 8, SPOT_BF16 } },
    { "render", "64 px, batch 256, bf16 input", "images", SPOT_ON_CUDA, &sampled, { 64, 16, 16, 8, SPOT_BF16 },
      { 32, 2, 1, 8, SPOT_BF16 } },
    { 0 },
};
