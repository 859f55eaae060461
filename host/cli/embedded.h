/* embedded.h - files inside the program (embedded.cmake), each with a zero byte behind its end. */
#ifndef SPOTTER_EMBEDDED_H
#define SPOTTER_EMBEDDED_H

#include <stddef.h>

extern const unsigned char cli_sweep_sbatch[], cli_merge_sbatch[];     /* tools/slurm/sweep.sbatch, merge.sbatch */
extern const size_t cli_sweep_sbatch_size, cli_merge_sbatch_size;

extern const unsigned char cli_demo_config[];          /* configs/quickstart.yaml */
extern const unsigned char cli_demo_view[];            /* demo.safetensors: see tools/demo_view */
extern const size_t cli_demo_config_size, cli_demo_view_size;

extern const unsigned char cli_programs[];             /* tools/python/spotter/llms.txt */
extern const unsigned char cli_slices_schema[], cli_json_schema[];     /* slices.schema.json, json.schema.json beside it */
extern const size_t cli_programs_size, cli_slices_schema_size, cli_json_schema_size;

#endif
