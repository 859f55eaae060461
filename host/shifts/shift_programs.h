/* shift_programs.h - models that are programs: each is started once a run, and is known by its answers
 * (study/kept_encoder.h). */
#ifndef SPOTTER_SHIFT_PROGRAMS_H
#define SPOTTER_SHIFT_PROGRAMS_H

#include "shifts/shifts_config.h"
#include "spotter/encoder.h"

/* Where a study has more programs than these, which together could fill the memory of a GPU, the others are started for each
 * piece of work. */
enum { SPOT_SHIFT_OPEN_PROGRAMS = 8 };

typedef struct {
    const char   *dir;                 /* the run, which keeps their answers; NULL: none are kept */
    spot_encoder *open[SPOT_SHIFT_OPEN_PROGRAMS];
    const spot_shift_model *model[SPOT_SHIFT_OPEN_PROGRAMS];
    int           n;
} spot_shift_programs;

/* How the encoder of a model that looks is opened. */
spot_encoder_options spot_shift_model_options(const spot_shifts_config *cfg, const spot_shift_model *m);

/* Opens a model that looks, or takes the program that is open. Give it back; p NULL: nothing stays open. */
spot_status spot_shift_model_open(spot_ctx *c, spot_encoder **e, spot_shift_programs *p, const spot_shifts_config *cfg,
                                  const spot_shift_model *m);
void        spot_shift_model_give(spot_ctx *c, spot_encoder *e, const spot_shift_programs *p);
void        spot_shift_programs_close(spot_ctx *c, spot_shift_programs *p);

#endif
