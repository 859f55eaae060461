/* main.c - the program: finds the command and hands over. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "config/config_table.h"
#include "core/ops.h"

const cli_command *const cli_commands[] = {
#define X(name) &cli_##name##_command,
    CLI_COMMANDS(X)
#undef X
    NULL
};

static void print_help(FILE *f)
{
    fputs("Usage: spotter COMMAND [OPTION...]\n\n"
          "Examples:\n"
          "  spotter sweep configs/quickstart.yaml --out runs/quickstart\n"
          "  spotter tables runs/quickstart\n"
          "  spotter discover --embeddings e.npy --labels y.npy --probs p.npy --out found\n"
          "  spotter report found -o found.html\n\n"
          "Spotter plants known blindspots in image classifiers and measures which\n"
          "discovery methods find them. It also finds the blindspots of your own\n"
          "classifier.\n\n"
          "Commands:\n", f);
    for (const cli_command *const *k = cli_commands; *k; k++) fprintf(f, "  %-8s  %s\n", (*k)->name, (*k)->summary);
    fputs("  help      options of a COMMAND; `spotter help config`: all settings of a config\n\n"
          "Results go to stdout, everything else to stderr.\n"
          "Exit codes: 0 done; 1 a check failed; 2 usage or config; 3 bad input; 4 files;\n"
          "5 device; 6 memory; 75 stopped early and saved: run the same command again.\n", f);
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

    for (const cli_command *const *k = cli_commands; *k; k++) names[n++] = (*k)->name;
    names[n] = NULL;
    near = spot_nearest(word, names);
    if (near) fprintf(stderr, "spotter: there is no command \"%s\"; did you mean \"%s\"?\n", word, near);
    else fprintf(stderr, "spotter: there is no command \"%s\"; `spotter --help` lists them\n", word);
    return spot_exit_code(SPOT_USAGE);
}

static int run(const char *name, int argc, char **argv)
{
    char title[32];

    for (const cli_command *const *k = cli_commands; *k; k++)
        if (!strcmp((*k)->name, name)) {
            snprintf(title, sizeof title, "spotter %s", name);
            argv[0] = title;
            return (*k)->run(argc, argv);
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

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-"     /* means itself in a shell */

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;

    wait_briefly(argv);
    if (argc && *argv[0] && !argv[0][strspn(argv[0], PLAIN)]) cli_program = argv[0];
    atexit(flush_or_fail);
    if (!word) return print_help(stderr), spot_exit_code(SPOT_USAGE);
    if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h")) return help(argc, argv);
    if (!strcmp(word, "--version") || !strcmp(word, "version")) return print_version(), 0;
    return run(word, argc - 1, argv + 1);
}
