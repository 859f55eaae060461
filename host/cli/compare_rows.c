/* compare_rows.c - two versions of a classifier, of findings or probabilities: reads, compares, prints and writes. */
#define _POSIX_C_SOURCE 200809L
#include "cli/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/method_list.h"
#include "discover/search/discover_config.h"
#include "discover/subject/attributes.h"
#include "formats/formats.h"
#include "versions/versions_ci.h"
#include "versions/versions_json.h"
#include "spotter/report.h"

/* "a/b/v1.npy:p" becomes "v1:p", "found/" becomes "found". */
static spot_status name_of_file(spot_ctx *c, char *name, size_t size, const char *where)
{
    const char *member, *end, *from, *dot;
    char *path;
    const spot_status s = spot_place_split(c, &path, &member, where);

    if (s) return free(path), s;
    for (end = path + strlen(path); end > path + 1 && end[-1] == '/'; end--) ;
    for (from = end; from > path && from[-1] != '/'; from--) ;
    for (dot = end; dot > from && *dot != '.'; dot--) ;
    snprintf(name, size, "%.*s%s%s", (int)((dot > from ? dot : end) - from), from, member ? ":" : "", member ? member : "");
    spot_plain(name);
    free(path);
    return SPOT_OK;
}

static spot_status name_versions(spot_ctx *c, char name[SPOT_VERSIONS][SPOT_VERSION_NAME], const cli_comparison *o)
{
    const char *first = o->from.files.probs ? o->from.files.probs : o->from.found;
    const char *comma = o->name ? strchr(o->name, ',') : NULL;

    if (o->name && (!comma || comma == o->name || !comma[1] || strchr(comma + 1, ',')))
        return spot_fail(c, SPOT_USAGE, "--name takes two names such as v1,v2, not \"%s\"", o->name);
    if (o->name) {
        snprintf(name[0], SPOT_VERSION_NAME, "%.*s", (int)(comma - o->name), o->name);
        snprintf(name[1], SPOT_VERSION_NAME, "%s", comma + 1);
        spot_plain(name[0]), spot_plain(name[1]);
        return SPOT_OK;
    }
    SPOT_TRY(name_of_file(c, name[0], SPOT_VERSION_NAME, first));
    SPOT_TRY(name_of_file(c, name[1], SPOT_VERSION_NAME, o->from.second));
    if (!strcmp(name[0], name[1])) {
        snprintf(name[0], SPOT_VERSION_NAME, "version 1");
        snprintf(name[1], SPOT_VERSION_NAME, "version 2");
    }
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
    return cli_ci_write(c, &o->ci, &r);
}

static spot_status show(spot_ctx *c, cli_comparison *o, const spot_versions *v, const spot_subject *const s[SPOT_VERSIONS])
{
    const spot_status how = v->failed ? SPOT_CHECK : SPOT_OK;
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
    return how ? spot_fail(c, how, "%s is worse than %s", v->name[1], v->name[0]) : SPOT_OK;
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

static spot_status compare_subjects(spot_ctx *c, cli_comparison *o, const spot_subject *s, spot_config *cfg)
{
    const spot_subject *const both[SPOT_VERSIONS] = { &s[0], &s[1] };
    spot_versions_options k = spot_versions_defaults();
    spot_discover_options d = spot_discover_defaults();
    char name[SPOT_VERSIONS][SPOT_VERSION_NAME];
    spot_attributes a = { 0 };
    spot_versions v;
    spot_status how;

    SPOT_TRY(name_versions(c, name, o));
    SPOT_TRY(cli_class_read(c, &d.cls, o->cls, &s[0]));
    SPOT_TRY(take_attributes(c, &a, &d, cfg, o, &s[0]));
    d.seed = &cfg->seed, d.seeds = 1, d.least = o->least;
    k.search = &d, k.margin = o->margin, k.data = o->data;
    k.name[0] = name[0], k.name[1] = name[1];
    how = spot_versions_compare(c, &v, both, &k);
    if (!how) how = show(c, o, &v, both);
    spot_versions_close(&v);
    spot_attributes_close(&a);
    return how;
}

void cli_comparison_defaults(cli_comparison *o)
{
    o->margin = spot_versions_defaults().margin;
    o->least = spot_discover_defaults().least;
}

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
    spot_subject s[SPOT_VERSIONS];
    spot_status how;

    SPOT_TRY(check_results(c, o));
    how = choose_methods(c, &cfg, o);
    if (how == SPOT_OK) how = spot_version_rows_read(c, s, &o->from);
    if (how == SPOT_OK) {
        how = compare_subjects(c, o, s, &cfg);
        spot_subject_close(&s[1]), spot_subject_close(&s[0]);
    }
    spot_memory_close(&cfg.memory);
    return how;
}
