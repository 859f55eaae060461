/* cmd_accept.c - spotter accept: a run as the baseline of spotter check. */
#include "cli/cli.h"
#include "spotter/check.h"

typedef struct { const char *run, *out; spot_accept_options o; } accept_flags, cli_flags;

#define MARGIN(member, unset) CLI_REAL, CLI_AT(o.member), 1e-6, 1, .otherwise = unset

static const cli_row table[] = {
    { .word = "RUN", .kind = CLI_TEXT, CLI_AT(run), .need = "runs/nightly" },
    { "out",            'o', "BASELINE.json", CLI_TEXT, CLI_AT(out), .need = "configs/nightly.baseline.json",
      .help = "file of the baseline; its margins, quarantine and history stay" },
    { "reason",         'r', "TEXT", CLI_TEXT, CLI_AT(o.reason), .need = "'more starts for Spotlight'",
      .help = "reason, for the history in the file" },
    { "margin-dr",      0,   "X",    MARGIN(margin_dr, "as before, or 0.02"),
      .help = "largest difference of DR that counts as the same" },
    { "margin-fdr",     0,   "X",    MARGIN(margin_fdr, "as before, or 0.02"), .help = "margin for FDR" },
    { "margin-learned", 0,   "X",    MARGIN(margin_learned, "as before, or 0.02"),
      .help = "margin for the share of ECs that learned their blindspots" },
    { "margin-paper",   0,   "X",    MARGIN(margin_paper, "as before, or 0.1"),
      .help = "margin for means beside the paper's" },
    { "margin-impact",  0,   "X",    MARGIN(margin_impact, "as before, or 0.02"), .help = "margin for the impact of a shift" },
    { "margin-slope",   0,   "X",    MARGIN(margin_slope, "as before, or 0.05"), .help = "margin for the slope of a shift" },
    { "margin-passed",  0,   "X",    MARGIN(margin_passed, "as before, or 0.05"),
      .help = "margin for the share of a shift's pictures that pass the filter" },
    { "margin-classes", 0,   "X",    MARGIN(margin_classes, "as before, or 0.05"),
      .help = "margin for the share of classes that count for a shift" },
    { "quarantine",     0,   "METHOD:METRIC=REASON", CLI_LIST, CLI_AT(o.quarantine), .most = SPOT_ACCEPT_WORDS,
      .count = CLI_AT(o.quarantines),
      .help = "number that is shown and fails nothing. METRIC is dr, fdr, learned or bits; of a run "
              "of shifts, impact, slope, passed, classes or bits, and METHOD its source and shift: \"sd, in the snow\"" },
    { "release",        0,   "METHOD:METRIC", CLI_LIST, CLI_AT(o.release), .most = SPOT_ACCEPT_WORDS,
      .count = CLI_AT(o.releases), .help = "end of a quarantine" },
    { .kind = CLI_END }
};

static spot_status accept_run(spot_ctx *c, void *input)
{
    const accept_flags *o = input;

    SPOT_TRY(cli_study_for(c, NULL, o->run, "accept", "sweep shifts"));
    SPOT_TRY(spot_accept(c, o->run, o->out, &o->o));
    spot_log(c, SPOT_LOG_INFO, "%s is the baseline now: %s", o->run, o->out);
    return SPOT_OK;
}

const cli_command cli_accept_command = {
    "accept", "baseline for `spotter check` from a run", "RUN -o BASELINE.json --reason TEXT",
    "  spotter accept runs/tonight -o base.json --reason \"the first\"\n"
    "  spotter accept runs/tonight -o base.json --reason \"new CPU\" \\\n"
    "      --quarantine \"spotlight:fdr=jumps, see issue 12\"",
    "Makes a run the baseline of `spotter check`. The baseline is a small file to be kept and reviewed with the code: it holds "
    "the margins, the quarantine, and a history with the reason of every acceptance.", table,
    .work = accept_run, CLI_OPTIONS(run)
};
