/* faults.c - see faults.h. The real calls are made by their numbers, since their names are taken here.
 *
 * A power cut may take the bytes of a file since its last fsync, and of every folder the latest of the makings, renames
 * and removals in it since the folder's last fsync. The disk keeps a list of the latter, with a second name for each file that
 * lost its own, and undoes them from the end. */
#define _GNU_SOURCE
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH = 256, KEPT = PATH + 32, CHANGES = 8192, FILES = 4096 };

/* A change of a folder's names that no fsync of the folder followed yet. */
typedef struct {
    enum { MADE_FILE, MADE_FOLDER, RENAMED, REMOVED } kind;
    char path[PATH], from[PATH];
    int  kept;                     /* number of the second name of the file that was at path; 0: none was */
} change;

/* A file of which only the first `safe` bytes were synced. */
typedef struct { ino_t file; off_t safe; } loose;

typedef struct {
    char   root[PATH];
    size_t length;
    bool   full;
    int    changes, files, kept;
    change change[CHANGES];
    loose  file[FILES];
} disk_state;

static disk_state *disk;
_Thread_local fault_plan *faults_now;
void (*faults_pause)(fault_class k, const char *path);

static void die(void) { kill((pid_t)syscall(SYS_getpid), SIGKILL); }

const char *fault_class_name(fault_class k)
{
    static const char *const name[FAULT_CLASSES] = { "open", "read", "list", "write", "truncate", "fsync", "close", "rename",
                                                     "mkdir", "unlink", "malloc", "libraries' malloc" };
    return name[k];
}

const char *fault_kind_name(fault_kind k)
{
    static const char *const name[FAULT_KINDS] = { "fails", "is short", "fails, the disk is full from here on",
                                                   "fails, the disk is read-only from here on", "is not reached: killed",
                                                   "is cut off: killed", "was the last: killed" };
    return name[k];
}

/* -- what is to become of a call ------------------------------------------------------------------------------------ */

typedef enum { GO, REFUSE, HALF } verdict;

static int error_of(fault_class k, int draw)
{
    static const int errors[FAULT_CLASSES][3] = {
        [FAULT_OPEN]   = { ENOSPC, EIO, EMFILE },   [FAULT_READ]   = { EIO, EIO, ESTALE },
        [FAULT_LIST]   = { EIO, EMFILE, ENOMEM },   [FAULT_WRITE]  = { ENOSPC, EIO, EDQUOT },
        [FAULT_TRUNCATE] = { EIO, ENOSPC, EROFS },  [FAULT_SYNC]   = { EIO, ENOSPC, EDQUOT },
        [FAULT_CLOSE]  = { EIO, ENOSPC, EDQUOT },   [FAULT_RENAME] = { EIO, ENOSPC, EROFS },
        [FAULT_MKDIR]  = { ENOSPC, EDQUOT, EROFS }, [FAULT_UNLINK] = { EIO, EROFS, EACCES },
        [FAULT_MEMORY] = { ENOMEM, ENOMEM, ENOMEM }, [FAULT_LIBRARY] = { ENOMEM, ENOMEM, ENOMEM },
    };
    return errors[k][draw % 3];
}

static verdict refuse(int error)
{
    errno = error;
    return REFUSE;
}

/* changes: it would make the disk another. grows: it needs room. */
static verdict enter(fault_class k, const char *path, bool changes, bool grows)
{
    fault_plan *p = faults_now;
    bool hit;

    if (!p) return GO;
    if (faults_pause && k < FAULT_MEMORY && !strstr(path, ".sqlite") && !strstr(path, "/logs/")) faults_pause(k, path);
    p->seen[k]++;
    hit = (p->classes >> k & 1) && ++p->calls == p->at;
    if (hit) {
        p->hit = true;
        p->what = k;
        if (k < FAULT_MEMORY) snprintf(p->where, sizeof p->where, "%.199s", path[disk->length] ? path + disk->length + 1 : ".");
        p->full = p->kind == FAULT_FULL;
        p->frozen = p->kind == FAULT_FROZEN;
    }
    if (p->frozen && changes) return refuse(EROFS);
    if ((p->full || disk->full) && grows) return refuse(ENOSPC);
    if (!hit) return GO;
    switch (p->kind) {
    case FAULT_FAIL:        return refuse(error_of(k, p->error));
    case FAULT_SHORT:
    case FAULT_DIE_HALFWAY: return k == FAULT_WRITE ? HALF : GO;
    case FAULT_DIE:         die(); return GO;
    default:                return GO;
    }
}

