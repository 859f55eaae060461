/* work.c - one process's part of a run: computes the missing units batch after batch.
 *
 * The run directory is the only state: a unit is done when its segment is whole and has this config. After a kill at any
 * moment, the next run computes the rest, and the results are equal to the bit. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/platform.h"
#include "study/yaml.h"
#include "study/frame.h"
#include "study/run_claim.h"
#include "study/run_log.h"
#include "study/unit_claim.h"

/* Whether here's results may take the place of the saved ones: what a unit's result was made of stays in the cache. */
static bool may_follow(char *words, size_t size, const spot_config_kind *k, const void *saved, const void *here)
{
    return !spot_config_is_other(words, size, k, saved, here) || (k->gains && k->gains(words, size, saved, here));
}

/* SPOT_USAGE when the directory holds another config. *grown: it holds none yet, or one with fewer units, fewer results of a
 * unit or other choices. */
static spot_status check_claim(spot_ctx *c, const spot_work *w, bool *grown)
{
    const spot_study *y = w->study;
    char path[1200], words[512];
    void *saved = NULL;
    spot_status s;

    *grown = true;
    snprintf(path, sizeof path, "%s/config.yaml", w->place.out);
    if (access(path, F_OK)) return SPOT_OK;
    s = spot_study_load(c, y, &saved, path);
    if (s == SPOT_OK && w->config)
        *grown = y->units_of(saved) < y->units_of(w->config) || spot_config_changes(y->config, saved, w->config);
    if (s == SPOT_OK && w->config && !may_follow(words, sizeof words, y->config, saved, w->config))
        s = spot_fail(c, SPOT_USAGE, "{run.other_config} %s holds results of another config (%s); give this one a directory of "
                      "its own", w->place.out, words);
    spot_study_close(saved);
    return s;
}

/* Leaves as they are the files that no run made. */
static spot_status check_made(spot_ctx *c, const spot_work *w)
{
    char path[1200];

    for (int i = 0; w->study->made[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", w->place.out, w->study->made[i]);
        if (!access(path, F_OK))
            return spot_fail(c, SPOT_USAGE, "{run.foreign} %s is there, and %s is no run directory: it has no config.yaml; "
                             "choose another one", path, w->place.out);
    }
    return SPOT_OK;
}

spot_status spot_work_check(spot_ctx *c, const spot_work *w)
{
    char path[1200];
    bool grown;

    snprintf(path, sizeof path, "%s/config.yaml", w->place.out);
    return access(path, F_OK) ? check_made(c, w) : check_claim(c, w, &grown);
}

static spot_status write_config(spot_ctx *c, const spot_work *w)
{
    char path[1200], *text;
    spot_status s;

    snprintf(path, sizeof path, "%s/config.yaml", w->place.out);
    SPOT_TRY(spot_yaml_print(c, w->study->config->rows, w->config, &text));
    s = spot_file_write(c, path, text, strlen(text));
    free(text);
    return s;
}

spot_status spot_run_place_check(spot_ctx *c, const spot_run_place *p)
{
    if (p->out && p->shard >= 0 && p->shard < p->shards) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{run.place} a study needs a directory and a shard I of N with 0 <= I < N; got %d of %d",
                     p->shard, p->shards);
}

/* ---- results ---- */

/* Keeps the first failure. One that left a unit unfinished matters more, because the next run may succeed. */
static void keep_failure(spot_work *w, spot_status s, bool unfinished, int unit, const char *what, const char *message)
{
    if (w->failure && (!unfinished || w->unfinished)) return;
    w->failure = s;
    w->unfinished = unfinished;
    snprintf(w->message, sizeof w->message, "%s %d, %s: %s", w->study->unit, unit, what, message);
}

static void count_result(spot_ctx *c, spot_work *w, int unit, const void *result)
{
    const char *what, *message;
    spot_status first;

    if (w->study->failures && w->study->failures(result, &first, &what, &message)) {
        keep_failure(w, first, false, unit, what, message);
        w->failed++;
    }
    if (w->take) w->take(c, w, result);
}

/* Whether the unit's result is there and still holds. */
static spot_status read_result(spot_ctx *c, spot_work *w, int unit, void *result, bool *found)
{
    spot_frame f;

    SPOT_TRY(spot_frame_read(c, w->study, w->place.out, unit, result, &f));
    *found = f.state == SPOT_SEGMENT_WHOLE && f.numbers == w->study->numbers && !strcmp(f.config, w->key)
          && (!w->holds || w->holds(w, result));
    if (f.state != SPOT_SEGMENT_DAMAGED) return SPOT_OK;
    spot_log(c, SPOT_LOG_WARN, "%s; it is computed again", f.why);
    if (w->log) spot_run_log_write(w->log, "damaged", unit, NAN, f.why);
    return SPOT_OK;
}

