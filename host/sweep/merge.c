/* merge.c - the segments of many run directories in one.
 *
 * Of an EC's valid segments the least is taken, in an order that is total: fewer failures first, then bytes. A minimum is
 * associative, commutative and idempotent, and so is what is made of it. An EC's place is decided by looking at all sources at
 * once, a thousand ECs (a folder) at a time, so that neither memory nor what a kill undoes grows with the run. */
#define _POSIX_C_SOURCE 200809L
#include "sweep/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sweep/database.h"
#include "sweep/pipeline.h"

enum { WARNINGS = 20 };            /* that are worth a line each */

/* A segment that was read. */
typedef struct {
    spot_segment  *segment;
    unsigned char *bytes;          /* NULL: none */
    size_t         n;
    int            failures, source;
} candidate;

typedef struct {
    spot_ctx *c;
    const spot_merge_options *o;
    spot_merge_report *r;
    spot_merge_plan plan;
    candidate  best, next;
    bool       own;                /* out had a whole segment of the EC at hand */
    spot_batch pictures, segments;
    int        warnings;
} merge;

static void say(merge *m, const char *what, const char *then)
{
    if (m->warnings++ < WARNINGS) spot_log(m->c, SPOT_LOG_WARN, "%s%s", what, then);
    else if (m->warnings == WARNINGS + 1) spot_log(m->c, SPOT_LOG_WARN, "more of the kind are counted, not named");
}

static void mark(merge *m, int index, unsigned bit)
{
    if (index < m->r->ecs) m->r->ec[index] |= (unsigned char)bit;
}

static int failures_of(const spot_segment *s)
{
    int n = 0;

    if (s->status) return SPOT_MAX_BDMS + 1;
    for (int b = 0; b < s->methods; b++) n += s->method[b].status != SPOT_OK;
    return n;
}

