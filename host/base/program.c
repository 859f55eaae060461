/* program.c - see program.h. Input, output and messages move in one place, pump(): so neither side can wait for the other
 * forever, whatever it writes or reads first. */
#define _GNU_SOURCE
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

enum { LINE = 1024, AHEAD = 1 << 16, TICK = 50 };      /* TICK: milliseconds between two looks at the clock and the stop flag */

struct spot_program {
    pid_t pid;                             /* also the number of its process group */
    int   in, out, err;                    /* -1: closed */
    char *command;
    spot_program_piece left[2];            /* input that is not yet written */
    char  ahead[AHEAD];                    /* output that nobody has taken: [at, at + have) */
    size_t at, have;
    char  line[LINE], last[LINE];          /* of standard error: the line that has not ended, the last that had words */
    size_t line_used;
};

extern char **environ;

/* -- start --------------------------------------------------------------------------------------------------------- */

/* A pipe whose ends are above the standard streams, even in a process that has closed those. */
static int open_pipe(int end[2])
{
    int low[2];

    if (pipe2(low, O_CLOEXEC)) return -1;
    for (int i = 0; i < 2; i++) {
        end[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
        close(low[i]);
    }
    return end[0] < 0 || end[1] < 0 ? -1 : 0;
}

static void close_end(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* SIGPIPE is ignored in the whole of spotter, and a program inherits that unless it is said. */
static int set_attributes(posix_spawnattr_t *a)
{
    sigset_t none, all;
    int error;

    sigemptyset(&none);
    sigfillset(&all);
    error = posix_spawnattr_setflags(a, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (!error) error = posix_spawnattr_setpgroup(a, 0);
    if (!error) error = posix_spawnattr_setsigdefault(a, &all);
    return error ? error : posix_spawnattr_setsigmask(a, &none);
}

static int set_files(posix_spawn_file_actions_t *f, const int child[3])
{
    int error = 0;

    for (int i = 0; i < 3 && !error; i++) error = posix_spawn_file_actions_adddup2(f, child[i], i);
    return error ? error : posix_spawn_file_actions_addclosefrom_np(f, 3);
}

/* Returns 0 or errno. */
static int spawn_shell(pid_t *pid, const char *command, const int child[3])
{
    char shell[] = "/bin/sh", option[] = "-c", *line = strdup(command), *words[] = { shell, option, line, NULL };
    posix_spawn_file_actions_t f;
    posix_spawnattr_t a;
    int error = line ? posix_spawn_file_actions_init(&f) : ENOMEM;

    if (error) {
        free(line);
        return error;
    }
    error = posix_spawnattr_init(&a);
    if (!error) {
        error = set_files(&f, child);
        if (!error) error = set_attributes(&a);
        if (!error) error = posix_spawn(pid, shell, &f, &a, words, environ);
        posix_spawnattr_destroy(&a);
    }
    posix_spawn_file_actions_destroy(&f);
    free(line);
    return error;
}

static spot_status start(spot_ctx *c, spot_program *p)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 }, error = 0;

    if (open_pipe(in) || open_pipe(out) || open_pipe(err)) error = errno;
    if (!error) error = spawn_shell(&p->pid, p->command, (int[]){ in[0], out[1], err[1] });
    close_end(&in[0]), close_end(&out[1]), close_end(&err[1]);
    p->in = in[1], p->out = out[0], p->err = err[0];
    for (int i = 0; i < 3 && !error; i++)
        if (fcntl((int[]){ p->in, p->out, p->err }[i], F_SETFL, O_NONBLOCK)) error = errno;
    if (!error) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{program.not_started} the program \"%.300s\" cannot be started: %s", p->command,
                     strerror(error));
}

spot_status spot_program_start(spot_ctx *c, spot_program **out, const char *command)
{
    spot_program *p = calloc(1, sizeof *p);
    spot_status s;

    *out = NULL;
    if (p) p->in = p->out = p->err = -1;
    if (p) p->command = strdup(command);
    if (!p || !p->command) {
        free(p);
        return spot_fail(c, SPOT_NOMEM, "no memory to start a program");
    }
    s = start(c, p);
    if (s) spot_program_end(c, p, 0);
    else *out = p;
    return s;
}

/* -- bytes in and out ---------------------------------------------------------------------------------------------- */

