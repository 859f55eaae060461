/* image.c - one image of an EC as a caller on the host wants it: what is in it, and its pixels. */
#include "base/jpeg.h"
#include "raster.h"
#include "scene_draw.h"
#include "spotter/scene.h"

void spot_image_draw(spot_image *image, const spot_ec *ec, spot_split split, uint32_t index)
{
    const spot_geometry g = spot_geometry_of(&ec->scene);

    spot_scene_draw(image, ec, &g, split, index);
}

void spot_image_targets(float *target, const spot_image *image, const spot_ec *ec) { spot_scene_targets(target, image, ec); }

int spot_ec_positives(int *index, const spot_ec *ec, spot_split split)
{
    int n = 0, bit = spot_scene_label_bit(ec);

    for (int i = 0; i < ec->images[split]; i++) {
        if (!spot_scene_label(ec->seed, ec->index, split, (uint32_t)i, bit)) continue;
        if (index) index[n] = i;
        n++;
    }
    return n;
}

/* With c on the CPU. */
static spot_status render(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_scene_config *cfg)
{
    size_t bytes = 3 * (size_t)cfg->size * (size_t)cfg->size;
    spot_status failed = SPOT_OK;

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

spot_status spot_image_render(spot_ctx *c, uint8_t *rgb, const spot_image *image, int n, const spot_scene_config *cfg)
{
    const spot_ops *ops = c->ops;
    void *device = c->device;
    spot_status s;

    c->ops = &spot_ops_cpu;
    c->device = NULL;
    s = render(c, rgb, image, n, cfg);
    c->ops = ops;
    c->device = device;
    return s;
}

/* With JPEG each image waits as bytes in the last quarter of its own floats, which is read before it is overwritten. */
spot_status spot_image_input(spot_ctx *c, float *x, const spot_image *image, int n, const spot_scene_config *cfg)
{
    size_t values = 3 * (size_t)cfg->size * (size_t)cfg->size;
    spot_status failed = SPOT_OK;

    if (!cfg->jpeg_quality) return spot_raster_input(c, x, image, n, cfg);
    if (c->device)
        return spot_fail(c, SPOT_UNSUPPORTED, "JPEG runs on the CPU; set scene.jpeg_quality to 0 or use --device cpu");
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        float *at = x + values * (size_t)i;
        uint8_t *rgb = (uint8_t *)at + 3 * values;
        spot_status s = render(c, rgb, &image[i], 1, cfg);
        if (s == SPOT_OK) s = spot_raster_normalise(c, at, rgb, 1, cfg->size);
        if (s) {
#pragma omp atomic write
            failed = s;
        }
    }
    return failed;
}
