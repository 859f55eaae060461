/* file.c - writes files whole or not at all.
 *
 * The temp name is unique among all processes and lies in the same directory, because rename is atomic only within a file
 * system. fsync before the rename: the name never points at bytes that a power cut can lose. fsync of the directory after it:
 * the name itself stays. Works on NFS and Lustre: no locks, no O_APPEND. */
#define _GNU_SOURCE                       /* fopencookie */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static const char *advice(int error, bool reads)
{
    switch (error) {
    case ENOSPC: case EDQUOT: case EFBIG: return "free some space and run the same command again";
    case EACCES: case EPERM: case EROFS:
        return reads ? "ask its owner for the right to read it" : "choose a directory that you may write to";
    default:                              return "look at the path and run the same command again";
    }
}

const char *spot_file_reason(int error) { return error == ENODEV ? "it is a pipe or a device, not a file" : strerror(error); }

spot_status spot_file_failed(spot_ctx *c, const char *verb, const char *path, int error)
{
    return spot_fail(c, SPOT_IO, "{file.failed} cannot %s %s: %s; %s", verb, path, spot_file_reason(error),
                     advice(error, !strcmp(verb, "read")));
}

spot_status spot_file_abort(spot_ctx *c, const char *temp, const char *path, int error)
{
    unlink(temp);
    return spot_file_failed(c, "write", path, error);
}

/* A new file beside path, named after host, process and a count. O_EXCL skips names that a killed process left behind. */
static int open_temp(char *temp, size_t size, const char *path)
{
    static atomic_uint count;
    char host[64] = "";
    int fd;

    gethostname(host, sizeof host - 1);
    do {
        int n = snprintf(temp, size, "%s.%s-%ld-%u.tmp", path, host, (long)getpid(), atomic_fetch_add(&count, 1));
        if (n < 0 || (size_t)n >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

/* The standard stream of this program that a name such as /dev/stdout means, or -1. A device can be opened by its name. */
static int standard_stream(const char *path, const struct stat *st)
{
    struct stat at, link;

    if (S_ISCHR(st->st_mode)) return -1;
    if (S_ISREG(st->st_mode) && (lstat(path, &link) || !S_ISLNK(link.st_mode))) return -1;
    for (int fd = 0; fd < 3; fd++)
        if (!fstat(fd, &at) && at.st_dev == st->st_dev && at.st_ino == st->st_ino) return fd;
    return -1;
}

/* A path may name a device or a pipe, such as /dev/stdout or /dev/null: writes directly, since a rename would replace it by a
 * file. Returns false if the path names a file or nothing; else *fd is open for writing, or -1 with errno. Refuses a disk and a
 * pipe without a reader. A standard stream that is a file is written at its present position. */
static bool open_stream(const char *path, int *fd)
{
    struct stat st;
    int standard;

    *fd = -1;
    if (stat(path, &st)) return false;
    standard = standard_stream(path, &st);
    if (standard >= 0) {
        *fd = fcntl(standard, F_DUPFD_CLOEXEC, 3);
        return true;
    }
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) return false;
    errno = ENODEV;
    if (!S_ISCHR(st.st_mode) && !S_ISFIFO(st.st_mode)) return true;
    *fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd >= 0) fcntl(*fd, F_SETFL, O_WRONLY);
    return true;
}

/* Opens the file that receives the bytes: a stream (temp is "") or a temp file. */
static int open_target(char *temp, size_t size, const char *path)
{
    int fd;

    *temp = 0;
    return open_stream(path, &fd) ? fd : open_temp(temp, size, path);
}

static spot_status finish_file(spot_ctx *c, const char *temp, const char *path, int error)
{
    if (*temp) return error ? spot_file_abort(c, temp, path, error) : spot_file_commit(c, temp, path);
    return error ? spot_file_failed(c, "write", path, error) : SPOT_OK;
}

int spot_write_all(int fd, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    while (n) {
        ssize_t w = write(fd, p, n < SSIZE_MAX ? n : SSIZE_MAX);
        if (w < 0 && errno == EINTR) continue;
        if (w < 0) return errno;
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

int spot_sync_file(const char *path)
{
    int error, fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) return errno;
    error = fsync(fd) ? errno : 0;
    close(fd);
    return error;
}

/* Some file systems cannot sync a directory (EINVAL); ignore that. */
int spot_sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    char *slash;
    int fd, error;

    snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    error = fsync(fd) && errno != EINVAL ? errno : 0;
    close(fd);
    return error;
}

static spot_status move_file(spot_ctx *c, const char *temp, const char *path, bool durable)
{
    struct stat st;
    int error = durable ? spot_sync_file(temp) : 0;

    if (!error && !lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode)) error = ENODEV;
    if (!error && rename(temp, path)) error = errno;
    if (error) return spot_file_abort(c, temp, path, error);
    error = durable ? spot_sync_folder_of(path) : 0;
    return error ? spot_file_failed(c, "sync the directory of", path, error) : SPOT_OK;
}

