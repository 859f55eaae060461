/* bench_raster.c - images a second. Peer: bench/peers/render_pil.py. Run with --threads 1 for the figure per core. */
#include <stdlib.h>

#include "bench.h"
#include "raster.h"
#include "spotter/scene.h"

enum { ECS = 16, EACH = 8, IMAGES = ECS * EACH };

typedef struct {
    spot_scene_config cfg;
    spot_image image[IMAGES];
    uint8_t *rgb;              /* (IMAGES, size, size, 3) */
    float *x;                  /* the same, as a network's input */
} scenes;

static void close_scenes(void *state)
{
    scenes *s = state;

    free(s->rgb);
    free(s->x);
    free(s);
}

/* Images of many ECs with the authors' settings, so that noise and stripes are as frequent as theirs. */
static spot_status open_scenes(spot_ctx *c, void **state, int size)
{
    size_t values = (size_t)IMAGES * 3 * (size_t)size * (size_t)size;
    scenes *s = calloc(1, sizeof *s);

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for the scenes of a bench");
    *state = s;
    s->rgb = malloc(values);
    s->x = malloc(values * sizeof *s->x);
    if (!s->rgb || !s->x) return spot_fail(c, SPOT_NOMEM, "no memory for %d images of a bench", IMAGES);
    s->cfg = spot_scene_defaults();
    s->cfg.size = size;
    for (int e = 0; e < ECS; e++) {
        spot_ec ec;
        SPOT_TRY(spot_ec_draw(c, &ec, &s->cfg, 1, (uint32_t)e));
        for (int i = 0; i < EACH; i++) spot_image_draw(&s->image[e * EACH + i], &ec, SPOT_TEST, (uint32_t)i);
    }
    return SPOT_OK;
}

static spot_status open_64(spot_ctx *c, void **state) { return open_scenes(c, state, 64); }
static spot_status open_224(spot_ctx *c, void **state) { return open_scenes(c, state, 224); }

static spot_status run_draw(spot_ctx *c, void *state)
{
    scenes *s = state;
    return spot_raster_draw(c, s->rgb, s->image, IMAGES, &s->cfg);
}

static spot_status run_input(spot_ctx *c, void *state)
{
    scenes *s = state;
    return spot_raster_input(c, s->x, s->image, IMAGES, &s->cfg);
}

/* Every byte against the pixel rule. */
static spot_status check_draw(spot_ctx *c, void *state)
{
    scenes *s = state;
    const spot_geometry g = spot_geometry_of(&s->cfg);
    const uint8_t *at = s->rgb;

    SPOT_TRY(run_draw(c, state));
    for (int i = 0; i < IMAGES; i++)
        for (int y = 0; y < g.size; y++)
            for (int x = 0; x < g.size; x++, at += 3) {
                uint32_t want = spot_raster_pixel(&g, &s->image[i], x, y);
                if (((uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2]) != want)
                    return spot_fail(c, SPOT_CHECK, "pixel (%d,%d) of image %d is not as raster_pixel.h says", x, y, i);
            }
    return SPOT_OK;
}

/* Every value against the normalised byte. */
static spot_status check_input(spot_ctx *c, void *state)
{
    scenes *s = state;
    size_t values = (size_t)IMAGES * 3 * (size_t)s->cfg.size * (size_t)s->cfg.size;

    SPOT_TRY(check_draw(c, state));
    SPOT_TRY(run_input(c, state));
    for (size_t i = 0; i < values; i++)
        if (s->x[i] != ((float)s->rgb[i] / 255.0f - spot_imagenet[0][i % 3]) / spot_imagenet[1][i % 3])
            return spot_fail(c, SPOT_CHECK, "value %zu of the input is not its byte, normalised", i);
    return SPOT_OK;
}

const spot_bench_row spot_bench_raster[] = {
    { "render", "224 px, bytes", IMAGES, "images", open_224, check_draw, run_draw, close_scenes },
    { "render", "224 px, network input", IMAGES, "images", open_224, check_input, run_input, close_scenes },
    { "render", "64 px, bytes", IMAGES, "images", open_64, check_draw, run_draw, close_scenes },
    { "render", "64 px, network input", IMAGES, "images", open_64, check_input, run_input, close_scenes },
    { .op = NULL },
};
