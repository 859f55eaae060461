/* imagenet.h - mean and standard deviation of the channels, with which inputs of ImageNet models are normalised. A macro,
 * because a kernel cannot read an array of the host. */
#ifndef SPOTTER_IMAGENET_H
#define SPOTTER_IMAGENET_H

#define SPOT_IMAGENET { { 0.485f, 0.456f, 0.406f }, { 0.229f, 0.224f, 0.225f } }

static const float spot_imagenet[2][3] = SPOT_IMAGENET;

#endif
