/* main.c - the program: finds the command and runs it. */
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
#include "base/platform.h"
#include "base/room.h"
#include "cli/cli.h"
#include "cli/embedded.h"
#include "spotter/background.h"
#include "spotter/examine.h"
#include "spotter/shifts.h"

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
          "  spotter demo\n"
          "  spotter sweep configs/quickstart.yaml --out runs/quickstart\n"
          "  spotter tables runs/quickstart\n"
          "  spotter discover --embeddings e.npy --labels y.npy --probs p.npy --out found\n"
          "  spotter report found -o found.html\n\n"
          "Spotter plants known blindspots in image classifiers and measures which\n"
          "discovery methods find them. It also finds the blindspots of your own\n"
          "classifier, and measures what distribution shifts and backgrounds cost it.\n\n"
          "Commands:\n", f);
    for (const cli_command *const *k = cli_commands; *k; k++) fprintf(f, "  %-10s  %s\n", (*k)->name, (*k)->summary);
    fputs("  help        options of a COMMAND; `spotter help config`: every setting of a sweep;\n"
          "              `spotter help config shifts`, `... background`, `... examine`: of these studies;\n"
          "              `spotter help programs`: for programs that call this one; `spotter help schema`,\n"
          "              `... schema json`: JSON Schemas of slices.json and of the object that --json prints\n\n"
          "Results go to stdout, everything else to stderr.\n"
          "Exit codes: 0 done; 1 a check failed; 2 usage or config; 3 bad input; 4 files;\n"
          "5 device; 6 memory; 75 stopped early and saved: run the same command again.\n", f);
}

static int reject_command(const char *word)
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

static int run_command(const char *name, int argc, char **argv)
{
    char title[32];

    for (const cli_command *const *k = cli_commands; *k; k++)
        if (!strcmp((*k)->name, name)) {
            snprintf(title, sizeof title, "spotter %s", name);
            argv[0] = title;
            return cli_run(*k, argc, argv);
        }
    return reject_command(name);
}

static int help(int argc, char **argv)
{
    char option[] = "--help", *shown[] = { NULL, option, NULL };

    if (argc < 3 || !strcmp(argv[2], "help")) print_help(stdout);
    else if (!strcmp(argv[2], "config") && argc > 3 && !strcmp(argv[3], "shifts")) spot_shifts_document(stdout);
    else if (!strcmp(argv[2], "config") && argc > 3 && !strcmp(argv[3], "background")) spot_background_document(stdout);
    else if (!strcmp(argv[2], "config") && argc > 3 && !strcmp(argv[3], "examine")) spot_examine_document(stdout);
    else if (!strcmp(argv[2], "config")) spot_config_document(stdout);
    else if (!strcmp(argv[2], "programs")) fputs((const char *)cli_programs, stdout);
    else if (!strcmp(argv[2], "schema") && argc > 3 && !strcmp(argv[3], "json")) fputs((const char *)cli_json_schema, stdout);
    else if (!strcmp(argv[2], "schema")) fputs((const char *)cli_slices_schema, stdout);
    else return run_command(argv[2], 2, shown);
    return 0;
}

/* Everything that a command printed must reach its reader or disk. A reader that has ended (| head) gets no sentence. Under a
 * limit on addresses, OpenBLAS may wait forever at exit for a thread that gets no memory: _exit skips its exit functions. */
static void flush_or_fail(int code, void *unused)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
    bool whole = !fflush(stdout) && !ferror(stdout);

    (void)unused;
    if (whole && spot_room_of_addresses() != SIZE_MAX) _exit(code);
    if (whole) return;
    if (poll(&out, 1, 0) < 1 || !(out.revents & POLLERR))
        cli_complain("output.unwritten", "could not write the output; is the disk full?");
    _Exit(spot_exit_code(SPOT_IO));
}

/* ---- before a command runs ---- */

/* Kernels hold tiles of about 500 kB on the stack; libraries need more. */
#define LEAST_STACK ((size_t)2 << 20)

/* Largest size of the main thread's stack. Raises a soft limit that is too low. */
static size_t stack_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= LEAST_STACK) return SIZE_MAX;
    if (limit.rlim_max < LEAST_STACK) return (size_t)limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < 4 * LEAST_STACK ? limit.rlim_max : 4 * LEAST_STACK;
    return setrlimit(RLIMIT_STACK, &limit) ? 0 : SIZE_MAX;
}

/* The stack of the other threads, as libgomp reads it: "512k", "2 M", kilobytes without a letter; default: the main
 * thread's. */
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

/* OpenBLAS' own threads, which this program never uses, would each take 128 MB of addresses before main. "01" means 1 to
 * OpenBLAS, and to this program that it wrote the value itself: programs that it starts do not inherit it. */
#define ONE "01"

/* An idle OpenMP thread waits for its team by spinning. If another program computes on the same cores, each spins in the
 * other's time: training was 4 to 25 times slower. libgomp reads the spin count (here some microseconds, then sleep) and the
 * size of its threads' stacks only before main, as OpenBLAS reads its number of threads: the program starts itself again. */
static void start_again(char **argv)
{
    const char *blas = getenv("OPENBLAS_NUM_THREADS");
    bool again = thread_stack() < LEAST_STACK && !setenv("OMP_STACKSIZE", "2M", 1);

    if (!getenv("GOMP_SPINCOUNT") && !getenv("OMP_WAIT_POLICY")) again |= !setenv("GOMP_SPINCOUNT", "3000", 1);
    if (blas && !strcmp(blas, ONE)) unsetenv("OPENBLAS_NUM_THREADS");
    else if (!blas) again |= !setenv("OPENBLAS_NUM_THREADS", ONE, 1);
    if (again) execv("/proc/self/exe", argv);              /* without /proc: continues with the old settings */
}

typedef struct { int argc, code; char **argv; } call;

static void *answer_call(void *user)
{
    call *k = user;
    const char *word = k->argc > 1 ? k->argv[1] : NULL;

    if (!word) {
        print_help(stderr);
        k->code = spot_exit_code(SPOT_USAGE);
    }
    else if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h")) k->code = help(k->argc, k->argv);
    else if (!strcmp(word, "--version") || !strcmp(word, "version"))
        printf("spotter %s, numbers %d, devices: cpu, cuda where libspotter_cuda.so and a GPU are there\n", spot_made_by(),
               SPOT_NUMBERS);
    else k->code = run_command(word, k->argc - 1, k->argv + 1);
    return NULL;
}

/* Runs the command on a thread with a larger stack than the main thread's. Only that thread receives signals. */
static void answer_on_large_stack(call *k)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all;
    bool good = !pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, 4 * LEAST_STACK);

    if (!good || pthread_create(&thread, &attr, answer_call, k)) {
        cli_complain("memory.stack",
                     "the limit on the stack (ulimit -s) is below 2 MB, and there is no memory for a larger one; raise it");
        k->code = spot_exit_code(SPOT_NOMEM);
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_join(thread, NULL);
}

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-"     /* means itself in a shell */

int main(int argc, char **argv)
{
    bool small = stack_limit() < LEAST_STACK;
    call k = { argc, 0, argv };

    start_again(argv);
    if (argc && *argv[0] && !argv[0][strspn(argv[0], PLAIN)]) cli_program = argv[0];
    on_exit(flush_or_fail, NULL);
    if (small) answer_on_large_stack(&k);
    else answer_call(&k);
    return k.code;
}