spot_status spot_file_commit(spot_ctx *c, const char *temp, const char *path) { return move_file(c, temp, path, true); }

spot_status spot_file_begin(spot_ctx *c, char *temp, size_t size, const char *path, int *fd)
{
    *fd = open_temp(temp, size, path);
    return *fd < 0 ? spot_file_failed(c, "write", path, errno) : SPOT_OK;
}

spot_status spot_file_write(spot_ctx *c, const char *path, const void *bytes, size_t n)
{
    char temp[PATH_MAX];
    int error, fd = open_target(temp, sizeof temp, path);

    if (fd < 0) return spot_file_failed(c, "write", path, errno);
    error = spot_write_all(fd, bytes, n);
    if (close(fd) && !error) error = errno;
    return finish_file(c, temp, path, error);
}

spot_status spot_file_write_unsynced(spot_ctx *c, const char *path, const void *bytes, size_t n)
{
    char temp[PATH_MAX];
    int error, fd;

    SPOT_TRY(spot_file_begin(c, temp, sizeof temp, path, &fd));
    error = spot_write_all(fd, bytes, n);
    if (close(fd) && !error) error = errno;
    return error ? spot_file_abort(c, temp, path, error) : move_file(c, temp, path, false);
}

spot_status spot_file_fill(spot_ctx *c, const char *path, bool (*fill)(FILE *f, const void *user), const void *user)
{
    char temp[PATH_MAX];
    int error = 0, fd = open_target(temp, sizeof temp, path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");

    if (fd < 0) return spot_file_failed(c, "write", path, errno);
    errno = 0;
    if (!f || !fill(f, user) || fflush(f) || ferror(f)) error = errno ? errno : EIO;
    if (f ? fclose(f) : close(fd)) error = error ? error : errno;
    return finish_file(c, temp, path, error);
}

/* An unfinished last line may be another process's. */
static int append(int fd, bool stream, const void *text, size_t n)
{
    char last = '\n', *out = malloc(n + 1);
    const size_t begin = !stream && lseek(fd, -1, SEEK_END) >= 0 && read(fd, &last, 1) == 1 && last != '\n';
    int error = out ? 0 : ENOMEM;

    if (out) {
        *out = '\n';
        memcpy(out + begin, text, n);
        error = spot_write_all(fd, out, begin + n);
    }
    free(out);
    return error ? error : fsync(fd) && errno != EINVAL ? errno : 0;
}

spot_status spot_file_append(spot_ctx *c, const char *path, const void *text, size_t n)
{
    int error, fd;
    const bool stream = open_stream(path, &fd);

    if (!stream) fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) return spot_file_failed(c, "write", path, errno);
    error = append(fd, stream, text, n);
    if (close(fd) && !error) error = errno;
    return error ? spot_file_failed(c, "write", path, error) : SPOT_OK;
}

/* A new file takes the place of a regular one; what is added, and a stream, goes into what is there. */
spot_status spot_file_place(spot_ctx *c, const char *path, bool adds)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    struct stat st;
    const bool is_there = !stat(path, &st);

    if (is_there && standard_stream(path, &st) >= 0) return SPOT_OK;
    if (is_there && S_ISDIR(st.st_mode)) return spot_file_failed(c, "write", path, EISDIR);
    snprintf(folder, sizeof folder, "%.*s/.", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return (is_there && (adds || !S_ISREG(st.st_mode)) ? access(path, W_OK) : access(folder, W_OK | X_OK))
         ? spot_file_failed(c, "write", path, errno) : SPOT_OK;
}

