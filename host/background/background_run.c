/* background_run.c - the run of a shard: its models are units of work (work.h). The suite comes first. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background/background_result.h"
#include "background/background_unit.h"
#include "background/background_look.h"
#include "background/model_outputs.h"
#include "background/suite.h"
#include "base/room.h"

#define MOST_SQUARES ((size_t)8 << 30)         /* bytes of decoded pictures, where there is that much memory */
#define MOST_MODELS  ((size_t)8 << 30)

enum { SUITE_PIECE = 64 };                     /* pictures that the suite needs at once */

typedef struct {
    spot_ctx *c;
    spot_work work;
    spot_store store;
    spot_background_config *cfg;               /* a copy, with the one model that a function is */
    spot_background_inputs in;
    spot_suite_encoders encoders;
    spot_background_suite suite;
    spot_background_job job;
} run;

/* ---- units ---- */

/* Whether the result's suite, weights and classes are those of now. */
static bool result_holds(spot_work *w, const void *result)
{
    run *v = w->user;
    const spot_background_result *r = result;
    spot_ctx own = { .ops = v->c->ops, .threads = v->c->threads, .stop = v->c->stop };     /* its sentence comes again later */
    char path[SPOT_BACKGROUND_PATH], hash[33] = "";

    if (v->job.options->function && !v->job.options->identity) return false;
    spot_background_responses_path(path, sizeof path, w->dir, r->index);
    if (access(path, F_OK) || strcmp(r->suite, v->suite.key) || strcmp(r->name, v->cfg->model[r->index].name)) return false;
    return !spot_model_inputs(&own, hash, &v->cfg->model[r->index], v->job.options->function ? v->job.options->identity : NULL,
                              v->suite.key)
        && !strcmp(hash, r->inputs);
}

static spot_status prepare(spot_ctx *c, spot_work *w)
{
    run *v = w->user;

    (void)c;
    w->batch = spot_background_batch(v->cfg);
    return SPOT_OK;
}

static spot_status compute(spot_ctx *c, spot_work *w, const int *unit, int n)
{
    run *v = w->user;

    return spot_background_compute(c, w, &v->job, unit, n);
}

/* ---- the run ---- */

static size_t memory_for(size_t most)
{
    const char *whose;
    const size_t room = spot_room_of_memory("", &whose) / 3;

    return room < most ? room : most;
}

static spot_status check_models(spot_ctx *c, const run *v)
{
    if (!v->cfg->models) return spot_fail(c, SPOT_USAGE, "there are no models; the config's models, --model or --predict name "
                                          "them");
    for (int m = 0; m < v->cfg->models && !v->job.options->function; m++)
        if (!v->cfg->model[m].weights[0] && !v->cfg->model[m].command[0])
            return spot_fail(c, SPOT_USAGE, "models[%d], \"%s\", has neither weights nor a command", m, v->cfg->model[m].name);
    return SPOT_OK;
}

static spot_status check_out(spot_ctx *c, run *v, const char *out)
{
    static const char *const made[] = { "background.json", "background.csv" };
    char path[SPOT_BACKGROUND_PATH];

    snprintf(path, sizeof path, "%.1000s/config.yaml", out);
    if (!access(path, F_OK)) return spot_work_check(c, &v->work);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        snprintf(path, sizeof path, "%.1000s/%s", out, made[i]);
        if (!access(path, F_OK))
            return spot_fail(c, SPOT_USAGE, "%s is there, and %s is no run directory: it has no config.yaml; choose another "
                             "one", path,
                             out);
    }
    return SPOT_OK;
}

/* Checks what needs no directory, so that a wrong config makes none; then opens it and makes the suite. */
static spot_status open_run(spot_ctx *c, run *v, const char *out)
{
    const int together = spot_look_together(v->cfg), pictures = 4 * together, backs = together * v->cfg->suite.n;

    SPOT_TRY(check_models(c, v));
    SPOT_TRY(check_out(c, v, out));
    SPOT_TRY(spot_background_inputs_open(c, &v->in, v->cfg));
    SPOT_TRY(spot_suite_encoders_open(c, &v->encoders, v->cfg));
    SPOT_TRY(spot_store_open(c, &v->store, out));
    SPOT_TRY(spot_background_hash(c, &v->in, &v->store));
    SPOT_TRY(spot_background_squares(c, &v->in, memory_for(MOST_SQUARES), pictures > SUITE_PIECE ? pictures : SUITE_PIECE,
                                     backs > SUITE_PIECE ? backs : SUITE_PIECE));
    return spot_suite_open(c, &v->suite, &v->in, &v->encoders, &v->store);
}

