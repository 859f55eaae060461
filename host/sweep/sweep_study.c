/* sweep_study.c - the sweep as a study (work.h): functions for its results and its config. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "study/config_table.h"
#include "spotter/config.h"
#include "sweep/pipeline.h"

static void close_result(void *result) { spot_segment_close(result); }

/* A picture for every method that did not fail. */
static bool picture_path(char *path, size_t size, const char *dir, const void *result, int b)
{
    const spot_segment *s = result;

    if (b >= s->methods) return false;
    *path = 0;
    if (!s->method[b].status) spot_method_picture_path(path, size, dir, s->index, b, s->method[b].name);
    return true;
}

static int count_ecs(const void *config) { return ((const spot_config *)config)->ecs; }

static spot_status config_key(spot_ctx *c, char key[33], const void *config)
{
    spot_source source;
    spot_identity id;
    spot_status s = spot_source_open(c, &source, config);

    if (s == SPOT_OK) s = spot_identify(c, &id, config, source.photos);
    spot_source_close(&source);
    if (s == SPOT_OK) spot_key_text(key, id.config);
    return s;
}

const spot_study spot_sweep_study = {
    .name = "sweep", .unit = "EC", .units = "ECs", .prefix = "ec", .numbers = SPOT_NUMBERS,
    .result = sizeof(spot_segment), .describe = spot_segment_describe, .close = close_result,
    .failures = spot_segment_failures, .file = picture_path,
    .config = &spot_sweep_kind, .units_of = count_ecs, .key = config_key,
    .beside = "base.safetensors", .derive = spot_database_write,
};

void spot_segment_path(char *path, size_t size, const char *dir, int index)
{
    spot_frame_path(path, size, &spot_sweep_study, dir, index);
}

spot_status spot_segment_write(spot_ctx *c, const char *dir, spot_segment *s)
{
    return spot_frame_write(c, &spot_sweep_study, dir, s->index, s);
}

spot_status spot_database_write(spot_ctx *c, const char *dir, const char *config)
{
    return spot_database_fill(c, &spot_sweep_study, dir, config);
}

spot_status spot_segment_list(spot_ctx *c, const char *dir, int **index, int *n)
{
    return spot_frame_list(c, &spot_sweep_study, dir, index, n);
}

spot_status spot_segment_read(spot_ctx *c, const char *dir, int index, spot_segment *s, spot_segment_state *state,
                              char *why, size_t why_size)
{
    spot_frame f;

    SPOT_TRY(spot_frame_read(c, &spot_sweep_study, dir, index, s, &f));
    *state = f.state;
    snprintf(why, why_size, "%s", f.why);
    return SPOT_OK;
}

spot_status spot_run_status_read(spot_ctx *c, spot_run_status **s, const char *dir, double lost_after)
{
    return spot_work_status(c, &spot_sweep_study, s, dir, lost_after);
}

spot_status spot_merge(spot_ctx *c, const char *const *dirs, int n, const char *out, const spot_merge_options *o,
                       spot_merge_report *report)
{
    return spot_work_merge(c, &spot_sweep_study, dirs, n, out, o, report);
}
