/* background_look.h - models look at the original, the blends and the derived sets of every target. Pictures are made once for
 * all models and dropped. */
#ifndef SPOTTER_BACKGROUND_LOOK_H
#define SPOTTER_BACKGROUND_LOOK_H

#include "background/background_inputs.h"
#include "spotter/work.h"

/* One model. */
typedef struct {
    spot_predictor *predictor;
    const char *name;
    const int  *class_of;          /* (outputs), or NULL: outputs are classes */
    float *signal;                 /* (matrices, targets, n + 1) */
    int   *answer;                 /* (targets, n + 1) */
    int   *derived;                /* (targets, SPOT_BACKGROUND_SETS); -2: no such picture */
    int   *of_own;                 /* (targets, own): before backgrounds of its own class; -2: there are no more */
    float *most;                   /* (channels): greatest activation on a blend */
    float *logit, *embedding, *channel;    /* scratch of a batch */
    spot_status failed;            /* SPOT_INPUT: it answered wrongly, and was left out from then on ... */
    char   why[1024];              /* ... with this sentence */
} spot_look_model;

typedef struct {
    spot_background_inputs *in;
    const spot_background_suite *suite;
    const spot_background_config *cfg;
    spot_look_model *model;
    int models;
    const spot_work *work;         /* its progress hears of the look: SPOT_LOOK_SHARE of a unit; NULL: nobody does */
} spot_background_look;

/* The matrices take the rest of a model's time, about. */
#define SPOT_LOOK_SHARE 0.95

/* Fills signal, answer, derived, of_own and most of all models, which the caller gives with signal NaN, derived and of_own -2,
 * and most 0. A model that fails (SPOT_INPUT) does not stop the others. */
spot_status spot_look_all(spot_ctx *c, const spot_background_look *l);

/* One picture of a target as the models see it: rgb (size, size, 3); image 0: the original, 1 .. n: the blends, n + 1 + k:
 * derived set k. SPOT_INPUT where there is none. For reports. */
spot_status spot_look_picture(spot_ctx *c, const spot_background_look *l, uint8_t *rgb, int target, int image);

#endif
