/* store.c - the run directory and its stage values.
 *
 * A value's file: "SPOTVAL1", the payload's length and XXH3-64 (both 8 bytes in this machine's byte order, so values from a
 * machine of the other order are not found), the payload. */
#define _DEFAULT_SOURCE                /* dirent's d_type */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "net/conv.h"
#include "store/store.h"

typedef struct { char magic[8]; uint64_t length, checksum; } frame;

static const char magic[8] = { 'S', 'P', 'O', 'T', 'V', 'A', 'L', '1' };

enum { PATH = 1200 };
#define VALUE_LIMIT ((size_t)1 << 36)          /* no stage value comes near 64 GB */

static spot_status refuse_link(spot_ctx *c, const char *path)
{
    return spot_fail(c, SPOT_INPUT,
                     "{run.link} %s is a symbolic link, which may lead out of the run; put a folder in its place", path);
}

static spot_status make_folder(spot_ctx *c, const char *path, bool durable)
{
    struct stat st;
    int error = mkdir(path, 0777) ? errno : durable ? spot_sync_folder_of(path) : 0;

    if (!error || (error == EEXIST && !stat(path, &st) && S_ISDIR(st.st_mode))) return SPOT_OK;
    return spot_fail(c, SPOT_IO, "{folder.not_made} cannot make the directory %s: %s; choose another place", path,
                     error == EEXIST ? "a file of that name is there" : strerror(error));
}

/* A folder inside a run, which must not be a link. */
static spot_status make_own_folder(spot_ctx *c, const char *path, bool durable)
{
    struct stat st;

    return !lstat(path, &st) && S_ISLNK(st.st_mode) ? refuse_link(c, path) : make_folder(c, path, durable);
}

spot_status spot_folder_make(spot_ctx *c, const char *path)
{
    char part[sizeof ((spot_store *)0)->dir];

    if (!*path || strlen(path) >= sizeof part)
        return spot_fail(c, SPOT_USAGE, "a directory needs a name of 1 to %zu bytes", sizeof part - 1);
    snprintf(part, sizeof part, "%s", path);
    for (char *p = part + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        SPOT_TRY(make_folder(c, part, true));
        *p = '/';
    }
    return make_folder(c, part, true);
}

spot_status spot_folder_of(spot_ctx *c, const char *path)
{
    char folder[PATH];
    struct stat st;
    char *end;

    snprintf(folder, sizeof folder, "%s", path);
    end = strrchr(folder, '/');
    if (!end || end == folder) return SPOT_OK;
    *end = 0;
    if (lstat(folder, &st)) return spot_folder_make(c, folder);
    return S_ISLNK(st.st_mode) ? refuse_link(c, folder) : SPOT_OK;
}

/* NAME.HOST-PID-COUNT.tmp: a temp file of spot_file_begin. */
static bool is_temp(const char *name)
{
    const char *p = strrchr(name, '.'), *dot;

    if (!p || strcmp(p, ".tmp")) return false;
    for (int numbers = 0; numbers < 2; numbers++) {
        const char *end = p;
        while (p > name && p[-1] >= '0' && p[-1] <= '9') p--;
        if (p == end || p == name || *--p != '-') return false;
    }
    dot = p > name ? memchr(name + 1, '.', (size_t)(p - name - 1)) : NULL;
    return dot && dot + 1 < p;
}

/* "3f" in a cache, "000" among segments and pictures: the subfolders that this program creates. */
static bool is_part(const char *name)
{
    size_t n = strlen(name);

    return n > 1 && n < 8 && strspn(name, n == 2 ? "0123456789abcdef" : "0123456789") == n;
}

/* Removes temp files of killed processes from a folder, if they are an hour old: no write takes a minute, and a pid from
 * another host cannot be checked. Does not follow links. DURABLE: also syncs the folders, for a process may have been killed
 * between a rename and its sync, and this run is about to rely on the file. */
enum { SUBFOLDERS = 1, DURABLE = 2, ALL_FOLDERS = 4 };

static bool is_inside(const struct dirent *e, int flags)
{
    if (flags & ALL_FOLDERS) return e->d_name[0] != '.' && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN);
    return flags & SUBFOLDERS && is_part(e->d_name);
}

