/* idle_cores.h - the sentence of a run that leaves a GPU's tensor cores idle. Every study says it before its first picture. */
#ifndef SPOTTER_IDLE_CORES_H
#define SPOTTER_IDLE_CORES_H

#include "spotter/ctx.h"
#include "spotter/encoder.h"

/* Warns where c's device is a GPU and precision (spot_precision) is fp32. setting: the one that chooses it. times: "six", the
 * time that fp32 takes there against `fast`, predicted. */
void spot_warn_of_fp32(spot_ctx *c, int precision, const char *setting, const char *times, const char *fast);

/* The same for an encoder. Of ResNets and AlexNet, which have no other precision, it says that, and of all where there is no
 * setting (NULL); programs and neutral features have none of ours. */
void spot_warn_of_encoder(spot_ctx *c, const spot_encoder_info *e, int precision, const char *setting);

/* The same for networks that compute in fp32 alone; whose: "the networks of examine". */
void spot_warn_of_fp32_alone(spot_ctx *c, const char *whose);

#endif
