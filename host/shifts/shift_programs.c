/* shift_programs.c - see shift_programs.h. */
#include "shifts/shift_programs.h"

#include "models/foreign_model.h"
#include "study/kept_encoder.h"

spot_encoder_options spot_shift_model_options(const spot_shifts_config *cfg, const spot_shift_model *m)
{
    spot_encoder_options o = spot_encoder_defaults();

    o.resize = m->resize, o.crop = m->crop, o.reading = cfg->data.reading, o.input = m->input;
    return o;
}

static spot_status open_program(spot_ctx *c, spot_encoder **e, const spot_shift_programs *p, const spot_shifts_config *cfg,
                                const spot_shift_model *m)
{
    const spot_encoder_options o = spot_shift_model_options(cfg, m);
    spot_kept_encoder kept = { .dir = p ? p->dir : NULL };
    spot_status s;

    SPOT_TRY(spot_encoder_open(c, e, m->weights, &o));
    s = spot_kept_encoder_know(c, &kept, *e);
    if (s == SPOT_OK) s = spot_kept_encoder_save(c, &kept);
    if (s == SPOT_OK) return SPOT_OK;
    spot_kept_encoder_drop(&kept);
    spot_encoder_close(c, *e);
    *e = NULL;
    return s;
}

spot_status spot_shift_model_open(spot_ctx *c, spot_encoder **e, spot_shift_programs *p, const spot_shifts_config *cfg,
                                  const spot_shift_model *m)
{
    for (int i = 0; p && i < p->n; i++)
        if (p->model[i] == m) {
            *e = p->open[i];
            return SPOT_OK;
        }
    SPOT_TRY(open_program(c, e, p, cfg, m));
    if (p && p->n < SPOT_SHIFT_OPEN_PROGRAMS && spot_is_foreign(m->weights)) {
        p->model[p->n] = m;
        p->open[p->n++] = *e;
    }
    return SPOT_OK;
}

void spot_shift_model_give(spot_ctx *c, spot_encoder *e, const spot_shift_programs *p)
{
    for (int i = 0; p && i < p->n; i++)
        if (p->open[i] == e) return;
    spot_encoder_close(c, e);
}

void spot_shift_programs_close(spot_ctx *c, spot_shift_programs *p)
{
    while (p->n) spot_encoder_close(c, p->open[--p->n]);
}
