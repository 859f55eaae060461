/* cmd_report.c - spotter report: a run as one HTML file. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "spotter/report.h"

enum { BUDGET = 256, FULL, THUMB };

typedef struct {
    const char *dir, *out;
    cli_machine machine;
    spot_report_options o;
} options;

static const struct argp_option table[] = {
    { "out",    'o',    "FILE.html", 0, "where to (report.html)", 0 },
    { "budget", BUDGET, "MB",        0, "how large it may be (10); pictures get smaller, then fewer, to stay within", 0 },
    { "full",   FULL,   NULL,        0, "every picture, however large it gets", 0 },
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
    case ARGP_KEY_ARG:
        if (o->dir) argp_error(state, "one run at a time; \"%s\" is one too many", arg);
        o->dir = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->dir) argp_error(state, "which run directory? for example runs/quickstart");
        if (strlen(o->dir) > 1000) argp_error(state, "the name of the directory is longer than 1000 bytes");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int cli_report(int argc, char **argv)
{
    static const struct argp_child children[] = { { &cli_machine_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = { table, option, "DIR",
        "Writes a sweep's run as one HTML file for a browser: DR and FDR of the methods, figures, and each EC's map with its "
        "true blindspots and what every method took for them. It needs no network and no server. (spotter discover writes "
        "such a page of its own.)\n\nExamples:\n"
        "  spotter report runs/quickstart -o quickstart.html\n"
        "  spotter report runs/paper -o paper.html --budget 40", children, NULL, NULL };
    options o = { .out = "report.html", .machine = { .device = "cpu" }, .o = spot_report_defaults() };
    spot_ctx c;
    spot_status s;

    cli_parse(&argp, argc, argv, &o);
    s = cli_open(&c, &o.machine);
    if (s == SPOT_OK) s = spot_report_run(&c, o.out, o.dir, &o.o);
    if (s == SPOT_OK) spot_log(&c, SPOT_LOG_INFO, "%s", o.out);
    return cli_close(&c, s);
}
