/* platform.h - names the machine, the libraries and the binary that results depend on. */
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

/* "0.1.0 <the linker's hash of the program>", or "0.1.0" without such a hash. Different binaries have different hashes. */
const char *spot_build(char *text, size_t size);

#endif
