/* main.c - the program: finds the command and hands over. */
#define _DEFAULT_SOURCE 1                      /* on_exit */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/room.h"
#include "cli/cli.h"
#include "config/config_table.h"
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

/* Whatever a command printed must have reached its reader or disk. A reader that has left (| head) needs no sentence. Under a
 * limit on addresses OpenBLAS may wait for ever, at its own exit, for a thread that gets no memory: it is not asked. */
static void flush_or_fail(int code, void *unused)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
    bool whole = !fflush(stdout) && !ferror(stdout);

    (void)unused;
    if (whole && spot_room_of_addresses() != SIZE_MAX) _exit(code);
    if (whole) return;
    if (poll(&out, 1, 0) < 1 || !(out.revents & POLLERR)) cli_complain("could not write the output; is the disk full?");
    _Exit(spot_exit_code(SPOT_IO));
}

/* ---- before a command runs ---- */

/* Kernels hold tiles of some 500 kB on the stack, and libraries hold some of their own. */
#define LEAST_STACK ((size_t)2 << 20)

/* How large the main thread's stack may grow. Raised where the limit is not a hard one. */
static size_t stack_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= LEAST_STACK) return SIZE_MAX;
    if (limit.rlim_max < LEAST_STACK) return (size_t)limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < 4 * LEAST_STACK ? limit.rlim_max : 4 * LEAST_STACK;
    return setrlimit(RLIMIT_STACK, &limit) ? 0 : SIZE_MAX;
}

/* The stack of the other threads, as libgomp reads it: "512k", "2 M", kilobytes without a letter; else as the main thread's. */
static size_t thread_stack(void)
{
    const char *text = getenv("OMP_STACKSIZE");
    struct rlimit limit;
    double size;
    char unit = 'k';

    if (!text) text = getenv("GOMP_STACKSIZE");
    if (!text || sscanf(text, "%lf %c", &size, &unit) < 1)
        return getrlimit(RLIMIT_STACK, &limit) ? SIZE_MAX : (size_t)limit.rlim_cur;
    for (const char *letter = "bkmg"; *letter && (unit | 32) != *letter; letter++) size *= 1024;
    return size < (double)LEAST_STACK ? (size_t)size : SIZE_MAX;
}

/* A thread that has nothing to do for a moment waits for its team by spinning. Where others compute on the same cores
 * it spins in their time and they in its: training was 4 to 25 times slower beside one other program. libgomp reads how
 * long to spin (here some microseconds, then sleep), and how large the stacks of its threads are, only before main: the program
 * starts once more. */
static void start_again(char **argv)
{
    bool again = thread_stack() < LEAST_STACK && !setenv("OMP_STACKSIZE", "2M", 1);

    if (!getenv("GOMP_SPINCOUNT") && !getenv("OMP_WAIT_POLICY")) again |= !setenv("GOMP_SPINCOUNT", "3000", 1);
    if (again) execv("/proc/self/exe", argv);              /* without /proc it goes on as it is */
}

typedef struct { int argc, code; char **argv; } call;

static void *answer(void *user)
{
    call *k = user;
    const char *word = k->argc > 1 ? k->argv[1] : NULL;

    if (!word) {
        print_help(stderr);
        k->code = spot_exit_code(SPOT_USAGE);
    }
    else if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h")) k->code = help(k->argc, k->argv);
    else if (!strcmp(word, "--version") || !strcmp(word, "version")) print_version();
    else k->code = run(word, k->argc - 1, k->argv + 1);
    return NULL;
}

/* Where the main thread may not have the stack that is needed, a thread of our own may. It alone hears signals. */
static void answer_on_a_stack_of_its_own(call *k)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all;
    bool good = !pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, 4 * LEAST_STACK);

    if (!good || pthread_create(&thread, &attr, answer, k)) {
        cli_complain("the limit on the stack (ulimit -s) is below 2 MB, and there is no memory for a larger one; raise it");
        k->code = spot_exit_code(SPOT_NOMEM);
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    bool small = stack_limit() < LEAST_STACK;
    call k = { argc, 0, argv };

    start_again(argv);
    on_exit(flush_or_fail, NULL);
    if (small) answer_on_a_stack_of_its_own(&k);
    else answer(&k);
    return k.code;
}
