/* shifts_run.c - the run of a shard: its folders are units of work (work.h). */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "models/idle_cores.h"
#include "shifts/shift_inputs.h"
#include "shifts/shift_unit.h"
#include "shifts/shifts_write.h"
#include "study/config_files.h"

typedef struct {
    spot_ctx *c;
    spot_work work;
    spot_store store;
    spot_shift_study v;
    spot_shift_pictures real;              /* where there are real pictures */
    spot_shift_pictures *pictures;         /* (missing): of the missing units */
    int listed;
    spot_shifts_results *results;
} run;

/* Whether the result's pictures, tables and encoder are those of now. */
static bool result_holds(spot_work *w, const void *result)
{
    run *v = w->user;
    const spot_shift_result *r = result;
    spot_shift_pictures p;
    spot_ctx own = { .ops = v->c->ops, .threads = v->c->threads, .stop = v->c->stop };     /* its sentence comes again later */
    char path[1300], hash[33] = "";
    spot_status s;

    spot_shift_pictures_path(path, sizeof path, w->place.out, r->index);
    if (access(path, F_OK) || strcmp(r->inputs, v->v.inputs) || strcmp(r->encoder, v->v.encoding.name)) return false;
    s = spot_shift_pictures_open(&own, &p, v->v.cfg, &v->v.classes, spot_shift_unit_at(v->v.cfg, r->index), &v->store);
    if (s == SPOT_OK) s = spot_shift_input_hash(&own, &v->v.encoding, hash, &p);
    spot_shift_pictures_close(&p);
    return s == SPOT_OK && !strcmp(hash, r->pictures_hash);
}

/* The networks that look at a picture. */
static int networks_of(const spot_shifts_config *cfg)
{
    int n = spot_shifts_encode(cfg);

    for (int m = 0; m < cfg->models; m++) n += cfg->model[m].weights[0] != 0;
    return n;
}

/* The files of embeddings are there; they are read in turn, since they may be large. */
static spot_status check_embeddings(spot_ctx *c, const spot_shifts_config *cfg, const spot_shift_pictures *p)
{
    char path[2][SPOT_SHIFT_PATH + 600];

    if (!cfg->encoder.embeddings[0]) return SPOT_OK;
    spot_shift_embedding_path(path[0], sizeof path[0], cfg, p->id, true);
    snprintf(path[1], sizeof path[1], "%s/%s.csv", cfg->encoder.embeddings, p->id);
    for (int i = 0; i < 2; i++)
        if (access(path[i], R_OK)) return spot_file_failed(c, "read", path[i], errno);
    return SPOT_OK;
}

/* The mask of a unit and the truth about it fit its pictures. */
static spot_status check_tables(spot_ctx *c, const spot_shift_study *v, const spot_shift_pictures *p)
{
    const bool real = p->unit.shift == SPOT_REAL_PICTURES;
    uint8_t *bits = malloc((size_t)p->list.n + 1);
    spot_status s = bits ? check_embeddings(c, v->cfg, p)
                         : spot_fail(c, SPOT_NOMEM, "no memory to check the tables of %d pictures", p->list.n);

    if (s == SPOT_OK && !real && v->cfg->filter.masks[0] && !spot_shifts_encode(v->cfg))
        s = spot_shift_masks(c, bits, v->cfg, p);
    if (s == SPOT_OK && !real && v->truth.path.count) s = spot_shift_truth_of(c, bits, &v->truth, p);
    free(bits);
    return s;
}

