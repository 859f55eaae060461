/* spotlight_cpu.h - functions that the CPU's spherical and full spotlights share. */
#ifndef SPOTTER_SPOTLIGHT_CPU_H
#define SPOTTER_SPOTLIGHT_CPU_H

#include "fit/spotlight_step.h"

/* k and u = -dk/dD of `rows` distances D. rows is a multiple of 8; arrays are aligned to 64 bytes. */
void spot_spotlight_weights(int kernel, double *k, double *u, const double *distance, int rows);

/* spotlight_full.c */
spot_status spot_spotlight_full(spot_ctx *c, spot_arena *scratch, int problems, const spot_spotlight_problem *p,
                                const spot_spotlight_config *cfg, int compat);
spot_status spot_spotlight_full_weigh(spot_ctx *c, spot_arena *scratch, const spot_spotlight_problem *p, int kernel);
size_t spot_spotlight_full_scratch(int problems, int n, int d, int threads);

#endif
