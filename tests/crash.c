/* crash.c - see crash.h. */
#define _GNU_SOURCE
#include "crash.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HANGS_AFTER = 60 };

char crash_home[64];
static crash_process *me;

void crash_one_thread(char **argv)
{
    if (getenv("OMP_NUM_THREADS") && getenv("OPENBLAS_NUM_THREADS")) return;
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
}

void crash_open(const char *name)
{
    snprintf(crash_home, sizeof crash_home, "%s/spot_%s_XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", name);
    if (!mkdtemp(crash_home)) abort();
}

void crash_close(void) { crash_remove(crash_home); }

void *crash_share(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) abort();
    return p;
}

void crash_new_disk(void)
{
    char disk[CRASH_PATH];

    crash_remove(crash_path(disk, "disk"));
    faults_disk(disk);
    if (mkdir(disk, 0777)) abort();
}

/* -- processes ---------------------------------------------------------------------------------------------------- */

/* The calls go by their numbers: those of faults.c count. */
static void wait_for_turn(void)
{
    char byte = 0;
    long got;

    syscall(SYS_write, me->told[1], &byte, 1);
    do got = syscall(SYS_read, me->wake[0], &byte, 1); while (got < 0 && errno == EINTR);
    if (got != 1) _exit(1);                    /* the test is gone */
}

static void take_turn(fault_class k, const char *path)
{
    (void)k, (void)path;
    if (--me->calls <= 0) wait_for_turn();
}

static void live(crash_process *p, int (*body)(crash_process *p))
{
    static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS };
    long before = faults_live();
    int code;

    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);      /* cmocka would go on */
    close(p->wake[1]), close(p->told[0]);
    me = p;
    alarm(HANGS_AFTER);
    wait_for_turn();
    faults_pause = take_turn;
    faults_now = &p->plan;
    code = body(p);
    faults_now = NULL;
    p->leaked = faults_live() - before;
    p->open_files = faults_open_files();
    fflush(stdout);
    _exit(code);
}

void crash_begin(crash_process *p, int (*body)(crash_process *p))
{
    pid_t pid;

    fflush(stdout);
    fflush(stderr);
    p->leaked = p->open_files = 0;
    p->alive = true;
    if (pipe(p->wake) || pipe(p->told)) abort();
    pid = fork();
    if (pid < 0) abort();
    if (!pid) live(p, body);
    p->pid = pid;
    close(p->wake[0]), close(p->told[1]);
    if (read(p->told[0], &(char){ 0 }, 1) != 1) abort();
}

static void bury(crash_process *p)
{
    waitpid(p->pid, &p->end, 0);
    close(p->wake[1]), close(p->told[0]);
    p->alive = false;
}

bool crash_advance(crash_process *p, long calls)
{
    char byte = 0;

    p->calls = calls;
    if (write(p->wake[1], &byte, 1) != 1) abort();
    if (read(p->told[0], &byte, 1) != 1) bury(p);      /* at its end the pipe is closed */
    return p->alive;
}

void crash_kill(crash_process *p)
{
    kill(p->pid, SIGKILL);
    bury(p);
}

int crash_run(crash_process *p, int (*body)(crash_process *p))
{
    crash_begin(p, body);
    if (crash_advance(p, CRASH_ENDLESS)) crash_kill(p);
    return p->end;
}

/* -- files -------------------------------------------------------------------------------------------------------- */

char *crash_path(char path[CRASH_PATH], const char *name)
{
    snprintf(path, CRASH_PATH, "%s/%s", crash_home, name);
    return path;
}

crash_file crash_load(const char *path)
{
    struct stat st;
    crash_file f = { NULL, 0 };
    int fd = open(path, O_RDONLY);

    if (fd < 0) return f;
    if (fstat(fd, &st)) abort();
    f.n = (size_t)st.st_size;
    f.bytes = calloc(1, f.n + 1);
    if (!f.bytes || read(fd, f.bytes, f.n) != (ssize_t)f.n) abort();
    close(fd);
    return f;
}

void crash_save(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (fd < 0) return;
    if (write(fd, bytes, n) != (ssize_t)n) abort();
    close(fd);
}

bool crash_equal(const crash_file *a, const crash_file *b)
{
    return a->bytes && b->bytes && a->n == b->n && !memcmp(a->bytes, b->bytes, a->n);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    (void)st, (void)flag, (void)f;
    return remove(path);
}

void crash_remove(const char *tree) { nftw(tree, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }
