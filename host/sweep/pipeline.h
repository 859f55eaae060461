/* pipeline.h - a wave of ECs, from their definitions to every method's score. */
#ifndef SPOTTER_PIPELINE_H
#define SPOTTER_PIPELINE_H

#include "spotter/source.h"
#include "spotter/sweep.h"
#include "store/keys.h"
#include "steps/chain.h"
#include "store/pack.h"
#include "sweep/segment.h"
#include "work/run_log.h"

/* The widths in which ECs are computed, and the memory that this takes for views of at most so many rows. */
typedef struct {
    int        wave, at_once;          /* ECs of a wave; ECs that train side by side */
    spot_bytes worker;                 /* of each training */
    int        features[SPOT_MAX_BDMS];/* numbers a row that a method looks at */
    size_t     arena;                  /* of spot_pipeline_base and spot_pipeline; a single worker shares it */
    spot_bytes all;
} spot_layout;

/* sweep_cost.c: as wide as o or the device wants it for `ecs` ECs, as narrow as what the device has left demands. */
spot_status spot_layout_of(spot_ctx *c, spot_layout *l, const spot_config *cfg, const spot_source *source,
                           const spot_sweep_options *o, int ecs, int rows);

/* Before anything is computed: SPOT_NOMEM where the machine, its control group, the address space or the device has not what
 * l asks for, SPOT_IO where the disk of o->out cannot take `ecs` segments and the first wave; a warning where it cannot take
 * all. */
spot_status spot_check_room(spot_ctx *c, const spot_layout *l, const spot_config *cfg, const spot_source *source,
                            const spot_sweep_options *o, int ecs, int rows);

typedef struct {
    const spot_config *cfg;
    spot_source        source;
    spot_identity      id;
    spot_store         store;
    spot_run_log       run_log;
    bool               pictures;
    spot_kept          keep;
    spot_layout        layout;
    int                before, planned;/* ECs that are done, and all: for the progress */
    spot_model         base;           /* width 0: none */
} spot_run;

/* An EC on its way through the stages. */
typedef struct {
    spot_ec         ec;
    spot_key        key, robust_key;               /* of model and view, and of those of the robust network */
    int             robust_status;                 /* a verdict on the robust network fails all methods that need it */
    char            robust_message[1024];
    spot_seen       seen;                          /* what the classifier shows */
    spot_segment    segment;
    spot_status     trouble;                       /* not SPOT_OK: it gets no segment in this run, ... */
    char            message[1024];                 /* ... because of this */
} spot_ec_run;

/* Recalls or trains the base model that the config asks for, into run->base, and leaves it in the run directory as
 * base.safetensors too. It stays in the arena. */
spot_status spot_pipeline_base(spot_ctx *c, spot_arena *a, spot_run *run);

/* Takes `count` ECs through all stages and fills p[..].segment, with the same bytes for any count. Stages that the store
 * knows are recalled, all others computed and kept. An EC that memory did not suffice for is in trouble and the others go
 * on; any other failure but a verdict (disk, device, stop) is the call's: it says nothing about the config, and the next
 * run goes on from what the store holds. What it takes of the arena is the caller's to give back. */
spot_status spot_pipeline(spot_ctx *c, spot_arena *a, spot_run *run, spot_ec_run *p, const int *index, int count);

/* method_picture.c: draws method b's points and findings of an EC, whose score is in its segment. Scratch is taken from a.
 * spot_method_picture_map: the method on whose map they are drawn: b, or another, or none of the config. */
spot_status spot_method_picture(spot_ctx *c, spot_arena *a, const spot_run *run, const spot_ec_run *p, int b,
                                spot_points points, const spot_hypotheses *found);
spot_bdm_config spot_method_picture_map(const spot_config *cfg, int b);

/* The picture's file. */
void spot_method_picture_path(char *path, size_t size, const char *dir, int index, int b, const char *method);

#endif
