/* jpeg_trip.h - pixels as they come back from a JPEG file, without the file: the authors' images went through one (quality 75,
 * 4:2:0).
 *
 * rgb (n, size, size, 3) -> the same, as libjpeg-turbo encodes and decodes it with its defaults: YCbCr with half of the
 * chroma's rows and columns, the slow integer DCT, the tables of ITU T.81 annex K scaled by the quality, interpolated chroma.
 * Huffman codes lose nothing and are left out. Integers: equal bytes on every device, and those of libjpeg-turbo (gpu_to_gpu;
 * tests/test_cuda_photo.c). On the CPU the program takes libjpeg-turbo itself (host/formats/jpeg.h), which is faster.
 *
 * rgb and planes lie in the memory of c's device. Nothing waits for the device, so that a step with it can be recorded. */
#ifndef SPOTTER_JPEG_TRIP_H
#define SPOTTER_JPEG_TRIP_H

#include "core/ops.h"

typedef struct { uint16_t at[2][64]; } spot_jpeg_quant;      /* steps for luma and chroma, row by row */

struct spot_jpeg_ops {
    spot_status (*trip)(spot_ctx *c, uint8_t *rgb, uint8_t *planes, int n, int size, const spot_jpeg_quant *quant);
};

/* planes: scratch, (n, spot_jpeg_planes(size)) bytes. quality is 1 to 100. */
size_t      spot_jpeg_planes(int size);
spot_status spot_jpeg_trip(spot_ctx *c, uint8_t *rgb, uint8_t *planes, int n, int size, int quality);

#endif
