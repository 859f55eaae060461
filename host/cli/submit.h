/* submit.h - spotter sweep --submit: a sweep as an array of Slurm jobs. */
#ifndef SPOTTER_SUBMIT_H
#define SPOTTER_SUBMIT_H

#include <argp.h>
#include <stdbool.h>

#include "cli/cli.h"
#include "spotter/sweep.h"

typedef struct {
    bool submit, dry_run;
    int  shards;               /* 0: as many as take `minutes` each, reckoned by a calibration on this machine */
    int  minutes;
    int  throttle;             /* so many tasks at a time; 0: all that Slurm starts */
    int  gpus;                 /* of a task, a process each */
    const char *partition, *extra;      /* NULL: none. extra: more options for sbatch, as a shell reads them */
} cli_array;

extern const struct argp cli_array_argp;       /* child of a parser; its input is a cli_array */

/* Cuts the sweep, writes DIR/slurm and submits the shards of which anything is missing, and a merge behind them. A job
 * has as many CPUs as c has threads. SPOT_USAGE when there is no Slurm here, or the last array is still in its queue. */
spot_status cli_submit(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *sweep, const cli_array *o,
                       const cli_machine *machine);

extern const char cli_sweep_sbatch[], cli_merge_sbatch[];      /* tools/slurm/sweep.sbatch, merge.sbatch: see slurm.cmake */

#endif
