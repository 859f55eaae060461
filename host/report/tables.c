/* tables.c - segments -> averages: DR, FDR and the failure categories of every method (paper, Tables 2 and 13). */
#include "report/tables.h"

#include <stdlib.h>
#include <string.h>

#include "sweep/database.h"

static void add_ec(spot_table *t, const spot_segment *s)
{
    spot_table_ec *e = &t->ec[t->ecs];

    *e = (spot_table_ec){ .index = s->index, .status = s->status, .blindspots = s->blindspots };
    memcpy(e->specificity, s->specificity, sizeof e->specificity);
    memcpy(e->inside, s->lesson.inside, sizeof e->inside);
    e->outside = s->lesson.outside;
    e->learned = !s->status && s->lesson.learned;
    e->counted = !s->status && (s->lesson.learned || t->include_all);
    t->not_learned += !s->status && !s->lesson.learned;
    for (int b = 0; b < t->methods && b < s->methods; b++) {
        t->method[b].scored[t->ecs] = s->method[b].status == SPOT_OK;
        t->method[b].score[t->ecs] = s->method[b].score;
    }
    t->ecs++;
}

/* Every run-wide word comes from the first whole segment: it tells what made the numbers, not what a config says now. */
static bool belongs(spot_table *t, const spot_segment *s)
{
    if (!t->config[0]) {
        memcpy(t->config, s->config, sizeof t->config);
        memcpy(t->build, s->build, sizeof t->build);
        memcpy(t->device, s->device, sizeof t->device);
        t->numbers = s->numbers;
        t->metric = s->metric;
    }
    return !strcmp(t->config, s->config);
}

static spot_status collect(spot_ctx *c, spot_table *t, const int *index, int n, spot_segment *s)
{
    char why[1300];

    for (int i = 0; i < n; i++) {
        spot_segment_state state;
        SPOT_TRY(spot_segment_read(c, t->dir, index[i], s, &state, why, sizeof why));
        if (state == SPOT_SEGMENT_WHOLE && !belongs(t, s)) {
            spot_log(c, SPOT_LOG_WARN, "%s is of another config and not counted", why);
            t->bad++;
        } else if (state == SPOT_SEGMENT_WHOLE) {
            add_ec(t, s);
        } else {
            spot_log(c, SPOT_LOG_WARN, "%s; it is not counted", why);
            t->bad++;
        }
    }
    return SPOT_OK;
}

/* score and use have room for the method's scored ECs, which are what the summary is over. */
static void summarise(spot_table *t, spot_score *score, bool *use)
{
    for (int b = 0; b < t->methods; b++) {
        spot_table_method *m = &t->method[b];
        int n = 0;
        for (int i = 0; i < t->ecs; i++) {
            m->failed += t->ec[i].status || (t->ec[i].counted && !m->scored[i]);
            if (!m->scored[i]) continue;
            score[n] = m->score[i];
            use[n++] = t->ec[i].counted;
        }
        spot_metric_summarise(&m->sum, score, use, n);
    }
}

static spot_status gather(spot_ctx *c, spot_table *t, const int *index, int n, spot_score **score, bool **flag)
{
    size_t room = (size_t)n + 1, methods = (size_t)t->methods + 1;
    spot_segment *s = malloc(sizeof *s);
    spot_status status;

    t->ec = calloc(room, sizeof *t->ec);
    *score = calloc(room * methods, sizeof **score);           /* a column a method, and one for the summary */
    *flag = calloc(room * methods, sizeof **flag);
    if (!s || !t->ec || !*score || !*flag) {
        free(s);
        return spot_fail(c, SPOT_NOMEM, "no memory for the results of %d ECs", n);
    }
    for (int b = 0; b < t->methods; b++) {
        t->method[b].score = *score + room * (size_t)b;
        t->method[b].scored = *flag + room * (size_t)b;
    }
    status = collect(c, t, index, n, s);
    free(s);
    if (status == SPOT_OK) summarise(t, *score + room * (methods - 1), *flag + room * (methods - 1));
    return status;
}

static spot_status print(spot_ctx *c, FILE *f, const spot_table *t, spot_table_format format)
{
    switch (format) {
    case SPOT_TABLE_TEXT: spot_table_print_text(f, t, false); return SPOT_OK;
    case SPOT_TABLE_MD:   spot_table_print_text(f, t, true);  return SPOT_OK;
    case SPOT_TABLE_CSV:  spot_table_print_csv(f, t);         return SPOT_OK;
    case SPOT_TABLE_JSON: return spot_table_print_json(c, f, t);
    }
    return spot_fail(c, SPOT_USAGE, "no such table format: %d", (int)format);
}

static spot_status load_plan(spot_ctx *c, spot_table *t)
{
    spot_config *cfg = malloc(sizeof *cfg);
    char path[1200];
    spot_status s;

    if (!cfg) return spot_fail(c, SPOT_NOMEM, "no memory to read the run's config");
    snprintf(path, sizeof path, "%s/config.yaml", t->dir);
    s = spot_config_load(c, cfg, path);
    if (s == SPOT_OK) {
        t->planned = cfg->ecs;
        t->methods = cfg->bdms;
        t->metric = cfg->metric;
        for (int b = 0; b < cfg->bdms; b++) spot_bdm_name(&cfg->bdm[b], t->method[b].name, sizeof t->method[b].name);
    }
    free(cfg);
    return s;
}

/* A run that one may only read still has its tables. */
static void remake_database(spot_ctx *c, const char *dir)
{
    spot_status s = spot_database_write(c, dir);

    if (s == SPOT_OK) return;
    spot_log(c, SPOT_LOG_WARN, "results.sqlite is as it was: %s", spot_message(c, s));
    spot_forget(c);
}

spot_status spot_tables(spot_ctx *c, FILE *f, const char *dir, spot_table_format format, bool include_all)
{
    spot_table *t = calloc(1, sizeof *t);
    spot_score *score = NULL;
    bool *flag = NULL;
    int *index = NULL, n = 0;
    spot_status s;

    if (!t) return spot_fail(c, SPOT_NOMEM, "no memory for tables");
    t->dir = dir;
    t->include_all = include_all;
    s = spot_segment_list(c, dir, &index, &n);
    if (s == SPOT_OK) s = load_plan(c, t);
    if (s == SPOT_OK) s = gather(c, t, index, n, &score, &flag);
    if (s == SPOT_OK) s = print(c, f, t, format);
    if (s == SPOT_OK && (fflush(f) || ferror(f))) s = spot_fail(c, SPOT_IO, "the tables could not be written");
    if (s == SPOT_OK) remake_database(c, dir);
    if (s == SPOT_OK && t->bad)
        s = spot_fail(c, SPOT_INPUT, "%d result segments of %s are damaged or of another config; `spotter sweep` makes "
                      "them anew", t->bad, dir);
    free(index);
    free(score);
    free(flag);
    free(t->ec);
    free(t);
    return s;
}
