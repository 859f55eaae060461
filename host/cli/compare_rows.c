/* compare_rows.c - two versions of a classifier, of findings or probabilities: reads, compares, prints and writes. */
#define _POSIX_C_SOURCE 200809L
#include "cli/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/method_list.h"
#include "discover/search/discover_config.h"
#include "discover/subject/attributes.h"
#include "versions/version_place.h"
#include "versions/versions_ci.h"
#include "versions/versions_json.h"
#include "spotter/claim.h"
#include "spotter/report.h"

enum { MOST_GUARDS = 100 };

static spot_status name_versions(spot_ctx *c, char name[SPOT_VERSIONS][SPOT_VERSION_NAME], const cli_comparison *o)
{
    const char *const version[] = { o->from.files.probs ? o->from.files.probs : o->from.found, o->from.second };
    const char *comma = o->name ? strchr(o->name, ',') : NULL;

    if (o->name && (!comma || comma == o->name || !comma[1] || strchr(comma + 1, ',')))
        return spot_fail(c, SPOT_USAGE, "--name takes two names such as v1,v2, not \"%s\"", o->name);
    if (!o->name) return spot_version_names(c, name, version);
    snprintf(name[0], SPOT_VERSION_NAME, "%.*s", (int)(comma - o->name), o->name);
    snprintf(name[1], SPOT_VERSION_NAME, "%s", comma + 1);
    spot_plain(name[0]), spot_plain(name[1]);
    return SPOT_OK;
}

/* Methods and seed: those that were asked for, else those of the folder, else the defaults. */
static spot_status choose_methods(spot_ctx *c, spot_config *cfg, const cli_comparison *o)
{
    char path[1200];

    *cfg = spot_config_defaults();
    cfg->seed = 0;
    if (!o->method && o->config) return spot_methods_load(c, cfg, o->config);
    if (o->method || !o->from.found) {
        SPOT_TRY(cli_methods_read(c, cfg, o->method ? o->method : CLI_METHODS));
        cfg->seed = 0;
        return SPOT_OK;
    }
    snprintf(path, sizeof path, "%s/config.yaml", o->from.found);
    return spot_methods_load(c, cfg, path);
}

static void path_of_page(char *path, size_t size, const cli_comparison *o)
{
    snprintf(path, size, "%s%s", o->html ? o->html : o->out, o->html ? "" : "/report.html");
}

/* --replace lets a result take the place of a file of others, and never that of an input. */
static spot_status check_input(spot_ctx *c, const cli_comparison *o, const char *path)
{
    const spot_subject_files more = { .ids = o->attributes, .probs = o->from.second, .losses = o->from.second_ids };

    return !cli_is_input(&o->from.files, path) && !cli_is_input(&more, path) ? SPOT_OK
         : spot_fail(c, SPOT_USAGE, "%s would be read and written over; choose another name", path);
}

/* Refuses to write over files of others, and where nothing can be written. */
static spot_status check_results(spot_ctx *c, const cli_comparison *o)
{
    const char *advice = o->ci.replace ? NULL : "choose another name, or say --replace";
    char path[1200];

    if (o->html) SPOT_TRY(check_input(c, o, o->html));
    if (o->html) SPOT_TRY(spot_report_place(c, o->html, advice));
    if (!o->out) return SPOT_OK;
    for (int i = 0; i < 3; i++) {
        static const char *const made[] = { "versions.csv", "versions.json", "report.html" };
        snprintf(path, sizeof path, "%s/%s", o->out, made[i]);
        SPOT_TRY(check_input(c, o, path));
    }
    SPOT_TRY(spot_versions_place(c, o->out, advice));
    path_of_page(path, sizeof path, o);
    return spot_report_place(c, path, advice);
}

/* The page: into --html, else beside the other files of --out. */
static spot_status write_page(spot_ctx *c, const cli_comparison *o, const spot_versions *v,
                              const spot_subject *const s[SPOT_VERSIONS])
{
    spot_report_options page = spot_report_defaults();
    char path[1200];

    if (!o->html && !o->out) return SPOT_OK;
    page.title = o->title;
    page.date = o->date;
    page.full = o->full;
    path_of_page(path, sizeof path, o);
    cli_progress_reset();
    return spot_report_versions(c, path, v, s, &page);
}

static spot_status write_verdict(spot_ctx *c, cli_comparison *o, const spot_versions *v, const spot_subject *s)
{
    const spot_versions_root root = { v, s };
    char page[1200];
    spot_ci_report r;

    spot_versions_ci(&r, &root);
    if (o->html || o->out) path_of_page(page, sizeof page, o), r.page = page;
    r.input = o->from.second;
    r.pending = v->pending && o->fail_on;
    return cli_ci_write(c, &o->ci, &r);
}

