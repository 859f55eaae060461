/* merge.c - merges the segments of many run directories into one.
 *
 * Of a unit's valid segments the least is taken, in a total order: fewer failures first, then bytes. A minimum is associative,
 * commutative and idempotent, and so is the merge. Each unit is compared in all sources at once, and a folder of a thousand
 * units is committed at a time, so that neither the memory nor the work that a kill undoes grows with the run. */
#define _POSIX_C_SOURCE 200809L
#include "study/merge.h"
#include "study/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store.h"
#include "study/run_log.h"

enum { WARNINGS = 20 };            /* lines of warnings at most */

/* A segment that was read. */
typedef struct {
    void      *result;
    spot_frame f;                  /* bytes NULL: none */
    int        failures, source;
} candidate;

typedef struct {
    spot_ctx *c;
    const spot_merge_options *o;
    spot_merge_report *r;
    spot_merge_plan plan;
    candidate  best, next;
    bool       own;                /* out had a whole segment of the current unit */
    spot_batch files, segments;
    int        warnings;
} merge;

static void log_warning(merge *m, const char *what, const char *then)
{
    if (m->warnings++ < WARNINGS) spot_log(m->c, SPOT_LOG_WARN, "%s%s", what, then);
    else if (m->warnings == WARNINGS + 1) spot_log(m->c, SPOT_LOG_WARN, "more such segments are counted, not named");
}

static void mark_unit(merge *m, int unit, unsigned bit)
{
    if (unit < m->r->ecs) m->r->ec[unit] |= (unsigned char)bit;
}

static int failures_of(const spot_study *y, const void *result)
{
    const char *what, *message;
    spot_status first;

    return y->failures ? y->failures(result, &first, &what, &message) : 0;
}

static void drop_bytes(candidate *x)
{
    free(x->f.bytes);
    x->f.bytes = NULL;
}

/* Negative: x comes first; 0: their bytes are equal. */
static int compare_segments(const candidate *x, const candidate *y)
{
    int order = x->failures - y->failures;

    if (!order) order = memcmp(x->f.bytes, y->f.bytes, x->f.n < y->f.n ? x->f.n : y->f.n);
    return order ? order : (x->f.n > y->f.n) - (x->f.n < y->f.n);
}

/* Compares m->next with the best so far and keeps the lesser one. */
static void keep_lesser(merge *m, int unit)
{
    spot_merge_source *source = m->plan.source;
    int order = m->best.f.bytes ? compare_segments(&m->next, &m->best) : -1;
    char text[2300];

    if (m->best.f.bytes && order) {
        snprintf(text, sizeof text, "%s %d differs in %s and %s; ", m->plan.study->unit, unit, source[m->best.source].dir,
                 source[m->next.source].dir);
        log_warning(m, text, m->best.failures != m->next.failures ? "the one with fewer failures is taken"
                                                                  : "the one with the lesser bytes is taken");
        mark_unit(m, unit, SPOT_EC_CONFLICT);
    }
    source[m->next.source].equal = order <= 0;
    if (order < 0) {
        candidate best = m->next;
        for (int i = 0; i < m->plan.sources; i++) source[i].equal = i == best.source;
        m->next = m->best;
        m->best = best;
    }
    drop_bytes(&m->next);
}

/* Reads the unit's segment in source i. */
static spot_status read_source(merge *m, int i, int unit)
{
    const spot_study *y = m->plan.study;
    spot_frame *f = &m->next.f;
    char foreign[96];

    SPOT_TRY(spot_frame_load(m->c, y, m->plan.source[i].dir, unit, m->next.result, f));
    m->own |= m->plan.onto && !i && f->state == SPOT_SEGMENT_WHOLE;
    if (f->state == SPOT_SEGMENT_WHOLE && f->numbers == y->numbers && !strcmp(f->config, m->plan.key)) {
        m->next.failures = failures_of(y, m->next.result);
        m->next.source = i;
        keep_lesser(m, unit);
        return SPOT_OK;
    }
    drop_bytes(&m->next);
    if (f->state == SPOT_SEGMENT_DAMAGED) {
        log_warning(m, f->why, "");
        mark_unit(m, unit, SPOT_EC_DAMAGED);
    } else if (f->state == SPOT_SEGMENT_WHOLE) {
        snprintf(foreign, sizeof foreign, "it has another config or other numbers (%d; now %d) and is left out", f->numbers,
                 y->numbers);
        log_warning(m, f->why, foreign);
        mark_unit(m, unit, SPOT_EC_FOREIGN);
        m->r->foreign++;
    }
    return SPOT_OK;
}

