/* encoder_name.h - which network a file of weights holds, the block and the name of an encoder. */
#ifndef SPOTTER_ENCODER_NAME_H
#define SPOTTER_ENCODER_NAME_H

#include "base/key.h"
#include "spotter/encoder.h"
#include "spotter/predictor.h"

/* Finds the kind by the names of the tensors. SPOT_INPUT for a file of neither network. */
spot_status spot_encoder_find_kind(spot_ctx *c, int *kind, const char *path);

/* name: the kind, and 64 bits of the hash of the file's bytes and of the facts that decide the numbers. clip: of the
 * whole file; NULL: a ResNet. */
spot_status spot_encoder_make_name(spot_ctx *c, char name[32], const char *path, const spot_clip_info *clip,
                                   const spot_encoder_options *o);

/* The same of a program that is open. One that is known by its answers has two hashes: of its command and the facts, and of its
 * answers, "program-3f9a0c12-d4e5b687a1c3". */
spot_status spot_encoder_name_program(spot_ctx *c, char name[32], const char *path, spot_predictor *p,
                                      const spot_encoder_options *o);

/* The program of an encoder that is known by its answers, and its name (32), which may be changed to that under which the same
 * answers are kept. program NULL: it is another encoder. */
typedef struct { spot_predictor *program; const char *path; char *name; } spot_answering;
spot_answering spot_encoder_answering(spot_encoder *e);

#endif
