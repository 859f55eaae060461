/* gpus.c - spotter sweep --gpus: a process for each GPU, with its part of the shard; one log and one exit code for all.
 *
 * Processes share only the run directory, as on several nodes: if one fails, the others continue. Each process sees only its
 * own GPU (CUDA_VISIBLE_DEVICES). */
#define _GNU_SOURCE                    /* pipe2, ppoll */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json_tree.h"
#include "cli/cli.h"
#include "core/device.h"
#include "spotter/sweep.h"

enum { MOST = 64, LINE = 4096, RESULT = 4096 };

typedef struct {
    int   gpu;
    char  device[64];          /* CUDA_VISIBLE_DEVICES of the process */
    pid_t pid;
    int   err, out;            /* ends of pipes; -1: closed */
    char  line[LINE];          /* incomplete line of stderr */
    char  result[RESULT];      /* stdout: the object of --json */
    int   line_used, result_used;
} child;

/* ---- the list of GPUs ---- */

static spot_status parse_list(spot_ctx *c, const char *list, int *gpu, int *n)
{
    if (!strcmp(list, "all")) {
        spot_status s = spot_device_count(c, n);
        if (*n > MOST) *n = MOST;
        for (int i = 0; i < *n; i++) gpu[i] = i;
        if (s == SPOT_OK) return s;
        return spot_fail(c, SPOT_USAGE, "--gpus all: no GPU found: %.900s", spot_take_message(c, s));
    }
    for (*n = 0; *n < MOST; list++) {
        char *end;
        long k = strtol(list, &end, 10);
        if (end == list || k < 0 || k >= MOST || (*end && *end != ',')) break;
        for (int i = 0; i < *n; i++)
            if (gpu[i] == k) return spot_fail(c, SPOT_USAGE, "--gpus names GPU %ld twice", k);
        gpu[(*n)++] = (int)k;
        if (!*end) return SPOT_OK;
        list = end;
    }
    return spot_fail(c, SPOT_USAGE, "--gpus takes all, or numbers of GPUs, such as 0,1,3");
}

spot_status cli_gpus_count(spot_ctx *c, const char *list, int *n)
{
    int gpu[MOST];

    return parse_list(c, list, gpu, n);
}

/* The value of CUDA_VISIBLE_DEVICES that shows only the k-th of the GPUs visible now; false if there are fewer. */
static bool name_visible_gpu(char *text, size_t size, int k)
{
    const char *now = getenv("CUDA_VISIBLE_DEVICES");

    if (!now) return snprintf(text, size, "%d", k) > 0;
    for (; k; k--) {
        now += strcspn(now, ",");
        if (*now++ != ',') return false;
    }
    snprintf(text, size, "%.*s", (int)strcspn(now, ","), now);
    return *text;
}

/* ---- the processes ---- */

/* This command's words, then `more`: of two equal options the last counts. NULL without memory. */
static char **words_of(int argc, char **argv, const char *const *more, int n)
{
    char **words = calloc((size_t)(argc + n + 3), sizeof *words);
    static char program[] = "spotter", command[] = "sweep";
    int k = 0, i;

    if (!words) return NULL;
    words[k++] = program;
    words[k++] = command;
    for (i = 1; i < argc && strcmp(argv[i], "--"); i++) words[k++] = argv[i];
    for (int m = 0; m < n; m++) words[k++] = (char *)(uintptr_t)more[m];
    for (; i < argc; i++) words[k++] = argv[i];
    return words;
}

/* Runs in the child, between fork and exec. Signals stay blocked until the new program handles them (cli.c): none ends it
 * before. */
static void exec_spotter(char **words, const char *device, pid_t parent, int out, int err)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(spot_exit_code(SPOT_STOPPED));
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    setenv("CUDA_VISIBLE_DEVICES", device, 1);
    execv("/proc/self/exe", words);
    dprintf(STDERR_FILENO, "spotter: cannot start itself again from /proc/self/exe: %s\n", strerror(errno));
    _exit(spot_exit_code(SPOT_IO));
}

static spot_status start_process(spot_ctx *c, child *k, char **words)
{
    int out[2], err[2];
    pid_t parent = getpid();

    k->out = k->err = -1;
    if (pipe2(out, O_CLOEXEC)) return spot_fail(c, SPOT_IO, "cannot make a pipe: %s", strerror(errno));
    if (pipe2(err, O_CLOEXEC)) {
        close(out[0]);
        close(out[1]);
        return spot_fail(c, SPOT_IO, "cannot make a pipe: %s", strerror(errno));
    }
    k->pid = fork();
    if (!k->pid) exec_spotter(words, k->device, parent, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    k->out = out[0];
    k->err = err[0];
    return k->pid > 0 ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "cannot start a process for GPU %d: %s", k->gpu, strerror(errno));
}

/* ---- output and end of the processes ---- */

static void read_log(child *k, bool json)
{
    ssize_t n = read(k->err, k->line + k->line_used, (size_t)(LINE - k->line_used));
    char *end;

    if (n > 0) k->line_used += (int)n;
    while ((end = memchr(k->line, '\n', (size_t)k->line_used)) || k->line_used == LINE || (n <= 0 && k->line_used)) {
        int used = end ? (int)(end - k->line) : k->line_used, past = used + (end != NULL);
        if (!json) fprintf(stderr, "[gpu %d] ", k->gpu);
        fprintf(stderr, "%.*s\n", used, k->line);
        memmove(k->line, k->line + past, (size_t)(k->line_used -= past));
    }
    if (n > 0 || (n < 0 && errno == EINTR)) return;
    close(k->err);
    k->err = -1;
}

