/* encoder_look.h - an encoder's features of the pictures of an EC. */
#ifndef SPOTTER_ENCODER_LOOK_H
#define SPOTTER_ENCODER_LOOK_H

#include "spotter/arena.h"
#include "spotter/encoder.h"
#include "spotter/scene.h"

/* feature (spot_ec_positives(NULL, ec, split), dim), on the host: a row for each picture with label 1, in the order of the
 * view. Pictures are scaled from the EC's size to the encoder's side as CLIP prepares them: bicubic, PIL's bytes. a is for
 * scratch. The same bits for any number of threads. The stop flag is looked at between blocks. */
spot_status spot_encoder_look(spot_ctx *c, spot_arena *a, spot_encoder *e, float *feature, const spot_ec *ec,
                              spot_split split);

/* Scratch for `rows` pictures of `size` pixels a side: bytes of the arena, and of device memory, which the call takes
 * itself. */
spot_status spot_encoder_look_needs(spot_ctx *c, spot_bytes *needs, const spot_encoder_info *about, int size, int rows);

#endif
