/* cmd_tables.c - spotter tables: the numbers of a run. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "spotter/report.h"

enum { MAX_DIRS = 64 };

typedef struct {
    const char *dir[MAX_DIRS];
    int dirs, which;           /* 0: the run's own tables */
    spot_table_format format;
    bool all;
} options;

static const struct argp_option table[] = {
    { "format", 'f', "text|csv|json|md", 0, "how it is written (text)", 0 },
    { "which",  'w', "N",              0, "a table of the paper (2, 7, 9 to 13, 16), its numbers beside the run's", 0 },
    { "all",    'a', NULL,               0, "average over ECs that did not learn their blindspots, too", 0 },
    { 0 }
};

static error_t option(int key, char *arg, struct argp_state *state)
{
    static const char *const names[] = { "text", "csv", "json", "md" };    /* spot_table_format */
    options *o = state->input;

    switch (key) {
    case 'a': o->all = true; return 0;
    case 'w': o->which = cli_number(state, "--which", arg, 1, 99); return 0;
    case 'f':
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (!strcmp(arg, names[i])) { o->format = (spot_table_format)i; return 0; }
        argp_error(state, "--format is text, csv, json or md, not \"%s\"", arg);
        return 0;
    case ARGP_KEY_ARG:
        if (o->dirs == MAX_DIRS) argp_error(state, "at most %d run directories", MAX_DIRS);
        o->dir[o->dirs++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->dirs > 1 && !o->which)
            argp_error(state, "one run directory at a time; \"%s\" is one too many (--which N joins several)",
                       o->dir[1]);
        if (!o->dirs) argp_error(state, "which run directory? for example runs/quickstart");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int cli_tables(int argc, char **argv)
{
    static const struct argp argp = { table, option, "DIR...",
        "Prints DR and FDR of every method over a run's ECs with standard errors, then each EC, then why blindspots "
        "were missed; says how many ECs each average left out.\n\nExamples:\n"
        "  spotter tables runs/quickstart\n"
        "  spotter tables runs/mini --format csv > mini.csv\n"
        "  spotter tables runs/paper --which 2                  Table 2 of the paper, and the run's numbers in it",
        NULL, NULL, NULL };
    options o = { 0 };
    cli_machine machine = { .device = "cpu" };
    spot_ctx c;
    spot_status s;

    cli_parse_argp(&argp, argc, argv, &o);
    s = cli_open(&c, &machine);
    if (s == SPOT_OK && o.which) s = spot_tables_paper(&c, stdout, o.dir, o.dirs, o.which, o.format, o.all);
    else if (s == SPOT_OK) s = spot_tables(&c, stdout, o.dir[0], o.format, o.all);
    return cli_close(&c, s);
}
