/* sweep.c - a sweep: its ECs are units of work (work.h), computed one wave after another by spot_pipeline.
 *
 * An EC is done when its segment is whole and has this config. After a kill at any moment, the next run recalls the values in
 * the store and computes the rest; results are equal to the bit. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/device.h"
#include "spotter/sweep.h"
#include "store/embedding.h"
#include "store/pixel_cache.h"
#include "study/unit_claim.h"
#include "sweep/encoder_view.h"
#include "sweep/pipeline.h"
#include "sweep/retention.h"

typedef struct {
    spot_work     work;
    spot_run      run;
    const spot_sweep_options *o;
    spot_ec_run  *ec_run;      /* (layout.wave): the ECs of the current wave */
    spot_arena    arena;
    int           rows;        /* the most test rows of a missing EC */
    int           not_learned;
} sweep;

/* ---- results that exist ---- */

static bool has_pictures(const spot_segment *seg, const char *dir)
{
    char path[1200];

    for (int b = 0; spot_sweep_study.file(path, sizeof path, dir, seg, b); b++)
        if (*path && access(path, F_OK)) return false;
    return true;
}

/* No file of embeddings has changed. A file that is gone does not make its result invalid; a file that could not be read
 * then is tried again. */
static bool same_embeddings(const spot_segment *seg, const spot_config *cfg)
{
    for (int b = 0; b < seg->methods; b++) {
        const char *then = seg->method[b].embedding;
        char now[33];
        spot_key content;
        if (cfg->bdm[b].representation != SPOT_BY_FILE) continue;
        if (!*then) return false;
        if (!spot_embedding_content(&content, cfg->bdm[b].embeddings, seg->index)) continue;
        spot_key_text(now, content);
        if (strcmp(now, then)) return false;
    }
    return true;
}

static bool result_holds(spot_work *w, const void *result)
{
    const sweep *v = w->user;

    return same_embeddings(result, v->run.cfg) && (!v->run.pictures || has_pictures(result, w->place.out));
}

static void count_result(spot_ctx *c, spot_work *w, const void *result)
{
    const spot_segment *seg = result;
    sweep *v = w->user;

    v->not_learned += !seg->status && !seg->lesson.learned;
    spot_keep_only(c, &v->run, seg);
}

static spot_status note_missing(spot_ctx *c, spot_work *w, int index)
{
    sweep *v = w->user;
    spot_ec ec;
    int rows;

    SPOT_TRY(spot_source_ec(c, &ec, &v->run.source, (uint32_t)index));
    rows = spot_ec_positives(NULL, &ec, SPOT_TEST);
    v->rows = rows > v->rows ? rows : v->rows;
    return SPOT_OK;
}

/* ---- checks before anything is computed ---- */

static spot_status check_embeddings(spot_ctx *c, const spot_config *cfg)
{
    spot_encoder_info about;
    int columns;

    if (spot_wants_clip(cfg)) SPOT_TRY(spot_encoder_describe(c, &about, &cfg->encoder));
    for (int b = 0; b < cfg->bdms; b++)
        if (cfg->bdm[b].representation == SPOT_BY_FILE) SPOT_TRY(spot_embedding_columns(c, &columns, cfg->bdm[b].embeddings));
    return SPOT_OK;
}

/* The number of ECs that the shards share. */
static int shared_ecs(const spot_config *cfg, const spot_sweep_options *o)
{
    return o->limit && o->limit < cfg->ecs ? o->limit : cfg->ecs;
}

/* Draws every EC that this process may compute and, for a new run, opens the files that it names, so that it fails before a
 * directory is made. A finished run needs no files any more. */
static spot_status check_ecs(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o)
{
    char path[1200];
    int from, to;
    spot_ec ec;

    spot_shard_range(&from, &to, o->place.shared ? 0 : o->place.shard, o->place.shared ? 1 : o->place.shards,
                     shared_ecs(cfg, o));
    for (int i = from; i < to; i++)
        SPOT_TRY(spot_ec_draw(c, &ec, spot_config_scene(cfg, (uint32_t)i), cfg->seed, (uint32_t)i));
    snprintf(path, sizeof path, "%s/config.yaml", o->place.out);
    return access(path, F_OK) ? check_embeddings(c, cfg) : SPOT_OK;
}

/* The layout for the missing ECs. Without room for it the directory is not claimed. */
static spot_status choose_layout(spot_ctx *c, spot_work *w)
{
    sweep *v = w->user;
    spot_run *run = &v->run;
    int n = w->missing_count;

    SPOT_TRY(check_embeddings(c, run->cfg));
    SPOT_TRY(spot_sweep_encoder_open(c, &run->encoder, run->cfg));
    SPOT_TRY(spot_layout_of(c, &run->layout, run->cfg, &run->source, run->encoder, v->o, n, v->rows));
    w->batch = run->layout.wave;
    w->least = run->layout.at_once;
    run->planned = w->planned;
    return spot_check_room(c, &run->layout, run->cfg, &run->source, v->o, n, v->rows);
}

/* ---- the waves ---- */

/* One of the processes that share the run trains the base model; the others wait for its file. */
static spot_status make_base(spot_ctx *c, spot_work *w)
{
    sweep *v = w->user;
    spot_status s;

    if (!w->place.shared || !v->run.cfg->model.base.images) return spot_pipeline_base(c, &v->arena, &v->run);
    SPOT_TRY(spot_unit_wait(c, w, SPOT_UNIT_BEFORE));
    s = spot_pipeline_base(c, &v->arena, &v->run);
    spot_unit_release(w, SPOT_UNIT_BEFORE);
    return s;
}

