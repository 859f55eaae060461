/* ec_pixels.c - the pixels of an EC's images, rendered or read from files: as network input, as pictures. */
#include "core/device.h"
#include "image/jpeg_trip.h"
#include "image/raster.h"
#include "worlds/pictures.h"
#include "worlds/source_draw.h"

static spot_status render_one(spot_ctx *c, uint8_t *rgb, const spot_image *image, const spot_ec *ec)
{
    return spot_image_render(c, rgb, image, 1, &ec->scene);
}

/* Each image's bytes use the last quarter of its own floats, which is read before it is overwritten. */
static spot_status input_each(spot_ctx *c, float *x, const spot_image *image, int n, const spot_ec *ec)
{
    spot_status (*pixels)(spot_ctx *, uint8_t *, const spot_image *, const spot_ec *) =
        ec->photos ? spot_photo_pixels : render_one;
    int size = ec->scene.size;
    size_t values = 3 * (size_t)size * (size_t)size;
    spot_status failed = SPOT_OK;

#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        float *at = x + values * (size_t)i;
        uint8_t *rgb = (uint8_t *)at + 3 * values;
        spot_status s = pixels(c, rgb, &image[i], ec);
        if (s == SPOT_OK)
            s = spot_photo_input(c, at, 3, SPOT_FP32, &(spot_photo_set){ .pictures = 1, .size = size, .rgb = rgb }, NULL, 1);
        if (s) {
#pragma omp atomic write
            failed = s;
        }
    }
    return failed;
}

size_t spot_ec_input_spare(int n, int size) { return (size_t)n * (3 * (size_t)size * (size_t)size + spot_jpeg_planes(size)); }

/* Scenes through JPEG on a device: their bytes, then those from JPEG, then numbers. */
static spot_status jpeg_input(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                              const spot_scene_config *cfg, uint8_t *spare)
{
    uint8_t *planes = spare + 3 * (size_t)cfg->size * (size_t)cfg->size * (size_t)n;
    const spot_photo_set set = { .pictures = n, .size = cfg->size, .rgb = spare };

    SPOT_TRY(spot_raster_draw(c, spare, image, n, cfg));
    SPOT_TRY(spot_jpeg_trip(c, spare, planes, n, cfg->size, cfg->jpeg_quality));
    return spot_photo_input(c, x, channels, precision, &set, NULL, n);
}

spot_status spot_ec_input(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                          const spot_ec *ec, void *spare)
{
    spot_photo_set set;

    if (!ec->photos && !ec->scene.jpeg_quality) return spot_raster_input(c, x, channels, precision, image, n, &ec->scene);
    if (ec->photos && c->device) {
        SPOT_TRY(spot_photos_on_device(c, &set, ec));
        return spot_photo_input(c, x, channels, precision, &set, image, n);
    }
    if (c->device) return jpeg_input(c, x, channels, precision, image, n, &ec->scene, spare);
    if (channels != 3 || precision == SPOT_BF16)
        return spot_fail(c, SPOT_UNSUPPORTED, "pictures and JPEG on the CPU: 3 channels of fp32 only, not %d of %s", channels,
                         precision == SPOT_BF16 ? "bf16" : "fp32");
    return input_each(c, x, image, n, ec);
}

spot_status spot_image_picture(spot_ctx *c, spot_image *image, uint8_t *rgb, const spot_ec *ec, spot_split split,
                               uint32_t index)
{
    size_t bytes = 3 * (size_t)ec->scene.size * (size_t)ec->scene.size;
    spot_sample sample = { .ec = ec, .split = split, .n = 1, .first = index, .image = image };
    void *list = NULL, *pixels = NULL;
    spot_status s;

    if (ec->photos) {
        SPOT_TRY(spot_photo_image(c, image, ec, split, index));
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
