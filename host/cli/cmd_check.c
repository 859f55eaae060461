/* cmd_check.c - spotter check: the nightly verdict on a run; spotter accept: a run as the baseline from now on. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "spotter/check.h"

typedef struct {
    const char *path[2], *history, *commit;
    int paths;
    bool json;
} check_options;

static const struct argp_option check_table[] = {
    { "json",    'j', NULL,         0, "one JSON object on stdout", 0 },
    { "history", 'H', "FILE.jsonl", 0, "add a line for this night to it; spotter report --trend draws it", 0 },
    { "commit",  'c', "ID",         0, "what was built, for the history's line", 0 },
    { 0 }
};

static error_t check_option(int key, char *arg, struct argp_state *state)
{
    check_options *o = state->input;

    switch (key) {
    case 'j': o->json = true; return 0;
    case 'H': o->history = arg; return 0;
    case 'c': o->commit = arg; return 0;
    case ARGP_KEY_ARG:
        if (o->paths == 2) argp_error(state, "a baseline and a run; \"%s\" is one too many", arg);
        o->path[o->paths++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->paths < 2)
            argp_error(state, "which baseline, and which run? for example configs/nightly.baseline.json runs/nightly");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int cli_check(int argc, char **argv)
{
    static const struct argp argp = { check_table, check_option, "BASELINE RUN",
        "Says whether a run is what the baseline is: its bits where the same bits are promised, its numbers on the same ECs, "
        "and the paper's where it has the paper's settings. The exit code is 1 when something is worse, better than can be, or "
        "broken; a line in quarantine is shown and fails nothing.\n\nExamples:\n"
        "  spotter check configs/nightly.baseline.json runs/tonight\n"
        "  spotter check base.json runs/tonight --history nights.jsonl --commit \"$(git rev-parse --short HEAD)\"\n"
        "  spotter accept runs/tonight -o base.json --reason \"Spotlight starts from more points\"", NULL, NULL, NULL };
    check_options o = { 0 };
    cli_machine machine = { .device = "cpu" };
    spot_check *check = NULL;
    spot_ctx c;
    spot_status s;

    cli_parse_argp(&argp, argc, argv, &o);
    s = cli_open(&c, &machine);
    if (s == SPOT_OK) s = spot_check_run(&c, &check, o.path[0], o.path[1]);
    if (s == SPOT_OK && o.json) s = spot_check_print_json(&c, stdout, check);
    else if (s == SPOT_OK) spot_check_print(stdout, check, cli_colorful(STDOUT_FILENO));
    if (s == SPOT_OK && o.history) s = spot_check_remember(&c, check, o.history, o.commit);
    if (s == SPOT_OK && check->failed) s = spot_fail(&c, SPOT_CHECK, "%s is not what %s is", o.path[1], o.path[0]);
    spot_check_free(check);
    return cli_close(&c, s);
}

/* ---- accept ---- */

typedef struct { const char *run, *out; spot_accept_options o; } accept_options;

enum { DR = 256, FDR, LEARNED, PAPER, QUARANTINE, RELEASE };

static const struct argp_option accept_table[] = {
    { "out",            'o',        "BASELINE.json",        0, "the baseline's file; its margins, quarantine and history stay",
     0 },
    { "reason",         'r',        "TEXT",                 0, "why, for the history in the file", 0 },
    { "margin-dr",      DR,         "X",                    0,
     "how far DR may be off and count as the same (as before, or 0.02)", 0 },
    { "margin-fdr",     FDR,        "X",                    0, "the same for FDR (0.02)", 0 },
    { "margin-learned", LEARNED,    "X",                    0, "and for the share of ECs that are learned (0.02)", 0 },
    { "margin-paper",   PAPER,      "X",                    0, "and for means beside the paper's (0.1)", 0 },
    { "quarantine",     QUARANTINE, "METHOD:METRIC=REASON", 0, "METRIC (dr, fdr, learned, bits) is shown and fails nothing",
     0 },
    { "release",        RELEASE,    "METHOD:METRIC",        0, "ends a quarantine", 0 },
    { 0 }
};

static double margin(const struct argp_state *state, const char *text)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !(v >= 1e-6 && v <= 1))
        argp_error(state, "a margin is a number up to 1, such as 0.02, not \"%s\"", text);
    return v;
}

static error_t accept_option(int key, char *arg, struct argp_state *state)
{
    accept_options *o = state->input;

    switch (key) {
    case 'o':        o->out = arg; return 0;
    case 'r':        o->o.reason = arg; return 0;
    case DR:         o->o.margin_dr = margin(state, arg); return 0;
    case FDR:        o->o.margin_fdr = margin(state, arg); return 0;
    case LEARNED:    o->o.margin_learned = margin(state, arg); return 0;
    case PAPER:      o->o.margin_paper = margin(state, arg); return 0;
    case QUARANTINE:
        if (o->o.quarantines == SPOT_ACCEPT_WORDS) argp_error(state, "at most %d quarantines at a time", SPOT_ACCEPT_WORDS);
        o->o.quarantine[o->o.quarantines++] = arg;
        return 0;
    case RELEASE:
        if (o->o.releases == SPOT_ACCEPT_WORDS) argp_error(state, "at most %d releases at a time", SPOT_ACCEPT_WORDS);
        o->o.release[o->o.releases++] = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (o->run) argp_error(state, "one run at a time; \"%s\" is one too many", arg);
        o->run = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->run) argp_error(state, "which run directory? for example runs/nightly");
        if (!o->out) argp_error(state, "which file? for example -o configs/nightly.baseline.json");
        if (!o->o.reason) argp_error(state, "why is this run the baseline from now on? Say it with --reason TEXT");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int cli_accept(int argc, char **argv)
{
    static const struct argp argp = { accept_table, accept_option, "RUN -o BASELINE.json --reason TEXT",
        "Makes a run the baseline that spotter check compares with. The file is small, and meant to be kept with the code and "
        "reviewed like it: it holds the margins, the quarantine and a history with every acceptance's reason.\n\nExamples:\n"
        "  spotter accept runs/tonight -o configs/nightly.baseline.json --reason \"the first\"\n"
        "  spotter accept runs/tonight -o base.json --reason \"new CPU\" --quarantine \"spotlight:fdr=jumps, see issue 12\"",
        NULL, NULL, NULL };
    accept_options o = { 0 };
    cli_machine machine = { .device = "cpu" };
    spot_ctx c;
    spot_status s;

    cli_parse_argp(&argp, argc, argv, &o);
    s = cli_open(&c, &machine);
    if (s == SPOT_OK) s = spot_accept(&c, o.run, o.out, &o.o);
    if (s == SPOT_OK) spot_log(&c, SPOT_LOG_INFO, "%s is the baseline now: %s", o.run, o.out);
    return cli_close(&c, s);
}
