/* base.c - the base model: every EC of the sweep starts from it, if the config asks for one. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

#include "core/device.h"
#include "sweep/pipeline.h"

static spot_status train_base(spot_ctx *c, spot_arena *a, spot_run *run, spot_key key)
{
    const spot_config *cfg = run->cfg;
    double since = spot_clock();
    spot_learning lesson;
    spot_status s = spot_model_base(c, a, &run->base, &lesson, &cfg->scene, &cfg->model, cfg->seed);

    if (spot_is_verdict(s))                            /* the sentence does not name the model that was trained */
        return spot_fail(c, s, "the base model: %s", spot_take_message(c, s));
    SPOT_TRY(s);
    SPOT_TRY(spot_keep(c, &run->store, key, "base", spot_pack_model, &run->base));
    spot_run_log_kept(&run->run_log, "base", -1, spot_clock() - since, NULL);
    spot_log(c, SPOT_LOG_INFO, "base model: %.2f %% attribute accuracy on validation images", 100 * lesson.outside);
    return SPOT_OK;
}

/* Every EC starts from it, so it goes to the device once. */
static spot_status keep_on_device(spot_ctx *c, spot_run *run)
{
    const size_t bytes = run->base.floats * sizeof *run->base.value;

    if (!c->device) return SPOT_OK;
    SPOT_TRY(spot_device_take(c, &run->base_there, bytes));
    return spot_device_copy(c, run->base_there, run->base.value, bytes);
}

spot_status spot_pipeline_base(spot_ctx *c, spot_arena *a, spot_run *run)
{
    spot_key key = spot_key_of_base(c, run->cfg);
    char path[1200];
    bool found;

    if (!run->cfg->model.base.images) return SPOT_OK;
    SPOT_TRY(spot_recall(c, a, &run->store, key, "base", spot_pack_model, &run->base, &found));
    if (!found) SPOT_TRY(train_base(c, a, run, key));
    snprintf(path, sizeof path, "%s/base.safetensors", run->store.dir);
    if (!found || access(path, F_OK)) SPOT_TRY(spot_model_save(c, path, &run->base));
    return keep_on_device(c, run);
}
