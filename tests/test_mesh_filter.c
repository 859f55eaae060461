/* test_mesh_filter.c - the filter of system calls of spotter-mesh (host/worlds/mesh_parser.c): calls that it must refuse, those
 * that it must leave, and that the program sets it before it asks for a file. Skipped where the kernel has no filters. */
#define main spotter_mesh_main
#include "worlds/mesh_parser.c"       /* the program is no library */
#undef main

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "checks.h"
#include "check_folder.h"

/* -- single calls --------------------------------------------------------------------------------------------------------- */

static char *const words[] = { (char *)"true", NULL };

static long call_open(void)    { return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY); }
static long call_create(void)  { return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY | O_CREAT, 0600); }
static long call_socket(void)  { return syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0); }
static long call_pair(void)    { int end[2]; return syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, end); }
static long call_pipe(void)    { int end[2]; return syscall(SYS_pipe2, end, 0); }
static long call_exec(void)    { return syscall(SYS_execve, "/bin/true", words, NULL); }
static long call_kill(void)    { return syscall(SYS_kill, getpid(), 0); }
static long call_limit(void)   { struct rlimit l; return syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &l); }
static long call_prctl(void)   { return syscall(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0); }
static long call_chdir(void)   { return syscall(SYS_chdir, "/"); }
static long call_mkdir(void)   { return syscall(SYS_mkdirat, AT_FDCWD, "mesh_filter", 0700); }
static long call_unlink(void)  { return syscall(SYS_unlinkat, AT_FDCWD, "mesh_filter", AT_REMOVEDIR); }
static long call_memory(void)  { return syscall(SYS_memfd_create, "x", 0); }
static long call_dup(void)     { return syscall(SYS_dup, 0); }
static long call_ioctl(void)   { int n; return syscall(SYS_fcntl, 0, F_GETFD, &n); }
static long call_unshare(void) { return syscall(SYS_unshare, 0); }

static long call_clone(void)
{
    const long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

    if (!pid) _exit(0);
    return pid;
}

/* Calls that succeed without the filter. */
static const struct { const char *name; long (*call)(void); } refused[] = {
    { "openat", call_open }, { "openat to write", call_create }, { "socket", call_socket }, { "socketpair", call_pair },
    { "pipe2", call_pipe }, { "kill", call_kill }, { "prlimit64", call_limit }, { "prctl", call_prctl },
    { "mkdirat", call_mkdir }, { "unlinkat", call_unlink }, { "chdir", call_chdir }, { "memfd_create", call_memory },
    { "dup", call_dup }, { "fcntl", call_ioctl }, { "unshare", call_unshare }, { "clone", call_clone }, { "execve", call_exec },
};

/* How a child ends that calls `call`, with the filter or without. */
enum { SUCCEEDED = 10, PERMISSION, OTHER_ERROR, NO_FILTER };

static bool is_filtered(void) { return syscall(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0) < 0 && errno == EPERM; }

static int in_child(bool filter, long (*call)(void))
{
    const pid_t pid = fork();
    int state;

    assert_true(pid >= 0);
    if (!pid) {
        if (filter) filter_calls();
        if (filter && !is_filtered()) _exit(NO_FILTER);
        errno = 0;
        _exit(call() >= 0 ? SUCCEEDED : errno == EPERM ? PERMISSION : OTHER_ERROR);
    }
    assert_int_equal(waitpid(pid, &state, 0), pid);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
}

/* As the program does it: where the kernel refuses a filter, the limits alone hold. */
static bool has_filters(void) { return prctl(PR_GET_SECCOMP) >= 0 && in_child(true, call_open) != NO_FILTER; }

/* A program that is started by execve ends with 0, not with SUCCEEDED. */
TEST_IN_FOLDER(calls_are_refused)
{
    if (!has_filters()) skip();
    assert_int_equal(chdir(root), 0);
    for (int i = 0; i < LEN(refused); i++) {
        const int without = in_child(false, refused[i].call), with = in_child(true, refused[i].call);
        if (without != (refused[i].call == call_exec ? 0 : SUCCEEDED) || with != PERMISSION)
            fail_msg("%s: it ends with %d without the filter, %d with it", refused[i].name, without, with);
    }
}

