/* sweep.h - a whole experiment: plan it, run it, resume it. */
#ifndef SPOTTER_SWEEP_H
#define SPOTTER_SWEEP_H

#include <stdbool.h>

#include "spotter/config.h"
#include "spotter/ctx.h"
#include "spotter/metric.h"
#include "spotter/work.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_WIDEST_WAVE  256

/* What of an EC's stage values stays in DIR/cache when its segment is written. An EC on its way keeps all, so that a run that
 * was killed goes on where it was. */
typedef enum {
    SPOT_KEEP_ALL,
    SPOT_KEEP_VIEWS,           /* all but the networks, which are nearly all of it: 45 MB each at full width */
    SPOT_KEEP_RESULTS          /* nothing: pages without maps, no `spotter view`; what must be made anew is trained anew */
} spot_kept;

typedef struct {
    const char *out;           /* run directory */
    int shard, shards;         /* this process owns one range of the ECs: spot_shard_range (work.h); 0 of 1 by default */
    int limit;                 /* at most this many ECs of the config; 0 = all */
    bool pictures;             /* a PNG per EC */
    int wave;                  /* ECs that go together through what follows their views; 0: 1 on the CPU, 32 on a GPU */
    int at_once;               /* of them, that train side by side; 0: 1, and 2. Neither changes a result */
    double seconds;            /* no wave is begun that at the pace so far would end later than this; 0: no limit */
    spot_kept keep;            /* also of ECs that were done before */
    int starts;                /* a shard that is begun so often and stopped, with nothing kept, ends in SPOT_DEVICE: schedulers
                                  would begin it for ever; 0: no limit */
} spot_sweep_options;

typedef struct {
    int planned;               /* ECs of this shard */
    int already;               /* had a valid segment before */
    int done;                  /* computed now */
    int failed;                /* now or before: training or a method failed; the segment and the log say why */
    int not_learned;           /* of all that have a segment */
    double seconds;
} spot_sweep_report;

/* Runs what is missing. A failure that the same config would meet again (SPOT_NUMERIC, SPOT_INPUT, ...) is a result: it
 * stands in the EC's segment, is not tried again, does not stop the other methods and ECs, and the first one is what
 * comes back in the end, now and in every later run. But files may change: an EC whose embedding could not be read, or is
 * another now (by its content's hash), is made anew. An EC that memory does not suffice for gets no segment, the others
 * go on, and SPOT_NOMEM comes back. Trouble with disk, device or kernels ends the run at once, since the next EC would
 * meet it too; SPOT_STOPPED comes when the stop flag went up. In all these cases everything computed is kept and the same
 * call goes on from there; but SPOT_DEVICE when that has led nowhere `starts` times. Before anything is computed or made:
 * SPOT_USAGE, an EC of the plan is impossible, or the directory holds another config; SPOT_INPUT, no embedding of a method's
 * folder can be read. Also writes results.sqlite; of several shards the one that finds every EC done. */
spot_status spot_sweep_run(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, spot_sweep_report *report);

/* Which ECs of the config the next such call would compute: *missing, (cfg->ecs), is set for those and left for the others. The
 * directory is made and holds the config from then on. Errors are those that come before anything is computed. */
spot_status spot_sweep_missing(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, bool *missing);

/* What the classifier of an EC of the run in dir, or its robust network, shows of the positives of a split: from the run's
 * cache, or through the model that lies there. cfg is the run's config. The arena needs what spot_model_needs says.
 * SPOT_INPUT when the cache has neither view nor model. */
spot_status spot_sweep_view(spot_ctx *c, spot_arena *a, const char *dir, const spot_config *cfg, const spot_ec *ec,
                            spot_split split, bool robust, spot_view *view, spot_truth *truth);

typedef struct {
    size_t memory;             /* bytes at the peak, on the host, with the program itself ... */
    size_t device_memory;      /* ... and on the device, 0 where that is the host */
    int    ecs, wave;          /* how many; how many of them go together */
    double images;             /* that go through the network: train and val in every epoch, test positives once */
    double disk;               /* bytes in the run directory when it is done, with what ECs on their way need beside ... */
    double album;              /* ... and the pixels of pictures from files; 0: scenes, which are rendered */
    double seconds, cpu_seconds;   /* for all ECs, from a short calibration: of the clock, of processors; NaN: not calibrated */
    double calibration;            /* seconds that it took */
    double start, training, pictures, method[SPOT_MAX_BDMS];   /* of `seconds`: before the first EC (base model, pictures from
                                                                  files); for all networks; PNGs; for each method */
} spot_sweep_cost;

/* Of this shard's ECs. Calibrating trains a few steps and runs every method for a few iterations: five seconds,
 * or a twentieth of the sweep up to a minute, unless single steps take longer. */
spot_status spot_sweep_cost_of(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, spot_sweep_cost *cost,
                               bool calibrate);

#ifdef __cplusplus
}
#endif
#endif
