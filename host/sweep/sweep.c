/* sweep.c - a sweep: plan minus done, one wave of ECs after another.
 *
 * There is no state but the run directory: an EC is done when its segment is whole and of this config. Killed at any
 * moment, the next run recalls what the store holds and computes the rest; results are equal to the bit. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/device.h"
#include "spotter/shards.h"
#include "spotter/sweep.h"
#include "store/embedding.h"
#include "store/pixel_cache.h"
#include "sweep/database.h"
#include "sweep/pipeline.h"
#include "sweep/retention.h"

/* What was asked for, what of it is missing, and the first thing that went wrong on the way. */
typedef struct {
    spot_run      run;
    spot_segment  segment;     /* one that was there before */
    spot_ec_run *passage;     /* (layout.wave): the ECs at hand */
    int          *todo;        /* (todo_count) */
    int           todo_count, rows;
    double        since;       /* clock */
    spot_status   failure;
    char          message[1200];
} sweep;

/* Does the directory hold this config? *grown: not yet, or with fewer ECs. */
static spot_status check_claim(spot_ctx *c, const spot_run *run, bool *grown)
{
    spot_config *there;
    char path[1200], words[512];
    bool differs = false;
    spot_status s = SPOT_OK;

    *grown = true;
    snprintf(path, sizeof path, "%s/config.yaml", run->store.dir);
    if (!access(path, F_OK)) {
        there = malloc(sizeof *there);
        if (!there) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
        s = spot_config_load(c, there, path);
        if (s == SPOT_OK) differs = spot_config_differs(words, sizeof words, there, run->cfg);
        *grown = s == SPOT_OK && there->ecs < run->cfg->ecs;
        free(there);
    }
    SPOT_TRY(s);
    if (differs)
        return spot_fail(c, SPOT_USAGE, "%s holds results of another config (%s); give this one a directory of its own",
                         run->store.dir, words);
    return SPOT_OK;
}

static spot_status claim(spot_ctx *c, const spot_run *run)
{
    char path[1200], *text;
    spot_status s;

    snprintf(path, sizeof path, "%s/config.yaml", run->store.dir);
    SPOT_TRY(spot_config_print(c, run->cfg, &text));
    s = spot_file_write(c, path, text, strlen(text));
    free(text);
    return s;
}

/* The first failure, but one that left an EC unfinished matters more than any verdict: the next run may do better. */
static void remember(sweep *w, spot_status s, int ec, const char *who, const char *message)
{
    if (w->failure && (spot_is_verdict(s) || !spot_is_verdict(w->failure))) return;
    w->failure = s;
    snprintf(w->message, sizeof w->message, "EC %d, %s: %s", ec, who, message);
}

/* Counts a segment that is there, computed now or before. */
static void count(sweep *w, spot_sweep_report *r, const spot_segment *seg)
{
    const char *who, *message;
    spot_status s = spot_segment_failure(seg, &who, &message);

    if (s) remember(w, s, seg->index, who, message);
    r->failed += s != SPOT_OK;
    r->not_learned += !seg->status && !seg->lesson.learned;
}

