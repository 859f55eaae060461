/* background_study.c - the background study as a study (work.h): functions for its results and its config. */
#include "background/background_result.h"
#include "background/background_study.h"
#include "background/suite/suite.h"
#include "study/kept_answers.h"

/* Every result has the suite beside its own responses, and that of a program what the program is known by. */
static bool result_file(char *path, size_t size, const char *dir, const void *result, int i)
{
    const spot_background_result *r = result;

    if (i == 0) spot_background_responses_path(path, size, dir, r->index);
    if (i == 1) spot_suite_path(path, size, dir, r->suite);
    if (i == 2) spot_kept_path(path, size, dir, r->identity);
    return i < 3;
}

static int count_units(const void *config) { return ((const spot_background_config *)config)->models; }

static bool variant_of(char *path, size_t size, const char *dir, const void *config, int k)
{
    const spot_background_config *cfg = config;

    if (k >= cfg->variants) return false;
    spot_background_variant_path(path, size, dir, cfg, k);
    return true;
}

static spot_status derive(spot_ctx *c, const char *dir, const char *key)
{
    spot_background_results r;
    const spot_status s = spot_background_write(c, &spot_background_study, &r, dir, key);

    spot_background_close(&r);
    return s;
}

const spot_study spot_background_study = {
    .name = "background", .unit = "model", .units = "models", .prefix = "model", .numbers = SPOT_BACKGROUND_NUMBERS,
    .result = sizeof(spot_background_result), .describe = spot_background_result_describe,
        .close = spot_background_result_close,
    .file = result_file,
    .config = &spot_background_kind, .units_of = count_units,
    .made = { "background.json", "background.csv", "models.csv" }, .part = variant_of, .derive = derive,
};

spot_status spot_background_read(spot_ctx *c, spot_background_results *r, const char *dir)
{
    return spot_background_collect(c, &spot_background_study, r, dir);
}