static spot_status show(spot_ctx *c, cli_comparison *o, const spot_versions *v, const spot_subject *const s[SPOT_VERSIONS])
{
    const spot_status how = v->failed ? SPOT_CHECK : v->pending && o->fail_on ? SPOT_PENDING : SPOT_OK;
    spot_json j;

    if (o->out) SPOT_TRY(spot_versions_write(c, o->out, v, s));
    SPOT_TRY(write_page(c, o, v, s));
    cli_log_close();
    if (o->json) {
        SPOT_TRY(cli_json_open(c, &j, how, o->out));
        spot_versions_put(&j, v, s[0]);
        spot_json_print(&j, stdout);
    } else {
        cli_versions_print(v, s[0]);
        if (o->out) printf("in %s: versions.json, versions.csv%s\n", o->out, o->html ? "" : ", report.html");
        if (o->html) printf("the page: %s\n", o->html);
    }
    SPOT_TRY(write_verdict(c, o, v, s[0]));
    return how == SPOT_OK ? SPOT_OK
         : how == SPOT_CHECK ? spot_fail(c, how, "%s is worse than %s", v->name[1], v->name[0])
         : spot_fail(c, how, "nothing is shown to be worse in %s, but all rows, a class or a guard is pending", v->name[1]);
}

/* The attributes for methods that look at them; without attributes other methods search alone. */
static spot_status take_attributes(spot_ctx *c, spot_attributes *a, spot_discover_options *d, spot_config *cfg,
                                   const cli_comparison *o, const spot_subject *s)
{
    int kept = 0;

    for (int b = 0; b < cfg->bdms; b++) kept += cfg->bdm[b].representation != SPOT_BY_ATTRIBUTES;
    if (o->attributes) SPOT_TRY(spot_attributes_of_subject(c, a, o->attributes, s));
    else if (kept && kept < cfg->bdms) {
        kept = 0;
        for (int b = 0; b < cfg->bdms; b++)
            if (cfg->bdm[b].representation != SPOT_BY_ATTRIBUTES) cfg->bdm[kept++] = cfg->bdm[b];
        cfg->bdms = kept;
        spot_log(c, SPOT_LOG_INFO, "rules of attributes are not compared; give their table with --attributes FILE.csv");
    }
    d->bdm = cfg->bdm, d->bdms = cfg->bdms;
    if (o->attributes) d->attributes = a;
    return SPOT_OK;
}

/* ---- guards ---- */

typedef struct {
    int n;
    spot_row_claim claim[MOST_GUARDS];
    spot_version_guard of[MOST_GUARDS];
    char text[MOST_GUARDS][1000];
} guard_list;

static void close_guards(guard_list *g)
{
    for (int i = 0; i < g->n; i++) spot_row_claim_close(&g->claim[i]);
    g->n = 0;
}

spot_status cli_margin_read(spot_ctx *c, double *x, const char *text, const char *whose)
{
    char *end;

    *x = strtod(text, &end);
    if (end == text || end[strspn(end, " \t")] || !(*x >= 0 && *x <= 0.5))
        return spot_fail(c, SPOT_USAGE, "%s is a share of the rows from 0 to 0.5, such as 0.02, not \"%.80s\"", whose, text);
    return SPOT_OK;
}

/* One line of --guard; what stands behind its last @ is its margin, where that begins as a number. */
static spot_status read_guard(spot_ctx *c, guard_list *g, const cli_comparison *o, const spot_subject *s,
                              const spot_attributes *a)
{
    double margin = NAN;
    char *rule = g->text[g->n], *at = strrchr(rule, '@');
    spot_row_claim *k = &g->claim[g->n];
    const char *number = at ? at + 1 + strspn(at + 1, " \t") : "";

    if (*number && strchr("0123456789.-", *number)) {
        SPOT_TRY(cli_margin_read(c, &margin, number, "the margin of a guard"));
        while (at > rule && strchr(" \t", at[-1])) at--;
        *at = 0;
    }
    g->n++;
    SPOT_TRY(spot_row_claim_read(c, k, s, a->items ? a : NULL, o->attributes, rule));
    g->of[g->n - 1] = (spot_version_guard){ .name = rule, .cls = k->cls, .margin = margin, .in = k->in };
    return SPOT_OK;
}

