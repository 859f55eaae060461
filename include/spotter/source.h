/* source.h - the source of a sweep's images: rendered scenes, or pictures from files.
 *
 * It gives training, inference and reports the images of an EC: how many a split has, their labels, blindspots and pixels.
 * The later stages (training, view, methods, metric) do not depend on the kind of source. */
#ifndef SPOTTER_SOURCE_H
#define SPOTTER_SOURCE_H

#include "spotter/config.h"
#include "spotter/photos.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const spot_config *config;     /* must outlive the source */
    spot_scene_config scene;       /* as many images as the largest EC's; pictures: spot_photos_scene (photos.h) */
    spot_photos      *photos;      /* NULL: scenes */
    uint64_t          seed;
} spot_source;

/* Close s also after a failure, and before c: on a GPU pictures lie in its memory (spot_photos_upload). */
spot_status spot_source_open(spot_ctx *c, spot_source *s, const spot_config *cfg);
void        spot_source_close(spot_source *s);

/* EC number `index` of the sweep. */
spot_status spot_source_ec(spot_ctx *c, spot_ec *ec, const spot_source *s, uint32_t index);

/* The greatest spot_ec_items of any EC. */
int spot_source_items(const spot_source *s);

/* Pictures only: the super-category that the task asks about. */
const char *spot_ec_task(const spot_ec *ec);

/* Writes a blindspot in words, "elephant without person" or "square above, no text" (NUL-terminated, cut at size). */
void spot_ec_describe(char *text, size_t size, const spot_ec *ec, int blindspot);

/* Writes an image of the EC as a line of JSON: spot_scene_jsonl, or for a picture its file and every category it shows. */
spot_status spot_ec_jsonl(spot_ctx *c, char *text, size_t size, const spot_image *image, const char *file, const spot_ec *ec);

/* Pixels of n images as input of a network, ImageNet-normalised: x is (n, size, size, channels), 3 channels, or 4 in blocks of
 * 2 x 2 pixels, fp32, or rounded to bf16. Scenes: values as in kernels/image/raster.h; image and x lie on c's device.
 * Pictures on a GPU: after spot_photos_upload. Pictures and JPEG on the CPU: 3 channels of fp32. spare: memory of the device
 * for scenes through JPEG, else NULL. The call takes no memory of its own, so a step can be recorded. */
spot_status spot_ec_input(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                          const spot_ec *ec, void *spare);

/* Bytes of spare for n images of size x size pixels: their bytes before JPEG, and JPEG's planes. */
size_t spot_ec_input_spare(int n, int size);

#ifdef __cplusplus
}
#endif
#endif
