/* baseline.c - a baseline's file: one description of the JSON both writes and reads it. The reader checks every value.
 *
 * ECs are stored as columns, which take a third of the size of objects. The file has one line per column or entry, so that
 * two versions can be compared with diff. */
#include "check/baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "check/document.h"

enum { MOST_MEANS = 2 * SPOT_MAX_SOURCES * SPOT_MAX_SHIFTS };      /* a sweep has fewer */

_Static_assert(MOST_MEANS >= 2 * SPOT_MAX_BDMS + 1, "a sweep's history fits, too");

const char *spot_check_metric(int metric)
{
    static const char *const name[] = { "dr", "fdr", "learned", "bits", "impact", "slope", "passed", "classes" };
    return metric >= 0 && metric < SPOT_CHECK_METRICS ? name[metric] : "unknown";
}

bool spot_baseline_has_metric(const spot_baseline *b, int metric)
{
    return metric == SPOT_CHECK_BITS || (metric > SPOT_CHECK_BITS) == (b->shifts != NULL);
}

bool spot_baseline_has_margin(const spot_baseline *b, int metric)
{
    return metric != SPOT_CHECK_BITS && spot_baseline_has_metric(b, metric);
}

static bool column(spot_document *d, const char *key, int n)
{
    bool fits = spot_json_array(&d->j, key, n, SPOT_BASELINE_ECS) == n;

    spot_document_member(d, key);
    if (!fits) spot_document_fault(d, key, "it does not have one member per EC");
    if (!fits) spot_json_end(&d->j);
    return fits;
}

static void ints(spot_document *d, const char *key, int n, int *v, size_t stride, int least, int most)
{
    if (column(d, key, n)) spot_document_ints(d, key, n, v, stride, least, most);
}

static void texts(spot_document *d, const char *key, int n, char *v, size_t stride, size_t size)
{
    if (!column(d, key, n)) return;
    for (int i = 0; i < n; i++) spot_document_text_at(d, NULL, key, v + (size_t)i * stride, size);
    spot_json_end(&d->j);
}

static void metric(spot_document *d, int *v)
{
    char name[16] = "";

    if (d->j.gen) snprintf(name, sizeof name, "%s", spot_check_metric(*v));
    spot_document_text(d, "metric", name, sizeof name);
    for (*v = 0; *v < SPOT_CHECK_METRICS && strcmp(name, spot_check_metric(*v)); ++*v) { }
    if (*v == SPOT_CHECK_METRICS) spot_document_fault(d, "metric", "there is no such metric");
}

static void describe_quarantines(spot_document *d, spot_baseline *b)
{
    int n = spot_document_array(d, "quarantine", b->quarantines, SPOT_BASELINE_MOST);

    if (!d->j.gen) b->quarantine = spot_document_room(d, n, sizeof *b->quarantine);
    b->quarantines = b->quarantine ? n : 0;
    for (int i = 0; i < b->quarantines; i++) {
        spot_quarantine *q = &b->quarantine[i];
        spot_json_object(&d->j, NULL);
        spot_document_text(d, "method", q->method, sizeof q->method);
        metric(d, &q->metric);
        spot_document_text(d, "reason", q->reason, sizeof q->reason);
        spot_json_end(&d->j);
    }
    spot_json_end(&d->j);
}

static void describe_mean(spot_document *d, spot_baseline_mean *m)
{
    spot_json_object(&d->j, NULL);
    spot_document_text(d, "method", m->method, sizeof m->method);
    metric(d, &m->metric);
    spot_document_int(d, "n", &m->n, 0, SPOT_BASELINE_ECS);
    spot_json_real(&d->j, "mean", &m->mean);       /* null: a mean over no EC, the error of one EC */
    spot_json_real(&d->j, "se", &m->se);
    spot_document_member(d, "mean or se");
    spot_json_end(&d->j);
}

static void describe_history(spot_document *d, spot_baseline *b)
{
    int n = spot_document_array(d, "history", b->acceptances, SPOT_BASELINE_MOST);

    if (!d->j.gen) b->acceptance = spot_document_room(d, n, sizeof *b->acceptance);
    b->acceptances = b->acceptance ? n : 0;
    for (int i = 0; i < b->acceptances; i++) {
        spot_acceptance *a = &b->acceptance[i];
        spot_json_object(&d->j, NULL);
        spot_document_text(d, "date", a->date, sizeof a->date);
        spot_document_text(d, "reason", a->reason, sizeof a->reason);
        spot_document_int(d, "numbers", &a->numbers, 0, 1000000);
        spot_document_text(d, "build", a->build, sizeof a->build);
        int means = spot_document_array(d, "means", a->means, MOST_MEANS);
        if (!d->j.gen) a->mean = spot_document_room(d, means, sizeof *a->mean);
        a->means = a->mean ? means : 0;
        for (int m = 0; m < a->means; m++) describe_mean(d, &a->mean[m]);
        spot_json_end(&d->j);
        spot_json_end(&d->j);
    }
    spot_json_end(&d->j);
}

