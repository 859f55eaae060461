/* background_study.c - the background study as a study (work.h): functions for its results and its config. */
#include <stdlib.h>

#include "background/background_result.h"
#include "background/background_study.h"
#include "background/suite.h"

/* Every result has the suite beside its own responses. */
static bool result_file(char *path, size_t size, const char *dir, const void *result, int i)
{
    const spot_background_result *r = result;

    if (i > 1) return false;
    if (i) spot_suite_path(path, size, dir, r->suite);
    else spot_background_responses_path(path, size, dir, r->index);
    return true;
}

static spot_status load_config(spot_ctx *c, void **config, const char *path)
{
    *config = malloc(sizeof(spot_background_config));
    if (!*config) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    return spot_background_load(c, *config, path);
}

static spot_status print_config(spot_ctx *c, const void *config, char **text) { return spot_background_print(c, config, text); }

static spot_status config_key(spot_ctx *c, char key[33], const void *config)
{
    return spot_background_key_text(c, key, config);
}

static bool configs_differ(char *words, size_t size, const void *there, const void *here)
{
    return spot_backgrounds_differ(words, size, there, here);
}

static bool config_replaces(const void *there, const void *here) { return spot_background_replaces(there, here); }
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
    return spot_background_write(c, &spot_background_study, dir, key);
}

const spot_study spot_background_study = {
    .name = "background", .unit = "model", .units = "models", .prefix = "model", .numbers = SPOT_BACKGROUND_NUMBERS,
    .result = sizeof(spot_background_result), .describe = spot_background_result_describe,
        .close = spot_background_result_close,
    .file = result_file,
    .config_load = load_config, .config_print = print_config, .config_key = config_key, .config_differs = configs_differ,
    .config_replaces = config_replaces, .config_units = count_units,
    .made = { "background.json", "background.csv" }, .part = variant_of, .derive = derive,
};

spot_status spot_background_read(spot_ctx *c, spot_background_results *r, const char *dir)
{
    return spot_background_collect(c, &spot_background_study, r, dir);
}
