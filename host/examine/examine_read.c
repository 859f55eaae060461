/* examine_read.c - the results of a run: segments -> points -> what a user reads first. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "examine/examine_study.h"
#include "study/frame.h"
#include "study/kept_answers.h"

const char *spot_examine_class(const spot_examine_config *cfg, int cls)
{
    for (int i = 0; i < cfg->classes; i++)
        if (!cfg->cls[i].leave && !cls--) return cfg->cls[i].name;
    return "";
}

static bool answers_fit(const spot_examine_result *u, int classes)
{
    for (int i = 0; i < SPOT_EXAMINE_START; i++)
        if (u->answer[i] < SPOT_ANSWER_NOT_VALID || u->answer[i] >= classes) return false;
    return true;
}

/* A program that was trained again amid a run is another model. */
static bool is_one_model(spot_ctx *c, const char *dir, const char *a, const char *b)
{
    char path[SPOT_EXAMINE_PATH];
    const bool kept = spot_kept_path(path, sizeof path, dir, a) || spot_kept_path(path, sizeof path, dir, b);

    return !kept || spot_kept_same(c, dir, a, dir, b);
}

static spot_status check_unit(spot_ctx *c, const spot_examine_results *r, const char *dir, int unit)
{
    const spot_examine_result *u = &r->unit[unit], *first;
    const spot_examine_unit at = spot_examine_unit_of(r->cfg, unit);

    const spot_examine_search s = spot_examine_search_of(r->cfg, &r->cfg->examiner[at.examiner]);

    if (u->model != at.model || u->examiner != at.examiner || u->seed != at.seed || u->points != s.points
        || u->point[s.points - 1].renders != s.renders || u->cls >= spot_examine_classes(r->cfg)
        || !answers_fit(u, spot_examine_classes(r->cfg)))
        return spot_fail(c, SPOT_INPUT, "the result of search %d in %s does not fit its config; remove it and run `spotter "
                         "examine` again", unit, dir);
    first = spot_examine_first_unit(r, at.model, 0) + at.object;
    if (strcmp(u->inputs, first->inputs) || !is_one_model(c, dir, first->identity, u->identity))
        return spot_fail(c, SPOT_INPUT, "%s mixes results of different weights or objects: searches %d and %d of the model "
                         "\"%s\"; run `spotter examine` again", dir, first->index, unit, r->cfg->model[at.model].name);
    return SPOT_OK;
}

static spot_status read_unit(spot_ctx *c, const spot_study *y, spot_examine_results *r, const char *dir, const char *key,
                             int unit)
{
    spot_frame f;

    SPOT_TRY(spot_frame_read(c, y, dir, unit, &r->unit[unit], &f));
    if (f.state == SPOT_SEGMENT_DAMAGED) return spot_fail(c, SPOT_INPUT, "%s; run the same command again", f.why);
    r->missing = f.state != SPOT_SEGMENT_WHOLE || f.numbers != SPOT_EXAMINE_NUMBERS || strcmp(f.config, key);
    if (r->missing)
        return spot_fail(c, SPOT_INPUT, "{run.unfinished} %s lacks search %d of %d; `spotter examine` with the same config "
                         "computes it", dir, unit, r->units);
    return check_unit(c, r, dir, unit);
}

spot_status spot_examine_collect(spot_ctx *c, const spot_study *y, spot_examine_results *r, const char *dir)
{
    char key[33];
    spot_conditions fixed;
    void *config;
    const spot_status s = spot_study_load_run(c, y, &config, dir);

    *r = (spot_examine_results){ .cfg = config };
    SPOT_TRY(s);
    r->units = spot_examine_units(r->cfg);
    r->objects = spot_examine_objects_of_a_model(r->cfg);
    if (!r->units) return spot_fail(c, SPOT_INPUT, "%s/config.yaml names no models or no classes", dir);
    SPOT_TRY(spot_examine_space(c, &r->space, &fixed, r->cfg));
    spot_key_text(key, spot_examine_key(r->cfg));
    r->unit = calloc((size_t)r->units, sizeof *r->unit);
    if (!r->unit) return spot_fail(c, SPOT_NOMEM, "no memory for the results of %d searches", r->units);
    for (int u = 0; u < r->units; u++) SPOT_TRY(read_unit(c, y, r, dir, key, u));
    SPOT_TRY(spot_examine_summarise(c, r));
    return spot_examine_judge(c, r);
}

void spot_examine_close(spot_examine_results *r)
{
    spot_study_close(r->cfg);
    free(r->unit), free(r->summary), free(r->about), free(r->verdict);
    *r = (spot_examine_results){ 0 };
}
