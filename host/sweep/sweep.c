/* sweep.c - a sweep: its ECs as units of work (work.h), one wave of ECs after another.
 *
 * An EC is done when its segment is whole and of this config. Killed at any moment, the next run recalls what the store holds
 * and computes the rest; results are equal to the bit. */
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
#include "sweep/pipeline.h"
#include "sweep/retention.h"

typedef struct {
    spot_work     work;
    spot_run      run;
    const spot_sweep_options *o;
    spot_ec_run  *ec_run;      /* (layout.wave): the ECs at hand */
    spot_arena    arena;
    int           rows;        /* the most test rows of a missing EC */
    int           not_learned;
} sweep;

/* ---- what is there ---- */

static bool pictures_there(const spot_segment *seg, const char *dir)
{
    char path[1200];

    for (int b = 0; spot_sweep_study.file(path, sizeof path, dir, seg, b); b++)
        if (*path && access(path, F_OK)) return false;
    return true;
}

/* Every file that a method looked at is what it was. One that is gone takes no result away; one that could not be read then
 * may be better now. */
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

static bool holds(spot_work *w, const void *result)
{
    const sweep *v = w->user;

    return same_embeddings(result, v->run.cfg) && (!v->run.pictures || pictures_there(result, w->dir));
}

static void take(spot_ctx *c, spot_work *w, const void *result)
{
    const spot_segment *seg = result;
    sweep *v = w->user;

    v->not_learned += !seg->status && !seg->lesson.learned;
    spot_keep_only(c, &v->run, seg);
}

static spot_status miss(spot_ctx *c, spot_work *w, int index)
{
    sweep *v = w->user;
    spot_ec ec;
    int rows;

    SPOT_TRY(spot_source_ec(c, &ec, &v->run.source, (uint32_t)index));
    rows = spot_ec_positives(NULL, &ec, SPOT_TEST);
    v->rows = rows > v->rows ? rows : v->rows;
    return SPOT_OK;
}

/* ---- before anything is computed ---- */

static spot_status check_embeddings(spot_ctx *c, const spot_config *cfg)
{
    int columns;

    for (int b = 0; b < cfg->bdms; b++)
        if (cfg->bdm[b].representation == SPOT_BY_FILE) SPOT_TRY(spot_embedding_columns(c, &columns, cfg->bdm[b].embeddings));
    return SPOT_OK;
}

/* How many of the config's ECs the shards share. */
static int in_question(const spot_config *cfg, const spot_sweep_options *o)
{
    return o->limit && o->limit < cfg->ecs ? o->limit : cfg->ecs;
}

/* Draws every EC of the shard and looks for the files of a run that begins, so that what cannot be is known before a directory
 * is made. A run that is done needs no files any more. */
static spot_status check(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o)
{
    char path[1200];
    int from, to;
    spot_ec ec;

    spot_shard_range(&from, &to, o->shard, o->shards, in_question(cfg, o));
    for (int i = from; i < to; i++)
        SPOT_TRY(spot_ec_draw(c, &ec, &cfg->scene, cfg->seed, (uint32_t)i));
    snprintf(path, sizeof path, "%s/config.yaml", o->out);
    return access(path, F_OK) ? check_embeddings(c, cfg) : SPOT_OK;
}

/* The layout of what is missing, and whether there is room for it: a directory is not claimed for what cannot be. */
static spot_status prepare(spot_ctx *c, spot_work *w)
{
    sweep *v = w->user;
    spot_run *run = &v->run;
    int n = w->missing_count;

    SPOT_TRY(check_embeddings(c, run->cfg));
    SPOT_TRY(spot_layout_of(c, &run->layout, run->cfg, &run->source, v->o, n, v->rows));
    w->batch = run->layout.wave;
    run->planned = w->planned;
    return spot_check_room(c, &run->layout, run->cfg, &run->source, v->o, n, v->rows);
}

/* ---- the waves ---- */

static spot_status begin(spot_ctx *c, spot_work *w)
{
    sweep *v = w->user;

    if (v->run.source.photos) SPOT_TRY(spot_pixel_cache_open(c, &v->run.store, v->run.source.photos));
    v->ec_run = calloc((size_t)w->batch, sizeof *v->ec_run);
    if (!v->ec_run) return spot_fail(c, SPOT_NOMEM, "no memory for a wave of %d ECs; lower --wave", w->batch);
    SPOT_TRY(spot_arena_open(c, &v->arena, v->run.layout.arena));
    return spot_pipeline_base(c, &v->arena, &v->run);
}

