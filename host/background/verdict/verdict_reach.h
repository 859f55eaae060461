/* verdict_reach.h - which models a forest may judge: those that are about as near to models of its training as these are to
 * one another. verdict.h has the rule. */
#ifndef SPOTTER_VERDICT_REACH_H
#define SPOTTER_VERDICT_REACH_H

#include "spotter/verdict.h"

/* Models with their features and accuracies. Models of one group are alike for a reason that a new model does not share. */
typedef struct {
    int n, features;
    const float *x;                /* (n, features) */
    const float *accuracy;         /* (n) */
    const int   *group;            /* (n) */
} spot_reach_models;

typedef struct spot_verdict_reach spot_verdict_reach;

/* `of` outlives the reach. Close accepts NULL. */
spot_status spot_verdict_reach_open(spot_ctx *c, spot_verdict_reach **reach, const spot_reach_models *of);
void        spot_verdict_reach_close(spot_verdict_reach *reach);

/* Fills v->reach. */
void spot_verdict_reach_find(const spot_verdict_reach *reach, spot_verdict_distance *out, const float *row, double accuracy);

#endif