/* Lists the pictures of all missing units and reads the tables for them, so that a wrong table stops the run before it. */
static spot_status list_missing(spot_ctx *c, spot_work *w)
{
    run *v = w->user;

    v->pictures = calloc((size_t)w->missing_count + 1, sizeof *v->pictures);
    if (!v->pictures) return spot_fail(c, SPOT_NOMEM, "no memory for %d folders", w->missing_count);
    for (; v->listed < w->missing_count; v->listed++) {
        spot_shift_pictures *p = &v->pictures[v->listed];
        const spot_shift_unit u = spot_shift_unit_at(v->v.cfg, w->missing[v->listed]);
        SPOT_TRY(spot_shift_pictures_open(c, p, v->v.cfg, &v->v.classes, u, &v->store));
        SPOT_TRY(check_tables(c, &v->v, p));
        if (p->list.others)
            spot_log(c, SPOT_LOG_WARN, "%s: %d files are left out that are no pictures of a class, such as %s", p->root,
                     p->list.others, p->list.other);
        spot_folder_log_doubles(c, &p->list, p->root);
        if (p->absent)
            spot_log(c, SPOT_LOG_WARN, "%s has no pictures of %d classes, such as %s; they count as lost", p->root, p->absent,
                     p->first_absent);
        v->v.progress.total += (double)p->list.n * networks_of(v->v.cfg);
    }
    return spot_shift_answers_open(c, &v->v.answers, v->v.cfg, &v->v.classes, &v->store, v->pictures, w->missing_count,
                                   &v->v.progress);
}

/* The thresholds of the classes need the real pictures in every shard. */
static spot_status begin_units(spot_ctx *c, spot_work *w)
{
    run *v = w->user;

    if (networks_of(v->v.cfg) > spot_shifts_encode(v->v.cfg)) spot_warn_of_fp32_alone(c, "the models of shifts");
    if (!spot_shifts_encode(v->v.cfg)) return SPOT_OK;
    if (v->v.encoding.encoder)
        spot_warn_of_encoder(c, spot_encoder_about(v->v.encoding.encoder), v->v.cfg->encoder.precision, "encoder.precision");
    v->v.progress.total += v->real.list.n;
    return spot_shift_thresholds(c, &v->v, &v->real);
}

static spot_status compute_units(spot_ctx *c, spot_work *w, const int *unit, int n)
{
    run *v = w->user;

    for (int i = 0; i < n; i++) {
        spot_shift_pictures *p = &v->pictures[w->tried + i];
        spot_shift_result r = { 0 };
        spot_status s = spot_shift_compute(c, &v->v, &r, w->place.out, unit[i], p, w->tried + i);
        memcpy(r.config, w->key, sizeof r.config);
        if (s == SPOT_OK) s = spot_work_keep(c, w, unit[i], &r);
        spot_shift_result_close(&r);
        SPOT_TRY(s);
    }
    return SPOT_OK;
}

/* Evaluates once, for the files and for the caller. */
static spot_status derive_files(spot_ctx *c, spot_work *w)
{
    run *v = w->user;
    spot_shifts_results own, *r = v->results ? v->results : &own;
    const spot_status s = spot_shifts_write(c, w->study, r, w->place.out, w->key);

    if (r == &own || s != SPOT_OK || r->missing) spot_shifts_close(r);
    return s;
}

/* A run must not lie in a folder whose content is classes. */
static spot_status check_out(spot_ctx *c, const run *v, const char *out)
{
    const spot_shifts_config *cfg = v->v.cfg;
    char path[SPOT_SHIFT_PATH];

    for (int u = 0; u < spot_shift_units(cfg); u++)
        if (spot_folder_holds(spot_shift_unit_folder(path, cfg, spot_shift_unit_at(cfg, u)), out))
            return spot_fail(c, SPOT_USAGE, "%s lies in %s, whose folders are classes; choose another directory", out, path);
    return spot_work_check(c, &v->work);
}

