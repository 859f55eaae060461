/* op_scene.h - ECs of many kinds, their draw lists and pixels, for tests/test_cuda_raster.c, tests/test_cuda_scene.c and
 * bench_raster.c. */
#ifndef SPOTTER_OP_SCENE_H
#define SPOTTER_OP_SCENE_H

#include "image/sample.h"
#include "op.h"
#include "spotter/model.h"
#include "spotter/scene.h"

/* An EC on a canvas of `size` pixels. Kinds from 0 on: the authors' settings, labels flipped by chance, a base model's, and
 * blindspots that are left out of training. Kind -1 - e: EC e of the authors' settings. */
spot_status spot_op_ec(spot_ctx *c, spot_ec *ec, int kind, int size);

/* size: pixels a side, ECs, images of all of them, channels (0: bytes), precision, kind of the ECs (below 0: -1 - e for EC e;
 * else a base model's for the first, this kind for the second), numbers between a store of 128 bits and the output's begin.
 * Without ECs: squares that begin and end in every row, at either side. */
enum { SPOT_OP_ECS = 16 };
typedef struct {
    spot_scene_config cfg;
    spot_ec ec[SPOT_OP_ECS];
    spot_sample sample[SPOT_OP_ECS];     /* a share of the images each */
    int ecs, images, channels;
    spot_precision precision;
    spot_image *image;                   /* (images) */
    unsigned char *out;                  /* (images, size, size, channels or 3 bytes) */
} spot_op_scenes;
extern const spot_op spot_op_render;

/* A byte of channel k in a network's input: the contract of raster.h and photo.h, written once more. */
static inline float spot_op_normalised(uint8_t byte, int k)
{
    static const float mean[] = { 0.485f, 0.456f, 0.406f }, std[] = { 0.229f, 0.224f, 0.225f };

    return k < 3 ? ((float)byte / 255.0f - mean[k]) / std[k] : 0;
}

#endif