static void tidy_folder(int above, const char *folder, int follow, int flags)
{
    int fd = openat(above, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;
    struct stat st;

    if (!d) return;
    if (flags & DURABLE) fsync(fd);
    while ((e = readdir(d))) {
        if (is_inside(e, flags)) tidy_folder(fd, e->d_name, O_NOFOLLOW, flags & (DURABLE | ALL_FOLDERS));
        if (!is_temp(e->d_name) || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
        if (S_ISREG(st.st_mode) && st.st_mtime < time(NULL) - 3600) unlinkat(fd, e->d_name, 0);
    }
    closedir(d);
}

void spot_folder_tidy(const char *dir) { tidy_folder(AT_FDCWD, dir, O_NOFOLLOW, ALL_FOLDERS); }

spot_status spot_store_folder(spot_ctx *c, const spot_store *s, const char *name)
{
    char path[PATH];

    snprintf(path, sizeof path, "%s/%s", s->dir, name);
    SPOT_TRY(make_own_folder(c, path, !s->brief));
    tidy_folder(AT_FDCWD, path, O_NOFOLLOW, SUBFOLDERS | (s->brief ? 0 : DURABLE));
    return SPOT_OK;
}

spot_status spot_store_plans(spot_ctx *c, const spot_store *s)
{
    char path[PATH];

    if (!c->device) return SPOT_OK;
    SPOT_TRY(spot_store_folder(c, s, "plans"));
    snprintf(path, sizeof path, "%s/plans", s->dir);
    spot_folder_tidy(path);
    return spot_conv_keep_in(c, path);
}

spot_status spot_store_open_to_read(spot_ctx *c, spot_store *s, const char *dir)
{
    if (!*dir || strlen(dir) >= sizeof s->dir)
        return spot_fail(c, SPOT_USAGE, "{run.name} a run directory needs a name of 1 to %zu bytes", sizeof s->dir - 1);
    strcpy(s->dir, dir);
    s->brief = false;
    return SPOT_OK;
}

static spot_status open_cache(spot_ctx *c, spot_store *s, const char *dir, bool brief)
{
    SPOT_TRY(spot_store_open_to_read(c, s, dir));
    s->brief = brief;
    SPOT_TRY(spot_folder_make(c, dir));
    spot_sync_folder_of(dir);                  /* as in tidy_folder: its creator may have been killed before its sync */
    tidy_folder(AT_FDCWD, dir, 0, DURABLE);
    return spot_store_folder(c, s, "cache");
}

spot_status spot_store_open_cache(spot_ctx *c, spot_store *s, const char *dir) { return open_cache(c, s, dir, true); }

spot_status spot_store_open(spot_ctx *c, spot_store *s, const char *dir)
{
    SPOT_TRY(open_cache(c, s, dir, false));
    SPOT_TRY(spot_store_folder(c, s, "segments"));
    SPOT_TRY(spot_store_folder(c, s, "pictures"));
    return spot_store_folder(c, s, "logs");
}

/* DIR/cache/ab/<key>.<kind>: 256 folders, so that each stays small. Returns the length of the folder's path. */
static int value_path(char path[PATH], const spot_store *s, spot_key k, const char *kind)
{
    char text[33];
    int n;

    spot_key_text(text, k);
    n = snprintf(path, PATH, "%s/cache/%.2s", s->dir, text);
    snprintf(path + n, PATH - (size_t)n, "/%s.%s", text, kind);
    return n;
}

spot_status spot_store_put(spot_ctx *c, const spot_store *s, spot_key k, const char *kind, const void *bytes, size_t n)
{
    frame f = { .length = n, .checksum = XXH3_64bits(bytes, n) };
    char path[PATH];
    int folder = value_path(path, s, k, kind);
    unsigned char *whole;
    spot_status status;

    path[folder] = 0;
    SPOT_TRY(make_own_folder(c, path, !s->brief));
    path[folder] = '/';
    whole = malloc(sizeof f + n);
    if (!whole) return spot_fail(c, SPOT_NOMEM, "no memory to write %s (%.1f MB)", path, n / 1e6);
    memcpy(f.magic, magic, sizeof magic);
    memcpy(whole, &f, sizeof f);
    memcpy(whole + sizeof f, bytes, n);
    status = (s->brief ? spot_file_write_unsynced : spot_file_write)(c, path, whole, sizeof f + n);
    free(whole);
    return status;
}

spot_status spot_store_get(spot_ctx *c, const spot_store *s, spot_key k, const char *kind,
                           unsigned char **bytes, size_t *n, bool *found)
{
    frame f;
    char path[PATH];

    *bytes = NULL;
    *n = 0;
    *found = false;
    value_path(path, s, k, kind);
    if (access(path, F_OK)) return SPOT_OK;
    SPOT_TRY(spot_file_read(c, path, bytes, n, VALUE_LIMIT));
    *found = *n >= sizeof f && (memcpy(&f, *bytes, sizeof f), !memcmp(f.magic, magic, sizeof magic))
          && f.length == *n - sizeof f && f.checksum == XXH3_64bits(*bytes + sizeof f, (size_t)f.length);
    if (*found) {
        *n -= sizeof f;
        memmove(*bytes, *bytes + sizeof f, *n);
        return SPOT_OK;
    }
    spot_log(c, SPOT_LOG_WARN, "%s is damaged; it is computed again", path);
    free(*bytes);
    *bytes = NULL;
    *n = 0;
    return SPOT_OK;
}

bool spot_store_has(const spot_store *s, spot_key k, const char *kind)
{
    char path[PATH];

    value_path(path, s, k, kind);
    return !access(path, F_OK);
}

void spot_store_drop(const spot_store *s, spot_key k, const char *kind)
{
    char path[PATH];

    value_path(path, s, k, kind);
    unlink(path);
}