/* The same; the result counts. */
static spot_status find_result(spot_ctx *c, spot_work *w, int unit, void *result, bool *found)
{
    SPOT_TRY(read_result(c, w, unit, result, found));
    if (*found) count_result(c, w, unit, result);
    return SPOT_OK;
}

static void *new_result(spot_ctx *c, const spot_work *w)
{
    void *result = spot_frame_result(w->study);

    if (!result) spot_fail(c, SPOT_NOMEM, "no memory for a segment");
    return result;
}

static double size_of(const spot_work *w, int unit) { return w->size_of ? w->size_of(w, unit) : 1; }

static void count_done(spot_work *w, int unit)
{
    w->done++;
    w->size_done += size_of(w, unit);
}

spot_status spot_work_find(spot_ctx *c, spot_work *w, int unit, bool *found)
{
    void *result = new_result(c, w);
    spot_status s = result ? find_result(c, w, unit, result, found) : SPOT_NOMEM;

    spot_frame_free(w->study, result);
    if (s == SPOT_OK && *found) count_done(w, unit);
    return s;
}

spot_status spot_work_keep(spot_ctx *c, spot_work *w, int unit, void *result)
{
    SPOT_TRY(spot_frame_write(c, w->study, w->place.out, unit, result));
    count_done(w, unit);
    count_result(c, w, unit, result);
    spot_run_log_kept(w->log, "done", unit, (spot_clock() - w->batch_since) / w->batch_count, NULL);
    return SPOT_OK;
}

void spot_work_skip(spot_work *w, int unit, spot_status s, const char *message)
{
    w->failed++;
    keep_failure(w, s, true, unit, "not finished", message);
}

/* ---- the plan ---- */

static int compare_units(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }


/* Units of other shards without a segment: of the next shard first, and of each shard the last one first, because its own
 * process comes to it last. What others have done since is found when a unit is claimed. */
static spot_status list_others(spot_ctx *c, spot_work *w)
{
    int *there, n, from, to;

    SPOT_TRY(spot_frame_list(c, w->study, w->place.out, &there, &n));
    for (int k = 1; k < w->place.shards; k++) {
        spot_shard_range(&from, &to, (w->place.shard + k) % w->place.shards, w->place.shards, w->units);
        for (int i = to - 1; i >= from; i--)
            if (!n || !bsearch(&i, there, (size_t)n, sizeof *there, compare_units)) w->missing[w->missing_count++] = i;
    }
    free(there);
    for (int i = w->own; i < w->missing_count && w->miss; i++) SPOT_TRY(w->miss(c, w, w->missing[i]));
    return SPOT_OK;
}

static spot_status list_missing(spot_ctx *c, spot_work *w, void *result)
{
    int from, to;

    spot_shard_range(&from, &to, w->place.shard, w->place.shards, w->units);
    w->missing = malloc(((size_t)w->units + 1) * sizeof *w->missing);
    if (!w->missing) return spot_fail(c, SPOT_NOMEM, "no memory to plan %d %s", w->units, w->study->units);
    for (int i = from; i < to; i++) {
        bool found;
        SPOT_TRY(spot_check_stop(c));          /* reading thousands of segments can be slow */
        SPOT_TRY(find_result(c, w, i, result, &found));
        w->planned++;
        w->already += found;
        w->size += size_of(w, i);
        if (found) w->size_done += size_of(w, i);
        if (found) continue;
        if (w->miss) SPOT_TRY(w->miss(c, w, i));
        w->missing[w->missing_count++] = i;
    }
    w->own = w->missing_count;
    return w->place.shared ? list_others(c, w) : SPOT_OK;
}

static spot_status plan_shard(spot_ctx *c, spot_work *w)
{
    void *result = new_result(c, w);
    spot_status s = result ? list_missing(c, w, result) : SPOT_NOMEM;

    spot_frame_free(w->study, result);
    w->batch = w->least = 1;
    return s;
}

spot_status spot_work_plan(spot_ctx *c, spot_work *w)
{
    bool grown;

    SPOT_TRY(check_claim(c, w, &grown));
    if (grown) SPOT_TRY(write_config(c, w));
    return plan_shard(c, w);
}