/* An EC that came through gets its segment; one in trouble is left for the next run. */
static spot_status finish(spot_ctx *c, spot_work *w, spot_ec_run *p)
{
    int index = (int)p->ec.index;
    bool done = false;

    if (p->trouble == SPOT_IO) SPOT_TRY(spot_work_find(c, w, index, &done));      /* by an orphan of this shard, for one */
    if (done) return SPOT_OK;
    if (!p->trouble) return spot_work_keep(c, w, index, &p->segment);
    spot_work_skip(w, index, p->trouble, p->message);
    return SPOT_OK;
}

static spot_status compute(spot_ctx *c, spot_work *w, const int *index, int n)
{
    sweep *v = w->user;
    size_t mark = v->arena.used;
    spot_status s;

    v->run.before = w->already + w->tried;
    s = spot_pipeline(c, &v->arena, &v->run, v->ec_run, index, n);
    v->arena.used = mark;
    for (int i = 0; i < n; i++) {
        if (s == SPOT_OK) s = finish(c, w, &v->ec_run[i]);
        spot_segment_close(&v->ec_run[i].segment);
    }
    return s;
}

/* ---- the whole ---- */

/* Before anything is computed or written down. */
static spot_status open_sweep(spot_ctx *c, sweep **new, const spot_config *cfg, const spot_sweep_options *o)
{
    spot_store store;
    sweep *v;

    if (o->wave < 0 || o->wave > SPOT_WIDEST_WAVE || o->at_once < 0 || o->at_once > SPOT_MOST_AT_ONCE)
        return spot_fail(c, SPOT_USAGE, "waves of %d ECs, %d at once; up to %d and %d are possible", o->wave,
                         o->at_once, SPOT_WIDEST_WAVE, SPOT_MOST_AT_ONCE);
    if (!o->out || o->shards < 1 || o->shard < 0 || o->shard >= o->shards || o->limit < 0)
        return spot_fail(c, SPOT_USAGE, "a sweep needs a directory and a shard I of N with 0 <= I < N; got %d of %d",
                         o->shard, o->shards);
    SPOT_TRY(check(c, cfg, o));
    SPOT_TRY(spot_store_open(c, &store, o->out));
    v = *new = calloc(1, sizeof *v);
    if (!v) return spot_fail(c, SPOT_NOMEM, "no memory to plan a sweep of %d ECs", cfg->ecs);
    v->o = o;
    v->run = (spot_run){ .cfg = cfg, .store = store, .pictures = o->pictures, .keep = o->keep, .run_log.fd = -1 };
    v->work = (spot_work){ .study = &spot_sweep_study, .dir = v->run.store.dir, .config = cfg, .units = in_question(cfg, o),
                           .shard = o->shard, .shards = o->shards, .seconds = o->seconds, .starts = o->starts,
                           .log = &v->run.run_log, .user = v, .holds = holds, .take = take, .miss = miss,
                           .prepare = prepare, .begin = begin, .compute = compute };
    return SPOT_OK;
}

static spot_status identify(spot_ctx *c, sweep *v)
{
    SPOT_TRY(spot_source_open(c, &v->run.source, v->run.cfg));
    SPOT_TRY(spot_identify(c, &v->run.id, v->run.cfg, v->run.source.photos));
    spot_key_text(v->work.key, v->run.id.config);
    return SPOT_OK;
}

static void close_sweep(sweep *v)
{
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
    s = identify(c, v);
    if (s == SPOT_OK) s = spot_work_run(c, &v->work);
    *report = (spot_sweep_report){ .planned = v->work.planned, .already = v->work.already, .done = v->work.done,
                                   .failed = v->work.failed, .not_learned = v->not_learned, .seconds = spot_clock() - since };
    close_sweep(v);
    return s;
}

spot_status spot_sweep_missing(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, bool *missing)
{
    spot_status s;
    sweep *v;

    SPOT_TRY(open_sweep(c, &v, cfg, o));
    s = identify(c, v);
    if (s == SPOT_OK) s = spot_work_plan(c, &v->work);
    if (s == SPOT_OK && v->work.missing_count) s = check_embeddings(c, cfg);
    for (int i = 0; i < v->work.missing_count && s == SPOT_OK; i++) missing[v->work.missing[i]] = true;
    close_sweep(v);
    return s;
}