static bool pictures_there(const spot_segment *seg, const char *dir)
{
    char path[1200];

    for (int b = 0; b < seg->methods; b++) {
        if (seg->method[b].status) continue;
        spot_method_picture_path(path, sizeof path, dir, seg->index, b, seg->method[b].name);
        if (access(path, F_OK)) return false;
    }
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

static spot_status is_done(spot_ctx *c, sweep *w, int index, bool *done)
{
    char why[1300], key[33];
    spot_segment_state state;

    SPOT_TRY(spot_segment_read(c, w->run.store.dir, index, &w->segment, &state, why, sizeof why));
    spot_key_text(key, w->run.id.config);
    *done = state == SPOT_SEGMENT_WHOLE && !strcmp(w->segment.config, key) && same_embeddings(&w->segment, w->run.cfg)
         && (!w->run.pictures || pictures_there(&w->segment, w->run.store.dir));
    if (state == SPOT_SEGMENT_DAMAGED) {
        spot_log(c, SPOT_LOG_WARN, "%s; it is made anew", why);
        spot_run_log_write(&w->run.run_log, "damaged", index, NAN, why);
    }
    return SPOT_OK;
}

/* How many of the config's ECs the shards share. */
static int in_question(const spot_config *cfg, const spot_sweep_options *o)
{
    return o->limit && o->limit < cfg->ecs ? o->limit : cfg->ecs;
}

static void range(int *from, int *to, const spot_config *cfg, const spot_sweep_options *o)
{
    spot_shard_range(from, to, o->shard, o->shards, in_question(cfg, o));
}

static spot_status check_embeddings(spot_ctx *c, const spot_config *cfg)
{
    int columns;

    for (int b = 0; b < cfg->bdms; b++)
        if (cfg->bdm[b].representation == SPOT_BY_FILE) SPOT_TRY(spot_embedding_columns(c, &columns, cfg->bdm[b].embeddings));
    return SPOT_OK;
}

/* Draws every EC of the shard and looks for the files of a run that begins, so that what cannot be is known before a directory
 * is made. A run that is done needs no files any more. */
static spot_status check(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o)
{
    char path[1200];
    int from, to;
    spot_ec ec;

    range(&from, &to, cfg, o);
    for (int i = from; i < to; i++)
        SPOT_TRY(spot_ec_draw(c, &ec, &cfg->scene, cfg->seed, (uint32_t)i));
    snprintf(path, sizeof path, "%s/config.yaml", o->out);
    return access(path, F_OK) ? check_embeddings(c, cfg) : SPOT_OK;
}

/* Lists what is missing. */
static spot_status plan(spot_ctx *c, sweep *w, const spot_sweep_options *o, spot_sweep_report *r)
{
    const spot_config *cfg = w->run.cfg;
    int from, to;
    spot_ec ec;

    range(&from, &to, cfg, o);
    for (int i = from; i < to; i++) {
        bool done;
        int rows;
        SPOT_TRY(spot_check_stop(c));          /* thousands of segments take their time on a slow disk */
        SPOT_TRY(spot_source_ec(c, &ec, &w->run.source, (uint32_t)i));
        SPOT_TRY(is_done(c, w, i, &done));
        r->planned++;
        if (done) {
            r->already++;
            count(w, r, &w->segment);
            spot_keep_only(c, &w->run, &w->segment);
            continue;
        }
        rows = spot_ec_positives(NULL, &ec, SPOT_TEST);
        w->rows = rows > w->rows ? rows : w->rows;
        w->todo[w->todo_count++] = i;
    }
    return w->todo_count ? check_embeddings(c, cfg) : SPOT_OK;
}

/* An EC that came through gets its segment; one in trouble is left for the next run. */
static spot_status finish(spot_ctx *c, sweep *w, spot_ec_run *p, spot_sweep_report *r, double seconds)
{
    int index = (int)p->ec.index;
    bool done = false;

    if (p->trouble == SPOT_IO) SPOT_TRY(is_done(c, w, index, &done));      /* by an orphan of this shard, for one */
    if (done) {
        r->done++;
        count(w, r, &w->segment);
        return SPOT_OK;
    }
    if (p->trouble) {
        r->failed++;
        remember(w, p->trouble, index, "not finished", p->message);
        return SPOT_OK;
    }
    SPOT_TRY(spot_segment_write(c, w->run.store.dir, &p->segment));
    spot_keep_only(c, &w->run, &p->segment);
    r->done++;
    count(w, r, &p->segment);
    spot_run_log_kept(&w->run.run_log, "done", index, seconds);
    return SPOT_OK;
}

static spot_status one_wave(spot_ctx *c, spot_arena *a, sweep *w, const int *index, int n, spot_sweep_report *r)
{
    double since = spot_clock();
    size_t mark = a->used;
    spot_status s = spot_pipeline(c, a, &w->run, w->passage, index, n);

    a->used = mark;
    for (int i = 0; i < n && s == SPOT_OK; i++) s = finish(c, w, &w->passage[i], r, (spot_clock() - since) / n);
    if (s != SPOT_OK)
        spot_run_log_write(&w->run.run_log, s == SPOT_STOPPED ? "stopped" : "failed", n == 1 ? *index : -1, spot_clock() - since,
                         spot_message(c, s));
    return s;
}

/* Will n more ECs be through in time, if they take what the last ones took? */
static spot_status fits(spot_ctx *c, const sweep *w, const spot_sweep_options *o, int n, double pace)
{
    if (!o->seconds || spot_clock() - w->since + n * pace <= o->seconds) return SPOT_OK;
    return spot_fail(c, SPOT_STOPPED, "stopped before the next EC: it would take longer (%.0f s) than what is left; "
                     "the same command goes on", n * pace);
}

/* What is missing, and whether there is room for it: a directory is not claimed for what cannot be. */
static spot_status lay_out(spot_ctx *c, sweep *w, const spot_sweep_options *o)
{
    spot_run *run = &w->run;

    if (!w->todo_count) return SPOT_OK;
    SPOT_TRY(spot_layout_of(c, &run->layout, run->cfg, &run->source, o, w->todo_count, w->rows));
    return spot_check_room(c, &run->layout, run->cfg, &run->source, o, w->todo_count, w->rows);
}

static spot_status compute(spot_ctx *c, sweep *w, const spot_sweep_options *o, spot_sweep_report *r)
{
    double pace = 0;
    int n, wave;
    spot_arena a;
    spot_status s;

    if (!w->todo_count) return SPOT_OK;
    if (w->run.source.photos) SPOT_TRY(spot_pixel_cache_open(c, &w->run.store, w->run.source.photos));
    wave = w->run.layout.wave;
    w->passage = malloc((size_t)wave * sizeof *w->passage);
    if (!w->passage) return spot_fail(c, SPOT_NOMEM, "no memory for a wave of %d ECs; lower --wave", wave);
    SPOT_TRY(spot_arena_open(c, &a, w->run.layout.arena));
    s = spot_pipeline_base(c, &a, &w->run);
    for (int i = 0; i < w->todo_count && s == SPOT_OK; i += n) {
        double since = spot_clock();
        n = w->todo_count - i < wave ? w->todo_count - i : wave;
        w->run.before = r->already + i;
        s = fits(c, w, o, n, pace);
        if (s == SPOT_OK) s = one_wave(c, &a, w, &w->todo[i], n, r);
        pace = (spot_clock() - since) / n;
    }
    if (s == SPOT_OK) spot_tell(c, "sweep", -1, r->planned, r->planned, "");
    spot_arena_close(&a);
    return s;
}

static void say_start(spot_ctx *c, sweep *w, const spot_sweep_options *o)
{
    spot_run_log_start start = { .shard = o->shard, .shards = o->shards, .ecs = in_question(w->run.cfg, o) };
    char text[256];

    range(&start.from, &start.to, w->run.cfg, o);
    spot_key_text(start.config, w->run.id.config);
    snprintf(text, sizeof text, "spotter %s on %s, %d threads, shard %d of %d", SPOT_VERSION, spot_ctx_device_name(c),
             c->threads, o->shard, o->shards);
    spot_run_log_begin(c, &w->run.run_log, &start, text);
}

static void say_what_is_left(spot_ctx *c, sweep *w, const spot_sweep_report *r)
{
    char text[64];

    snprintf(text, sizeof text, "%d of %d ECs done before", r->already, r->planned);
    spot_run_log_write(&w->run.run_log, "planned", -1, NAN, text);
    if (r->already == r->planned)
        spot_log(c, SPOT_LOG_INFO, "%d of %d ECs of %s are done; nothing to do", r->already, r->planned,
                 w->run.store.dir);
    else if (r->already)
        spot_log(c, SPOT_LOG_INFO, "%d of %d ECs are done; going on with the rest", r->already, r->planned);
}

/* A shard makes the database when it finds every EC there, as the last one does: each of the others would read all that is
 * there so far for nothing. Also where nothing was missing: one that a run did not live to replace may lie there. */
static spot_status make_database(spot_ctx *c, const sweep *w, const spot_sweep_options *o)
{
    char key[33];
    int *there = NULL, n = 0;

    if (o->shards > 1) SPOT_TRY(spot_segment_list(c, w->run.store.dir, &there, &n));
    free(there);
    if (o->shards > 1 && n < in_question(w->run.cfg, o)) return SPOT_OK;
    spot_key_text(key, w->run.id.config);
    return spot_database_write(c, w->run.store.dir, key);
}

static spot_status run_all(spot_ctx *c, sweep *w, const spot_sweep_options *o, spot_sweep_report *r)
{
    bool grown;

    SPOT_TRY(spot_source_open(c, &w->run.source, w->run.cfg));
    SPOT_TRY(spot_identify(c, &w->run.id, w->run.cfg, w->run.source.photos));
    SPOT_TRY(check_claim(c, &w->run, &grown));
    say_start(c, w, o);
    SPOT_TRY(plan(c, w, o, r));
    SPOT_TRY(lay_out(c, w, o));
    if (grown) SPOT_TRY(claim(c, &w->run));
    w->run.planned = r->planned;
    say_what_is_left(c, w, r);
    SPOT_TRY(compute(c, w, o, r));
    SPOT_TRY(make_database(c, w, o));
    return w->failure ? spot_fail(c, w->failure, "%s", w->message) : SPOT_OK;
}

/* A shard that schedulers begin again and again, and that never comes as far as one value, is not to be begun again. */
static spot_status give_up(spot_ctx *c, const spot_sweep_options *o)
{
    int starts = o->starts ? spot_run_log_starts(c, o->out, o->shard, o->shards) : 0;

    if (!o->starts || starts < o->starts) return SPOT_STOPPED;
    spot_forget(c);
    return spot_fail(c, SPOT_DEVICE, "shard %d of %d was begun %d times and stopped each time before anything was kept, not "
                     "one stage of an EC; give it more time or another machine (%s/logs tells how far it came), or a higher "
                     "--starts", o->shard, o->shards, starts, o->out);
}

/* Before anything is computed or written down. */
static spot_status begin(spot_ctx *c, sweep **new, const spot_config *cfg, const spot_sweep_options *o)
{
    spot_store store;
    sweep *w;

    if (o->wave < 0 || o->wave > SPOT_WIDEST_WAVE || o->at_once < 0 || o->at_once > SPOT_MOST_AT_ONCE)
        return spot_fail(c, SPOT_USAGE, "waves of %d ECs, %d at once; up to %d and %d are possible", o->wave,
                         o->at_once, SPOT_WIDEST_WAVE, SPOT_MOST_AT_ONCE);
    if (!o->out || o->shards < 1 || o->shard < 0 || o->shard >= o->shards || o->limit < 0)
        return spot_fail(c, SPOT_USAGE, "a sweep needs a directory and a shard I of N with 0 <= I < N; got %d of %d",
                         o->shard, o->shards);
    SPOT_TRY(check(c, cfg, o));
    SPOT_TRY(spot_store_open(c, &store, o->out));
    w = calloc(1, sizeof *w);
    if (w) w->todo = calloc((size_t)cfg->ecs + 1, sizeof *w->todo);
    if (!w || !w->todo) {
        free(w);
        return spot_fail(c, SPOT_NOMEM, "no memory to plan a sweep of %d ECs", cfg->ecs);
    }
    w->run = (spot_run){ .cfg = cfg, .store = store, .pictures = o->pictures, .keep = o->keep, .run_log.fd = -1 };
    *new = w;
    return SPOT_OK;
}

static void end(sweep *w)
{
    spot_source_close(&w->run.source);
    free(w->passage);
    free(w->todo);
    free(w);
}

spot_status spot_sweep_run(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, spot_sweep_report *report)
{
    double since = spot_clock();
    spot_status s;
    sweep *w;

    memset(report, 0, sizeof *report);
    SPOT_TRY(begin(c, &w, cfg, o));
    w->since = since;
    spot_run_log_open(c, &w->run.run_log, o->out, o->shard, o->shards);
    s = run_all(c, w, o, report);
    if (s == SPOT_STOPPED) s = give_up(c, o);
    report->seconds = spot_clock() - since;
    spot_run_log_end(&w->run.run_log, s, report->seconds, s ? spot_message(c, s) : NULL);
    spot_run_log_close(&w->run.run_log);
    end(w);
    return s;
}

spot_status spot_sweep_missing(spot_ctx *c, const spot_config *cfg, const spot_sweep_options *o, bool *missing)
{
    spot_sweep_report r = { 0 };
    spot_status s;
    sweep *w;

    SPOT_TRY(begin(c, &w, cfg, o));
    s = spot_source_open(c, &w->run.source, cfg);
    if (s == SPOT_OK) s = spot_identify(c, &w->run.id, cfg, w->run.source.photos);
    if (s == SPOT_OK) s = claim(c, &w->run);
    if (s == SPOT_OK) s = plan(c, w, o, &r);
    for (int i = 0; i < w->todo_count && s == SPOT_OK; i++) missing[w->todo[i]] = true;
    end(w);
    return s;
}
