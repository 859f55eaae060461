/* night.c - writes and reads the line of a night (night.h). `spotter check --history` appends it; the page of nights (trend.c)
 * reads all of them. A line that was cut off by a crash or is of another schema counts as damaged, and the rest is read. */
#define _POSIX_C_SOURCE 200809L
#include "check/night.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/json_tree.h"

enum { MOST_LINES = 10000 };           /* more than the largest run of shifts has */

static void describe_verdict(spot_json *j, spot_verdict *v)
{
    char name[24] = "";
    int i = 0;

    if (j->gen) snprintf(name, sizeof name, "%s", spot_verdict_name(*v));
    spot_json_text(j, "verdict", name, sizeof name);
    while (i < SPOT_VERDICTS && strcmp(name, spot_verdict_name((spot_verdict)i))) i++;
    if (i == SPOT_VERDICTS) j->wrong = j->wrong ? j->wrong : "verdict";
    else *v = (spot_verdict)i;
}

static void describe_layer(spot_json *j, const char **v)
{
    static const char *const names[] = { "bits", "pairs", "paper" };
    char name[24] = "";

    if (j->gen) snprintf(name, sizeof name, "%s", *v);
    spot_json_text(j, "layer", name, sizeof name);
    *v = NULL;
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, names[i])) *v = names[i];
    if (!*v) j->wrong = j->wrong ? j->wrong : "layer";
}

static void real(spot_json *j, const char *key, double *v)
{
    spot_json_real(j, key, v);             /* reading: 1e999 becomes infinite, which the page's axes do not take */
    if (isinf(*v)) j->wrong = j->wrong ? j->wrong : key;
}

static void describe_line(spot_json *j, spot_check_line *l)
{
    spot_json_object(j, NULL);
    describe_layer(j, &l->layer);
    spot_json_text(j, "method", l->method, sizeof l->method);
    spot_json_text(j, "metric", l->metric, sizeof l->metric);
    describe_verdict(j, &l->verdict);
    spot_json_bool(j, "quarantined", &l->quarantined);
    spot_json_bool(j, "paired", &l->paired);
    spot_json_int(j, "n", &l->n);
    spot_json_int(j, "left_out", &l->left_out);
    real(j, "before", &l->before);
    real(j, "now", &l->now);
    real(j, "low", &l->low);
    real(j, "high", &l->high);
    real(j, "margin", &l->margin);
    real(j, "p", &l->p);
    spot_json_text(j, "why", l->why, sizeof l->why);
    spot_json_end(j);
}

void spot_night_describe(spot_json *j, spot_check *k, char at[24], char commit[64])
{
    int schema = SPOT_NIGHT_SCHEMA, n;

    spot_json_int(j, "schema", &schema);
    if (schema != SPOT_NIGHT_SCHEMA) j->wrong = "schema";
    if (at) spot_json_text(j, "at", at, 24);
    if (at) spot_json_text(j, "commit", commit, 64);
    spot_json_bool(j, "failed", &k->failed);
    spot_json_text(j, "build", k->build, sizeof k->build);
    spot_json_text(j, "device", k->device, sizeof k->device);
    spot_json_int(j, "numbers", &k->numbers);
    spot_json_text(j, "config", k->config, sizeof k->config);
    spot_json_text(j, "baseline", k->baseline, sizeof k->baseline);
    spot_json_text(j, "run", k->run, sizeof k->run);
    n = spot_json_array(j, "lines", k->lines, MOST_LINES);
    if (!j->gen) {
        k->line = calloc((size_t)n + 1, sizeof *k->line);
        k->lines = k->line ? n : 0;
    }
    for (int i = 0; i < k->lines; i++) describe_line(j, &k->line[i]);
    spot_json_end(j);
}

/* False if the line is damaged. */
static bool parse_night(spot_night *t, const char *line, size_t n)
{
    spot_json j = { .depth = 1 };          /* reading, within the object of the line */

    j.at[0] = spot_tree_parse(line, n, NULL, 0);
    if (!j.at[0]) return false;
    spot_night_describe(&j, &t->check, t->at, t->commit);
    yajl_tree_free(j.at[0]);
    return !j.wrong;
}

spot_status spot_history_parse(spot_ctx *c, spot_history *h, const char *bytes, size_t n)
{
    size_t lines = 1;
    char *line;

    *h = (spot_history){ 0 };
    for (size_t i = 0; i < n; i++) lines += bytes[i] == '\n';
    h->night = calloc(lines, sizeof *h->night);
    line = malloc(n + 1);
    for (size_t from = 0, to; h->night && line && from < n; from = to + 1) {
        for (to = from; to < n && bytes[to] != '\n'; to++) { }
        memcpy(line, bytes + from, to - from);
        line[to - from] = 0;
        if (to == from) continue;
        if (parse_night(&h->night[h->nights], line, to - from)) {
            h->nights++;
            continue;
        }
        free(h->night[h->nights].check.line);
        h->night[h->nights] = (spot_night){ 0 };           /* the next night takes its place */
        h->damaged++;
    }
    free(line);
    return h->night && line ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a history of %zu lines", lines);
}

void spot_history_free(spot_history *h)
{
    for (int i = 0; i < h->nights; i++) free(h->night[i].check.line);
    free(h->night);
    *h = (spot_history){ 0 };
}

spot_status spot_check_remember(spot_ctx *c, const spot_check *k, const char *path, const char *commit)
{
    spot_json j;
    spot_night t = { .check = *k };
    time_t now = time(NULL);
    struct tm utc;
    spot_status s;

    SPOT_TRY(spot_json_begin(c, &j, NULL));
    strftime(t.at, sizeof t.at, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    snprintf(t.commit, sizeof t.commit, "%s", commit ? commit : "");
    spot_json_object(&j, NULL);
    spot_night_describe(&j, &t.check, t.at, t.commit);
    spot_json_end(&j);
    spot_text_adds(&j.out, "\n");
    s = spot_json_whole(c, &j, "a night's line");
    if (s == SPOT_OK) s = spot_file_append(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return s;
}
