/* sweep.h - a whole experiment: plan it, run it, resume it. */
#ifndef SPOTTER_SWEEP_H
#define SPOTTER_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/config.h"
#include "spotter/ctx.h"
#include "spotter/metric.h"
#include "spotter/model.h"
#include "spotter/scene.h"
#include "spotter/work.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_WIDEST_WAVE  256

/* The stage values of an EC that stay in DIR/cache when its segment is written. Before that all stay, so that a killed run
 * continues from them. */
typedef enum {
    SPOT_KEEP_ALL,
    SPOT_KEEP_VIEWS,           /* all but the networks, which take nearly all the space: 45 MB each at full width */
    SPOT_KEEP_RESULTS          /* none: reports have no maps, `spotter view` fails, and a repeated EC is trained again */
} spot_kept;

typedef struct {
    spot_run_place place;      /* its batches are waves */
    int limit;                 /* at most this many ECs of the config; 0 = all */
    bool pictures;             /* a PNG per EC */
    int wave;                  /* ECs whose stages after the view run as one batch; 0: 1 on the CPU, 32 on a GPU */
    int at_once;               /* ECs of a wave that train at the same time; 0: 1, on a GPU 2 to 16. Neither changes a result */
    spot_kept keep;            /* applies also to ECs that were done before */
} spot_sweep_options;

typedef struct {
    int planned;               /* ECs of this shard */
    int already;               /* had a valid segment before */
    int done;                  /* computed now */
    int failed;                /* training or a method failed, now or before; the segment and the log have the reason */
    int not_learned;           /* among all ECs with a segment */
    double seconds;
} spot_sweep_report;

/* Computes the missing ECs of a shard. Also writes results.sqlite; with several shards, the one that finds every EC done does.
 *
 * Before any work: SPOT_USAGE when an EC of the plan is impossible or the directory holds another config; SPOT_INPUT when no
 * embedding in a method's folder can be read, or encoder.weights is no CLIP of encoder.shape; SPOT_UNSUPPORTED when the device
 * has no kernels for it.
 * A failure that the same config would repeat (SPOT_NUMERIC, SPOT_INPUT, ...) is a result. It is kept in the EC's segment, is
 * not tried again, and does not stop other methods or ECs. The first one is returned at the end, now and in every later run.
 * Files may change, so an EC is computed again when its embedding could not be read, or has another hash now.
 * An EC that does not fit into memory gets no segment; the others continue, and the call returns SPOT_NOMEM.
 * A failure of disk, device or kernels ends the run at once, since the next EC would fail, too. SPOT_STOPPED when the stop
 * flag was set. In all cases every computed value is kept and the same call continues from there, but the call ends in
 * SPOT_DEVICE when `starts` calls have kept nothing. */
spot_status spot_sweep_run(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, spot_sweep_report *report);

/* The ECs that such a call would compute: sets missing[i], (cfg->ecs), for those and leaves the others. Makes the directory,
 * which holds the config from then on. Errors: those of spot_sweep_run before any work. */
spot_status spot_sweep_missing(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, bool *missing);

/* The view of an EC, of the positives of a split: from the cache of the run in dir, or by running the cached model. cfg is the
 * run's config. representation: SPOT_BY_MODEL, SPOT_BY_ROBUST, or SPOT_BY_CLIP: the encoder's features, which are computed
 * where the cache has none, and the classifier's confidences. The arena needs spot_sweep_view_needs bytes for `rows` positives.
 * SPOT_INPUT when the cache has neither view nor model, or the run has no such network. */
spot_status spot_sweep_view(spot_ctx *c, spot_arena *a, const char *dir, const spot_config *cfg, const spot_ec *ec,
                            spot_split split, int representation, spot_view *view, spot_truth *truth);
spot_status spot_sweep_view_needs(spot_ctx *c, size_t *bytes, const spot_config *cfg, const spot_scene_config *scene, int rows,
                                  int representation);

/* The classifier of an EC, from the cache of the run in dir. The arena needs spot_sweep_view_needs bytes for one positive.
 * SPOT_INPUT when the cache has no network (sweep --keep). */
spot_status spot_sweep_network(spot_ctx *c, spot_arena *a, const char *dir, const spot_config *cfg, const spot_ec *ec,
                               spot_model *m);

/* Replaces data.induced_from, the run directory of a sweep of pool: singles, by the categories that it has learned
 * (data.induced), and lowers `ecs` to the number that the pool then has. Nothing to do without data.induced_from. Call it after
 * a config was read: the other functions refuse induced_from, because a run's own config must not depend on another run.
 * SPOT_USAGE for a run of another pool, of other pictures, or that is not finished; SPOT_IO where it cannot be read. */
spot_status spot_sweep_induced(spot_ctx *c, spot_config *cfg);