/* Checks what needs no directory, so that a wrong config makes none; then opens it. */
static spot_status open_run(spot_ctx *c, run *v, const char *out)
{
    const spot_shifts_config *cfg = v->v.cfg;
    char folder[SPOT_SHIFT_PATH], name[160];

    SPOT_TRY(check_out(c, v, out));
    SPOT_TRY(spot_config_files_check(c, spot_shifts_settings, cfg, ""));
    SPOT_TRY(spot_shift_classes_open(c, &v->v.classes, cfg));
    for (int u = 0; u < spot_shift_units(cfg); u++)
        if (access(spot_shift_unit_folder(folder, cfg, spot_shift_unit_at(cfg, u)), F_OK))
            return spot_fail(c, SPOT_INPUT, "%s: there is no folder %s",
                             spot_shift_unit_name(name, cfg, spot_shift_unit_at(cfg, u)), folder);
    SPOT_TRY(spot_shift_encoding_open(c, &v->v.encoding, cfg, &v->v.classes, &v->store, &v->v.progress));
    SPOT_TRY(spot_shift_truth_open(c, &v->v.truth, cfg));
    SPOT_TRY(spot_store_open(c, &v->store, out));
    SPOT_TRY(spot_store_plans(c, &v->store));
    return spot_store_folder(c, &v->store, "similarities");
}

static spot_status hash_inputs(spot_ctx *c, run *v)
{
    const spot_shifts_config *cfg = v->v.cfg;
    spot_key k = spot_key_of("classes", 7);
    char real[33];

    for (int i = 0; i < v->v.classes.n; i++)
        k = spot_key_join(k, "class", v->v.classes.folder[i], strlen(v->v.classes.folder[i]));
    if (cfg->data.real[0]) {
        const spot_shift_unit u = { -1, SPOT_REAL_PICTURES };
        SPOT_TRY(spot_shift_pictures_open(c, &v->real, cfg, &v->v.classes, u, &v->store));
        SPOT_TRY(spot_shift_input_hash(c, &v->v.encoding, real, &v->real));
        k = spot_key_join(k, "real", real, strlen(real));
    }
    spot_key_text(real, k);
    return spot_shift_inputs_hash(c, v->v.inputs, cfg, &v->v.programs, real);
}

static void close_run(spot_ctx *c, run *v)
{
    for (int i = 0; v->pictures && i <= v->listed; i++) spot_shift_pictures_close(&v->pictures[i]);
    free(v->pictures);
    spot_shift_pictures_close(&v->real);
    spot_shift_answers_close(c, &v->v.answers);
    spot_shift_programs_close(c, &v->v.programs);
    spot_shift_encoding_close(c, &v->v.encoding);
    spot_shift_truth_close(&v->v.truth);
    spot_shift_classes_close(&v->v.classes);
    free(v->v.class_threshold);
    free(v->v.real_feature);
    spot_work_close(&v->work);
    free(v);
}

spot_status spot_shifts_run(spot_ctx *c, const spot_shifts_config *cfg, const spot_shifts_options *o,
                            spot_run_report *report)
{
    const double since = spot_clock();
    run *v = calloc(1, sizeof *v);
    spot_status s;

    *report = (spot_run_report){ 0 };
    if (o->results) *o->results = (spot_shifts_results){ 0 };
    if (!v) return spot_fail(c, SPOT_NOMEM, "no memory for a run");
    v->c = c;
    v->v.cfg = cfg;
    v->v.programs.dir = o->place.out;
    v->v.answers.programs = &v->v.programs;
    v->results = o->results;
    v->work = (spot_work){ .study = &spot_shifts_study, .place = o->place, .config = cfg, .units = spot_shift_units(cfg),
                           .since = since, .user = v, .holds = result_holds, .prepare = list_missing, .begin = begin_units,
                           .compute = compute_units, .derive = derive_files };
    spot_key_text(v->work.key, spot_shifts_key(cfg));
    s = spot_run_place_check(c, &o->place);
    if (s == SPOT_OK) s = open_run(c, v, o->place.out);
    if (s == SPOT_OK) s = hash_inputs(c, v);
    if (s == SPOT_OK) s = spot_work_run(c, &v->work);
    *report = (spot_run_report){ v->work.planned, v->work.already, v->work.done, spot_clock() - since };
    close_run(c, v);
    return s;
}