/* m->best: the least of the unit's segments in all sources. */
static spot_status choose_segment(merge *m, int unit)
{
    int equal = 0;

    drop_bytes(&m->best);
    m->own = false;
    for (int i = 0; i < m->plan.sources; i++) {
        spot_merge_source *s = &m->plan.source[i];
        s->equal = false;
        if (s->at == s->n || s->unit[s->at] != unit) continue;
        s->at++;
        SPOT_TRY(read_source(m, i, unit));
    }
    for (int i = 0; i < m->plan.sources; i++) equal += m->plan.source[i].equal;
    m->r->duplicates += equal ? equal - 1 : 0;
    return SPOT_OK;
}

/* Links the files of the result from any directory that holds the chosen segment. other: out's files belong to another
 * segment and are removed. */
static spot_status link_files(merge *m, bool other)
{
    const spot_study *y = m->plan.study;
    char path[1200], from[1200];

    for (int k = 0; y->file && y->file(path, sizeof path, m->plan.out, m->best.result, k); k++) {
        if (!*path) continue;
        if (other) unlink(path);
        if (!access(path, F_OK)) continue;
        for (int i = 0; i < m->plan.sources; i++) {
            if (!m->plan.source[i].equal) continue;
            y->file(from, sizeof from, m->plan.source[i].dir, m->best.result, k);
            if (access(from, F_OK)) continue;
            SPOT_TRY(spot_batch_link(m->c, &m->files, path, from));
            break;
        }
    }
    return SPOT_OK;
}

static spot_status merge_unit(merge *m, int unit)
{
    bool is_there;
    char path[1200];

    SPOT_TRY(choose_segment(m, unit));
    if (!m->best.f.bytes) return SPOT_OK;
    mark_unit(m, unit, SPOT_EC_MERGED);
    is_there = m->plan.onto && m->plan.source[0].equal;
    if (m->o->pictures) SPOT_TRY(link_files(m, m->own && !is_there));
    if (is_there) return SPOT_OK;
    spot_frame_path(path, sizeof path, m->plan.study, m->plan.out, unit);
    return spot_batch_write(m->c, &m->segments, path, m->best.f.bytes, m->best.f.n);
}

/* The least unit that is still to be merged, or -1. */
static int next_unit(const spot_merge_plan *p)
{
    int least = -1;

    for (int i = 0; i < p->sources; i++) {
        const spot_merge_source *s = &p->source[i];
        if (s->at < s->n && (least < 0 || s->unit[s->at] < least)) least = s->unit[s->at];
    }
    return least;
}

/* The segment comes last, because its unit counts as done once it is there. */
static spot_status commit_folder(merge *m)
{
    SPOT_TRY(spot_batch_commit(m->c, &m->files));
    return spot_batch_commit(m->c, &m->segments);
}

static spot_status merge_units(merge *m)
{
    int unit, folder = -1;

    while ((unit = next_unit(&m->plan)) >= 0) {
        SPOT_TRY(spot_check_stop(m->c));
        if (unit / SPOT_ECS_A_FOLDER != folder) SPOT_TRY(commit_folder(m));
        folder = unit / SPOT_ECS_A_FOLDER;
        spot_tell(m->c, "merge", -1, unit, m->r->ecs, "");
        SPOT_TRY(merge_unit(m, unit));
    }
    return commit_folder(m);
}