static void read_result(child *k)
{
    char rest[256];
    bool room = k->result_used < RESULT - 1;
    ssize_t n = room ? read(k->out, k->result + k->result_used, (size_t)(RESULT - 1 - k->result_used))
                     : read(k->out, rest, sizeof rest);

    if (n > 0 && room) k->result_used += (int)n;
    if (n > 0 || (n < 0 && errno == EINTR)) return;
    close(k->out);
    k->out = -1;
}

/* Reads all output until every pipe is closed; sends a stop request to all processes. */
static void read_output(child *k, int n, const sigset_t *open, bool json)
{
    struct pollfd at[2 * MOST];
    int sent = 0;

    for (;;) {
        bool any = false;
        for (int i = 0; i < n; i++) {
            at[2 * i] = (struct pollfd){ .fd = k[i].err, .events = POLLIN };
            at[2 * i + 1] = (struct pollfd){ .fd = k[i].out, .events = POLLIN };
            any = any || k[i].err >= 0 || k[i].out >= 0;
        }
        if (!any) return;
        if (cli_stop && sent != cli_stop)
            for (int i = 0; i < n; i++)
                if (k[i].pid > 0) kill(k[i].pid, SIGTERM);
        sent = cli_stop;
        if (ppoll(at, (nfds_t)(2 * n), NULL, open) < 0) continue;
        for (int i = 0; i < n; i++) {
            if (at[2 * i].revents) read_log(&k[i], json);
            if (at[2 * i + 1].revents) read_result(&k[i]);
        }
    }
}

static void add_result(spot_sweep_report *sum, const child *k)
{
    spot_json j = { .depth = 1 };
    spot_sweep_report r = { 0 };

    j.at[0] = spot_tree_parse(k->result, (size_t)k->result_used, NULL, 0);
    spot_json_int(&j, "planned", &r.planned);
    spot_json_int(&j, "already", &r.already);
    spot_json_int(&j, "done", &r.done);
    spot_json_int(&j, "failed", &r.failed);
    spot_json_int(&j, "not_learned", &r.not_learned);
    yajl_tree_free(j.at[0]);
    sum->planned += r.planned;
    sum->already += r.already;
    sum->done += r.done;
    sum->failed += r.failed;
    sum->not_learned += r.not_learned;
}

/* The worse of two exit codes: a failure is worse than "run the command again", which is worse than done. */
static int worse_code(int a, int b)
{
    int stopped = spot_exit_code(SPOT_STOPPED);

    if (!a || !b) return a ? a : b;
    if (a == stopped || b == stopped) return a == stopped ? b : a;
    return a > b ? a : b;
}

static int wait_for_code(pid_t pid)
{
    int how;

    while (waitpid(pid, &how, 0) < 0 && errno == EINTR) { }
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

int cli_gpus_threads(const spot_ctx *c, const cli_machine *m, int n)
{
    return m->threads ? m->threads : c->threads > n ? c->threads / n : 1;
}

static spot_status start_all(spot_ctx *c, child *k, int n, const spot_sweep_options *o, const cli_machine *m, int argc,
                             char **argv)
{
    spot_status s = SPOT_OK;

    for (int i = 0; i < n && s == SPOT_OK; i++) {
        char shard[48], threads[16];
        const char *more[] = { "--gpus", "none", "--json", "--shared", "--shard", shard, "--threads", threads,
                               "--device", m->device };
        char **words = words_of(argc, argv, more, (int)(sizeof more / sizeof *more));
        snprintf(shard, sizeof shard, "%d/%d", o->place.shard * n + i, o->place.shards * n);
        snprintf(threads, sizeof threads, "%d", cli_gpus_threads(c, m, n));
        if (!words) return spot_fail(c, SPOT_NOMEM, "no memory to start processes");
        s = start_process(c, &k[i], words);
        free(words);
    }
    return s;
}

spot_status cli_gpus(spot_ctx *c, const char *list, const spot_sweep_options *o, const cli_machine *m, int argc, char **argv,
                     spot_sweep_report *sum, int *code)
{
    int gpu[MOST], n;
    sigset_t stop, open;
    spot_status s = SPOT_OK;
    child *k;

    SPOT_TRY(parse_list(c, list, gpu, &n));
    k = calloc((size_t)n, sizeof *k);
    if (!k) return spot_fail(c, SPOT_NOMEM, "no memory to start %d processes", n);
    for (int i = 0; i < n; i++) k[i] = (child){ .gpu = gpu[i], .pid = -1, .out = -1, .err = -1 };
    for (int i = 0; i < n && s == SPOT_OK; i++)
        if (!name_visible_gpu(k[i].device, sizeof k[i].device, gpu[i]))
            s = spot_fail(c, SPOT_USAGE, "--gpus names GPU %d, but CUDA_VISIBLE_DEVICES shows fewer", gpu[i]);
    cli_stop_signals(&stop);
    sigprocmask(SIG_BLOCK, &stop, &open);
    if (s == SPOT_OK) s = start_all(c, k, n, o, m, argc, argv);
    if (s != SPOT_OK) cli_stop = SIGTERM;              /* the processes that run must end */
    read_output(k, n, &open, m->log_json);
    for (int i = 0; i < n; i++) {
        if (k[i].pid > 0) *code = worse_code(*code, wait_for_code(k[i].pid));
        add_result(sum, &k[i]);
    }
    sigprocmask(SIG_SETMASK, &open, NULL);
    free(k);
    return s;
}
