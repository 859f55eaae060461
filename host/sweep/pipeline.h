/* pipeline.h - one EC, from its definition to every method's score. */
#ifndef SPOTTER_SWEEP_PIPELINE_H
#define SPOTTER_SWEEP_PIPELINE_H

#include "sweep/diary.h"
#include "sweep/keys.h"
#include "sweep/segment.h"

typedef struct {
    const spot_config *cfg;
    spot_identity      id;
    spot_store         store;
    spot_diary         diary;
    bool               pictures;
    spot_model         base;           /* width 0: none */
} spot_run;

/* A verdict is a failure that the same config would meet again (the loss left the finite numbers, a blindspot has no
 * test images): it is written into the segment, and the EC counts as done. Any other failure (disk, memory, device,
 * stop) says nothing about the config: the call passes it up, no segment is written, and the next run goes on from the
 * stages that the store holds. */
bool spot_is_verdict(spot_status s);

/* Recalls or trains the base model that the config asks for, into run->base, and leaves it in the run directory as
 * base.safetensors too. It stays in the arena. */
spot_status spot_pipeline_base(spot_ctx *c, spot_arena *a, spot_run *run);

/* Fills seg. Stages that the store knows are recalled, all others computed and kept. What it takes of the arena is the
 * caller's to give back. */
spot_status spot_pipeline(spot_ctx *c, spot_arena *a, spot_segment *seg, spot_run *run, int index);

/* Where the picture of an EC and its method b goes. */
void spot_picture_path(char *path, size_t size, const char *dir, int index, int b, const char *method);

/* cost.c: what spot_pipeline needs of the arena when the view has at most `rows` rows. */
size_t spot_pipeline_bytes(spot_ctx *c, const spot_config *cfg, int rows);

#endif
