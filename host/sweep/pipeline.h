/* pipeline.h - a wave of ECs, from their definitions to every method's score. */
#ifndef SPOTTER_PIPELINE_H
#define SPOTTER_PIPELINE_H

#include "spotter/config.h"
#include "spotter/encoder.h"
#include "spotter/sweep.h"
#include "study/chain.h"
#include "study/keys.h"
#include "store/pack.h"
#include "sweep/segment.h"
#include "study/run_log.h"
#include "study/workers.h"

/* The number of ECs that are computed together, and the memory that this takes. */
typedef struct {
    int        wave, at_once;          /* ECs of a wave; ECs that train at the same time */
    spot_bytes worker;                 /* memory of one training */
    int        features[SPOT_MAX_BDMS];/* features per row of each method's view */
    spot_bytes encoder, encoding;      /* memory of the encoder, which is open; beside it, for the features of an EC */
    size_t     resident;               /* device memory for what stays there between the stages of a wave */
    size_t     photos;                 /* device memory for real pictures */
    size_t     pictures;               /* host memory for pictures that wait for their thread */
    size_t     arena;                  /* bytes for spot_pipeline_base and spot_pipeline; a single worker shares them */
    spot_bytes all;
} spot_layout;

/* sweep_cost.c: the layout for `ecs` ECs whose views have at most `rows` rows. encoder: the open one; NULL: none. wave and
 * at_once are those of o, or suit the device, and are lowered until the device's free memory suffices. */
spot_status spot_layout_of(spot_ctx *c, spot_layout *l, const spot_config *cfg, const spot_source *source,
                           const spot_encoder *encoder, const spot_sweep_options *o, int ecs, int rows);

/* Called before anything is computed. SPOT_NOMEM: the machine, its control group, the address space or the device has less
 * memory than l needs. SPOT_IO: the disk of place.out cannot hold `ecs` segments and the first wave. A warning: it cannot hold
 * all values. */
spot_status spot_check_room(spot_ctx *c, const spot_layout *l, const spot_config *cfg, const spot_source *source,
                            const spot_sweep_options *o, int ecs, int rows);

struct spot_picture_threads;

typedef struct {
    const spot_config *cfg;
    spot_source        source;
    spot_identity      id;
    spot_store         store;
    spot_run_log       run_log;
    bool               pictures;
    spot_kept          keep;
    spot_layout        layout;
    int                before, planned;/* finished ECs, and all ECs: for the progress */
    spot_model         base;           /* width 0: none */
    void              *base_there;     /* its numbers in the memory of the device, for all ECs of this process; NULL: none */
    spot_encoder      *encoder;        /* NULL: no method looks with it */
    spot_workers       workers;
} spot_run;

/* A network's features of an EC's view in the memory of the wave's device. */
typedef struct {
    float *at;                         /* (rows, d); NULL: no memory for them */
    int    d;
    bool   filled;
} spot_device_features;

/* The nearest rows of each row of an EC's view by some features (metric.h). */
typedef struct {
    int *column, k;                    /* (rows, k) */
    bool found;
} spot_ec_graph;

/* An EC and its values while it goes through the stages. */
typedef struct {
    spot_ec         ec;
    spot_key        key, robust_key;               /* key of model and view; the same for the robust network */
    int             robust_status;                 /* a verdict on the robust network fails all methods that need it */
    char            robust_message[1024];
    spot_key        clip_key;                      /* key of the encoder's features; failures as for the robust network */
    int             clip_status;
    char            clip_message[1024];
    spot_seen       seen;                          /* the classifier's view */
    spot_device_features on_device, robust_on_device, clip_on_device;      /* the features of the three */
    struct { spot_key key; float *at; } points_there[SPOT_MAX_BDMS];      /* each method's points on the device; NULL: none */
    spot_ec_graph  *graph[SPOT_MAX_BDMS];          /* of each method's features; methods share them; NULL: not wanted */
    spot_repair     repair;                        /* what the repairs of all methods share */
    spot_segment    segment;
    spot_status     trouble;                       /* not SPOT_OK: the EC gets no segment in this run; ... */
    char            message[1024];                 /* ... the reason */
} spot_ec_run;

/* base.c: recalls or trains the base model that the config asks for, into run->base, and also writes it to the run directory
 * as base.safetensors. It stays in the arena, and on a device a copy at run->base_there, which the caller gives back. */
spot_status spot_pipeline_base(spot_ctx *c, spot_arena *a, spot_run *run);

/* Numbers in a row of the encoder's features; 0 without an encoder. */
int spot_encoded_columns(const spot_config *cfg, const int *features);

/* Device memory for what stays there between the stages of `count` ECs with views of rows[p] rows: the features
 * of all views, and the points of all methods. features: as in the layout. */
size_t spot_resident_bytes(const spot_config *cfg, const int *features, int count, const int *rows);

/* Host memory for the graphs of an EC's view of that many rows. */
size_t spot_graph_bytes(const spot_config *cfg, int rows);

/* Takes `count` ECs through all stages and fills p[..].segment, with the same bytes for any count. Recalls the stages that
 * the store knows; computes and keeps all others. An EC that does not fit into memory is in trouble, and the others continue.
 * Any other failure that is no verdict (disk, device, stop) is returned: it does not depend on the config, and the next run
 * continues from the store. The caller rewinds the arena. */
spot_status spot_pipeline(spot_ctx *c, spot_arena *a, spot_run *run, spot_ec_run *p, const int *index, int count);

/* method_picture.c: draws method b's points and hypotheses of an EC, whose score is in its segment, or leaves that to `threads`
 * (picture_threads.h) unless NULL. a is for scratch. spot_method_picture_map: the method on whose map they are drawn: b,
 * another one, or PCA, which need not be in the config. */
spot_status spot_method_picture(spot_ctx *c, spot_arena *a, const spot_run *run, const spot_ec_run *p, int b,
                                spot_points points, const spot_hypotheses *found, struct spot_picture_threads *threads);
spot_bdm_config spot_method_picture_map(const spot_config *cfg, int b);

/* The path of the picture's file. */
void spot_method_picture_path(char *path, size_t size, const char *dir, int index, int b, const char *method);

#endif