/* After a call that went through. */
static void leave(void)
{
    fault_plan *p = faults_now;

    if (p && p->hit && p->calls == p->at && (p->kind == FAULT_DIE_AFTER || p->kind == FAULT_DIE_HALFWAY)) die();
}

/* -- which calls are looked at -------------------------------------------------------------------------------------- */

static bool below(const char *path)
{
    return disk && !strncmp(path, disk->root, disk->length) && (path[disk->length] == '/' || !path[disk->length]);
}

/* The name of an open file, which renames change. */
static bool name_of(char name[PATH], int fd)
{
    char link[40];
    long n;

    if (!disk || !faults_now) return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = syscall(SYS_readlinkat, AT_FDCWD, link, name, PATH - 1);
    name[n < 0 ? 0 : n] = 0;
    return below(name);
}

static bool watched(char name[PATH], int at, const char *path)
{
    size_t n;

    if (!disk || !faults_now) return false;
    if (at == AT_FDCWD || *path == '/') return snprintf(name, PATH, "%s", path) < PATH && below(name);
    if (!name_of(name, at)) return false;
    n = strlen(name);
    return snprintf(name + n, PATH - n, "/%s", path) < (int)(PATH - n);
}

static bool exists(const char *path) { return !syscall(SYS_faccessat, AT_FDCWD, path, F_OK); }

/* -- what a power cut may take -------------------------------------------------------------------------------------- */

static void kept_name(char name[KEPT], int kept) { snprintf(name, KEPT, "%s.kept-%d", disk->root, kept); }

static void give_up_kept(const change *k)
{
    char name[KEPT];

    if (!k->kept) return;
    kept_name(name, k->kept);
    syscall(SYS_unlinkat, AT_FDCWD, name, 0);
}

/* A second name for the file at path, before it loses this one; 0 where none is there. */
static int keep_file(const char *path)
{
    char name[KEPT];

    kept_name(name, disk->kept + 1);
    syscall(SYS_unlinkat, AT_FDCWD, name, 0);
    return syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, name, 0) ? 0 : ++disk->kept;
}

static void note(int kind, const char *path, const char *from, int kept)
{
    change *k = &disk->change[disk->changes];

    if (disk->changes == CHANGES) abort();
    disk->changes++;
    k->kind = kind;
    k->kept = kept;
    snprintf(k->path, PATH, "%s", path);
    snprintf(k->from, PATH, "%s", from);
}

static size_t folder_length(const char *path) { return (size_t)(strrchr(path, '/') - path); }

static bool in_folder(const char *path, const char *folder, size_t n)
{
    return folder_length(path) == n && !strncmp(path, folder, n);
}

static loose *loose_file(ino_t file)
{
    for (int i = 0; i < disk->files; i++)
        if (disk->file[i].file == file) return &disk->file[i];
    return NULL;
}

/* From byte `at` on the file is not what the disk has. */
static void loosen(int fd, off_t at)
{
    struct stat st;
    loose *l;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) return;
    l = loose_file(st.st_ino);
    if (!l) {
        if (disk->files == FILES) abort();
        l = &disk->file[disk->files++];
        *l = (loose){ st.st_ino, st.st_size };
    }
    if (at >= 0 && at < l->safe) l->safe = at;
}

static void make_safe(int fd, const char *path)
{
    struct stat st;
    int left = 0;
    loose *l;

    if (fstat(fd, &st)) return;
    if (!S_ISDIR(st.st_mode)) {
        l = loose_file(st.st_ino);
        if (l) *l = disk->file[--disk->files];
        return;
    }
    for (int i = 0; i < disk->changes; i++) {
        change *k = &disk->change[i];
        if (in_folder(k->path, path, strlen(path))) give_up_kept(k);
        else disk->change[left++] = *k;
    }
    disk->changes = left;
}

static uint64_t seed_now;
static uint32_t draw(uint32_t n)               /* splitmix64 */
{
    uint64_t z = (seed_now += 0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)((z ^ z >> 31) >> 32) % n;
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    (void)st, (void)f;
    syscall(SYS_unlinkat, AT_FDCWD, path, flag == FTW_DP ? AT_REMOVEDIR : 0);
    return 0;
}

static void undo(const change *k)
{
    char name[KEPT];

    if (k->kind == MADE_FILE) syscall(SYS_unlinkat, AT_FDCWD, k->path, 0);
    if (k->kind == MADE_FOLDER) nftw(k->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (k->kind == RENAMED) syscall(SYS_renameat2, AT_FDCWD, k->path, AT_FDCWD, k->from, 0);
    if (!k->kept) return;
    kept_name(name, k->kept);
    syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, k->path, 0);
}

static void (*teller)(const char *line);
static void tell(const char *what, const char *path)
{
    char line[2 * PATH];

    if (!teller) return;
    snprintf(line, sizeof line, "    the power cut %s %s", what, path + disk->length + 1);
    teller(line);
}

static int harshness;                          /* of a cut, in quarters: 0 spares all, 4 takes all */

static int tear(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    loose *l = flag == FTW_F ? loose_file(st->st_ino) : NULL;
    off_t end;
    int fd;

    (void)f;
    if (!l || (int)draw(4) >= harshness) return 0;
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY);
    end = l->safe + (st->st_size > l->safe ? (off_t)draw((uint32_t)(st->st_size - l->safe + 1)) : 0);
    switch (draw(3)) {
    case 0: tell("empties", path);  end = l->safe; break;
    case 1: tell("cuts off", path); break;
    default:                                   /* its length arrived, its bytes did not */
        tell("blanks the end of", path);
        if (!syscall(SYS_ftruncate, fd, end)) end = st->st_size;
    }
    if (syscall(SYS_ftruncate, fd, end)) abort();
    syscall(SYS_close, fd);
    return 0;
}

void faults_power_cut(uint64_t seed, void (*story)(const char *line))
{
    static const char *const words[] = { "takes the new file", "takes the new folder", "undoes the rename to",
                                         "brings back" };
    bool stands[CHANGES] = { false };          /* this change and those before it in its folder stay */
    fault_plan *mine = faults_now;

    faults_now = NULL;
    seed_now = seed;
    teller = story;
    harshness = seed ? (int)draw(5) : 4;
    nftw(disk->root, tear, 16, FTW_PHYS);
    for (int i = disk->changes - 1; i >= 0; i--) {
        change *k = &disk->change[i];
        for (int j = i + 1; j < disk->changes && !stands[i]; j++)
            stands[i] = stands[j] && in_folder(k->path, disk->change[j].path, folder_length(disk->change[j].path));
        stands[i] = stands[i] || (int)draw(4) >= harshness;
        if (stands[i]) give_up_kept(k);
        else {
            tell(words[k->kind], k->path);
            undo(k);
        }
    }
    disk->changes = disk->files = 0;
    faults_now = mine;
}

void faults_disk(const char *root)
{
    if (!disk) disk = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (disk == MAP_FAILED) abort();
    for (int i = 0; i < disk->changes; i++) give_up_kept(&disk->change[i]);
    disk->changes = disk->files = disk->kept = 0;
    disk->full = false;
    disk->length = (size_t)snprintf(disk->root, sizeof disk->root, "%s", root);
}

void faults_fill(bool full) { disk->full = full; }

/* -- the calls ------------------------------------------------------------------------------------------------------ */

static int open_at(int at, const char *path, int flags, mode_t mode)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY, makes;
    char name[PATH];
    int fd;

    if (!watched(name, at, path)) return (int)syscall(SYS_openat, at, path, flags, mode);
    makes = (flags & O_CREAT) && !exists(name);
    if (!(flags & O_CREAT) && !exists(name)) return (int)syscall(SYS_openat, at, path, flags, mode);
    if (enter(flags & O_DIRECTORY && !writes ? FAULT_LIST : FAULT_OPEN, name, writes, makes) == REFUSE) return -1;
    fd = (int)syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && makes) note(MADE_FILE, name, "", 0);
    if (fd >= 0 && (makes || flags & O_TRUNC)) loosen(fd, 0);
    leave();
    return fd;
}

static mode_t mode_of(int flags, va_list args) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0; }

#define OPEN(name)                                             \
    int name(const char *path, int flags, ...)                 \
    {                                                          \
        va_list args;                                          \
        mode_t mode;                                           \
        va_start(args, flags);                                 \
        mode = mode_of(flags, args);                           \
        va_end(args);                                          \
        return open_at(AT_FDCWD, path, flags, mode);           \
    }
#define OPENAT(name)                                           \
    int name(int at, const char *path, int flags, ...)         \
    {                                                          \
        va_list args;                                          \
        mode_t mode;                                           \
        va_start(args, flags);                                 \
        mode = mode_of(flags, args);                           \
        va_end(args);                                          \
        return open_at(at, path, flags, mode);                 \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int fd, void *bytes, size_t n)
{
    char name[PATH];

    if (name_of(name, fd) && enter(FAULT_READ, name, false, false) == REFUSE) return -1;
    return syscall(SYS_read, fd, bytes, n);
}

