/* shifts_study.c - shifts as a study (work.h): functions for its results and its config. */
#include "shifts/shift_result.h"
#include "shifts/shifts_config.h"
#include "shifts/shifts_write.h"

static bool pictures_file(char *path, size_t size, const char *dir, const void *result, int i)
{
    if (i) return false;
    spot_shift_pictures_path(path, size, dir, ((const spot_shift_result *)result)->index);
    return true;
}

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
    .config = &spot_shifts_kind, .units_of = count_units,
    .made = { "shifts.json", "shifts.csv", "coverage.csv" }, .derive = derive,
};

spot_status spot_shifts_read(spot_ctx *c, spot_shifts_results *r, const char *dir)
{
    return spot_shifts_collect(c, &spot_shifts_study, r, dir);
}