static void describe_ecs(spot_document *d, spot_baseline *b)
{
    spot_baseline_ec *e;
    int n;

    spot_json_object(&d->j, "ecs");
    spot_document_member(d, "ecs");
    n = spot_document_array(d, "index", b->ecs, SPOT_BASELINE_ECS);
    if (!d->j.gen) b->ec = spot_document_room(d, n, sizeof *b->ec);
    if (!b->ec) spot_json_end(&d->j);
    if ((e = b->ec)) {
        b->ecs = n;
        spot_document_ints(d, "index", n, &e->index, sizeof *e, 0, SPOT_BASELINE_ECS);
        ints(d, "blindspots", n, &e->blindspots, sizeof *e, 0, SPOT_MAX_BLINDSPOTS);
        ints(d, "learned", n, &e->learned, sizeof *e, -1, 1);
        texts(d, "definition", n, e->definition, sizeof *e, sizeof e->definition);
        texts(d, "segment", n, e->segment, sizeof *e, sizeof e->segment);
    } else {
        spot_document_fault(d, "ecs", "it has no EC");
    }
    spot_json_end(&d->j);
    for (int i = 1; i < b->ecs; i++)
        if (b->ec[i].index <= b->ec[i - 1].index)
            spot_document_fault(d, "index", "an EC appears twice, or the ECs are not in order");
}

static void describe_method(spot_document *d, spot_baseline *b, int m)
{
    const char *name = b->method[m].name;
    spot_baseline_found *f = b->method[m].found;

    spot_json_object(&d->j, NULL);
    spot_document_text(d, "name", b->method[m].name, sizeof b->method[m].name);
    spot_document_text(d, "settings", b->method[m].settings, sizeof b->method[m].settings);
    if (!d->j.gen) f = b->method[m].found = spot_document_room(d, b->ecs, sizeof *f);
    if (f) {
        ints(d, "covered", b->ecs, &f->covered, sizeof *f, -1, SPOT_MAX_BLINDSPOTS);
        ints(d, "strangers", b->ecs, &f->strangers, sizeof *f, -1, SPOT_MAX_HYPOTHESES);
        ints(d, "u", b->ecs, &f->u, sizeof *f, 0, SPOT_MAX_HYPOTHESES);
        texts(d, "hash", b->ecs, f->hash, sizeof *f, sizeof f->hash);
    }
    spot_json_end(&d->j);
    for (int i = 0; i < b->ecs && f; i++)
        if (f[i].covered > b->ec[i].blindspots || f[i].strangers > f[i].u)
            spot_document_fault(d, name, "it covers more blindspots than there are, or has more strangers than hypotheses");
    for (int k = 0; k < m; k++)
        if (!strcmp(b->method[k].name, name)) spot_document_fault(d, name, "the method appears twice");
}

/* Ends at the first fault, so that a damaged file cannot ask for more memory than in proportion to its own size. */
static void describe_methods(spot_document *d, spot_baseline *b)
{
    int n = spot_document_array(d, "methods", b->methods, SPOT_MAX_BDMS);

    if (!d->j.gen) b->methods = 0;
    for (int m = 0; m < n && !*d->what && !d->full; m++) {
        if (!d->j.gen) b->methods = m + 1;
        describe_method(d, b, m);
    }
    spot_json_end(&d->j);
}

/* The text has any length, so it is allocated. */
static void config_text(spot_document *d, spot_baseline *b)
{
    const char *path[] = { "config_text", NULL }, *v;

    if (d->j.gen) {
        spot_json_text(&d->j, "config_text", b->text, 0);
        return;
    }
    v = YAJL_GET_STRING(yajl_tree_get(d->j.at[0], path, yajl_t_string));
    if (!v) spot_document_fault(d, "config_text", "it is missing or of another type");
    else if ((b->text = spot_document_room(d, (int)strlen(v) + 1, 1))) strcpy(b->text, v);
}

