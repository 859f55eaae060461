/* examine_look.h - a model under examination: renders in, p of the true class out. */
#ifndef SPOTTER_EXAMINE_LOOK_H
#define SPOTTER_EXAMINE_LOOK_H

#include "examine/examine_draw.h"
#include "store/store.h"

/* The answer of a model to a render, by softmax over its outputs; p is that of all outputs of the true class. */
typedef struct { float p; uint8_t valid; int answer; } spot_examine_seen;      /* answer -1: an output that is no class */

typedef struct {
    spot_examine_drawer drawer;
    spot_predictor *predictor;
    int *class_of, outputs;        /* as spot_output_classes gives them */
    float   *logit;                /* (most, outputs of the predictor) */
    uint8_t *host;                 /* the renders for a program or a function, where c has a device; else NULL */
    char hash[33];                 /* of the weights' bytes, or of the command or the function's identity, and the classes */
} spot_examine_looker;

/* A model of a config, to be opened: `path` is the file of its weights, "" for a program. */
typedef struct {
    const spot_examine_model *model;
    const char *path;
    const spot_examine_options *options;
} spot_examine_source;

/* The hash of a model, and of what it sees behind the objects; store: remembers the hashes of files, or NULL. */
spot_status spot_examine_model_hash(spot_ctx *c, char hash[33], const spot_examine_source *from,
                                    const spot_examine_backgrounds *pictures, const spot_store *store);

/* SPOT_INPUT as spot_predictor_open. Close it also after a failure. */
spot_status spot_examine_looker_open (spot_ctx *c, spot_examine_looker *l, const spot_examine_source *from,
                                      spot_examine_objects_list *o, const spot_examine_backgrounds *pictures);
void        spot_examine_looker_close(spot_ctx *c, spot_examine_looker *l);

/* Draws and looks at any number of renders. After SPOT_INPUT of a program the looker is of no use any more. */
spot_status spot_examine_look(spot_ctx *c, spot_examine_looker *l, const spot_examine_shot *shot, int n,
                              spot_examine_seen *seen);

#endif