typedef struct {
    size_t memory;             /* peak bytes on the host, with the program itself */
    size_t device_memory;      /* peak bytes on the device; 0 on the CPU */
    int    ecs, wave;          /* number of ECs; ECs per wave */
    double images;             /* images through the network: train and val in every epoch, test positives once */
    double disk;               /* bytes of the finished run directory, plus those that unfinished ECs need for a time */
    double album;              /* bytes of decoded pictures from files; 0: rendered scenes */
    double seconds, cpu_seconds;   /* for all ECs, from a short calibration: by the clock, of processors; NaN: not calibrated */
    double calibration;            /* seconds of the calibration */
    double start, training, pictures, method[SPOT_MAX_BDMS];   /* parts of `seconds`: before the first EC (base model, pictures
                                                                  from files); all networks; PNGs; each method */
} spot_sweep_cost;

/* The cost of this shard's ECs. Calibration trains a few steps and runs every method for a few iterations. It takes five
 * seconds, or a twentieth of the sweep up to a minute, unless single steps take longer. */
spot_status spot_sweep_cost_of(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, spot_sweep_cost *cost,
                               bool calibrate);

/* ---- the run directory ---- */

/* Reads the run directory of a sweep: the result segment of each EC, and from the cache its view and what its methods
 * found. Nothing is trained or searched. */

/* The result of one method on the EC. Where status is not SPOT_OK, only the message is valid below it. */
typedef struct {
    char   name[80], settings[33];             /* label; hash of the method's settings */
    int    status;                             /* spot_status */
    char   message[1024];
    char   embedding[33];                      /* hash of the embedding file; "": none, or it could not be read */
    int    components;
    int    size[SPOT_MAX_HYPOTHESES];          /* rows of hypothesis k */
    double order[SPOT_MAX_HYPOTHESES];         /* score by which it was ordered */
    double mean_error[SPOT_MAX_HYPOTHESES];
    spot_score score;
} spot_outcome;

typedef struct {
    int      index;                            /* of the EC in the sweep */
    uint64_t seed;
    char     config[33], build[32], device[32];
    int      numbers;                          /* SPOT_NUMBERS of the build */
    spot_metric_config metric;
    char     layers[128], rollable[512];       /* "square circle", "background.color square.size"; pictures: "animal", "" */
    int      images[SPOT_SPLITS];
    int      blindspots, specificity[SPOT_MAX_BLINDSPOTS];
    char     blindspot[SPOT_MAX_BLINDSPOTS][512];
    char     induce[16];                       /* how blindspots are planted (spot_induce_name); "": pictures, an old segment */
    double   strength;                         /* spot_induce_strength */
    int      status;                           /* of training; there is no lesson unless it is SPOT_OK */
    char     message[1024];
    spot_learning lesson;                      /* without its seconds */
    spot_severity severity;                    /* no rows outside and inside: an old segment */
    int      methods;
    spot_outcome *method;                      /* (methods) or more; owned by the segment */
} spot_segment;

/* methods: takes zeroed memory for the outcomes of n methods; false: out of memory. close: frees it; accepts a zeroed segment.
 * free: also frees s itself, which was malloc'd; accepts NULL. */
bool spot_segment_methods(spot_segment *s, int n);
void spot_segment_close(spot_segment *s);
void spot_segment_free(spot_segment *s);

/* Reads into a zeroed segment, or into one that was read before. A damaged file is no failure of the call: *state reports it
 * and `why` describes it in a few words. */
spot_status spot_segment_read(spot_ctx *c, const char *dir, int index, spot_segment *s, spot_segment_state *state,
                              char *why, size_t why_size);

/* The indices of all segment files of a run, whole or damaged, ascending. *index is malloc'd. */
spot_status spot_segment_list(spot_ctx *c, const char *dir, int **index, int *n);

/* Writes results.sqlite: tables of all whole segments that have this config key (text; "": any). Leaves out damaged ones.
 * Writes a temp file and renames it. */
spot_status spot_database_write(spot_ctx *c, const char *dir, const char *config);

/* Whether a method uses the features of a robust network. */
bool spot_wants_robust(const spot_config *cfg);

/* Opens the cache of a run. photos: those of the run's source, NULL for rendered images. Close it also after a failure. */
typedef struct spot_run_values spot_run_values;
spot_status spot_run_values_open (spot_ctx *c, spot_run_values **v, const char *dir, const spot_config *cfg,
                                  const spot_photos *photos);
void        spot_run_values_close(spot_run_values *v);           /* accepts NULL */

/* Arena bytes for an EC's view of that many rows and one method's findings in it. */
size_t spot_run_values_needs(const spot_run_values *v, int rows);

/* The classifier's view of an EC's test positives. *found is false where the cache has none. */
spot_status spot_run_values_view(spot_ctx *c, spot_arena *a, const spot_run_values *v, uint32_t ec, spot_view *view,
                                 spot_truth *truth, bool *found);

/* The findings of a method, and two columns to draw them on, as in the run's pictures: its own points, or another method's, or
 * principal components. */
typedef struct {
    spot_hypotheses *found;            /* the caller's; is_kept false: the cache has none */
    bool is_kept;
    spot_points map;                   /* at NULL where principal components failed */
    int of;                            /* the method that owns the map, -1 for components */
} spot_drawn_finding;

/* Those of method b in that view. */
spot_status spot_run_values_found(spot_ctx *c, spot_arena *a, const spot_run_values *v, uint32_t ec, const spot_view *view,
                                  int b, spot_drawn_finding *f);

#ifdef __cplusplus
}
#endif
#endif
