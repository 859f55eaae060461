/* platform.h - names the machine, the libraries and the binary that results depend on. A run's log has them (study/run_log.h);
 * `spotter check` expects equal bits only of equal ones. */
#ifndef SPOTTER_PLATFORM_H
#define SPOTTER_PLATFORM_H

#include <stddef.h>

#include "spotter/ctx.h"

/* Runs of one build, config and platform have equal segments, to the bit:
 *     cpu avx512_core_amx; oneDNN 2.7.3, OpenBLAS 0.3.21 SKYLAKEX, glibc 2.36
 *     cuda NVIDIA H200, sm_90 x 132, CUDA 12.9, cuDNN 9.11.0; cpu ...
 * The platform of a GPU includes the CPU, which sums the losses that select models. Instruction sets are those that the
 * libraries use (they obey DNNL_MAX_CPU_ISA and OPENBLAS_CORETYPE). Writes at most size bytes; returns text. */
const char *spot_platform(spot_ctx *c, char *text, size_t size);

/* Identifies one GPU among equal ones: "GPU-<uuid>, driver 575.51.03"; "" on the CPU. */
const char *spot_platform_unit(spot_ctx *c, char *text, size_t size);

/* "0.1.0 5c93c7d45a21": version and commit, what a result says it was made by; "...-dirty" where the tree had changes, "0.1.0"
 * where no commit is known (commit.cmake). */
const char *spot_made_by(void);

/* spot_made_by and the linker's hash of the program, if it has one. Different binaries have different hashes, also those of one
 * commit that another compiler made. */
const char *spot_build(char *text, size_t size);

#endif
