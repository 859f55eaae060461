/* examine_study.c - the examination as a study (work.h): functions for its results and its config. */
#include "examine/examine_result.h"
#include "examine/examine_study.h"
#include "examine/failure_parts.h"
#include "study/kept_answers.h"

static bool result_file(char *path, size_t size, const char *dir, const void *result, int i)
{
    const spot_examine_result *r = result;

    path[0] = 0;
    if (i == 0) spot_examine_history_path(path, size, dir, r->index);
    if (i == 1) spot_failure_strip_path(path, size, dir, r->index);
    if (i == 2 && r->scanned) spot_failure_scan_path(path, size, dir, r->index);
    if (i == 3 && r->mapped) spot_failure_map_path(path, size, dir, r->index);
    if (i == 4) spot_kept_path(path, size, dir, r->identity);
    return i < 5;
}

static void close_result(void *result) { *(spot_examine_result *)result = (spot_examine_result){ 0 }; }

static int  count_units(const void *config) { return spot_examine_units(config); }

static spot_status derive(spot_ctx *c, const char *dir, const char *key)
{
    spot_examine_results r;
    spot_failures f;
    const spot_status s = spot_examine_write(c, &spot_examine_study, &r, &f, dir, key);

    spot_failures_close(&f);
    spot_examine_close(&r);
    return s;
}

const spot_study spot_examine_study = {
    .name = "examine", .unit = "search", .units = "searches", .prefix = "unit", .numbers = SPOT_EXAMINE_NUMBERS,
    .result = sizeof(spot_examine_result), .describe = spot_examine_result_describe, .close = close_result,
    .file = result_file,
    .config = &spot_examine_kind, .units_of = count_units,
    .made = { "examine.json", "examine.csv", "failures.json" }, .derive = derive,
};

spot_status spot_examine_read(spot_ctx *c, spot_examine_results *r, const char *dir)
{
    return spot_examine_collect(c, &spot_examine_study, r, dir);
}