void spot_work_close(spot_work *w)
{
    free(w->missing);
    w->missing = NULL;
    w->missing_count = 0;
}

/* ---- the run ---- */

static void log_start(spot_ctx *c, const spot_work *w)
{
    spot_run_log_start start = { .shard = w->place.shard, .shards = w->place.shards, .ecs = w->units };
    char text[256];

    spot_shard_range(&start.from, &start.to, w->place.shard, w->place.shards, w->units);
    memcpy(start.config, w->key, sizeof start.config);
    snprintf(text, sizeof text, "spotter %s on %s, %d threads, shard %d of %d", SPOT_VERSION, spot_ctx_device_name(c),
             c->threads, w->place.shard, w->place.shards);
    spot_run_log_begin(c, w->log, &start, text);
}

static void log_planned(spot_ctx *c, const spot_work *w)
{
    const char *units = w->study->units;
    char text[64];

    snprintf(text, sizeof text, "%d of %d %s done before", w->already, w->planned, units);
    spot_run_log_write(w->log, "planned", -1, NAN, text);
    if (w->already == w->planned)
        spot_log(c, SPOT_LOG_INFO, "%d of %d %s of %s are done; nothing to do", w->already, w->planned, units, w->place.out);
    else if (w->already)
        spot_log(c, SPOT_LOG_INFO, "%d of %d %s are done; continuing with the rest", w->already, w->planned, units);
}

/* SPOT_STOPPED when n more units, at the pace of the last batch, would end too late. */
static spot_status check_time(spot_ctx *c, const spot_work *w, int n, double pace)
{
    if (!w->place.seconds || spot_clock() - w->since + n * pace <= w->place.seconds) return SPOT_OK;
    return spot_fail(c, SPOT_STOPPED, "stopped before the next %s: it would take %.0f s, more than the time left; the same "
                     "command continues", w->study->unit, n * pace);
}

static spot_status compute_batch(spot_ctx *c, spot_work *w, const int *unit, int n)
{
    spot_status s;

    w->batch_since = spot_clock();
    w->batch_count = n;
    s = w->compute(c, w, unit, n);
    if (s != SPOT_OK)
        spot_run_log_write(w->log, s == SPOT_STOPPED ? "stopped" : "failed", n == 1 ? *unit : -1,
                           spot_clock() - w->batch_since, spot_message(c, s));
    return s;
}

void spot_work_tell_within(spot_ctx *c, const spot_work *w, double more, const char *note)
{
    const double planned = w->planned, done = w->missing_count && w->tried >= w->own ? planned
                 : w->size > 0 ? planned * fmin(w->size, w->size_done + more) / w->size : 0;

    spot_tell(c, w->study->name, -1, w->run * planned + done, (w->runs > 1 ? w->runs : 1) * planned, note);
}

void spot_work_tell(spot_ctx *c, const spot_work *w, const char *note) { spot_work_tell_within(c, w, 0, note); }

/* *mine: the unit has no segment, and no other process computes it. own: it is one of this shard, so its result counts. */
static spot_status claim_unit(spot_ctx *c, spot_work *w, int unit, bool own, bool *mine)
{
    bool done = false;
    void *result;
    spot_status s;

    SPOT_TRY(spot_unit_claim(c, w, unit, mine));
    if (!*mine) return SPOT_OK;
    result = new_result(c, w);
    s = result ? (own ? find_result : read_result)(c, w, unit, result, &done) : SPOT_NOMEM;
    spot_frame_free(w->study, result);
    *mine = s == SPOT_OK && !done;
    if (!*mine) spot_unit_release(w, unit);
    return s;
}

/* Takes the next batch from w->missing, from w->tried on: *n units. *looked: entries of w->missing that it went through. Of a
 * shared run a batch shrinks towards the end, so that the last processes end together. */
static spot_status take_batch(spot_ctx *c, spot_work *w, int *unit, int *n, int *looked)
{
    const int left = w->missing_count - w->tried, share = (left + 2 * w->place.shards - 1) / (2 * w->place.shards);
    int most = w->batch;

    if (w->place.shared && most > share) most = share > w->least ? share : w->least;
    *n = 0;
    for (*looked = 0; *looked < left && *n < most; (*looked)++) {
        const int next = w->missing[w->tried + *looked];
        bool mine = true;
        if (w->place.shared) SPOT_TRY(claim_unit(c, w, next, w->tried + *looked < w->own, &mine));
        if (mine) unit[(*n)++] = next;
    }
    return SPOT_OK;
}

