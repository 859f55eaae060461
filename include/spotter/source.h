/* source.h - where a sweep's images come from: scenes that are rendered, or pictures from files.
 *
 * What training, looking and reports ask of an EC: how many images a split has, their labels and blindspots, their pixels.
 * Nobody behind it (trainer, view, methods, metric) knows which of the two it is. */
#ifndef SPOTTER_SOURCE_H
#define SPOTTER_SOURCE_H

#include "spotter/config.h"
#include "spotter/photos.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    spot_scene_config scene;       /* of pictures: their size, and as many images as the largest task has */
    spot_photos      *photos;      /* NULL: scenes */
    uint64_t          seed;
} spot_source;

/* Close it, also after a failure. SPOT_UNSUPPORTED for pictures on a GPU. */
spot_status spot_source_open(spot_ctx *c, spot_source *s, const spot_config *cfg);
void        spot_source_close(spot_source *s);

/* EC number `index` of the sweep. */
spot_status spot_source_ec(spot_ctx *c, spot_ec *ec, const spot_source *s, uint32_t index);

/* Of pictures: the super-category that is asked for. */
const char *spot_ec_task(const spot_ec *ec);

/* "elephant without person", "square above, no text" into text (NUL-terminated, cut at size). */
void spot_ec_describe(char *text, size_t size, const spot_ec *ec, int blindspot);

/* An image of the EC as a line of JSON, as spot_scene_jsonl has it; of a picture, its file and all that it shows. */
spot_status spot_ec_jsonl(spot_ctx *c, char *text, size_t size, const spot_image *image, const char *file, const spot_ec *ec);

/* Pixels of these images as a network's input, ImageNet-normalised: x is (n, size, size, channels), 3 or 8 channels, the last
 * five 0, fp32 or (bf16) rounded to bf16. Scenes: the numbers of kernels/image/raster.h; image and x lie on c's device.
 * Pictures and JPEG: on the CPU, 3 channels of fp32. */
spot_status spot_ec_input(spot_ctx *c, void *x, int channels, bool bf16, const spot_image *image, int n, const spot_ec *ec);

#ifdef __cplusplus
}
#endif
#endif
