/* cmd_report.c - spotter report: a sweep's run, or what was found in one or several models, as one HTML file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "spotter/check.h"
#include "spotter/report.h"

enum { BUDGET = 256, FULL, THUMB, TREND, IMAGES };
enum { MODELS = 16, LONGEST = 1000 };

typedef struct {
    const char *dir[MODELS], *out, *trend, *images;
    int dirs;
    cli_machine machine;
    spot_report_options o;
} options;

static const struct argp_option table[] = {
    { "out",    'o',    "FILE.html", 0, "where to (report.html)", 0 },
    { "budget", BUDGET, "MB",        0, "how large it may be (10); pictures get smaller, then fewer, to stay within", 0 },
    { "full",   FULL,   NULL,        0, "every picture, however large it gets", 0 },
    { "images", IMAGES, "FOLDER",    0, "folder of the pictures of findings, where they are not where discover saw them", 0 },
    { "trend",  TREND,  "FILE.jsonl", 0, "the course of a night's numbers, from the history that spotter check keeps", 0 },
    { "thumb",  THUMB,  "PIXELS",    0, "of a picture's longer side (64)", 0 },
    { 0 }
};

static error_t option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->machine; return 0;
    case 'o':    o->out = arg; return 0;
    case BUDGET: o->o.budget = (size_t)cli_number(state, "--budget", arg, 1, 4000) * 1000000; return 0;
    case FULL:   o->o.full = true; return 0;
    case THUMB:  o->o.thumb = cli_number(state, "--thumb", arg, 16, 240); return 0;
    case TREND:  o->trend = arg; return 0;
    case IMAGES: o->images = arg; return 0;
    case ARGP_KEY_ARG:
        if (o->dirs == MODELS) argp_error(state, "at most %d models side by side; \"%s\" is one too many", MODELS, arg);
        if (strlen(arg) > LONGEST) argp_error(state, "the name of a directory is longer than %d bytes", LONGEST);
        o->dir[o->dirs++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->dirs && o->trend) argp_error(state, "--trend draws a history; \"%s\" is one too many", o->dir[0]);
        if (!o->dirs && !o->trend) argp_error(state, "which run directory? for example runs/quickstart");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* What spotter discover wrote, whole. */
static bool has_findings(const char *dir)
{
    char path[LONGEST + 16];
    struct stat st;

    snprintf(path, sizeof path, "%s/slices.json", dir);
    return !stat(path, &st);
}

static spot_status report_findings(spot_ctx *c, const options *o)
{
    spot_subject s[MODELS];
    spot_findings f[MODELS];
    spot_discover_options d[MODELS];
    const spot_subject *subject[MODELS];
    const spot_findings *findings[MODELS];
    const spot_discover_options *how[MODELS];
    spot_status status = SPOT_OK;
    int read = 0;

    for (; read < o->dirs && status == SPOT_OK; read++) {
        subject[read] = &s[read];
        findings[read] = &f[read];
        how[read] = &d[read];
        status = spot_findings_read(c, o->dir[read], &s[read], &f[read], &d[read]);
    }
    if (status == SPOT_OK && o->images) status = spot_findings_pictures(c, &s[0], o->images);      /* those of the first show */
    if (status == SPOT_OK) status = spot_report_findings(c, o->out, o->dirs, subject, findings, how, &o->o);
    while (read--) {
        spot_findings_close(&f[read]);
        spot_subject_close(&s[read]);
    }
    return status;
}

static spot_status report(spot_ctx *c, const options *o)
{
    int found = 0, other = 0;

    if (o->trend) return spot_report_trend(c, o->out, o->trend);
    for (int i = 0; i < o->dirs; i++) {
        if (has_findings(o->dir[i])) found++;
        else other = i;
    }
    if (!found && o->dirs == 1) return spot_report_run(c, o->out, o->dir[0], &o->o);
    if (found < o->dirs)
        return spot_fail(c, SPOT_USAGE, "%s holds nothing that spotter discover wrote; a page is of one sweep's run, or of "
                         "one or several folders of findings", o->dir[other]);
    return report_findings(c, o);
}

int cli_report(int argc, char **argv)
{
    static const struct argp_child children[] = { { &cli_machine_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = { table, option, "DIR [DIR...]",
        "Writes a sweep's run as one HTML file for a browser: DR and FDR of the methods, figures, and each EC's map with its "
        "true blindspots and what every method took for them. Or what spotter discover found: several folders of "
        "findings, on the same rows, stand side by side with the overlap of their slices. It needs no network and no "
        "server.\n\nExamples:\n"
        "  spotter report runs/quickstart -o quickstart.html\n"
        "  spotter report runs/paper -o paper.html --budget 40\n"
        "  spotter report found_a found_b -o two_models.html\n"
        "  spotter report --trend nights.jsonl -o nights.html", children, NULL, NULL };
    options o = { .out = "report.html", .machine = { .device = "cpu" }, .o = spot_report_defaults() };
    spot_ctx c;
    spot_status s;

    cli_parse(&argp, argc, argv, &o);
    s = cli_open(&c, &o.machine);
    if (s == SPOT_OK) s = report(&c, &o);
    if (s == SPOT_OK) spot_log(&c, SPOT_LOG_INFO, "%s", o.out);
    return cli_close(&c, s);
}
