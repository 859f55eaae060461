/* discover_run.c - a process's part of a search: classes are units, several of which are searched at once.
 *
 *     subject -> classes of this shard -> searches -> a result for each class; all results -> findings */
#define _POSIX_C_SOURCE 200809L
#include "discover/search/discover_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "discover/describe/suspect_labels.h"
#include "discover/search/class_result.h"
#include "discover/search/discover_config.h"
#include "study/chain.h"
#include "study/frame.h"
#include "study/run_claim.h"

const char *const spot_findings_files[] = { "config.yaml", "slices.csv", "slices.json", "map.npy", "fit.safetensors",
                                            "subject.safetensors", "report.html", "rows.csv", "attributes.csv", NULL };

static int count_classes(const void *config) { return ((const spot_discover_config *)config)->classes; }

const spot_study spot_discover_study = {
    .name = "discover", .unit = "class", .units = "classes", .prefix = "class", .numbers = SPOT_NUMBERS,
    .result = sizeof(spot_class_result), .describe = spot_class_result_describe, .close = spot_class_result_close,
    .config = &spot_discover_kind, .units_of = count_classes,
    .made = { "slices.csv", "slices.json", "map.npy", "fit.safetensors", "subject.safetensors", "report.html" },
    .by_words = true,
};

typedef struct {
    const spot_subject          *subject;
    const spot_discover_options *options;
    spot_chosen                  all;
    spot_findings               *findings;
    spot_discover_config         config;
    spot_work                    work;
    spot_ctx                    *outer;    /* of the present batch */
} search_run;

/* ---- progress ---- */

static void pass_log(void *user, spot_log_level level, const char *text)
{
    const search_run *v = user;

    if (v->outer->on_log) v->outer->on_log(v->outer->user, level, text);
}

static void pass_progress(void *user, const spot_progress *p)
{
    const search_run *v = user;
    const spot_work *w = &v->work;
    const double part = p->total > 0 ? p->done / p->total : 0;
    const spot_progress whole = { p->stage, -1, w->already + w->tried + part * w->batch_count, w->planned, p->note };

    if (v->outer->on_progress) v->outer->on_progress(v->outer->user, &whole);
}

/* ---- a batch of classes ---- */

static spot_status keep_result(spot_ctx *c, search_run *v, spot_class_result *r, int unit)
{
    const spot_candidate *k = &v->all.list[unit];

    r->numbers = SPOT_NUMBERS;
    memcpy(r->config, v->work.key, sizeof r->config);
    r->cls = k->cls, r->rows = k->n, r->wrong = k->wrong;
    return spot_work_keep(c, &v->work, unit, r);
}

static spot_status prove_classes(spot_ctx *c, search_run *v, const spot_chosen *k, const int *unit)
{
    spot_proving j;
    spot_status s = spot_prove_open(&j, c, v->subject, v->options, k);

    if (s == SPOT_OK) s = spot_prove_search(&j);
    for (int i = 0; i < k->count && s == SPOT_OK; i++) {
        spot_class_result r = { .index = unit[i] };
        s = spot_class_result_of_proof(c, &r, &j, i);
        if (s == SPOT_OK) s = keep_result(c, v, &r, unit[i]);
        spot_class_result_close(&r);
    }
    spot_proof_close(&j);
    return s;
}

/* Whether nothing was found because each search failed by itself. */
static bool has_failed(const spot_findings *f)
{
    for (int i = 0; i < f->count; i++)
        if (!f->finding || f->finding[i].status == SPOT_OK) return false;
    return f->count > 0;
}

static spot_status search_classes(spot_ctx *c, search_run *v, const spot_chosen *k, const int *unit)
{
    const int each = v->options->bdms * v->options->seeds;
    spot_findings f = { 0 };
    spot_status s = spot_search(c, &f, v->subject, v->options, k);

    if (s && has_failed(&f)) s = SPOT_OK, spot_forget(c);
    for (int i = 0; i < k->count && s == SPOT_OK; i++) {
        spot_class_result r = { .index = unit[i] };
        s = spot_class_result_of_search(c, &r, &f.finding[i * each], each);
        if (s == SPOT_OK) s = keep_result(c, v, &r, unit[i]);
        spot_class_result_close(&r);
    }
    spot_findings_close(&f);
    return s;
}

static spot_status compute_classes(spot_ctx *c, spot_work *w, const int *unit, int n)
{
    search_run *v = w->user;
    spot_candidate *list = malloc((size_t)n * sizeof *list);
    const spot_chosen k = { .list = list, .count = n, .log = w->log };
    spot_ctx inner = *c;
    spot_status s;

    if (!list) return spot_fail(c, SPOT_NOMEM, "no memory for %d classes", n);
    for (int i = 0; i < n; i++) list[i] = v->all.list[unit[i]];
    v->outer = c;
    inner.on_log = pass_log;
    inner.on_progress = pass_progress;
    inner.user = v;
    s = (v->options->proof ? prove_classes : search_classes)(&inner, v, &k, unit);
    free(list);
    return s == SPOT_OK ? s : spot_fail_from(c, s, &inner);
}

static spot_status set_batch(spot_ctx *c, spot_work *w)
{
    (void)c;
    w->batch = SPOT_CLASSES_AT_ONCE;
    return SPOT_OK;
}

static bool result_holds(spot_work *w, const void *result)
{
    (void)w;
    return !((const spot_class_result *)result)->again;
}

/* ---- all classes ---- */

