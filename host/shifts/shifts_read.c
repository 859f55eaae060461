/* shifts_read.c - the results of a run: segments -> tables of counts -> impact and slope. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shifts/shift_result.h"
#include "shifts/shifts_config.h"
#include "shifts/shifts_write.h"
#include "study/frame.h"

/* ---- segments ---- */

static spot_status read_unit(spot_ctx *c, const spot_study *y, spot_shifts_results *r, const char *dir, const char *key,
                             int unit)
{
    const spot_shift_unit at = spot_shift_unit_at(r->cfg, unit);
    spot_shift_result *v = &r->unit[unit];
    spot_frame f;

    SPOT_TRY(spot_frame_read(c, y, dir, unit, v, &f));
    if (f.state == SPOT_SEGMENT_DAMAGED) return spot_fail(c, SPOT_INPUT, "%s; run the same command again", f.why);
    r->missing = f.state != SPOT_SEGMENT_WHOLE || f.numbers != SPOT_SHIFT_NUMBERS || strcmp(f.config, key);
    if (r->missing)
        return spot_fail(c, SPOT_INPUT, "%s lacks folder %d of %d; `spotter shifts` with the same config computes it", dir,
                         unit, r->units);
    if (v->source != at.source || v->shift != at.shift || v->models != r->cfg->models)
        return spot_fail(c, SPOT_INPUT, "%s: folder %d is of another config", dir, unit);
    if (strcmp(v->encoder, r->unit[0].encoder))
        return spot_fail(c, SPOT_INPUT, "%s mixes two encoders: \"%s\" looked at %s, and \"%s\" at %s; compute one of them "
                         "again", dir, r->unit[0].encoder, r->unit[0].name, v->encoder, v->name);
    if (strcmp(v->inputs, r->unit[0].inputs) || v->classes != r->unit[0].classes)
        return spot_fail(c, SPOT_INPUT, "%s mixes results of different tables, models or real pictures: %s and %s; run "
                         "`spotter shifts` again", dir, r->unit[0].name, v->name);
    return SPOT_OK;
}

static spot_status read_units(spot_ctx *c, const spot_study *y, spot_shifts_results *r, const char *dir)
{
    char key[33];

    spot_key_text(key, spot_shifts_key(r->cfg));
    r->units = spot_shift_units(r->cfg);
    r->unit = calloc((size_t)r->units, sizeof *r->unit);
    if (!r->unit) return spot_fail(c, SPOT_NOMEM, "no memory for the results of %d folders", r->units);
    for (int u = 0; u < r->units; u++) SPOT_TRY(read_unit(c, y, r, dir, key, u));
    return SPOT_OK;
}

/* ---- evaluation ---- */

static void list_categories(spot_shifts_results *r)
{
    for (int s = 0; s < r->cfg->shifts; s++) {
        int g = 0;
        while (g < r->categories && strcmp(r->category[g], r->cfg->shift[s].category)) g++;
        if (g == r->categories)
            snprintf(r->category[r->categories++], sizeof *r->category, "%s", r->cfg->shift[s].category);
        r->category_of[s] = g;
    }
}

static spot_status evaluate(spot_ctx *c, spot_shifts_results *r, int source, int set)
{
    const spot_shift_result *base = &r->unit[spot_shift_unit_of(r->cfg, source, SPOT_BASE_PICTURES)];
    spot_shift_tally tally[SPOT_MAX_SHIFTS];
    const spot_shift_table t = { base->classes, base->models, r->cfg->shifts, r->categories,
                                 { base->count[set], base->right[set] }, tally, r->category_of, NULL };

    if (!base->count[set]) return SPOT_OK;
    for (int s = 0; s < r->cfg->shifts; s++) {
        const spot_shift_result *v = &r->unit[spot_shift_unit_of(r->cfg, source, s)];
        if (!v->count[set]) return SPOT_OK;
        tally[s] = (spot_shift_tally){ v->count[set], v->right[set] };
    }
    return spot_shift_evaluate(c, &r->source[source].set[set], &t, &r->cfg->evaluation.rule);
}

static spot_status evaluate_all(spot_ctx *c, spot_shifts_results *r)
{
    r->category = calloc((size_t)r->cfg->shifts, sizeof *r->category);
    r->category_of = calloc((size_t)r->cfg->shifts, sizeof *r->category_of);
    if (!r->category || !r->category_of) return spot_fail(c, SPOT_NOMEM, "no memory for %d shifts", r->cfg->shifts);
    list_categories(r);
    for (int s = 0; s < r->sources && r->cfg->models; s++)
        for (int k = 0; k < SPOT_SHIFT_SETS; k++) SPOT_TRY(evaluate(c, r, s, k));
    return spot_shift_gaps(c, r);
}

spot_status spot_shifts_collect(spot_ctx *c, const spot_study *y, spot_shifts_results *r, const char *dir)
{
    void *config;
    const spot_status s = spot_study_load_run(c, y, &config, dir);

    *r = (spot_shifts_results){ .cfg = config };
    SPOT_TRY(s);
    r->source = calloc((size_t)spot_shift_sources(r->cfg), sizeof *r->source);
    if (!r->source) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", dir);
    r->sources = spot_shift_sources(r->cfg);
    SPOT_TRY(read_units(c, y, r, dir));
    return evaluate_all(c, r);
}

void spot_shifts_close(spot_shifts_results *r)
{
    for (int u = 0; r->unit && u < r->units; u++) spot_shift_result_close(&r->unit[u]);
    for (int s = 0; r->source && s < r->sources; s++) {
        for (int k = 0; k < SPOT_SHIFT_SETS; k++) spot_shift_estimates_close(&r->source[s].set[k]);
        free(r->source[s].gap);
    }
    spot_study_close(r->cfg);
    free(r->unit), free(r->source), free(r->category), free(r->category_of);
    *r = (spot_shifts_results){ 0 };
}