/* write() without SIGPIPE, in a process of which nothing is known: blocks the signal in this thread and takes it back. */
static ssize_t write_quietly(int fd, const void *bytes, size_t n)
{
    sigset_t broken, before, waiting;
    ssize_t done;
    int error;

    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&waiting);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    done = write(fd, bytes, n);
    error = errno;
    if (done < 0 && error == EPIPE && !sigismember(&waiting, SIGPIPE))
        while (sigtimedwait(&broken, NULL, &(struct timespec){ 0 }) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return done;
}

/* A program that has closed its input may still answer: what is left to write is dropped, its output decides. */
static void write_input(spot_program *p)
{
    spot_program_piece *l = p->left[0].n ? &p->left[0] : &p->left[1];
    ssize_t n = write_quietly(p->in, l->bytes, l->n);

    if (n >= 0) {
        l->bytes = (const char *)l->bytes + n;
        l->n -= (size_t)n;
    } else if (errno != EAGAIN && errno != EINTR) {
        p->left[0].n = p->left[1].n = 0;
        close_end(&p->in);
    }
}

/* An empty line is dropped. */
static void end_line(spot_ctx *c, spot_program *p)
{
    p->line[p->line_used] = 0;
    if (p->line[strspn(p->line, " \t")]) {
        memcpy(p->last, spot_plain(p->line), p->line_used + 1);
        spot_log(c, SPOT_LOG_INFO, "the program says: %s", p->last);
    }
    p->line_used = 0;
}

/* Reads what there is of its messages. A progress bar's lines end with '\r'. */
static void read_messages(spot_ctx *c, spot_program *p)
{
    char text[4096];
    ssize_t n = read(p->err, text, sizeof text);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    for (ssize_t i = 0; i < n; i++) {
        if (text[i] == '\n' || text[i] == '\r') end_line(c, p);
        else p->line[p->line_used++] = text[i];
        if (p->line_used == LINE - 1) end_line(c, p);
    }
    if (n > 0) return;
    if (p->line_used) end_line(c, p);
    close_end(&p->err);
}

/* Reads up to `room` bytes of output; 0: none are there, or there will be none, because p->out is closed. */
static size_t read_output(spot_program *p, void *into, size_t room)
{
    ssize_t n = read(p->out, into, room);

    if (n > 0) return (size_t)n;
    if (!n || (errno != EAGAIN && errno != EINTR)) close_end(&p->out);
    return 0;
}

/* Moves what can be moved, waiting at most `ms`. Returns the bytes of output that were read; *idle: nothing could be moved. */
static size_t pump(spot_ctx *c, spot_program *p, void *into, size_t room, int ms, bool *idle)
{
    const bool gives = p->in >= 0 && (p->left[0].n || p->left[1].n);
    struct pollfd at[3] = {
        { .fd = gives ? p->in : -1, .events = POLLOUT }, { .fd = room ? p->out : -1, .events = POLLIN },
        { .fd = p->err, .events = POLLIN },
    };

    *idle = poll(at, 3, ms) <= 0;
    if (*idle) return 0;
    if (at[2].revents) read_messages(c, p);
    if (at[0].revents) write_input(p);
    return at[1].revents ? read_output(p, into, room) : 0;
}

/* -- its end ------------------------------------------------------------------------------------------------------- */

/* Whether the shell has ended; it stays a zombie, so that no other process gets its number. */
static bool has_ended(const spot_program *p, siginfo_t *how)
{
    *how = (siginfo_t){ 0 };
    return !waitid(P_PID, (id_t)p->pid, how, WEXITED | WNOHANG | WNOWAIT) && how->si_pid == p->pid;
}

/* Waits for its end, while it may write. */
static bool wait_for_end(spot_ctx *c, spot_program *p, siginfo_t *how, double until)
{
    char dropped[4096];
    bool idle;

    while (!has_ended(p, how)) {
        if (spot_clock() >= until) return false;
        pump(c, p, dropped, p->out >= 0 ? sizeof dropped : 0, 2, &idle);
    }
    for (int i = 0; i < 64 && p->err >= 0; i++) {          /* its last words; a child of its may go on writing */
        pump(c, p, NULL, 0, 0, &idle);
        if (idle) break;
    }
    if (p->line_used) end_line(c, p);
    return true;
}

static const char *signal_name(int number)
{
    const char *name = sigdescr_np(number);

    return name ? name : "a real-time signal";
}

