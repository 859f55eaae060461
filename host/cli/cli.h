/* cli.h - shared by the commands: their list, rows of options, signals, the log, the end of a command. */
#ifndef SPOTTER_CLI_H
#define SPOTTER_CLI_H

#include <signal.h>
#include <stdbool.h>

#include "base/json.h"
#include "cli/options.h"
#include "spotter/config.h"
#include "spotter/ctx.h"
#include "spotter/subject.h"
#include "spotter/sweep.h"
#include "spotter/work.h"

/* A new command: its name here, and cmd_NAME.c with cli_NAME_command. */
#define CLI_COMMANDS(X)                                                                                                  \
    X(accept) X(assign) X(background) X(bench) X(check) X(claim) X(compare) X(demo) X(discover) X(embed) X(examine)    \
    X(figures) X(gather) X(merge) X(plan) X(render) X(report) X(scene) X(shifts) X(status) X(sweep) X(tables) X(verdict) X(view)

#define X(name) extern const cli_command cli_##name##_command;
CLI_COMMANDS(X)
#undef X

extern const cli_command *const cli_commands[];        /* sorted, ended by NULL */

typedef struct { const char *device; int threads, log_json; } cli_machine;

/* How pictures are read, for a command whose struct has a `spot_picture_reading member`. */
#define CLI_READING_ROWS(member, flags_)                                                                                     \
    { "exif",   0, "ignore|apply", CLI_CHOICE, CLI_AT(member.exif), .preset = "ignore", .flags = flags_,                     \
      .help = "rotation that EXIF tells of a picture; torchvision's loader ignores it" },                                    \
    { "pillow", 0, "13|12", CLI_CHOICE, CLI_AT(member.pillow), .preset = "13", .flags = flags_,                              \
      .help = "Pillow whose order of resizing tall pictures have; 12 stands for all before 13" }

/* Rows for a command whose struct begins with a cli_machine. */
#define CLI_MACHINE_ROWS(DEVICE)                                                                                             \
    { .kind = CLI_HEADING, .help = "Machine and log:" },                                                                     \
    { "device",  'd', "auto|cpu|cuda", CLI_NAME,   offsetof(cli_machine, device), .preset = DEVICE,                          \
      .help = "device that computes; auto: a GPU if there is one" },                                                         \
    { "threads", 't', "N",             CLI_INT,    offsetof(cli_machine, threads), 0, 1024, .preset = "0",                    \
      .flags = CLI_STAYS, .help = "CPU threads; 0: one per core; no effect on results" },                                    \
    { "log",     'l', "text|json",     CLI_CHOICE, offsetof(cli_machine, log_json), .preset = "text", .flags = CLI_MORE,     \
      .help = "format of stderr: lines for people, or one JSON object a line" }

/* Rows for a command whose struct has a `spot_sweep_options sweep`. */
#define CLI_SWEEP_ROWS                                                                                                       \
    { "limit",   'n', "N", CLI_INT, CLI_AT(sweep.limit), 1, 1000000, .otherwise = "all", .flags = CLI_STAYS,                 \
      .help = "first N ECs of the config" },                                                                                 \
    { "wave",    0,   "N", CLI_INT, CLI_AT(sweep.wave), 1, SPOT_WIDEST_WAVE,                                                 \
      .otherwise = "CPU: 1; GPU: 32, or as many as memory holds",                                                            \
      .help = "number of ECs that take the steps after training together; no effect on results" },                           \
    { "at-once", 0,   "N", CLI_INT, CLI_AT(sweep.at_once), 1, SPOT_MOST_AT_ONCE, .otherwise = "CPU: 1; GPU: 2 to 16",        \
      .help = "number of ECs of a wave that train side by side; no effect on results" },                                     \
    { "keep",    0,   "all|views|results", CLI_CHOICE, CLI_AT(sweep.keep), .preset = "all",                                  \
      .help = "content of DIR/cache for ECs that are done: everything; no networks (45 MB each); nothing" },                 \
    { "no-pictures", 0, NULL, CLI_OFF, CLI_AT(sweep.pictures), .help = "no PNG of each EC" }

enum { CLI_PAGE_MODELS = 16 };

/* Rows for a command whose struct has a `spot_report_options page` and a `const char *model_name[CLI_PAGE_MODELS]`. */
#define CLI_PAGE_ROWS(page)                                                                                                  \
    { "budget", 0, "MB", CLI_MEGABYTES, CLI_AT(page.budget), 1, 4000, .flags = CLI_SHOWN,                                    \
      .help = "largest size of the HTML file; pictures become smaller, then fewer, to meet it" },                            \
    { "full",   0, NULL, CLI_ON, CLI_AT(page.full), .help = "all pictures in the HTML file, whatever its size" },            \
    { "matte",  0, "none|white|black", CLI_CHOICE, CLI_AT(page.matte), .preset = "none",                                     \
      .help = "colour behind transparent pixels of PNG pictures in the HTML file; none: alpha is dropped, as torchvision's " \
              "loader does" },                                                                                               \
    { "title",  0, "TEXT", CLI_TEXT, CLI_AT(page.title), .otherwise = "Blindspots", .help = "title of the page of findings" }, \
    { "model-name", 0, "NAME", CLI_LIST, CLI_AT(model_name), .most = CLI_PAGE_MODELS, .count = CLI_AT(page.models),          \
      .help = "name of the model on the page of findings; once for each folder, in their order" },                           \
    { "data-name", 0, "NAME", CLI_TEXT, CLI_AT(page.data), .help = "name of the rows on the page of findings" },             \
    { "date",   0, "TEXT", CLI_TEXT, CLI_AT(page.date), .help = "date on the page of findings, such as 2026-11-27" }

