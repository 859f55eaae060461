/* submit.h - spotter sweep --submit: a sweep as an array of Slurm jobs. */
#ifndef SPOTTER_SUBMIT_H
#define SPOTTER_SUBMIT_H

#include <stdbool.h>

#include "cli/cli.h"
#include "spotter/sweep.h"

typedef struct {
    bool submit, dry_run;
    int  shards;               /* 0: tasks of `minutes` each, estimated by a calibration on this machine */
    int  minutes;
    int  throttle;             /* largest number of tasks at a time; 0: no limit */
    int  gpus;                 /* per task, with a process each; 0: none */
    const char *partition, *extra;      /* NULL: none. extra: options for sbatch, read by the shell */
} cli_array;

/* Cuts the sweep into shards, writes DIR/slurm, and submits the shards that miss an EC and a merge after them. A job has as
 * many CPUs as c has threads; it gets the options in `given` whose rows allow it. SPOT_USAGE without Slurm, or while the
 * previous array is in the queue. */
spot_status cli_submit(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *sweep, const cli_array *o,
                       const cli_given *given);

#endif