static void close_run(spot_ctx *c, run *v)
{
    spot_suite_close(&v->suite);
    spot_suite_encoders_close(c, &v->encoders);
    spot_background_inputs_close(&v->in);
    spot_work_close(&v->work);
    free(v->cfg);
    free(v);
}

/* A function is the one model of its run. */
static void set_function(spot_background_config *cfg)
{
    spot_background_model m = { .reliance = -1 };

    snprintf(m.name, sizeof m.name, "%s", cfg->models ? cfg->model[0].name : "model");
    if (cfg->models) memcpy(m.classes, cfg->model[0].classes, sizeof m.classes), m.reliance = cfg->model[0].reliance;
    cfg->model[0] = m;
    cfg->models = 1;
}

spot_status spot_background_run(spot_ctx *c, const spot_background_config *cfg, const spot_background_options *o,
                                spot_background_report *report)
{
    const double since = spot_clock();
    run *v = calloc(1, sizeof *v);
    spot_status s;

    *report = (spot_background_report){ 0 };
    if (v) v->cfg = malloc(sizeof *v->cfg);
    if (!v || !v->cfg) return free(v), spot_fail(c, SPOT_NOMEM, "no memory for a run");
    *v->cfg = *cfg;
    if (o->function) set_function(v->cfg);
    v->c = c;
    v->work = (spot_work){ .study = &spot_background_study, .dir = o->out, .config = v->cfg, .units = v->cfg->models,
                           .shard = o->shard, .shards = o->shards, .seconds = o->seconds, .starts = o->starts, .since = since,
                           .user = v, .holds = result_holds, .prepare = prepare, .compute = compute };
    v->job = (spot_background_job){ v->cfg, o, &v->in, &v->suite, memory_for(MOST_MODELS) };
    spot_key_text(v->work.key, spot_background_key(v->cfg));
    s = !o->out || o->shards < 1 || o->shard < 0 || o->shard >= o->shards
      ? spot_fail(c, SPOT_USAGE, "a study needs a directory and a shard I of N with 0 <= I < N; got %d of %d", o->shard,
                  o->shards)
      : open_run(c, v, o->out);
    if (s == SPOT_OK) s = spot_work_run(c, &v->work);
    *report = (spot_background_report){ v->work.planned, v->work.already, v->work.done, spot_clock() - since };
    close_run(c, v);
    return s;
}

/* ---- cost ---- */

/* Pictures are not decoded, so targets are all pictures of the part. */
spot_status spot_background_cost_of(spot_ctx *c, const spot_background_config *cfg, spot_background_cost *cost)
{
    spot_background_inputs in;
    spot_status s = spot_background_inputs_open(c, &in, cfg);
    const size_t square = 3 * (size_t)cfg->data.size * (size_t)cfg->data.size;

    *cost = (spot_background_cost){ .units = cfg->models };
    if (s == SPOT_OK) {
        const size_t squares = square / 3 * 4 * (size_t)in.pictures + square * (size_t)in.backgrounds,
            most = memory_for(MOST_SQUARES);
        const size_t images = (size_t)in.pictures * (size_t)(cfg->suite.n + 1);
        cost->targets = (int)(((long long)in.pictures * cfg->data.part + 99) / 100);
        cost->backgrounds = in.backgrounds;
        cost->looks = (double)cost->targets * spot_look_images(cfg) * cfg->models;
        cost->memory = (squares < most ? squares : most) + spot_look_memory(cfg, c->threads)
                     + images * (13 + (size_t)spot_background_batch(cfg) * 20);
    }
    spot_background_inputs_close(&in);
    return s;
}