static spot_status write_config(spot_ctx *c, const spot_merge_plan *p)
{
    char path[1200], *text;
    unsigned char *saved = NULL;
    size_t n = 0;
    bool same = false;
    spot_status s;

    snprintf(path, sizeof path, "%s/config.yaml", p->out);
    SPOT_TRY(spot_yaml_print(c, p->study->config->rows, p->config, &text));
    s = access(path, F_OK) ? SPOT_OK : spot_file_read(c, path, &saved, &n, SPOT_FRAME_LIMIT);
    if (s == SPOT_OK) same = saved && n == strlen(text) && !memcmp(saved, text, n);
    if (s == SPOT_OK && !same) s = spot_file_write(c, path, text, strlen(text));
    free(saved);
    free(text);
    return s;
}

static void count_units(spot_merge_report *r)
{
    for (int i = 0; i < r->ecs; i++) {
        r->merged += (r->ec[i] & SPOT_EC_MERGED) != 0;
        r->conflicts += (r->ec[i] & SPOT_EC_CONFLICT) != 0;
        r->damaged += (r->ec[i] & (SPOT_EC_MERGED | SPOT_EC_DAMAGED)) == SPOT_EC_DAMAGED;
    }
    r->missing = r->ecs - r->merged - r->damaged;
}

/* Logs are not merged, so a warning about several platforms comes now. */
static void check_makers(merge *m)
{
    spot_run_makers all = { 0 };

    for (int i = 0; i < m->plan.sources; i++)
        if (spot_run_makers_read(m->c, m->plan.source[i].dir, &all) != SPOT_OK) spot_forget(m->c);
    spot_run_makers_warn(m->c, &all, m->plan.out, NULL);
}

static spot_status merge_all(merge *m)
{
    const spot_study *y = m->plan.study;
    spot_store store;

    m->r->ecs = m->plan.units;
    m->r->ec = calloc((size_t)m->r->ecs + 1, 1);
    m->best.result = spot_frame_result(y);
    m->next.result = spot_frame_result(y);
    if (!m->r->ec || !m->best.result || !m->next.result)
        return spot_fail(m->c, SPOT_NOMEM, "no memory to merge %d %s", m->r->ecs, y->units);
    SPOT_TRY(spot_store_open(m->c, &store, m->plan.out));
    SPOT_TRY(write_config(m->c, &m->plan));
    SPOT_TRY(merge_units(m));
    if (m->o->cache) SPOT_TRY(spot_merge_cache(m->c, &m->plan));
    SPOT_TRY(spot_merge_plans(m->c, &m->plan));
    if (y->derive) SPOT_TRY(y->derive(m->c, m->plan.out, m->plan.key));
    check_makers(m);
    count_units(m->r);
    if (!m->r->damaged && !m->r->conflicts && (m->o->partial || !m->r->missing)) return SPOT_OK;
    return spot_fail(m->c, SPOT_INPUT, "{merge.not_whole} %s is not whole: of %d %s %d are missing, %d damaged, %d in conflict",
                     m->plan.out, m->r->ecs, y->units, m->r->missing, m->r->damaged, m->r->conflicts);
}

spot_status spot_work_merge(spot_ctx *c, const spot_study *y, const char *const *dirs, int n, const char *out,
                            const spot_merge_options *o, spot_merge_report *report)
{
    merge m = { .c = c, .o = o, .r = report, .plan = { .study = y, .out = out } };
    spot_status s;

    *report = (spot_merge_report){ 0 };
    s = spot_merge_plan_make(c, &m.plan, dirs, n);
    if (s == SPOT_OK) s = merge_all(&m);
    spot_batch_drop(&m.files);
    spot_batch_drop(&m.segments);
    spot_merge_plan_free(&m.plan);
    drop_bytes(&m.best);
    drop_bytes(&m.next);
    spot_frame_free(y, m.best.result);
    spot_frame_free(y, m.next.result);
    return s;
}
