/* sample.h - image numbers -> draw lists, targets, blindspots, and the order of images in training.
 *
 * With raster.h a whole data set stays in the memory of c's device: draw lists, targets and blindspots are made there from
 * the EC and never copied to the host. The structs below and the EC lie on the host, every array in the memory of c's
 * device, owned by the caller. Each function takes `problems` independent problems.
 *
 *   images     row i of n is image number index[first + i], or first + i where there is no index: its draw list
 *              (spot_image_draw), its targets (spot_image_targets) and its blindspots
 *   positives  the numbers of a split's images with label 1, ascending (spot_ec_positives)
 *   shuffle    the numbers 0..n-1 in the order of an epoch, that of spot_rng_shuffle from {SPOT_RNG_SHUFFLE, ec, epoch}
 *
 * Integers and their copies in fp32: equal bytes on every device (gpu_to_gpu). Nothing waits for the device. */
#ifndef SPOTTER_SAMPLE_H
#define SPOTTER_SAMPLE_H

#include "core/ops.h"
#include "image/raster_pixel.h"

typedef struct {
    const spot_ec  *ec;
    spot_split      split;
    int             n;
    uint32_t        first;
    const uint32_t *index;     /* (first + *cursor + n); NULL: 0, 1, 2, ... */
    const uint32_t *cursor;    /* (1): added to first when the kernel runs, so that a recorded launch serves every batch;
                                  NULL: 0 */
    spot_image     *image;     /* (n); each of these three may be NULL */
    float          *target;    /* (n, ec->targets) */
    uint32_t       *mask;      /* (n): bit m set = in blindspot m, as in spot_truth */
} spot_sample;

typedef struct {
    const spot_ec *ec;
    spot_split     split;
    uint32_t      *index;      /* (spot_ec_positives(NULL, ec, split)) */
} spot_positives;

typedef struct {
    uint64_t  seed;
    uint32_t  ec, epoch;
    uint32_t  n;               /* below 2^31 */
    uint32_t *order;           /* (n) */
} spot_shuffle;

struct spot_sample_ops {
    spot_status (*images)(spot_ctx *c, int problems, const spot_sample *s, const spot_geometry *g);
    spot_status (*positives)(spot_ctx *c, int problems, const spot_positives *p);
    spot_status (*shuffle)(spot_ctx *c, int problems, const spot_shuffle *s);
};

/* SPOT_INVALID unless all ECs of a call have equal scene.size and scene.text_alternative. */
spot_status spot_sample_images(spot_ctx *c, int problems, const spot_sample *s);
spot_status spot_sample_positives(spot_ctx *c, int problems, const spot_positives *p);
spot_status spot_sample_shuffle(spot_ctx *c, int problems, const spot_shuffle *s);

#endif
