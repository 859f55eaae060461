/* image.c - what is in an image of an EC, and its pixels: for the host, for the device, from the device for people. */
#include "core/device.h"
#include "formats/jpeg.h"
#include "image/raster.h"
#include "image/sample.h"
#include "image/scene_draw.h"
#include "scene/source_draw.h"

void spot_image_draw(spot_image *image, const spot_ec *ec, spot_split split, uint32_t index)
{
    const spot_geometry g = spot_geometry_of(&ec->scene);

    spot_scene_draw(image, ec, &g, split, index);
}

void spot_image_targets(float *target, const spot_image *image, const spot_ec *ec) { spot_scene_targets(target, image, ec); }

static spot_status refuse_jpeg(spot_ctx *c, const spot_scene_config *cfg)
{
    if (!cfg->jpeg_quality || !c->device) return SPOT_OK;
    return spot_fail(c, SPOT_UNSUPPORTED, "JPEG runs on the CPU; set scene.jpeg_quality to 0 or use --device cpu");
}

spot_status spot_image_render(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_scene_config *cfg)
{
    size_t bytes = 3 * (size_t)cfg->size * (size_t)cfg->size;
    spot_status failed = SPOT_OK;

    SPOT_TRY(refuse_jpeg(c, cfg));
    SPOT_TRY(spot_raster_draw(c, rgb, image, n, cfg));
    if (!cfg->jpeg_quality) return SPOT_OK;
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        spot_status s = spot_jpeg_round_trip(c, rgb + bytes * (size_t)i, cfg->size, cfg->size, cfg->jpeg_quality);
        if (s) {
#pragma omp atomic write
            failed = s;
        }
    }
    return failed;
}

spot_status spot_image_picture(spot_ctx *c, spot_image *image, uint8_t *rgb, const spot_ec *ec, spot_split split,
                               uint32_t index)
{
    size_t bytes = 3 * (size_t)ec->scene.size * (size_t)ec->scene.size;
    spot_sample sample = { .ec = ec, .split = split, .n = 1, .first = index, .image = image };
    void *list = NULL, *pixels = NULL;
    spot_status s;

    if (ec->photos) {
        SPOT_TRY(spot_ec_images(c, &sample));
        return spot_photo_pixels(c, rgb, image, ec);
    }
    s = spot_device_take(c, &list, sizeof *image);
    if (!s) s = spot_device_take(c, &pixels, bytes);
    sample.image = list;
    if (!s) s = spot_sample_images(c, 1, &sample);
    if (!s) s = spot_image_render(c, pixels, list, 1, &ec->scene);
    if (!s) s = spot_device_copy(c, image, list, sizeof *image);
    if (!s) s = spot_device_copy(c, rgb, pixels, bytes);
    spot_device_give(c, list);
    spot_device_give(c, pixels);
    return s;
}

/* Each image waits as bytes in the last quarter of its own floats, which is read before it is overwritten. */
spot_status spot_input_each(spot_ctx *c, float *x, const spot_image *image, int n, int size, const void *of,
                            spot_pixels_fn *pixels)
{
    size_t values = 3 * (size_t)size * (size_t)size;
    spot_status failed = SPOT_OK;

#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        float *at = x + values * (size_t)i;
        uint8_t *rgb = (uint8_t *)at + 3 * values;
        spot_status s = pixels(c, rgb, &image[i], of);
        if (s == SPOT_OK) s = spot_raster_normalise(c, at, rgb, 1, size);
        if (s) {
#pragma omp atomic write
            failed = s;
        }
    }
    return failed;
}

static spot_status render_one(spot_ctx *c, uint8_t *rgb, const spot_image *image, const void *cfg)
{
    return spot_image_render(c, rgb, image, 1, cfg);
}

spot_status spot_image_input(spot_ctx *c, float *x, const spot_image *image, int n, const spot_scene_config *cfg)
{
    if (!cfg->jpeg_quality) return spot_raster_input(c, x, image, n, cfg);
    SPOT_TRY(refuse_jpeg(c, cfg));
    return spot_input_each(c, x, image, n, cfg->size, cfg, render_one);
}

spot_status spot_image_input_as(spot_ctx *c, void *x, int channels, bool bf16, const spot_image *image, int n,
                                const spot_scene_config *cfg)
{
    if (cfg->jpeg_quality)
        return spot_fail(c, SPOT_UNSUPPORTED, "JPEG runs on the CPU; set scene.jpeg_quality to 0 or use --device cpu");
    return spot_raster_input_as(c, x, channels, bf16 ? SPOT_BF16 : SPOT_FP32, image, n, cfg);
}