/* cli_shard.c: "I/N" of --shard, or a sentence and exit 2. */
void cli_shard(const struct argp_state *state, const char *text, int *shard, int *shards);

/* "I/N" or "auto/N" of --shard; NULL: the scheduler's variables decide. `from` gets the names of the used variables, "" for
 * none. A sentence and exit 2 if they contradict each other. */
void cli_pick_shard(const struct argp_state *state, const char *text, int *shard, int *shards, char from[64]);

/* Opens a context that logs and shows progress on stderr and stops on signals. cli_close prints a failure as
 * "spotter: sentence" and returns the exit code. (main checks that stdout was written whole.) */
spot_status cli_open(spot_ctx *c, const cli_machine *m);
int         cli_close(spot_ctx *c, spot_status s);

/* A whole command: `run`; or reads the words, opens a context, works and closes it. Returns the exit code. */
int cli_run(const cli_command *k, int argc, char **argv);

/* Opens the object of --json and writes the command's status and its output path; spot_json_print ends it. */
spot_status cli_json_open(spot_ctx *c, spot_json *j, spot_status how, const char *out);

/* Logs the device: for commands whose time depends on it. */
void cli_log_device(spot_ctx *c, const cli_machine *m);

/* studies.c: the study of a run directory, from DIR/config.yaml; a sweep where there is none or it
 * does not say. */
spot_status cli_study_of(spot_ctx *c, const spot_study **y, const char *dir);
/* The same for a command that reads the runs of some studies alone (reads: "sweep background"). SPOT_USAGE where
 * DIR/config.yaml is of another one, with the commands for such a run. y: NULL where nobody asks. */
spot_status cli_study_for(spot_ctx *c, const spot_study **y, const char *dir, const char *command, const char *reads);

/* Reads a config, then checks the scene's settings together, so that an impossible config makes no files. config: of a file;
 * config_of: of a text that came from path. */
spot_status cli_config   (spot_ctx *c, spot_config *cfg, const char *path);
spot_status cli_config_of(spot_ctx *c, spot_config *cfg, const char *text, size_t len, const char *path);

extern const char *cli_program;            /* argv[0], for commands in advice; "spotter" if a shell would need quotes */

extern volatile sig_atomic_t cli_stop;     /* the signal that asked the program to stop, or 0 */
void cli_stop_signals(sigset_t *set);      /* all signals that ask it to stop */

/* Raises the stop flag some seconds before a limit in seconds after cli_open, and returns the seconds until then; 0: there is
 * no limit. Called again, it takes the place of the call before. */
int cli_limit_time(int max_seconds);

/* gpus.c: starts a process of `spotter sweep` for each GPU of the list ("all", "0,1,3"), with its part of o's shard; argv:
 * this command's words. *sum gets the sums of the processes' counts, *code the worst of their exit codes. Fails if a process
 * cannot start. */
spot_status cli_gpus(spot_ctx *c, const char *list, const spot_sweep_options *o, const cli_machine *m, int argc, char **argv,
                     spot_sweep_report *sum, int *code);

/* The GPUs of such a list, without starting anything; the threads of each of n processes. */
spot_status cli_gpus_count(spot_ctx *c, const char *list, int *n);
int         cli_gpus_threads(const spot_ctx *c, const cli_machine *m, int n);

/* log.c: lines on stderr, and on a terminal the progress bar below them. */
void cli_log_open(bool json);
void cli_log_close(void);                                     /* erases the bar */
void cli_on_log(void *user, spot_log_level level, const char *text);
void cli_on_progress(void *user, const spot_progress *p);
void cli_progress_reset(void);                                /* begins a new bar */
void cli_complain(const char *id, const char *sentence);      /* an error, in the log's format */
bool cli_colorful(int fd);                                    /* fd is a terminal, and NO_COLOR and TERM allow colors */

/* inputs.c: the files of the rows, NULL of those not given; whether path names the same file as one of them. */
enum { CLI_INPUTS = 10 };
void cli_inputs(const char *list[CLI_INPUTS], const spot_subject_files *f);
bool cli_is_input(const spot_subject_files *f, const char *path);

/* progress.c: the finished share of a run, from the reports of its stages. */
typedef struct { double clock, share; } cli_progress_mark;
typedef struct {
    double total, done, within;     /* number of ECs, finished ECs, finished share of the current EC */
    double begin, part;             /* `within` at the begin of the current stage, and the finished share of the stage */
    cli_progress_mark first;        /* clock and share of the run at the first report; clock 0: none yet */
    cli_progress_mark since, later; /* at those from which the pace is taken now, and will be taken next */
    int ec;
    char stage[24], note[64];
} cli_progress;

void   cli_progress_update(cli_progress *k, const spot_progress *p);
double cli_progress_share(const cli_progress *k);                          /* finished share of the run, 0 to 1 */
double cli_progress_left(const cli_progress *k);                           /* seconds, NaN while it is too early to say */
void   cli_progress_line(const cli_progress *k, char *text, size_t size);  /* "38 %  EC 4  train epoch 3  2 min left" */

const char *cli_duration(char text[32], double seconds);               /* "3 min 20 s" into text; returns it */
const char *cli_memory(char text[32], double bytes);                   /* "5.6 MB", "3.10 GB" into text; returns it */

#endif
