/* photo.h - pictures as bytes -> their labels in an EC, and the input of a network.
 *
 *   images   as in sample.h, for an EC of real pictures: row i of n is picture index[first + i] of the split
 *   input    pictures (size, size, 3) -> x (n, size, size, channels), values by set->pixels; 3 or 4 channels, fp32 or bf16
 *
 * On a GPU all pictures of a run lie in its memory (host/worlds/resident.c), so that a step of training names them by number
 * and copies nothing. The structs and the EC lie on the host, every array in the memory of c's device. Labels and numbers are
 * equal on every device (gpu_to_gpu). A number that the split lacks is SPOT_INVALID on the CPU. The host does not read a GPU's
 * numbers: there such an image has a NaN as target and all NaN as input. Nothing waits for the device. */
#ifndef SPOTTER_PHOTO_H
#define SPOTTER_PHOTO_H

#include <stdbool.h>

#include "core/ops.h"
#include "image/levels.h"
#include "image/sample.h"

typedef struct {
    int pictures, size;                  /* pixels a side */
    const uint8_t  *rgb;                 /* (pictures, size, size, 3); for `input` */
    const uint64_t *shows;               /* (pictures, words): bit k: it shows category k */
    const uint64_t *task;                /* (words): the categories that the task asks about */
    int words;
    const uint32_t *row[SPOT_SPLITS];    /* (images): the pictures of a split; values below `pictures` */
    int images[SPOT_SPLITS];
    bool val_is_true;                    /* labels of val stay true within blindspots */
    spot_pixel_rule pixels;              /* for `input`; all zero: ImageNet's */
} spot_photo_set;

struct spot_photo_ops {
    spot_status (*images)(spot_ctx *c, const spot_photo_set *set, const spot_sample *s);
    spot_status (*input)(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_photo_set *set,
                         const spot_image *image, int n);
};

spot_status spot_photo_images(spot_ctx *c, const spot_photo_set *set, const spot_sample *s);

/* image (n), as `images` makes them; NULL: the first n pictures of the set, in which only pictures, size, rgb and pixels count.
 * On the CPU with 3 channels of fp32 and n = 1, rgb may be the last quarter of x. */
spot_status spot_photo_input(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_photo_set *set,
                             const spot_image *image, int n);

#endif