/* *whole: every class has a result of this config. */
static spot_status read_results(spot_ctx *c, const spot_work *w, spot_class_result *r, bool *whole)
{
    spot_frame f;

    *whole = true;
    for (int i = 0; i < w->units && *whole; i++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_frame_read(c, w->study, w->place.out, i, &r[i], &f));
        *whole = f.state == SPOT_SEGMENT_WHOLE && f.numbers == w->study->numbers && !strcmp(f.config, w->key);
    }
    return SPOT_OK;
}

static spot_status conclude(spot_ctx *c, search_run *v, const spot_class_result *r)
{
    spot_proving j;
    spot_status s;

    if (!v->options->proof) return spot_search(c, v->findings, v->subject, v->options, &v->all);      /* from the cache */
    s = spot_prove_open(&j, c, v->subject, v->options, &v->all);
    if (s == SPOT_OK) s = spot_class_results_load(&j, r);
    if (s == SPOT_OK) s = spot_prove_conclude(&j, v->findings, &v->all);
    spot_proof_close(&j);
    return s;
}

static spot_status derive_findings(spot_ctx *c, spot_work *w)
{
    search_run *v = w->user;
    spot_class_result *r = calloc((size_t)w->units + 1, sizeof *r);
    bool whole = false;
    spot_status s = r ? read_results(c, w, r, &whole) : spot_fail(c, SPOT_NOMEM, "no memory for %d classes", w->units);

    if (s == SPOT_OK && whole) s = conclude(c, v, r);
    if (s == SPOT_OK && whole) s = spot_features_decide(c, &v->findings->decided, v->subject);
    if (s == SPOT_OK && whole) s = spot_suspects_find(c, v->findings, v->subject);
    for (int i = 0; r && i < w->units; i++) spot_class_result_close(&r[i]);
    free(r);
    return s;
}

/* ---- the run ---- */

/* Before folders of findings had units, their config.yaml began with a comment. */
static bool is_older(const char *dir)
{
    static const char top[] = "# spotter discover --config ";
    char path[1200], line[sizeof top];

    snprintf(path, sizeof path, "%s/config.yaml", dir);
    return spot_file_peek(path, line, sizeof top - 1) == (int)sizeof top - 1 && !memcmp(line, top, sizeof top - 1);
}

spot_status spot_findings_check(spot_ctx *c, const char *dir, const spot_subject *s)
{
    spot_discover_config cfg = { 0 };
    spot_work w = { .study = &spot_discover_study, .place.out = dir, .config = s ? &cfg : NULL };
    spot_status how = s ? spot_discover_config_of(c, &cfg, s, NULL, 0) : SPOT_OK;

    if (how == SPOT_OK) how = spot_work_check(c, &w);
    if (how == SPOT_USAGE && is_older(dir)) {
        spot_forget(c);
        how = spot_fail(c, how, "%s holds findings of an earlier version of spotter; choose another folder, or say --replace",
                        dir);
    } else if (how == SPOT_USAGE && s) {       /* a folder of findings, as it was without s: only the rows can be others */
        spot_forget(c);
        how = spot_fail(c, how, "%s holds findings of other data; choose another folder, or say --replace", dir);
    } else if (how == SPOT_USAGE) how = spot_fail(c, how, "%s, or say --replace", spot_take_message(c, how));
    spot_memory_close(&cfg.memory);
    return how;
}

/* Files of others are given up with --replace: this one decides whose the folder is. */
static spot_status open_folder(spot_ctx *c, const search_run *v, const spot_discover_place *at)
{
    spot_store store;
    char path[1200];

    if (at->replace) SPOT_TRY(spot_work_claim(c, &v->work));
    if (at->replace && spot_work_check(c, &v->work) == SPOT_USAGE) {
        spot_forget(c);
        snprintf(path, sizeof path, "%s/config.yaml", at->place.out);
        unlink(path);
    }
    SPOT_TRY(spot_store_open_cache(c, &store, at->place.out));
    SPOT_TRY(spot_store_plans(c, &store));
    SPOT_TRY(spot_store_folder(c, &store, "segments"));
    return spot_store_folder(c, &store, "logs");
}

static spot_status run_search(spot_ctx *c, search_run *v, const spot_discover_place *at)
{
    spot_work *w = &v->work;

    SPOT_TRY(spot_discover_config_of(c, &v->config, v->subject, v->options, v->all.count));
    *w = (spot_work){ .study = &spot_discover_study, .place = at->place, .config = &v->config, .units = v->all.count,
                      .user = v, .holds = result_holds, .prepare = set_batch,
                      .compute = compute_classes, .derive = derive_findings };
    SPOT_TRY(spot_study_key(c, w->study, w->key, w->config));
    SPOT_TRY(open_folder(c, v, at));
    return spot_work_run(c, w);
}

spot_status spot_discover_run(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o,
                              const spot_discover_place *at, spot_run_report *report)
{
    spot_discover_options own = *o;
    search_run v = { .subject = s, .options = &own, .findings = f };
    spot_candidate *list = NULL;
    const double since = spot_clock();
    spot_status how;

    memset(f, 0, sizeof *f);
    *report = (spot_run_report){ 0 };
    own.cache = at->place.out;
    SPOT_TRY(spot_run_place_check(c, &at->place));
    SPOT_TRY(spot_discover_begin(c, s, &own));
    how = spot_candidates(c, s, &own, &list, &v.all.count, &v.all.left_out);
    v.all.list = list;
    if (how == SPOT_OK) how = run_search(c, &v, at);
    *report = (spot_run_report){ v.work.planned, v.work.already, v.work.done, spot_clock() - since };
    spot_work_close(&v.work);
    spot_memory_close(&v.config.memory);
    free(list);
    return how;
}
