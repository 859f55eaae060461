/* predictor_kinds.h - the three kinds of predictors behind include/spotter/predictor.h. */
#ifndef SPOTTER_PREDICTOR_KINDS_H
#define SPOTTER_PREDICTOR_KINDS_H

#include "spotter/predictor.h"

/* Most numbers of an embedding, and of channels. */
enum { SPOT_MOST_PREDICTED = 1 << 20 };

/* The kind's own state, and its functions. */
typedef struct {
    /* p->n is at most about.batch. Fills the wanted arrays; their numbers need not be finite. */
    spot_status (*predict)(spot_ctx *c, void *state, const spot_prediction *p);
    void (*close)(spot_ctx *c, void *state);
    void *state;
} spot_predictor_way;

/* Whether a file of weights is a vision transformer by timm's names, which spot_predictor_vit runs. */
bool spot_predictor_is_vit(const char *path);

/* Each fills all of *about but its identity and sets *way; `close` is then called also after a failure. */
spot_status spot_predictor_weights(spot_ctx *c, spot_predictor_way *way, spot_predictor_info *about,
                                   const spot_predictor_options *o);
spot_status spot_predictor_vit(spot_ctx *c, spot_predictor_way *way, spot_predictor_info *about,
                               const spot_predictor_options *o);
spot_status spot_predictor_program(spot_ctx *c, spot_predictor_way *way, spot_predictor_info *about,
                                   const spot_predictor_options *o);

#endif