static spot_status begin_waves(spot_ctx *c, spot_work *w)
{
    sweep *v = w->user;

    if (v->run.source.photos) {
        SPOT_TRY(spot_pixel_cache_open(c, &v->run.store, v->run.source.photos));
        SPOT_TRY(spot_photos_upload(c, v->run.source.photos, 0));
    }
    v->ec_run = calloc((size_t)w->batch, sizeof *v->ec_run);
    if (!v->ec_run) return spot_fail(c, SPOT_NOMEM, "no memory for a wave of %d ECs; lower --wave", w->batch);
    SPOT_TRY(spot_arena_open(c, &v->arena, v->run.layout.arena));
    return make_base(c, w);
}

/* Writes the EC's segment. An EC in trouble is left for the next run. */
static spot_status finish_ec(spot_ctx *c, spot_work *w, spot_ec_run *p)
{
    int index = (int)p->ec.index;
    bool done = false;

    if (p->trouble == SPOT_IO) SPOT_TRY(spot_work_find(c, w, index, &done));   /* for one, by an older process of this shard */
    if (done) return SPOT_OK;
    if (!p->trouble) return spot_work_keep(c, w, index, &p->segment);
    spot_work_skip(w, index, p->trouble, p->message);
    return SPOT_OK;
}

static spot_status compute_wave(spot_ctx *c, spot_work *w, const int *index, int n)
{
    sweep *v = w->user;
    size_t mark = v->arena.used;
    spot_status s;

    v->run.before = w->already + (w->tried < w->own ? w->tried : w->own);
    s = spot_pipeline(c, &v->arena, &v->run, v->ec_run, index, n);
    v->arena.used = mark;
    for (int i = 0; i < n; i++) {
        if (s == SPOT_OK) s = finish_ec(c, w, &v->ec_run[i]);
        spot_segment_close(&v->ec_run[i].segment);
    }
    return s;
}

/* ---- the whole ---- */

/* Checks the config and the options, and makes the directory. */
static spot_status open_sweep(spot_ctx *c, sweep **new, const spot_config *cfg, const spot_sweep_options *o)
{
    spot_store store;
    sweep *v;

    if (o->wave < 0 || o->wave > SPOT_WIDEST_WAVE || o->at_once < 0 || o->at_once > SPOT_MOST_AT_ONCE)
        return spot_fail(c, SPOT_USAGE, "{sweep.waves} waves of %d ECs, %d at once; up to %d and %d are possible", o->wave,
                         o->at_once, SPOT_WIDEST_WAVE, SPOT_MOST_AT_ONCE);
    if (o->limit < 0) return spot_fail(c, SPOT_USAGE, "a sweep of the first %d ECs; 0 is all", o->limit);
    SPOT_TRY(spot_run_place_check(c, &o->place));
    SPOT_TRY(check_ecs(c, cfg, o));
    SPOT_TRY(spot_work_check(c, &(spot_work){ .study = &spot_sweep_study, .place = o->place, .config = cfg }));
    SPOT_TRY(spot_store_open(c, &store, o->place.out));
    SPOT_TRY(spot_store_plans(c, &store));
    v = *new = calloc(1, sizeof *v);
    if (!v) return spot_fail(c, SPOT_NOMEM, "no memory to plan a sweep of %d ECs", cfg->ecs);
    v->o = o;
    v->run = (spot_run){ .cfg = cfg, .store = store, .pictures = o->pictures, .keep = o->keep, .run_log.fd = -1 };
    v->work = (spot_work){ .study = &spot_sweep_study, .place = o->place, .config = cfg, .units = shared_ecs(cfg, o),
                           .log = &v->run.run_log, .user = v, .holds = result_holds, .take = count_result,
                           .miss = note_missing, .prepare = choose_layout, .begin = begin_waves, .compute = compute_wave };
    return SPOT_OK;
}

static spot_status open_source(spot_ctx *c, sweep *v)
{
    SPOT_TRY(spot_source_open(c, &v->run.source, v->run.cfg));
    SPOT_TRY(spot_identify(c, &v->run.id, v->run.cfg, v->run.source.photos));
    spot_key_text(v->work.key, v->run.id.config);
    return SPOT_OK;
}

static void close_sweep(spot_ctx *c, sweep *v)
{
    spot_encoder_close(c, v->run.encoder);
    spot_device_give(c, v->run.base_there);
    spot_workers_close(&v->run.workers);
    spot_source_close(&v->run.source);
    spot_arena_close(&v->arena);
    spot_work_close(&v->work);
    free(v->ec_run);
    free(v);
}

spot_status spot_sweep_run(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, spot_sweep_report *report)
{
    double since = spot_clock();
    spot_status s;
    sweep *v;

    memset(report, 0, sizeof *report);
    SPOT_TRY(open_sweep(c, &v, cfg, o));
    v->work.since = since;
    s = open_source(c, v);
    if (s == SPOT_OK) s = spot_work_run(c, &v->work);
    *report = (spot_sweep_report){ .planned = v->work.planned, .already = v->work.already, .done = v->work.done,
                                   .failed = v->work.failed, .not_learned = v->not_learned, .seconds = spot_clock() - since };
    close_sweep(c, v);
    return s;
}

spot_status spot_sweep_missing(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, bool *missing)
{
    spot_status s;
    sweep *v;

    SPOT_TRY(open_sweep(c, &v, cfg, o));
    s = open_source(c, v);
    if (s == SPOT_OK) s = spot_work_plan(c, &v->work);
    if (s == SPOT_OK && v->work.missing_count) s = check_embeddings(c, cfg);
    for (int i = 0; i < v->work.missing_count && s == SPOT_OK; i++) missing[v->work.missing[i]] = true;
    close_sweep(c, v);
    return s;
}
