/* embedded.h - files inside the program (embedded.cmake), each with a zero byte behind its end. */
#ifndef SPOTTER_EMBEDDED_H
#define SPOTTER_EMBEDDED_H

#include <stddef.h>

extern const unsigned char cli_sweep_sbatch[], cli_merge_sbatch[];     /* tools/slurm/sweep.sbatch, merge.sbatch */
extern const size_t cli_sweep_sbatch_size, cli_merge_sbatch_size;

extern const unsigned char cli_demo_config[];          /* configs/quickstart.yaml */
extern const unsigned char cli_demo_view[];            /* demo.safetensors: see tools/demo_view */
extern const size_t cli_demo_config_size, cli_demo_view_size;

#endif