static void describe_baseline(spot_document *d, spot_baseline *b)
{
    int schema = SPOT_BASELINE_SCHEMA;
    char study[16] = "shifts";

    spot_document_int(d, "schema", &schema, 0, 1000000);
    if (!d->j.gen && schema != SPOT_BASELINE_SCHEMA)
        spot_document_fault(d, "schema", "this version of Spotter does not know it");
    if (d->j.gen ? b->shifts != NULL : spot_json_has(&d->j, "study")) {
        spot_document_text(d, "study", study, sizeof study);
        if (strcmp(study, "shifts")) spot_document_fault(d, "study", "this version of Spotter does not know it");
        if (!d->j.gen) b->shifts = spot_document_room(d, 1, sizeof *b->shifts);
    }
    spot_document_text(d, "config", b->config, sizeof b->config);
    if (!b->shifts) spot_json_u64(&d->j, "seed", &b->seed);
    spot_document_member(d, "seed");
    spot_document_int(d, "numbers", &b->numbers, 0, 1000000);
    spot_document_text(d, "build", b->build, sizeof b->build);
    spot_document_text(d, "device", b->device, sizeof b->device);
    spot_document_text(d, "platform", b->platform, sizeof b->platform);
    spot_document_text(d, "profile", b->profile, sizeof b->profile);
    spot_json_object(&d->j, "margins");
    spot_document_member(d, "margins");
    for (int m = 0; m < SPOT_CHECK_METRICS; m++)
        if (spot_baseline_has_margin(b, m)) spot_document_real(d, spot_check_metric(m), &b->margin[m], 1e-6, 1);
    if (!b->shifts) spot_document_real(d, "paper", &b->paper_margin, 1e-6, 1);
    spot_json_end(&d->j);
    describe_quarantines(d, b);
    describe_history(d, b);
    config_text(d, b);
    if (b->shifts) spot_baseline_describe_shifts(d, b);
    else if (!d->full) {
        describe_ecs(d, b);
        describe_methods(d, b);
    }
}

spot_status spot_baseline_parse(spot_ctx *c, spot_baseline *b, const char *bytes, size_t n, const char *name)
{
    spot_document d = { .j = { .depth = 1 } };
    char *copy, why[256] = "";

    memset(b, 0, sizeof *b);
    if (n >= SPOT_BASELINE_LIMIT) return spot_fail(c, SPOT_INPUT, "%s is too long for a baseline", name);
    copy = malloc(n + 1);
    if (!copy) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", name);
    memcpy(copy, bytes, n);
    copy[n] = 0;
    d.j.at[0] = spot_tree_parse(copy, n, why, sizeof why);
    free(copy);
    if (!d.j.at[0]) return spot_fail(c, SPOT_INPUT, "{baseline.damaged} %s is no baseline: %s", name,
                                     *why ? why : "it is empty");
    describe_baseline(&d, b);
    yajl_tree_free(d.j.at[0]);
    if (d.full) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", name);
    if (!*d.what) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{baseline.version} %s is no baseline of this version: %s: %s; `spotter accept` makes one",
                     name, d.where, d.what);
}

/* Breaks the line after every comma of the first two levels: one line per column or entry. */
static char *wrap_lines(const unsigned char *json, size_t n, size_t *length)
{
    char *out = malloc(2 * n + 2), *to = out;
    bool quoted = false;
    int depth = 0;

    if (!out) return NULL;
    for (size_t i = 0; i < n; i++) {
        char ch = (char)json[i];
        *to++ = ch;
        if (quoted && ch == '\\') *to++ = (char)json[++i];
        else if (ch == '"') quoted = !quoted;
        else if (!quoted && (ch == '{' || ch == '[')) depth++;
        else if (!quoted && (ch == '}' || ch == ']')) depth--;
        else if (!quoted && ch == ',' && depth <= 2) *to++ = '\n';
    }
    *to++ = '\n';
    *length = (size_t)(to - out);
    return out;
}

spot_status spot_baseline_print(spot_ctx *c, const spot_baseline *b, char **out, size_t *n)
{
    spot_document d = { 0 };
    spot_status s;

    *out = NULL;
    SPOT_TRY(spot_json_begin(c, &d.j, NULL));
    spot_json_object(&d.j, NULL);
    describe_baseline(&d, (spot_baseline *)b);              /* writing does not change *b */
    spot_json_end(&d.j);
    s = spot_json_whole(c, &d.j, "a baseline");
    if (s == SPOT_OK) *out = wrap_lines((const unsigned char *)d.j.out.bytes, d.j.out.used, n);
    if (s == SPOT_OK && !*out) s = spot_fail(c, SPOT_NOMEM, "no memory to write a baseline of %d ECs", b->ecs);
    spot_json_free(&d.j);
    return s;
}

spot_status spot_baseline_read(spot_ctx *c, spot_baseline *b, const char *path)
{
    unsigned char *bytes;
    size_t n;
    struct stat st;
    spot_status s;

    memset(b, 0, sizeof *b);
    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        return spot_fail(c, SPOT_USAGE, "{baseline.folder} %s is a folder, and a baseline is a file: `spotter accept %s -o "
                         "baseline.json --reason WORDS` makes one of an accepted run", path, path);
    SPOT_TRY(spot_file_read(c, path, &bytes, &n, SPOT_BASELINE_LIMIT));
    s = spot_baseline_parse(c, b, (const char *)bytes, n, path);
    free(bytes);
    return s;
}

void spot_baseline_free(spot_baseline *b)
{
    for (int i = 0; i < b->acceptances; i++) free(b->acceptance[i].mean);
    free(b->acceptance);
    free(b->quarantine);
    free(b->text);
    for (int m = 0; m < b->methods; m++) free(b->method[m].found);
    free(b->ec);
    spot_baseline_free_shifts(b->shifts);
    memset(b, 0, sizeof *b);
}
