/* spotlight_cpu.h - functions that the CPU's spherical and full spotlights share. */
#ifndef SPOTTER_SPOTLIGHT_CPU_H
#define SPOTTER_SPOTLIGHT_CPU_H

#include "core/problems.h"
#include "fit/spotlight_step.h"

/* k and u = -dk/dD of `rows` distances D. rows is a multiple of 8; arrays are aligned to 64 bytes. */
void spot_spotlight_weights(int kernel, double *k, double *u, const double *distance, int rows);

/* The cfg of a fit's jobs. */
typedef struct { const spot_spotlight_config *cfg; int compat; } spot_spotlight_setup;

/* spotlight_full.c */
extern const spot_job_kind spot_spotlight_full_kind;
spot_status spot_spotlight_full_weigh(spot_ctx *c, spot_arena *scratch, const spot_spotlight_problem *p, int kernel);

#endif