static ssize_t write_at(int fd, const void *bytes, size_t n, off_t at)
{
    char name[PATH];
    ssize_t done;

    if (!name_of(name, fd)) return at < 0 ? syscall(SYS_write, fd, bytes, n) : syscall(SYS_pwrite64, fd, bytes, n, at);
    switch (enter(FAULT_WRITE, name, true, true)) {
    case REFUSE: return -1;
    case HALF:   n = (n + 1) / 2; break;
    case GO:     break;
    }
    loosen(fd, at);
    done = at < 0 ? syscall(SYS_write, fd, bytes, n) : syscall(SYS_pwrite64, fd, bytes, n, at);
    leave();
    return done;
}

ssize_t write(int fd, const void *bytes, size_t n)                 { return write_at(fd, bytes, n, -1); }
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)      { return write_at(fd, bytes, n, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)  { return write_at(fd, bytes, n, at); }

int ftruncate(int fd, off_t length)
{
    char name[PATH];
    int done;

    if (!name_of(name, fd)) return (int)syscall(SYS_ftruncate, fd, length);
    if (enter(FAULT_TRUNCATE, name, true, false) == REFUSE) return -1;
    loosen(fd, length);
    done = (int)syscall(SYS_ftruncate, fd, length);
    leave();
    return done;
}

int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

static int sync_with(long call, int fd)
{
    char name[PATH];
    int done;

    if (!name_of(name, fd)) return (int)syscall(call, fd);
    if (enter(FAULT_SYNC, name, false, false) == REFUSE) return -1;
    done = 0;                                  /* what it would take is waited for nowhere: the disk here is memory */
    make_safe(fd, name);
    leave();
    return done;
}

int fsync(int fd)     { return sync_with(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_with(SYS_fdatasync, fd); }

/* Writes all files; POSIX does not say how much their folders hold by then. */
int syncfs(int fd)
{
    char name[PATH];

    if (!name_of(name, fd)) return (int)syscall(SYS_syncfs, fd);
    if (enter(FAULT_SYNC, name, false, false) == REFUSE) return -1;
    disk->files = 0;
    leave();
    return 0;
}

int close(int fd)
{
    char name[PATH];
    verdict v = name_of(name, fd) ? enter(FAULT_CLOSE, name, false, false) : GO;
    int error = errno, done = (int)syscall(SYS_close, fd);         /* it is closed, whatever it says */

    if (v != REFUSE) return leave(), done;
    errno = error;
    return -1;
}

int rename(const char *from, const char *to)
{
    char a[PATH], b[PATH];
    int kept, done;

    if (!watched(a, AT_FDCWD, from) || !watched(b, AT_FDCWD, to))
        return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (enter(FAULT_RENAME, b, true, false) == REFUSE) return -1;
    kept = keep_file(b);
    done = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (!done) note(RENAMED, b, a, kept);
    leave();
    return done;
}

int link(const char *from, const char *to)
{
    char name[PATH];
    int done;

    if (!watched(name, AT_FDCWD, to)) return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (enter(FAULT_OPEN, name, true, true) == REFUSE) return -1;
    done = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (!done) note(MADE_FILE, name, "", 0);
    leave();
    return done;
}

int mkdir(const char *path, mode_t mode)
{
    char name[PATH];
    int done;

    if (!watched(name, AT_FDCWD, path) || exists(name)) return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (enter(FAULT_MKDIR, name, true, true) == REFUSE) return -1;
    done = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (!done) note(MADE_FOLDER, name, "", 0);
    leave();
    return done;
}

int unlinkat(int at, const char *path, int flags)
{
    char name[PATH];
    int kept, done;

    if (flags || !watched(name, at, path) || !exists(name)) return (int)syscall(SYS_unlinkat, at, path, flags);
    if (enter(FAULT_UNLINK, name, true, false) == REFUSE) return -1;
    kept = keep_file(name);
    done = (int)syscall(SYS_unlinkat, at, path, flags);
    if (!done) note(REMOVED, name, "", kept);
    leave();
    return done;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

/* -- who and when it is, as our code asks --------------------------------------------------------------------------- */

pid_t  __real_getpid(void);
int    __real_gethostname(char *name, size_t n);
time_t __real_time(time_t *t);

pid_t __wrap_getpid(void) { return faults_now && faults_now->pid ? faults_now->pid : __real_getpid(); }

int __wrap_gethostname(char *name, size_t n)
{
    if (!faults_now || !faults_now->pid) return __real_gethostname(name, n);
    snprintf(name, n, "n%d", faults_now->pid % 10);
    return 0;
}

time_t __wrap_time(time_t *t)
{
    time_t now = __real_time(NULL) + (faults_now ? faults_now->clock : 0);

    if (t) *t = now;
    return now;
}

/* -- streams, whose own calls go round the names above: those that our code opens ------------------------------------- */

DIR  *__real_opendir(const char *path);
FILE *__real_fdopen(int fd, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);

DIR *__wrap_opendir(const char *path)
{
    char name[PATH];
    int fd;

    if (!watched(name, AT_FDCWD, path)) return __real_opendir(path);
    fd = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    return fd < 0 ? NULL : fdopendir(fd);
}

/* A cookie's write must not return a negative value (fopencookie(3)): glibc would go on behind the lost bytes. */
static ssize_t cookie_write(void *cookie, const char *bytes, size_t n)
{
    ssize_t done = write((int)(intptr_t)cookie, bytes, n);

    return done < 0 ? 0 : done;
}

static ssize_t cookie_read(void *cookie, char *bytes, size_t n)        { return read((int)(intptr_t)cookie, bytes, n); }
static int     cookie_close(void *cookie)                              { return close((int)(intptr_t)cookie); }

static FILE *stream(int fd, const char *mode)
{
    const cookie_io_functions_t calls = { cookie_read, cookie_write, NULL, cookie_close };

    return fopencookie((void *)(intptr_t)fd, mode, calls);
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
    char name[PATH];

    return name_of(name, fd) ? stream(fd, mode) : __real_fdopen(fd, mode);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    char name[PATH];
    FILE *f;
    int fd;

    if (!watched(name, AT_FDCWD, path)) return __real_fopen(path, mode);
    fd = open_at(AT_FDCWD, path, *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC), 0666);
    if (fd < 0) return NULL;
    f = stream(fd, mode);
    if (!f) close(fd);
    return f;
}

int faults_open_files(void)
{
    fault_plan *mine = faults_now, none = { 0 };
    char name[PATH];
    int n = 0;

    faults_now = &none;
    for (int fd = 0; fd < 256; fd++) n += name_of(name, fd);
    faults_now = mine;
    return n;
}

/* -- memory: our code's calls are renamed by the linker (--wrap); a library's are found by name, but under a sanitizer -- */

static bool refused(fault_class k)
{
    return faults_now && enter(k, "", false, false) == REFUSE;
}

#ifdef __SANITIZE_ADDRESS__

long faults_live(void) { return 0; }
#define REAL(f) __real_##f
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
#define GOT(p) (p)

#else

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void  __libc_free(void *p);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);

static _Atomic long live;
long faults_live(void) { return live; }

static void *got(void *p)
{
    live += p != NULL;
    return p;
}
#define GOT(p) got(p)
#define REAL(f) __libc_##f
#define __libc_aligned_alloc __libc_memalign

void *malloc(size_t n)                         { return refused(FAULT_LIBRARY) ? NULL : got(__libc_malloc(n)); }
void *calloc(size_t n, size_t size)            { return refused(FAULT_LIBRARY) ? NULL : got(__libc_calloc(n, size)); }
void *memalign(size_t align, size_t n)         { return refused(FAULT_LIBRARY) ? NULL : got(__libc_memalign(align, n)); }
void *aligned_alloc(size_t align, size_t n)    { return memalign(align, n); }

int posix_memalign(void **p, size_t align, size_t n)
{
    void *q = memalign(align, n);

    if (!q) return ENOMEM;
    *p = q;
    return 0;
}

void *realloc(void *p, size_t n)
{
    void *q = refused(FAULT_LIBRARY) ? NULL : __libc_realloc(p, n);

    live += (q && !p) - (p && !n);
    return q;
}

void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}

#endif

void *__wrap_malloc(size_t n)              { return refused(FAULT_MEMORY) ? NULL : GOT(REAL(malloc)(n)); }
void *__wrap_calloc(size_t n, size_t size) { return refused(FAULT_MEMORY) ? NULL : GOT(REAL(calloc)(n, size)); }

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return refused(FAULT_MEMORY) ? NULL : GOT(REAL(aligned_alloc)(align, n));
}

void *__wrap_realloc(void *p, size_t n)
{
    void *q = refused(FAULT_MEMORY) ? NULL : REAL(realloc)(p, n);

    if (!p) return GOT(q);
    return q;
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
    return refused(FAULT_MEMORY) ? MAP_FAILED : __real_mmap(at, n, prot, flags, fd, from);
}