int spot_file_peek(const char *path, char *bytes, size_t n)
{
    struct stat st;
    int fd;
    ssize_t got;

    if (stat(path, &st)) return -1;
    if (!S_ISREG(st.st_mode)) return -2;
    fd = spot_file_open(path);
    if (fd < 0) return -3;
    got = read(fd, bytes, n);
    close(fd);
    return got < 0 ? -3 : (int)got;
}

bool spot_file_is_ours(const char *path, const char *head)
{
    char top[128];
    const int n = spot_file_peek(path, top, sizeof top), all = (int)strlen(head);

    return n == -1 || n == -2 || !n || (n >= all && !memcmp(top, head, (size_t)all));
}

int spot_file_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;
    struct stat st;

    if (fd < 0) return -1;
    if (fstat(fd, &st)) error = errno;
    else if (!S_ISREG(st.st_mode)) error = S_ISDIR(st.st_mode) ? EISDIR : ENODEV;
    if (!error) return fd;
    close(fd);
    errno = error;
    return -1;
}

/* A pipe of the shell, whose writer may be slow or never write: the stop flag is looked at while nothing comes. */
typedef struct { int fd; const volatile sig_atomic_t *stop; } patient;

static ssize_t read_patiently(void *cookie, char *bytes, size_t n)
{
    const patient *p = cookie;
    struct pollfd in = { .fd = p->fd, .events = POLLIN };

    while (!(p->stop && *p->stop)) {
        const int ready = poll(&in, 1, 100);
        if (ready > 0) return read(p->fd, bytes, n);
        if (ready < 0 && errno != EINTR) return -1;
    }
    errno = EINTR;
    return -1;
}

static int close_patient(void *cookie)
{
    const int error = close(((patient *)cookie)->fd);

    free(cookie);
    return error;
}

static FILE *open_patiently(const spot_ctx *c, const char *path)
{
    patient *p = malloc(sizeof *p);
    FILE *f = NULL;

    if (p) *p = (patient){ open(path, O_RDONLY | O_CLOEXEC), c->stop };
    if (p && p->fd >= 0) f = fopencookie(p, "rb", (cookie_io_functions_t){ read_patiently, NULL, NULL, close_patient });
    if (!f && p && p->fd >= 0) close(p->fd);
    if (!f) free(p);
    return f;
}

FILE *spot_file_stream(const spot_ctx *c, const char *path)
{
    if (!strncmp(path, "/dev/", 5)) return open_patiently(c, path);
    const int fd = spot_file_open(path);

    return fd < 0 ? NULL : fdopen(fd, "rb");
}

spot_status spot_file_read(spot_ctx *c, const char *path, unsigned char **bytes, size_t *n, size_t limit)
{
    struct stat st;
    int error = 0, fd = spot_file_open(path);

    *bytes = NULL;
    *n = 0;
    if (fd < 0 && errno == ENODEV) return spot_fail(c, SPOT_INPUT, "{file.unread} cannot read %s: %s", path,
                                                    spot_file_reason(ENODEV));
    if (fd < 0) return spot_file_failed(c, "read", path, errno);
    if (fstat(fd, &st)) error = errno;
    if (!error && (uint64_t)st.st_size > limit) {
        close(fd);
        return spot_fail(c, SPOT_INPUT, "{file.too_large} %s has %lld bytes where at most %zu make sense; is it the right "
                         "file?", path, (long long)st.st_size, limit);
    }
    if (!error && !(*bytes = malloc((size_t)st.st_size + 1))) {
        close(fd);
        return spot_fail(c, SPOT_NOMEM, "no memory for the %lld bytes of %s", (long long)st.st_size, path);
    }
    while (!error && *n < (size_t)st.st_size) {
        ssize_t r = read(fd, *bytes + *n, (size_t)st.st_size - *n);
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) error = errno;
        if (r <= 0) break;                     /* 0: the file has become shorter; *n is its new length */
        *n += (size_t)r;
    }
    close(fd);
    if (error) {
        free(*bytes);
        *bytes = NULL;
        return spot_file_failed(c, "read", path, error);
    }
    (*bytes)[*n] = 0;
    return SPOT_OK;
}
