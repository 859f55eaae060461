/* main.c - the program: finds the command and hands over. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "core/ops.h"

const cli_command cli_commands[] = {
    { "accept", "RUN -o BASELINE",  "a run as the baseline of the nightly verdict",            cli_accept },
    { "assign", "DIR --out FILE",   "new rows into the slices that discover found",            cli_assign },
    { "bench",  "[OP]",             "check the kernels, then time them",                       cli_bench },
    { "check",  "BASELINE RUN",     "the nightly verdict: same, worse, better, broken",        cli_check },
    { "discover", "--out DIR",      "the blindspots of a classifier that you bring",           cli_discover },
    { "figures", "DIR -o FOLDER",   "Figures 2, 3 and 4 of the paper with a run's numbers",    cli_figures },
    { "merge",  "DIR... --out DIR", "the results of shards in one directory; lists what is missing", cli_merge },
    { "plan",   "CONFIG",           "what a sweep will do: ECs, memory and time",              cli_plan },
    { "report", "DIR -o FILE",      "a run as one HTML file, with the map of every EC",        cli_report },
    { "scene",  "CONFIG --out DIR", "images of an EC as PNG, what is in them as JSON Lines",   cli_scene },
    { "status", "DIR",              "how the shards of a run stand, and what to do about it",  cli_status },
    { "sweep",  "CONFIG --out DIR", "render, train, discover and score; goes on where it was", cli_sweep },
    { "tables", "DIR",              "DR and FDR of a run",                                     cli_tables },
    { "view",   "DIR --ec N",       "features, confidences and truth of an EC, for programs",  cli_view },
    { NULL }
};

static void print_help(FILE *f)
{
    fputs("Spotter plants known blindspots in image classifiers and measures which discovery methods find them.\n\n"
          "  spotter sweep configs/quickstart.yaml --out runs/quickstart    two data sets, minutes on a CPU\n"
          "  spotter tables runs/quickstart                                 how many blindspots were found\n"
          "  spotter plan configs/paper_synthetic.yaml                      what it would take\n"
          "  spotter scene configs/quickstart.yaml --ec 0 --out images      look at the images\n\n"
          "Commands:\n", f);
    for (const cli_command *k = cli_commands; k->name; k++)
        fprintf(f, "  %-8s %-17s %s\n", k->name, k->args, k->help);
    fputs("  help     COMMAND|config    options of a command; every setting of a config\n\n"
          "Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 a check failed, 2 usage or config,\n"
          "3 bad input, 4 files, 5 device, 6 memory, 75 stopped early and saved: run the same command again.\n", f);
}

static void print_version(void)
{
    printf("spotter %s, numbers %d, devices: cpu, cuda where libspotter_cuda.so and a GPU are there\n",
           SPOT_VERSION, SPOT_NUMBERS);
}

static int complain_of(const char *word)
{
    const char *names[32] = { "help", "--help", "--version" }, *near;
    int n = 3;

    for (const cli_command *k = cli_commands; k->name; k++) names[n++] = k->name;
    names[n] = NULL;
    near = spot_nearest(word, names);
    if (near) fprintf(stderr, "spotter: there is no command \"%s\"; did you mean \"%s\"?\n", word, near);
    else fprintf(stderr, "spotter: there is no command \"%s\"; `spotter --help` lists them\n", word);
    return spot_exit_code(SPOT_USAGE);
}

static int run(const char *name, int argc, char **argv)
{
    char title[32];

    for (const cli_command *k = cli_commands; k->name; k++)
        if (!strcmp(k->name, name)) {
            snprintf(title, sizeof title, "spotter %s", k->name);
            argv[0] = title;
            return k->run(argc, argv);
        }
    return complain_of(name);
}

static int help(int argc, char **argv)
{
    char option[] = "--help", *shown[] = { NULL, option, NULL };

    if (argc < 3 || !strcmp(argv[2], "help")) print_help(stdout);
    else if (!strcmp(argv[2], "config")) spot_config_document(stdout);
    else return run(argv[2], 2, shown);
    return 0;
}

/* Whatever a command printed must have reached its reader or disk. A reader that has left (| head) needs no sentence. */
static void flush_or_fail(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

    if (!fflush(stdout) && !ferror(stdout)) return;
    if (poll(&out, 1, 0) < 1 || !(out.revents & POLLERR)) cli_complain("could not write the output; is the disk full?");
    _Exit(spot_exit_code(SPOT_IO));
}

/* A thread that has nothing to do for a moment waits for its team by spinning. Where others compute on the same cores
 * it spins in their time and they in its: training was 4 to 25 times slower beside one other program. libgomp reads how
 * long to spin (here some microseconds, then sleep) only before main, so the program starts once more. */
static void wait_briefly(char **argv)
{
    if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY")) return;
    if (!setenv("GOMP_SPINCOUNT", "3000", 1)) execv("/proc/self/exe", argv);     /* without /proc it goes on as it is */
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;

    wait_briefly(argv);
    atexit(flush_or_fail);
    if (!word) return print_help(stderr), spot_exit_code(SPOT_USAGE);
    if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h")) return help(argc, argv);
    if (!strcmp(word, "--version") || !strcmp(word, "version")) return print_version(), 0;
    return run(word, argc - 1, argv + 1);
}
