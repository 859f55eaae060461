/* background_run.c - the run of a shard: its models are units of work (work.h). The suite comes first. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background/background_config.h"
#include "background/background_result.h"
#include "background/background_study.h"
#include "background/background_unit.h"
#include "background/look/look_batch.h"
#include "background/look/model_inputs.h"
#include "background/suite/suite.h"
#include "base/folder.h"
#include "base/room.h"
#include "core/ops.h"
#include "models/idle_cores.h"
#include "study/config_files.h"

enum { SUITE_PIECE = 64 };                     /* pictures that the suite needs at once */

/* One of the runs of a config: its own, or that of a variant. */
typedef struct {
    int  at, runs;                             /* 0: the config's own; of how many */
    char dir[SPOT_BACKGROUND_PATH];
    const char *shared;                        /* the directory that has the cache of all */
    char known[SPOT_BACKGROUND_PATH];          /* a run whose models looked at the same pictures; "": none */
    char known_key[33];
} variant_place;

typedef struct {
    spot_ctx *c;
    spot_work work;
    spot_store store, shared;
    spot_background_config *cfg;               /* a copy, with the one model that a function is: */
    spot_background_model function;
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
    spot_background_responses_path(path, sizeof path, w->place.out, r->index);
    if (access(path, F_OK) || strcmp(r->suite, v->suite.key) || strcmp(r->name, v->cfg->model[r->index].name)) return false;
    if (!spot_background_is_program(&own, &v->job, r->index, r->identity)) return false;
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

/* The bar goes on where the runs before this one ended. */
static spot_status begin(spot_ctx *c, spot_work *w)
{
    const run *v = w->user;
    bool ours = false;

    for (int m = 0; m < v->cfg->models && !v->job.options->function; m++) ours |= v->cfg->model[m].weights[0] != 0;
    if (ours) spot_warn_of_fp32(c, v->cfg->measure.precision, "measure.precision", "three", "tf32");
    spot_work_tell(c, w, "");
    return SPOT_OK;
}

static spot_status compute(spot_ctx *c, spot_work *w, const int *unit, int n)
{
    run *v = w->user;

    return spot_background_compute(c, w, &v->job, unit, n);
}

/* Evaluates once, for the files and for the caller, who gets the config's own run. */
static spot_status derive_files(spot_ctx *c, spot_work *w)
{
    const run *v = w->user;
    spot_background_results own, *r = w->run == 0 && v->job.options->results ? v->job.options->results : &own;
    const spot_status s = spot_background_write(c, w->study, r, w->place.out, w->key);

    if (r == &own || s != SPOT_OK || r->missing) spot_background_close(r);
    return s;
}

/* ---- the run ---- */

size_t spot_background_memory(size_t most)
{
    const char *whose;
    const size_t room = spot_room_of_all(&whose) / 3;

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

/* A run must not lie among the files that it reads: its own would be taken for some of them. */
static spot_status check_out(spot_ctx *c, const run *v, const char *out)
{
    const spot_background_data *d = &v->cfg->data;
    const char *const folder[][2] = { { d->images, "pictures" }, { d->masks, "masks" }, { d->backgrounds, "backgrounds" } };

    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++)
        if (folder[i][0][0] && spot_folder_holds(folder[i][0], out))
            return spot_fail(c, SPOT_USAGE, "{run.amid_inputs} %s lies in %s, whose files are %s; choose another directory",
                             out, folder[i][0], folder[i][1]);
    return spot_work_check(c, &v->work);
}

/* Checks what needs no directory, so that a wrong config makes none; then opens it and makes the suite. */
static spot_status open_run(spot_ctx *c, run *v, const variant_place *p)
{
    const int pictures = spot_look_pictures(c, v->cfg), backs = spot_look_together(c, v->cfg) * v->cfg->suite.n;

    SPOT_TRY(check_models(c, v));
    SPOT_TRY(spot_config_files_check(c, spot_background_settings, v->cfg, ""));
    SPOT_TRY(check_out(c, v, p->dir));
    v->job.program = calloc((size_t)v->cfg->models, sizeof *v->job.program);
    if (!v->job.program) return spot_fail(c, SPOT_NOMEM, "no memory for a run");
    SPOT_TRY(spot_background_inputs_open(c, &v->in, v->cfg));
    SPOT_TRY(spot_suite_encoders_open(c, &v->encoders, v->cfg));
    SPOT_TRY(spot_store_open(c, &v->store, p->dir));
    SPOT_TRY(spot_store_folder(c, &v->store, "suites"));
    SPOT_TRY(spot_store_folder(c, &v->store, "responses"));
    SPOT_TRY(spot_store_open_to_read(c, &v->shared, p->shared));
    SPOT_TRY(spot_store_plans(c, &v->shared));
    SPOT_TRY(spot_store_folder(c, &v->store, "programs"));
    if (*p->known) SPOT_TRY(spot_kept_copy(c, p->dir, p->known));
    SPOT_TRY(spot_suite_encoders_know(c, &v->encoders, p->dir));
    SPOT_TRY(spot_background_hash(c, &v->in, &v->shared));
    SPOT_TRY(spot_background_squares(c, &v->in, spot_background_memory(SPOT_MOST_SQUARES),
                                     pictures > SUITE_PIECE ? pictures : SUITE_PIECE,
                                     backs > SUITE_PIECE ? backs : SUITE_PIECE));
    spot_range_begin(c, "suite");
    const spot_status s = spot_suite_open(c, &v->suite, &v->in, &v->encoders,
                                          &(spot_suite_place){ p->dir, p->known, &v->shared });
    spot_range_end(c);
    return s;
}

static void close_run(spot_ctx *c, run *v)
{
    free(v->job.program);
    spot_suite_close(&v->suite);
    spot_suite_encoders_close(c, &v->encoders);
    spot_background_inputs_close(&v->in);
    spot_work_close(&v->work);
    free(v->cfg);
    free(v);
}

/* A function is the one model of its run: a copy of the config's first, without weights and command. */
static void set_function(spot_background_config *cfg, spot_background_model *m)
{
    *m = cfg->models ? cfg->model[0] : (spot_background_model){ .name = "model", .classes = "", .reliance = -1 };
    m->weights = m->command = m->identity = "";
    cfg->model = m;
    cfg->models = 1;
}

/* Adds to the report. */
static spot_status run_one(spot_ctx *c, const spot_background_config *cfg, const spot_background_options *o,
                           const variant_place *p, double since, spot_run_report *report)
{
    run *v = calloc(1, sizeof *v);
    spot_status s;

    if (v) v->cfg = malloc(sizeof *v->cfg);
    if (!v || !v->cfg) return free(v), spot_fail(c, SPOT_NOMEM, "no memory for a run");
    *v->cfg = *cfg;
    if (o->function) set_function(v->cfg, &v->function);
    v->c = c;
    v->work = (spot_work){ .study = &spot_background_study, .place = o->place, .config = v->cfg, .units = v->cfg->models,
                           .run = p->at, .runs = p->runs, .since = since, .user = v, .holds = result_holds,
                           .prepare = prepare, .begin = begin, .compute = compute, .derive = derive_files };
    v->work.place.out = p->dir;
    v->job = (spot_background_job){ v->cfg, o, &v->in, &v->suite, spot_background_memory(SPOT_MOST_NETWORKS), p->known,
                                    p->known_key, p->dir, NULL };
    spot_key_text(v->work.key, spot_background_key(v->cfg));
    spot_range_begin(c, "background");
    s = open_run(c, v, p);
    if (s == SPOT_OK) s = spot_work_run(c, &v->work);
    report->planned += v->work.planned, report->already += v->work.already, report->done += v->work.done;
    close_run(c, v);
    spot_range_end(c);
    return s;
}

/* ---- variants ---- */

/* The place of variant k; one: its config. */
static void find_place(variant_place *p, spot_background_config *one, const spot_background_config *cfg, int k)
{
    const int same = spot_background_same_look(cfg, k);
    const char *out = p->shared;

    *p = (variant_place){ .at = k + 1, .runs = cfg->variants + 1, .shared = out };
    spot_background_variant_path(p->dir, sizeof p->dir, out, cfg, k);
    if (same < k) {
        if (same < 0) snprintf(p->known, sizeof p->known, "%s", out);
        else spot_background_variant_path(p->known, sizeof p->known, out, cfg, same);
        if (same >= 0) spot_background_vary(one, cfg, same);
        spot_key_text(p->known_key, spot_background_key(same < 0 ? cfg : one));
    }
    spot_background_vary(one, cfg, k);
}

/* Keeps the first failure of a run that leaves the others alone: a model or a file of its own. Else returns it. */
static spot_status keep_failure(spot_ctx *c, spot_status *first, char why[1024], const char *name, spot_status s)
{
    if (s != SPOT_INPUT && s != SPOT_IO) return s;
    if (*first == SPOT_OK) snprintf(why, 1024, "%s%s%.900s", name, *name ? ": " : "", spot_message(c, s));
    if (*first == SPOT_OK) *first = s;
    spot_forget(c);
    return SPOT_OK;
}

static spot_status run_all(spot_ctx *c, const spot_background_config *cfg, const spot_background_options *o, double since,
                           spot_run_report *report)
{
    spot_background_config *one = malloc(sizeof *one);
    variant_place p = { .runs = cfg->variants + 1, .shared = o->place.out };
    spot_status s, first = SPOT_OK;
    char why[1024];

    if (!one) return spot_fail(c, SPOT_NOMEM, "no memory for a run");
    snprintf(p.dir, sizeof p.dir, "%s", o->place.out);
    s = run_one(c, cfg, o, &p, since, report);
    if (s != SPOT_OK && cfg->variants) s = keep_failure(c, &first, why, "", s);
    for (int k = 0; k < cfg->variants && s == SPOT_OK; k++) {
        find_place(&p, one, cfg, k);
        spot_log(c, SPOT_LOG_INFO, "variant %d of %d: %s", k + 1, cfg->variants, cfg->variant[k].name);
        s = run_one(c, one, o, &p, since, report);
        if (s != SPOT_OK) s = keep_failure(c, &first, why, cfg->variant[k].name, s);
    }
    free(one);
    return s == SPOT_OK && first != SPOT_OK ? spot_fail(c, first, "%s", why) : s;
}

spot_status spot_background_run(spot_ctx *c, const spot_background_config *cfg, const spot_background_options *o,
                                spot_run_report *report)
{
    const double since = spot_clock();
    spot_background_config *own;
    spot_status s;

    *report = (spot_run_report){ 0 };
    if (o->results) *o->results = (spot_background_results){ 0 };
    SPOT_TRY(spot_run_place_check(c, &o->place));
    own = malloc(sizeof *own);
    if (!own) return spot_fail(c, SPOT_NOMEM, "no memory for a run");
    *own = *cfg;
    spot_background_set_levels(own);
    s = run_all(c, own, o, since, report);
    free(own);
    report->seconds = spot_clock() - since;
    return s;
}
