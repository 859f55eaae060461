/* cmd_tables.c - spotter tables: the results of runs as tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "spotter/background.h"
#include "spotter/examine.h"
#include "spotter/report.h"

enum { MOST_DIRS = 64 };

typedef struct {
    cli_rest dir;
    int which, format;         /* which: 0 is the run's own tables; format: spot_table_format */
    bool all;
} tables_flags, cli_flags;

/* The number of a table, or B. */
static void read_which(const struct argp_state *state, const char *word, void *input)
{
    tables_flags *o = input;
    char *end;
    long n = strtol(word, &end, 10);

    if (!strcmp(word, "B")) o->which = SPOT_APPENDIX_B;
    else if (*end || n < 1 || n > 99)
        argp_error(state, "--which takes the number of a table, from 1 to 99, or B, not \"%s\"", word);
    else o->which = (int)n;
}

static const cli_row table[] = {
    { .word = "DIR", .kind = CLI_REST, CLI_AT(dir), .most = MOST_DIRS, .need = "runs/quickstart" },
    { "format", 'f', "text|csv|json|md", CLI_CHOICE, CLI_AT(format), .preset = "text", .help = "output format" },
    { "which",  'w', "N", CLI_CALL, .read = read_which, .otherwise = "the run's own tables",
      .help = "table of the paper (a sweep: 2, 7, 9 to 13, 16, and B for the successes of appendix B; a sweep on COCO: 3, 4, "
              "8, 14, on OpenImages: 15; a background study: 1 to 6, and 7 for answers by realness; "
              "an examination: 1 to 3), with the run's numbers beside the paper's" },
    { "all",    'a', NULL, CLI_ON, CLI_AT(all),
      .help = "averages over all ECs, also those that did not learn their blindspots" },
    { .kind = CLI_END }
};

static spot_status print_tables(spot_ctx *c, void *input)
{
    const tables_flags *o = input;
    spot_table_format format = (spot_table_format)o->format;
    const spot_study *study;

    SPOT_TRY(cli_study_for(c, &study, o->dir.word[0], "tables", "sweep background examine"));
    if (o->which == SPOT_APPENDIX_B && strcmp(study->name, "sweep"))
        return spot_fail(c, SPOT_USAGE, "--which B is of sweeps, and %s is a run of `spotter %s`", o->dir.word[0], study->name);
    if (study == &spot_background_study)
        return spot_background_tables(c, stdout, o->dir.word, o->dir.n, o->which, format);
    if (study == &spot_examine_study && o->dir.n > 1)
        return spot_fail(c, SPOT_USAGE, "\"%s\" is one run directory too many; a table of `spotter examine` is of one run",
                         o->dir.word[1]);
    if (study == &spot_examine_study) return spot_examine_tables(c, stdout, o->dir.word[0], o->which, format);
    if (o->dir.n > 1 && !o->which)
        return spot_fail(c, SPOT_USAGE, "\"%s\" is one run directory too many; only --which N joins several", o->dir.word[1]);
    if (!o->which) return spot_tables(c, stdout, o->dir.word[0], format, o->all);
    return spot_tables_paper(c, stdout, o->dir.word, o->dir.n, o->which, format, o->all);
}

const cli_command cli_tables_command = {
    "tables", "discovery rates (DR) and false discovery rates (FDR) of a run", "DIR...",
    "  spotter tables runs/quickstart\n"
    "  spotter tables runs/mini --format csv > mini.csv\n"
    "  spotter tables runs/paper --which 2\n"
    "  spotter tables runs/half runs/third runs/out --which B\n"
    "  spotter tables runs/background runs/background_nearest\n"
    "  spotter tables runs/examine --which 1",
    "Prints DR and FDR of every method over a run's ECs with standard errors, then each EC, then the reasons for missed "
    "blindspots. Every average names the number of ECs that it leaves out. For runs of `spotter background` it prints the "
    "tables of their paper beside its numbers; its variants and further runs vary one setting of the first. For a run of "
    "`spotter examine`: mean p by model and examiner, by the number of training renders, lowest and robust p.", table, NULL,
    .work = print_tables, CLI_OPTIONS(all)
};