/* unit (w->batch): scratch. */
static spot_status compute_batches(spot_ctx *c, spot_work *w, int *unit)
{
    double pace = 0;
    int n, looked;

    for (w->tried = 0; w->tried < w->missing_count; w->tried += looked) {
        spot_status s = take_batch(c, w, unit, &n, &looked);
        if (s == SPOT_OK && n) s = check_time(c, w, n, pace);
        if (s == SPOT_OK && n) s = compute_batch(c, w, unit, n);
        for (int i = 0; i < n && w->place.shared; i++) spot_unit_release(w, unit[i]);
        SPOT_TRY(s);
        if (n) pace = (spot_clock() - w->batch_since) / n;
    }
    return SPOT_OK;
}

static spot_status compute_all(spot_ctx *c, spot_work *w)
{
    char platform[512];
    spot_status s = SPOT_OK;
    int *unit;

    if (!w->missing_count) return SPOT_OK;
    spot_run_makers_look(c, w->place.out, spot_platform(c, platform, sizeof platform));
    if (w->place.shared) SPOT_TRY(spot_unit_claims_open(c, w));
    if (w->begin) s = w->begin(c, w);
    unit = s == SPOT_OK ? malloc((size_t)w->batch * sizeof *unit) : NULL;
    if (s == SPOT_OK) s = unit ? compute_batches(c, w, unit) : spot_fail(c, SPOT_NOMEM, "no memory for a batch");
    free(unit);
    if (s == SPOT_OK) spot_work_tell(c, w, "");
    return s;
}

/* Only a shard that finds every unit done derives, such as the last one: the others would read all segments for nothing. This
 * includes a shard with nothing missing, since a killed run may have left an old file. */
static spot_status derive_files(spot_ctx *c, spot_work *w)
{
    int *found = NULL, n = 0;

    if (!w->derive && !w->study->derive) return SPOT_OK;
    if (w->place.shards > 1) SPOT_TRY(spot_frame_list(c, w->study, w->place.out, &found, &n));
    free(found);
    if (w->place.shards > 1 && n < w->units) return SPOT_OK;
    return w->derive ? w->derive(c, w) : w->study->derive(c, w->place.out, w->key);
}

static spot_status run_all(spot_ctx *c, spot_work *w)
{
    bool grown;

    SPOT_TRY(check_claim(c, w, &grown));
    log_start(c, w);
    SPOT_TRY(plan_shard(c, w));
    if (w->missing_count && w->prepare) SPOT_TRY(w->prepare(c, w));
    if (grown) SPOT_TRY(write_config(c, w));
    log_planned(c, w);
    SPOT_TRY(compute_all(c, w));
    SPOT_TRY(derive_files(c, w));
    return w->failure ? spot_fail(c, w->failure, "{unit.failed} %s", w->message) : SPOT_OK;
}

/* SPOT_STOPPED for a shard that may be started again; SPOT_DEVICE for one that never kept a value in w->place.starts starts. */
static spot_status check_starts(spot_ctx *c, const spot_work *w)
{
    int starts = w->place.starts ? spot_run_log_starts(c, w->place.out, w->place.shard, w->place.shards) : 0;

    if (!w->place.starts || starts < w->place.starts) return SPOT_STOPPED;
    spot_forget(c);
    return spot_fail(c, SPOT_DEVICE, "{shard.given_up} shard %d of %d was begun %d times and stopped each time before it "
                     "stored one stage of one %s; give it more time, another machine or a higher --starts (%s/logs shows its "
                     "last step)", w->place.shard, w->place.shards, starts, w->study->unit, w->place.out);
}

spot_status spot_work_run(spot_ctx *c, spot_work *w)
{
    spot_run_log own;
    spot_status s;

    if (!w->since) w->since = spot_clock();
    SPOT_TRY(spot_work_claim(c, w));
    if (!w->log) w->log = &own;
    spot_run_log_open(c, w->log, w->place.out, w->place.shard, w->place.shards);
    s = run_all(c, w);
    if (w->place.shared) spot_unit_claims_close(c, w);
    if (s == SPOT_STOPPED) s = check_starts(c, w);
    spot_run_log_end(w->log, s, spot_clock() - w->since, s ? spot_message(c, s) : NULL);
    spot_run_log_close(w->log);
    if (w->log == &own) w->log = NULL;
    spot_work_close(w);
    return s;
}
