/* shifts_study.c - shifts as a study (work.h): functions for its results and its config. */
#include <stdlib.h>

#include "shifts/shift_result.h"
#include "shifts/shifts_config.h"
#include "shifts/shifts_write.h"

static bool pictures_file(char *path, size_t size, const char *dir, const void *result, int i)
{
    if (i) return false;
    spot_shift_pictures_path(path, size, dir, ((const spot_shift_result *)result)->index);
    return true;
}

static spot_status load_config(spot_ctx *c, void **config, const char *path)
{
    *config = malloc(sizeof(spot_shifts_config));
    if (!*config) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    return spot_shifts_load(c, *config, path);
}

static spot_status print_config(spot_ctx *c, const void *config, char **text) { return spot_shifts_print(c, config, text); }

static spot_status config_key(spot_ctx *c, char key[33], const void *config)
{
    (void)c;
    spot_key_text(key, spot_shifts_key(config));
    return SPOT_OK;
}

static bool configs_differ(char *words, size_t size, const void *there, const void *here)
{
    return spot_shifts_differ(words, size, there, here);
}

static bool config_replaces(const void *there, const void *here) { return spot_shifts_replace(there, here); }
static int count_units(const void *config) { return spot_shift_units(config); }

static spot_status derive(spot_ctx *c, const char *dir, const char *key)
{
    spot_shifts_results r;
    const spot_status s = spot_shifts_write(c, &spot_shifts_study, &r, dir, key);

    spot_shifts_close(&r);
    return s;
}

const spot_study spot_shifts_study = {
    .name = "shifts", .unit = "folder", .units = "folders", .prefix = "shift", .numbers = SPOT_SHIFT_NUMBERS,
    .result = sizeof(spot_shift_result), .describe = spot_shift_result_describe, .close = spot_shift_result_close,
    .file = pictures_file,
    .config_load = load_config, .config_print = print_config, .config_key = config_key, .config_differs = configs_differ,
    .config_replaces = config_replaces, .config_units = count_units,
    .made = { "shifts.json", "shifts.csv" }, .derive = derive,
};

spot_status spot_shifts_read(spot_ctx *c, spot_shifts_results *r, const char *dir)
{
    return spot_shifts_collect(c, &spot_shifts_study, r, dir);
}
