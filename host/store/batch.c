/* batch.c - see batch.h. */
#define _GNU_SOURCE
#include "store/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store.h"

enum { PIECE = 1 << 20 };

static spot_status add_names(spot_ctx *c, spot_batch *b, const char *temp, const char *path)
{
    const size_t used = b->names.used;

    spot_text_add(&b->names, temp, strlen(temp) + 1);
    spot_text_add(&b->names, path, strlen(path) + 1);
    if (!b->names.status) return SPOT_OK;
    b->names.used = used;
    unlink(temp);
    return spot_fail(c, SPOT_NOMEM, "no memory for the names of files to be written");
}

/* Opens a temp file for writing and adds it to the batch. */
static spot_status begin_file(spot_ctx *c, spot_batch *b, const char *path, int *fd)
{
    char temp[PATH_MAX];
    spot_status s;

    SPOT_TRY(spot_folder_of(c, path));
    SPOT_TRY(spot_file_begin(c, temp, sizeof temp, path, fd));
    s = add_names(c, b, temp, path);
    if (s != SPOT_OK) close(*fd);
    return s;
}

spot_status spot_batch_write(spot_ctx *c, spot_batch *b, const char *path, const void *bytes, size_t n)
{
    int fd, error;

    SPOT_TRY(begin_file(c, b, path, &fd));
    b->dirty = true;
    error = spot_write_all(fd, bytes, n);
    if (close(fd) && !error) error = errno;
    if (!error) return SPOT_OK;
    return spot_fail(c, SPOT_IO, "cannot write %s: %s; free some space or look at the path, and run the same command again",
                     path, strerror(error));
}

static int copy_bytes(int to, int from, unsigned char *piece)
{
    ssize_t n;
    int error = 0;

    while (!error && (n = read(from, piece, PIECE)) != 0) {
        if (n > 0) error = spot_write_all(to, piece, (size_t)n);
        else if (errno != EINTR) error = errno;
    }
    return error;
}

static spot_status copy_file(spot_ctx *c, spot_batch *b, const char *path, const char *from)
{
    int error = 0, to, in = spot_file_open(from);
    unsigned char *piece = malloc(PIECE);
    spot_status s = SPOT_OK;

    if (in < 0) error = errno;
    else if (!piece) s = spot_fail(c, SPOT_NOMEM, "no memory to copy %s", from);
    else s = begin_file(c, b, path, &to);
    if (!error && s == SPOT_OK) {
        b->dirty = true;
        error = copy_bytes(to, in, piece);
        if (close(to) && !error) error = errno;
    }
    if (in >= 0) close(in);
    free(piece);
    if (!error || s) return s;
    return spot_fail(c, SPOT_IO, "cannot copy %s to %s: %s; run the same command again", from, path, spot_file_reason(error));
}

spot_status spot_batch_link(spot_ctx *c, spot_batch *b, const char *path, const char *from)
{
    SPOT_TRY(spot_folder_of(c, path));
    return link(from, path) ? copy_file(c, b, path, from) : add_names(c, b, "", path);
}

typedef struct { const char *temp, *path; } entry;

/* Reads the file at b->names.bytes + *at and moves *at to the next; false after the last. */
static bool next_entry(const spot_batch *b, size_t *at, entry *e)
{
    if (*at >= b->names.used) return false;
    e->temp = b->names.bytes + *at;
    e->path = e->temp + strlen(e->temp) + 1;
    *at = (size_t)(e->path + strlen(e->path) + 1 - b->names.bytes);
    return true;
}

static int sync_each(const spot_batch *b)
{
    entry e;
    int error = 0;

    for (size_t at = 0; !error && next_entry(b, &at, &e);)
        if (*e.temp) error = spot_sync_file(e.temp);
    return error;
}

/* Syncs everything by one call, or file by file if the file system lacks it. */
static int sync_all(const spot_batch *b)
{
    entry e = { 0 };
    int fd, error;

    for (size_t at = 0; next_entry(b, &at, &e) && !*e.temp;) { }
    fd = open(e.temp, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    error = syncfs(fd) ? errno : 0;
    close(fd);
    return error == ENOSYS || error == EINVAL || error == EOPNOTSUPP ? sync_each(b) : error;
}

static bool same_folder(const char *a, const char *b)
{
    size_t n = (size_t)(strrchr(a, '/') - a);

    return !strncmp(a, b, n + 1) && !strchr(b + n + 1, '/');
}

static int rename_all(const spot_batch *b)
{
    const char *before = NULL;
    entry e;
    int error = 0;

    for (size_t at = 0; !error && next_entry(b, &at, &e); before = e.path) {
        if (before && !same_folder(before, e.path)) error = spot_sync_folder_of(before);
        if (!error && *e.temp && rename(e.temp, e.path)) error = errno;
    }
    return error || !before ? error : spot_sync_folder_of(before);
}

spot_status spot_batch_commit(spot_ctx *c, spot_batch *b)
{
    int error = b->dirty ? sync_all(b) : 0;
    entry first = { "", "" };

    if (!error) error = rename_all(b);
    if (error) {
        next_entry(b, &(size_t){ 0 }, &first);
        return spot_fail(c, SPOT_IO, "cannot write %s or what goes with it: %s; free some space and run the same command again",
                         first.path, strerror(error));
    }
    b->names.used = 0;
    b->dirty = false;
    return SPOT_OK;
}

void spot_batch_drop(spot_batch *b)
{
    entry e;

    for (size_t at = 0; next_entry(b, &at, &e);)
        if (*e.temp) unlink(e.temp);
    spot_text_free(&b->names);
    *b = (spot_batch){ 0 };
}
