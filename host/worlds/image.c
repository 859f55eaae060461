/* image.c - the contents of an EC's image, and its pixels as bytes. */
#include "core/device.h"
#include "formats/jpeg.h"
#include "image/jpeg_trip.h"
#include "image/raster.h"
#include "image/scene_draw.h"
#include "worlds/source_draw.h"

void spot_image_draw(spot_image *image, const spot_ec *ec, spot_split split, uint32_t index)
{
    const spot_geometry g = spot_geometry_of(&ec->scene);

    spot_scene_draw(image, ec, &g, split, index);
}

void spot_image_targets(float *target, const spot_image *image, const spot_ec *ec) { spot_scene_targets(target, image, ec); }

/* libjpeg, which is faster than our own arithmetic on the CPU. */
static spot_status trip_on_host(spot_ctx *c, uint8_t *rgb, int n, const spot_scene_config *cfg)
{
    size_t bytes = 3 * (size_t)cfg->size * (size_t)cfg->size;
    spot_status failed = SPOT_OK;

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
    void *planes;
    spot_status s;

    SPOT_TRY(spot_raster_draw(c, rgb, image, n, cfg));
    if (!cfg->jpeg_quality) return SPOT_OK;
    if (!c->device) return trip_on_host(c, rgb, n, cfg);
    SPOT_TRY(spot_device_take(c, &planes, (size_t)n * spot_jpeg_planes(cfg->size)));
    s = spot_jpeg_trip(c, rgb, planes, n, cfg->size, cfg->jpeg_quality);
    if (!s) s = spot_device_wait(c);
    spot_device_give(c, planes);
    return s;
}
