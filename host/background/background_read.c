/* background_read.c - the results of a run: segments -> counts -> what a user reads first. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_result.h"
#include "background/background_study.h"
#include "background/suite/suite.h"
#include "background/background_summary.h"
#include "study/frame.h"

static spot_status read_unit(spot_ctx *c, const spot_study *y, spot_background_results *r, const char *dir, const char *key,
                             int unit)
{
    spot_background_result *v = &r->unit[unit];
    spot_frame f;

    SPOT_TRY(spot_frame_read(c, y, dir, unit, v, &f));
    if (f.state == SPOT_SEGMENT_DAMAGED) return spot_fail(c, SPOT_INPUT, "%s; run the same command again", f.why);
    r->missing = f.state != SPOT_SEGMENT_WHOLE || f.numbers != SPOT_BACKGROUND_NUMBERS || strcmp(f.config, key);
    if (r->missing)
        return spot_fail(c, SPOT_INPUT, "%s lacks model %d of %d, \"%s\"; `spotter background` with the same config computes "
                         "it", dir,
                         unit, r->units, r->cfg->model[unit].name);
    if (strcmp(v->suite, r->unit[0].suite) || v->classes != r->unit[0].classes || v->targets != r->unit[0].targets
        || v->n != r->unit[0].n)
        return spot_fail(c, SPOT_INPUT, "%s mixes results of different pictures or suites: the models \"%s\" and \"%s\"; run "
                         "`spotter background` again", dir, r->unit[0].name, v->name);
    return SPOT_OK;
}

static spot_status read_suite(spot_ctx *c, spot_background_results *r, const char *dir)
{
    char path[SPOT_BACKGROUND_PATH];

    r->suite = calloc(1, sizeof *r->suite);
    if (!r->suite) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", dir);
    spot_suite_path(path, sizeof path, dir, r->unit[0].suite);
    SPOT_TRY(spot_suite_read(c, r->suite, path));
    if (r->suite->targets == r->unit[0].targets && r->suite->n == r->unit[0].n && r->suite->classes == r->unit[0].classes
        && !strcmp(r->suite->key, r->unit[0].suite)) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "%s does not fit the results; remove it and run `spotter background` again", path);
}

static spot_status summarise(spot_ctx *c, spot_background_results *r, const char *dir)
{
    r->summary = calloc((size_t)r->units, sizeof *r->summary);
    if (!r->summary) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", dir);
    for (int u = 0; u < r->units; u++) {
        spot_background_responses p;
        spot_status s = spot_background_responses_read(c, &p, dir, &r->unit[u]);
        if (s == SPOT_OK) s = spot_background_summarise(c, &r->summary[u], &p, r->suite, &r->unit[u]);
        if (s == SPOT_OK)
            r->summary[u].worst_pairs = spot_worst_pairs(r->summary[u].worst, SPOT_WORST_PAIRS, &p, r->suite,
                                                         r->cfg->measure.confidence);
        spot_background_responses_free(&p);
        SPOT_TRY(s);
    }
    return SPOT_OK;
}

spot_status spot_background_collect(spot_ctx *c, const spot_study *y, spot_background_results *r, const char *dir)
{
    char key[33];
    void *config;
    const spot_status s = spot_study_load_run(c, y, &config, dir);

    *r = (spot_background_results){ .cfg = config };
    SPOT_TRY(s);
    if (!r->cfg->models) return spot_fail(c, SPOT_INPUT, "%s/config.yaml names no models", dir);
    spot_key_text(key, spot_background_key(r->cfg));
    r->unit = calloc((size_t)r->cfg->models, sizeof *r->unit);
    if (!r->unit) return spot_fail(c, SPOT_NOMEM, "no memory for the results of %d models", r->cfg->models);
    r->units = r->cfg->models;
    for (int u = 0; u < r->units; u++) SPOT_TRY(read_unit(c, y, r, dir, key, u));
    SPOT_TRY(read_suite(c, r, dir));
    return summarise(c, r, dir);
}

void spot_background_close(spot_background_results *r)
{
    for (int u = 0; r->unit && u < r->units; u++) spot_background_result_close(&r->unit[u]);
    if (r->suite) spot_suite_close(r->suite);
    spot_study_close(r->cfg);
    free(r->suite), free(r->unit), free(r->summary), free(r->rank);
    *r = (spot_background_results){ 0 };
}