static spot_status read_guards(spot_ctx *c, guard_list *g, const cli_comparison *o, const spot_subject *s,
                               const spot_attributes *a)
{
    g->n = 0;
    for (const char *from = o->guards; from && *from;) {
        const size_t n = strcspn(from, "\n");
        if (g->n == MOST_GUARDS) return spot_fail(c, SPOT_USAGE, "--guard comes at most %d times", MOST_GUARDS);
        if (n >= sizeof *g->text) return spot_fail(c, SPOT_USAGE, "a guard is longer than %zu bytes", sizeof *g->text - 1);
        snprintf(g->text[g->n], sizeof *g->text, "%.*s", (int)n, from);
        SPOT_TRY(read_guard(c, g, o, s, a));
        from += n + (from[n] == '\n');
    }
    return SPOT_OK;
}

/* ---- the comparison ---- */

static void warn_of_features(spot_ctx *c, const spot_version_rows *r, const cli_comparison *o)
{
    if (r->features == SPOT_FEATURES_FIRST && !r->of[1].feature)
        spot_log(c, SPOT_LOG_WARN, "slices are searched in one source of features. If it is a version's own last layer, they "
                 "take its side: what lies beyond a border of that version can only get better in the other. %s",
                 o->from.found ? "Give a folder of findings of version 2, or --embed neutral"
                               : "Give the features of version 2, too (-e again), or --embed neutral");
    if (o->from.retrain && r->retrains < 3)
        spot_log(c, SPOT_LOG_WARN, "%d further training%s tell%s little of how far equal trainings lie apart; 3 or more do",
                 r->retrains, r->retrains == 1 ? "" : "s", r->retrains == 1 ? "s" : "");
}

static spot_status compare_subjects(spot_ctx *c, cli_comparison *o, const spot_version_rows *r, spot_config *cfg,
                                    guard_list *guards)
{
    const spot_subject *const both[SPOT_VERSIONS] = { &r->of[0], &r->of[1] }, *retrain[SPOT_MOST_RETRAINS];
    spot_versions_options k = spot_versions_defaults();
    spot_discover_options d = spot_discover_defaults();
    char name[SPOT_VERSIONS][SPOT_VERSION_NAME];
    spot_attributes a = { 0 };
    spot_versions v;
    spot_status how;

    if (o->margin) {
        SPOT_TRY(cli_margin_read(c, &k.margin, o->margin, "--margin"));
        k.beyond = k.margin;
    }
    SPOT_TRY(name_versions(c, name, o));
    SPOT_TRY(cli_class_read(c, &d.cls, o->cls, both[0]));
    SPOT_TRY(take_attributes(c, &a, &d, cfg, o, both[0]));
    for (int t = 0; t < r->retrains; t++) retrain[t] = &r->retrain[t];
    warn_of_features(c, r, o);
    d.seed = &cfg->seed, d.seeds = 1, d.least = o->least;
    k.search = &d, k.data = o->data, k.retrain = retrain, k.retrains = r->retrains, k.features = r->features;
    k.name[0] = name[0], k.name[1] = name[1];
    how = read_guards(c, guards, o, both[0], &a);
    k.guard = guards->of, k.guards = guards->n;
    if (!how) {
        how = spot_versions_compare(c, &v, both, &k);
        if (!how) how = show(c, o, &v, both);
        spot_versions_close(&v);
    }
    close_guards(guards);
    spot_attributes_close(&a);
    return how;
}

void cli_comparison_defaults(cli_comparison *o) { o->least = spot_discover_defaults().least; }

void cli_comparison_take(cli_comparison *o)
{
    static const char *const made[] = { "versions.json", "versions.csv", "report.html" };
    const char *const input[] = { o->from.found, o->from.second, o->from.second_ids, o->config, o->html, o->out,
                                  o->attributes };

    cli_ci_take_rows(&o->ci, &o->from.files);
    cli_ci_take(&o->ci, o->from.images);
    for (size_t i = 0; i < sizeof input / sizeof *input; i++) cli_ci_take(&o->ci, input[i]);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) cli_ci_take_in(&o->ci, o->out, made[i]);
}

spot_status cli_compare_rows(spot_ctx *c, cli_comparison *o)
{
    spot_config cfg;
    spot_version_rows r;
    guard_list *guards;
    spot_status how;

    SPOT_TRY(check_results(c, o));
    how = choose_methods(c, &cfg, o);
    guards = malloc(sizeof *guards);
    if (how == SPOT_OK && !guards) how = spot_fail(c, SPOT_NOMEM, "no memory for guards");
    if (how == SPOT_OK) {
        how = spot_version_rows_read(c, &r, &o->from);
        if (how == SPOT_OK) how = compare_subjects(c, o, &r, &cfg, guards);
        spot_version_rows_close(&r);
    }
    free(guards);
    spot_memory_close(&cfg.memory);
    return how;
}