/* -- calls of another machine --------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
/* The numbers of x32, and 32-bit calls, whose number 20 is getpid there and writev here. */
static long call_x32(void) { return syscall(0x40000000L | SYS_getpid); }

static long call_32_bit(void)
{
    long result;

    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
    if (result < 0) errno = (int)-result;
    return result < 0 ? -1 : result;
}

TEST(calls_of_another_machine_are_refused)
{
    if (!has_filters()) skip();
    assert_int_equal(in_child(true, call_x32), PERMISSION);
    if (in_child(false, call_32_bit) == SUCCEEDED) assert_int_equal(in_child(true, call_32_bit), PERMISSION);
}
#endif

/* -- calls that the parsers need ------------------------------------------------------------------------------------------ */

static long use_memory(void)
{
    char *much = malloc((size_t)64 << 20);

    if (!much) return -1;
    memset(much, 1, (size_t)64 << 20);
    much = realloc(much, (size_t)200 << 20);
    if (!much) return -1;
    much[(size_t)100 << 20] = 2;
    free(much);
    return 0;
}

static long use_pipe(void) { return write(2, "", 0) == 0 && getpid() > 0 ? 0 : -1; }

TEST(calls_that_are_needed_are_left)
{
    if (!has_filters()) skip();
    assert_int_equal(in_child(true, use_memory), SUCCEEDED);
    assert_int_equal(in_child(true, use_pipe), SUCCEEDED);
}

/* -- the program itself --------------------------------------------------------------------------------------------------- */

static bool has_line(pid_t pid, const char *file, const char *line)
{
    char path[64], text[256];
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    f = fopen(path, "r");
    assert_non_null(f);
    while (!found && fgets(text, sizeof text, f)) found = !strncmp(text, line, strlen(line));
    fclose(f);
    return found;
}

static pid_t start_parser(int in[2], int out[2])
{
    char path[PATH_MAX + 16], *slash;
    const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
    pid_t pid;

    assert_true(n > 0 && n < PATH_MAX && !pipe(in) && !pipe(out));
    path[n] = 0;
    slash = strrchr(path, '/');
    strcpy(slash, "/spotter-mesh");
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0) _exit(1);
        close(in[0]), close(in[1]), close(out[0]), close(out[1]);
        execl(path, "spotter-mesh", (char *)NULL);
        _exit(1);
    }
    close(in[0]), close(out[1]);
    return pid;
}

/* While it waits for the model's bytes: mode 2 is a filter. */
TEST(the_program_waits_for_its_file_behind_the_filter)
{
    const spot_wire_start start = { SPOT_WIRE_MAGIC, (uint64_t)1 << 30, 10, 1000, 10, 5 };
    spot_wire_frame frame;
    int in[2], out[2], ended;
    char name[6] = { 0 };
    pid_t pid;

    if (!has_filters()) skip();
    pid = start_parser(in, out);
    assert_int_equal(write(in[1], &start, sizeof start), sizeof start);
    assert_int_equal(write(in[1], "x.obj", 5), 5);
    assert_int_equal(read(out[0], &frame, sizeof frame), sizeof frame);
    assert_true(frame.kind == SPOT_WIRE_OPEN && frame.length == 5);
    assert_int_equal(read(out[0], name, 5), 5);
    assert_string_equal(name, "x.obj");
    assert_true(has_line(pid, "status", "Seccomp:\t2\n"));
    assert_true(has_line(pid, "status", "NoNewPrivs:\t1\n"));
    assert_true(has_line(pid, "limits", "Max open files            3                    3 "));
    assert_true(has_line(pid, "limits", "Max file size             0                    0 "));
    assert_true(has_line(pid, "limits", "Max core file size        0                    0 "));
    assert_true(has_line(pid, "limits", "Max cpu time              10                   10 "));
#ifndef __SANITIZE_ADDRESS__
    assert_true(has_line(pid, "limits", "Max address space         1073741824           1073741824 "));
#endif
    close(in[1]), close(out[0]);
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 1);           /* its reader is gone */
}
