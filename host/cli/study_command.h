/* study_command.h - the command of a study: the options that all studies have, and the way from them to the end of a run.
 *
 * The struct of such a command begins with a `cli_study_flags study`. Its table has the rows below beside its own. Its work is
 * cli_study_run, or, where the study reads more than a config, the steps of it. */
#ifndef SPOTTER_STUDY_COMMAND_H
#define SPOTTER_STUDY_COMMAND_H

#include "cli/cli.h"

typedef struct {
    cli_machine machine;
    const char *config;                    /* NULL: the other options are the config */
    spot_run_place place;
    const char *shard;
    char shard_from[64];                   /* the scheduler's variables that said the shard; "": none */
    int  max_seconds;
    bool json;
} cli_study_flags;

#define CLI_OUT_ROW(EXAMPLE)                                                                                                 \
    { "out",    'o', "DIR", CLI_TEXT, CLI_AT(study.place.out), .most = 1000, .need = EXAMPLE,                                \
      .help = "run directory; the same command continues the run" }

/* UNITS: the units of the study, in words. */
#define CLI_RUN_ROWS(LETTER, UNITS)                                                                                          \
    { "shard",  LETTER, "I/N", CLI_TEXT, CLI_AT(study.shard),                                                                \
      .help = "part I of N of " UNITS                                                                                        \
      ", counted from 0; auto/N: I from the scheduler, as in `spotter sweep`" },                                             \
    { "max-seconds", 0, "N", CLI_INT, CLI_AT(study.max_seconds), 1, 10000000,                                                \
      .help = "time limit: the program ends within N seconds, with exit code 75" },                                          \
    { "starts", 0,   "N", CLI_INT, CLI_AT(study.place.starts), 0, 1000000, .preset = "5",                                    \
      .help = "number of starts without progress after which the exit code is 5 instead of 75; 0: no limit" },               \
    { "beside",  0,   NULL, CLI_ON, CLI_AT(study.place.beside),                                                              \
      .help = "no stop where another process computes the same part of the run" }

#define CLI_STUDY_ROWS(UNITS)                                                                                                \
    CLI_RUN_ROWS('s', UNITS),                                                                                                \
    { "json",   'j', NULL, CLI_ON, CLI_AT(study.json), .help = "one JSON object on stdout at the end" },                     \
    CLI_MACHINE_ROWS("auto")

/* The end of a command's `check`, or all of it: which shard this process is. */
void cli_study_check(const struct argp_state *state, void *flags);

/* Reads CONFIG, or has `fill` write the other options into a config of defaults; then runs that. fill NULL: CONFIG is always
 * given. A step gets the study's config and the command's struct. */
typedef spot_status cli_study_step(spot_ctx *c, void *config, void *flags);
spot_status cli_study_run(spot_ctx *c, const spot_study *y, cli_study_step *fill, cli_study_step *run, void *flags);

/* The place of the run, with what is left of its time limit, which began with the command. */
spot_run_place cli_study_place(const cli_study_flags *f);

/* SPOT_NOMEM, before the run, where it would take this process to more bytes than machine, control group or limit leave. world:
 * the same before a world is made, unless OUT/file is there, which is written last. */
spot_status cli_study_room (spot_ctx *c, size_t memory);
spot_status cli_study_world(spot_ctx *c, size_t memory, const char *out, const char *file);

/* The memory that a study states for its whole process, rounded up as it is printed: never less than the process has taken
 * already, as while it made a world. */
size_t cli_study_states(size_t memory);

/* After the run, with or without success: erases the progress bar and prints --json's object, in which these numbers, whole
 * ones, follow those of every study. Returns s; without --json the command prints its results next. */
typedef struct { const char *name; double value; } cli_count;
spot_status cli_study_end(spot_ctx *c, spot_status s, const cli_study_flags *f, const spot_run_report *r, const cli_count *more,
                          int n);
#define CLI_COUNTS(...) (const cli_count[]){ __VA_ARGS__ }, sizeof (cli_count[]){ __VA_ARGS__ } / sizeof(cli_count)

/* The text of an option, "" without it. */
static inline const char *cli_word(const char *word) { return word ? word : ""; }

#endif