/* It gave no more output. */
static spot_status fail_ended(spot_ctx *c, spot_program *p)
{
    siginfo_t how;
    char what[64], words[400] = "it wrote nothing to standard error";
    bool ended = wait_for_end(c, p, &how, spot_clock() + 1);

    if (!ended) snprintf(what, sizeof what, "closed its standard output");
    else if (how.si_code == CLD_EXITED) snprintf(what, sizeof what, "ended with exit code %d", how.si_status);
    else snprintf(what, sizeof what, "was ended by signal %d (%s)", how.si_status, signal_name(how.si_status));
    if (p->last[0]) snprintf(words, sizeof words, "its last line on standard error: %.350s", p->last);
    return spot_fail(c, SPOT_INPUT, "{program.ended} the program \"%.300s\" %s before its answer was complete; %s", p->command,
                     what, words);
}

void spot_program_end(spot_ctx *c, spot_program *p, double grace)
{
    siginfo_t how;

    if (!p) return;
    close_end(&p->in);
    if (p->pid > 0) {
        wait_for_end(c, p, &how, spot_clock() + grace);
        kill(-p->pid, SIGKILL);                            /* also what it has left behind */
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    close_end(&p->out);
    close_end(&p->err);
    free(p->command);
    free(p);
}

/* -- giving and taking --------------------------------------------------------------------------------------------- */

void spot_program_give(spot_program *p, spot_program_piece first, spot_program_piece second)
{
    p->left[0] = first;
    p->left[1] = second;
}

static spot_status fail_late(spot_ctx *c, const spot_program *p)
{
    return spot_fail(c, SPOT_INPUT,
                     "{program.too_slow} the program \"%.300s\" was too slow: %s in the time that it has%s%.350s", p->command,
                     p->left[0].n || p->left[1].n ? "it has not read its input" : "its answer is not complete",
                     p->last[0] ? "; its last line on standard error: " : "", p->last);
}

/* Says after an idle moment whether to go on waiting, or why not. *quiet: when it began to be idle; 0: it was not. */
static spot_status judge_idle(spot_ctx *c, spot_program *p, bool idle, double *quiet, double until)
{
    const double now = spot_clock();
    siginfo_t how;

    SPOT_TRY(spot_check_stop(c));
    if (now >= until) return fail_late(c, p);
    if (!idle) *quiet = 0;
    else if (!*quiet) *quiet = now;
    /* A child of its that holds the pipe would keep us waiting for an answer that nobody writes. */
    return *quiet && now > *quiet + 0.5 && has_ended(p, &how) ? fail_ended(c, p) : SPOT_OK;
}

spot_status spot_program_take(spot_ctx *c, spot_program *p, void *out, size_t n, double until)
{
    char *to = out;
    double quiet = 0;
    bool idle = false;

    while (n) {
        size_t got = p->have < n ? p->have : n;
        if (got) {
            memcpy(to, p->ahead + p->at, got);
            p->at += got;
            p->have -= got;
        } else {
            if (p->out < 0) return fail_ended(c, p);
            SPOT_TRY(judge_idle(c, p, idle, &quiet, until));
            got = pump(c, p, to, n, TICK, &idle);
        }
        to += got;
        n -= got;
    }
    return SPOT_OK;
}

/* Output that comes meanwhile is kept, as far as there is room. */
static size_t pump_ahead(spot_ctx *c, spot_program *p, int ms, bool *idle)
{
    size_t got;

    if (p->at) memmove(p->ahead, p->ahead + p->at, p->have);
    p->at = 0;
    got = pump(c, p, p->ahead + p->have, p->out < 0 ? 0 : AHEAD - p->have, ms, idle);
    p->have += got;
    return got;
}

spot_status spot_program_settle(spot_ctx *c, spot_program *p, double until)
{
    double quiet = 0;
    bool idle = false;
    char text[80];

    pump_ahead(c, p, 0, &idle);
    while (p->left[0].n || p->left[1].n) {
        if (p->have) break;
        SPOT_TRY(judge_idle(c, p, idle, &quiet, until));
        pump_ahead(c, p, TICK, &idle);
    }
    if (!p->have) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{program.too_much} the program \"%.300s\" wrote more than its answer: %s", p->command,
                     spot_program_ahead(p, text, sizeof text));
}

const char *spot_program_ahead(spot_program *p, char *text, size_t size)
{
    bool idle;
    size_t n;

    if (p->out >= 0 && p->have < AHEAD) pump_ahead(&(spot_ctx){ 0 }, p, 0, &idle);
    n = p->have < size - 1 ? p->have : size - 1;
    memcpy(text, p->ahead + p->at, n);
    text[n] = 0;
    return spot_plain(text);
}
