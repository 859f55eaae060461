/* look_encoder.h - features of a subject's pictures by an encoder (spotter/encoder.h), in place of the classifier's. */
#ifndef SPOTTER_LOOK_ENCODER_H
#define SPOTTER_LOOK_ENCODER_H

#include "spotter/subject.h"

/* Fills s->feature, s->d and s->encoder from s->image by files->embed; s->head becomes NULL, since it belongs to the
 * classifier's features. Rows whose picture is missing or cannot be read are left out and counted with files->skip, else
 * SPOT_INPUT. All threads decode; beside the rows it needs the memory of one block of pictures. */
spot_status spot_subject_embed(spot_ctx *c, spot_subject *s, const spot_subject_files *files);

#endif
