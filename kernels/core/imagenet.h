/* imagenet.h - the channels' mean, then their standard deviation, by which ImageNet models have their input normalised. A
 * macro, because a kernel reads no array of the host. */
#ifndef SPOTTER_IMAGENET_H
#define SPOTTER_IMAGENET_H

#define SPOT_IMAGENET { { 0.485f, 0.456f, 0.406f }, { 0.229f, 0.224f, 0.225f } }

static const float spot_imagenet[2][3] = SPOT_IMAGENET;

#endif