/* Negative: x is to be taken; 0: they are equal to the byte. */
static int compare(const candidate *x, const candidate *y)
{
    int order = x->failures - y->failures;

    if (!order) order = memcmp(x->bytes, y->bytes, x->n < y->n ? x->n : y->n);
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* m->next against the best so far. */
static void weigh(merge *m, int index)
{
    spot_merge_source *source = m->plan.source;
    int order = m->best.bytes ? compare(&m->next, &m->best) : -1;
    char text[2300];

    if (m->best.bytes && order) {
        snprintf(text, sizeof text, "EC %d differs in %s and %s; ", index, source[m->best.source].dir,
                 source[m->next.source].dir);
        say(m, text, m->best.failures != m->next.failures ? "the one with fewer failures is taken"
                                                            : "the one with the lesser bytes is taken");
        mark(m, index, SPOT_EC_CONFLICT);
    }
    source[m->next.source].equal = order <= 0;
    if (order < 0) {
        candidate best = m->next;
        for (int i = 0; i < m->plan.sources; i++) source[i].equal = i == best.source;
        m->next = m->best;
        m->best = best;
    }
    free(m->next.bytes);
    m->next.bytes = NULL;
}

/* Source i's segment of the EC. */
static spot_status look(merge *m, int i, int index)
{
    const char *config = m->next.segment->config;
    spot_segment_state state;
    char why[2400], foreign[96];

    SPOT_TRY(spot_segment_load(m->c, m->plan.source[i].dir, index, m->next.segment, &m->next.bytes, &m->next.n, &state, why,
                               sizeof why));
    m->own |= m->plan.onto && !i && state == SPOT_SEGMENT_WHOLE;
    if (state == SPOT_SEGMENT_WHOLE && !strcmp(config, m->plan.config)) {
        m->next.failures = failures_of(m->next.segment);
        m->next.source = i;
        weigh(m, index);
        return SPOT_OK;
    }
    free(m->next.bytes);
    m->next.bytes = NULL;
    if (state == SPOT_SEGMENT_DAMAGED) {
        say(m, why, "");
        mark(m, index, SPOT_EC_DAMAGED);
    } else if (state == SPOT_SEGMENT_WHOLE) {
        snprintf(foreign, sizeof foreign, "it is of another config, or of other numbers (%d; now %d), and left out",
                 m->next.segment->numbers, SPOT_NUMBERS);
        say(m, why, foreign);
        mark(m, index, SPOT_EC_FOREIGN);
        m->r->foreign++;
    }
    return SPOT_OK;
}

/* Of all sources' segments of an EC. */
static spot_status choose(merge *m, int index)
{
    int equal = 0;

    free(m->best.bytes);
    m->best.bytes = NULL;
    m->own = false;
    for (int i = 0; i < m->plan.sources; i++) {
        spot_merge_source *s = &m->plan.source[i];
        s->equal = false;
        if (s->at == s->n || s->index[s->at] != index) continue;
        s->at++;
        SPOT_TRY(look(m, i, index));
    }
    for (int i = 0; i < m->plan.sources; i++) equal += m->plan.source[i].equal;
    m->r->duplicates += equal ? equal - 1 : 0;
    return SPOT_OK;
}

/* Each method's, from any directory that holds the chosen segment. One that was drawn from another segment, of out's, goes. */
static spot_status take_pictures(merge *m, int index, bool other)
{
    const spot_segment *s = m->best.segment;
    char path[1200], from[1200];

    for (int b = 0; b < s->methods; b++) {
        if (s->method[b].status) continue;
        spot_method_picture_path(path, sizeof path, m->plan.out, index, b, s->method[b].name);
        if (other) unlink(path);
        if (!access(path, F_OK)) continue;
        for (int i = 0; i < m->plan.sources; i++) {
            if (!m->plan.source[i].equal) continue;
            spot_method_picture_path(from, sizeof from, m->plan.source[i].dir, index, b, s->method[b].name);
            if (access(from, F_OK)) continue;
            SPOT_TRY(spot_batch_link(m->c, &m->pictures, path, from));
            break;
        }
    }
    return SPOT_OK;
}

static spot_status take_one(merge *m, int index)
{
    bool is_there;
    char path[1200];

    SPOT_TRY(choose(m, index));
    if (!m->best.bytes) return SPOT_OK;
    mark(m, index, SPOT_EC_MERGED);
    is_there = m->plan.onto && m->plan.source[0].equal;
    if (m->o->pictures) SPOT_TRY(take_pictures(m, index, m->own && !is_there));
    if (is_there) return SPOT_OK;
    spot_segment_path(path, sizeof path, m->plan.out, index);
    return spot_batch_write(m->c, &m->segments, path, m->best.bytes, m->best.n);
}

/* The least index that a source has not been asked for, or -1. */
static int next_index(const spot_merge_plan *p)
{
    int least = -1;

    for (int i = 0; i < p->sources; i++) {
        const spot_merge_source *s = &p->source[i];
        if (s->at < s->n && (least < 0 || s->index[s->at] < least)) least = s->index[s->at];
    }
    return least;
}

/* An EC's segment says that it is done, so it comes last. */
static spot_status commit(merge *m)
{
    SPOT_TRY(spot_batch_commit(m->c, &m->pictures));
    return spot_batch_commit(m->c, &m->segments);
}

static spot_status take_all(merge *m)
{
    int index, folder = -1;

    while ((index = next_index(&m->plan)) >= 0) {
        SPOT_TRY(spot_check_stop(m->c));
        if (index / SPOT_ECS_A_FOLDER != folder) SPOT_TRY(commit(m));
        folder = index / SPOT_ECS_A_FOLDER;
        spot_tell(m->c, "merge", -1, index, m->r->ecs, "");
        SPOT_TRY(take_one(m, index));
    }
    return commit(m);
}

static spot_status write_config(spot_ctx *c, const spot_merge_plan *p)
{
    char path[1200], *text;
    unsigned char *there = NULL;
    size_t n = 0;
    bool same = false;
    spot_status s;

    snprintf(path, sizeof path, "%s/config.yaml", p->out);
    SPOT_TRY(spot_config_print(c, p->cfg, &text));
    s = access(path, F_OK) ? SPOT_OK : spot_file_read(c, path, &there, &n, SPOT_SEGMENT_LIMIT);
    if (s == SPOT_OK) same = there && n == strlen(text) && !memcmp(there, text, n);
    if (s == SPOT_OK && !same) s = spot_file_write(c, path, text, strlen(text));
    free(there);
    free(text);
    return s;
}

static void count(spot_merge_report *r)
{
    for (int i = 0; i < r->ecs; i++) {
        r->merged += (r->ec[i] & SPOT_EC_MERGED) != 0;
        r->conflicts += (r->ec[i] & SPOT_EC_CONFLICT) != 0;
        r->damaged += (r->ec[i] & (SPOT_EC_MERGED | SPOT_EC_DAMAGED)) == SPOT_EC_DAMAGED;
    }
    r->missing = r->ecs - r->merged - r->damaged;
}

static spot_status run(merge *m)
{
    spot_store store;

    m->r->ecs = m->plan.cfg->ecs;
    m->r->ec = calloc((size_t)m->r->ecs + 1, 1);
    m->best.segment = malloc(sizeof *m->best.segment);
    m->next.segment = malloc(sizeof *m->next.segment);
    if (!m->r->ec || !m->best.segment || !m->next.segment)
        return spot_fail(m->c, SPOT_NOMEM, "no memory to merge %d ECs", m->r->ecs);
    SPOT_TRY(spot_store_open(m->c, &store, m->plan.out));
    SPOT_TRY(write_config(m->c, &m->plan));
    SPOT_TRY(take_all(m));
    if (m->o->cache) SPOT_TRY(spot_merge_cache(m->c, &m->plan));
    SPOT_TRY(spot_database_write(m->c, m->plan.out, m->plan.config));
    count(m->r);
    if (!m->r->damaged && !m->r->conflicts && (m->o->partial || !m->r->missing)) return SPOT_OK;
    return spot_fail(m->c, SPOT_INPUT, "%s is not whole: of %d ECs %d are missing, %d damaged, %d in conflict", m->plan.out,
                     m->r->ecs, m->r->missing, m->r->damaged, m->r->conflicts);
}

spot_status spot_merge(spot_ctx *c, const char *const *dirs, int n, const char *out, const spot_merge_options *o,
                       spot_merge_report *report)
{
    merge m = { .c = c, .o = o, .r = report };
    spot_status s;

    *report = (spot_merge_report){ 0 };
    s = spot_merge_plan_make(c, &m.plan, dirs, n, out);
    if (s == SPOT_OK) s = run(&m);
    spot_batch_drop(&m.pictures);
    spot_batch_drop(&m.segments);
    spot_merge_plan_free(&m.plan);
    free(m.best.bytes);
    free(m.best.segment);
    free(m.next.bytes);
    free(m.next.segment);
    return s;
}
