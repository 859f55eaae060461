/* resize.h - pictures of any sizes -> squares, with the bytes of PIL and torchvision.
 *
 * The shorter side is scaled to `resize` pixels (0: no scaling) and the middle is taken: torchvision's Resize and CenterCrop on
 * RGB images of PIL, rounded as there; black where the picture is smaller. PIL's filters reach over the source pixels as far as
 * their support times the scale (1 when enlarging): BILINEAR is a triangle (support 1), BICUBIC the cubic with a = -1/2
 * (support 2). Rows are filtered first, then columns, each rounded to a byte; Pillow from 13 on filters columns first where the
 * height shrinks by more than twice as many pixels as the width (spot_pillow, array.h). Weights are normalised to sum 1 in
 * double, then rounded to 22 fractional bits; sums of weight x byte are rounded half up and limited to 0..255. Only the part
 * of the resized picture that remains is computed.
 *
 * Integers, and doubles whose every step is rounded alike everywhere: equal bytes on every device (gpu_to_gpu). Pictures,
 * squares and scratch lie in the memory of c's device, the structs on the host. */
#ifndef SPOTTER_RESIZE_H
#define SPOTTER_RESIZE_H

#include <stddef.h>
#include <stdint.h>

#include "core/ops.h"
#include "spotter/arena.h"
#include "spotter/array.h"

typedef enum { SPOT_BILINEAR, SPOT_BICUBIC, SPOT_FILTERS } spot_filter;

typedef struct {
    const uint8_t *rgb;        /* (height, width, 3) */
    int            width, height;
    int            resize, crop;
    spot_filter    filter;
    uint8_t       *out;        /* (crop, crop, 3) */
    int            pillow;     /* spot_pillow */
} spot_resize;

enum { SPOT_RESIZE_PIXELS = 1 << 30, SPOT_RESIZE_CROP = 4096 };      /* most pixels of a picture, and of a square's side */

/* A value of `resize`: each side is scaled to `crop` pixels by itself, as PIL's resize((crop, crop)) does. */
enum { SPOT_RESIZE_SQUASH = -1 };

struct spot_resize_ops {
    spot_status (*fit)(spot_ctx *c, spot_arena *scratch, int problems, const spot_resize *p);
};

/* SPOT_INVALID for a picture without pixels, or sides that are out of range. */
spot_status spot_resize_fit(spot_ctx *c, spot_arena *scratch, int problems, const spot_resize *p);

/* Bytes of scratch. threads 0: CUDA's scratch. */
size_t spot_resize_scratch(int problems, const spot_resize *p, int threads);

/* One picture on the CPU, for a thread that decodes; scratch: spot_resize_scratch(1, p, 1) bytes, aligned to 16. */
void spot_resize_one(const spot_resize *p, void *scratch);

#endif
