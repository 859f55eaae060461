/* mesh_files.c - a folder or a zip archive whose names lead nowhere else. */
#define _GNU_SOURCE
#include "worlds/mesh_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/zip.h"

enum { LONGEST = 4096 };

struct spot_mesh_files {
    char    *path;
    int      folder;                       /* -1: an archive */
    spot_ctx own;                          /* libzip keeps the context of its opening */
    spot_blob blob;
    spot_zip zip;
};

const char *spot_mesh_files_path(const spot_mesh_files *f) { return f->path; }

/* -- names ---------------------------------------------------------------------------------------------------------------- */

/* Adds the steps of `path` to `to`, which holds `used` bytes; "." and "" are left out and ".." takes one step back. Returns the
 * bytes used, or -1 where the path leads out or is too long. */
static int add_steps(char *to, int used, const char *path, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && path[end] != '/') end++;
        if (end - i == 2 && path[i] == '.' && path[i + 1] == '.') {
            if (!used) return -1;
            while (used && to[--used] != '/') continue;
        } else if (end > i && !(end - i == 1 && path[i] == '.')) {
            if ((size_t)used + 1 + (end - i) >= LONGEST) return -1;
            if (used) to[used++] = '/';
            memcpy(to + used, path + i, end - i);
            used += (int)(end - i);
        }
        i = end + 1;
    }
    to[used] = 0;
    return used;
}

/* The name below the folder or archive, without "." and "..". False: it leads out. */
static bool plain_name(char to[LONGEST], const char *from, const char *name)
{
    const char *slash = strrchr(from, '/');
    int used = slash ? add_steps(to, 0, from, (size_t)(slash - from)) : 0;

    if (used < 0 || !*name || *name == '/' || strchr(name, '\\') || strchr(name, ':')) return false;
    return add_steps(to, used, name, strlen(name)) > 0;
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* glTF names files by URIs: %20 is a space. */
static void undo_percents(char *to, const char *from, size_t size)
{
    size_t used = 0;

    for (; *from && used + 1 < size; from++) {
        const int high = *from == '%' ? hex(from[1]) : -1, low = high < 0 ? -1 : hex(from[2]);
        to[used++] = low < 0 || !(high | low) ? *from : (char)(high * 16 + low);
        if (low >= 0 && (high | low)) from += 2;
    }
    to[used] = 0;
}

/* -- folders -------------------------------------------------------------------------------------------------------------- */

/* Step by step without any link, for kernels before 5.6. */
static int open_without_links(int folder, const char *name)
{
    char step[LONGEST];
    int at = dup(folder);

    while (at >= 0) {
        const char *slash = strchr(name, '/');
        const size_t n = slash ? (size_t)(slash - name) : strlen(name);
        const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (slash ? O_DIRECTORY : 0);
        int next;
        memcpy(step, name, n);
        step[n] = 0;
        next = openat(at, step, flags);
        close(at);
        at = next;
        if (!slash) break;
        name = slash + 1;
    }
    return at;
}

static int open_below(int folder, const char *name)
{
    const struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                                  .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
    const int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);

    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_without_links(folder, name) : fd;
}

static spot_status read_all(spot_ctx *c, spot_mesh_file *out, int fd, const char *name)
{
    size_t done = 0;

    out->bytes = malloc(out->n + 1);
    if (!out->bytes) return spot_fail(c, SPOT_NOMEM, "no memory for the %zu bytes of %.300s", out->n, name);
    while (done < out->n) {
        const ssize_t got = read(fd, out->bytes + done, out->n - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += (size_t)got;
    }
    out->bytes[done] = 0;
    if (done == out->n) return SPOT_OK;
    snprintf(out->why, sizeof out->why, "it cannot be read to its end");
    out->state = SPOT_FILE_BROKEN;
    return SPOT_OK;
}

static spot_status read_from_folder(spot_ctx *c, spot_mesh_file *out, const spot_mesh_files *f, const char *name, size_t limit)
{
    const int fd = open_below(f->folder, name);
    spot_status s = SPOT_OK;
    struct stat st;

    out->state = fd < 0 && (errno == EXDEV || errno == ELOOP) ? SPOT_FILE_OUTSIDE : SPOT_FILE_MISSING;
    if (fd < 0) return SPOT_OK;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
        out->n = (size_t)st.st_size;
        out->state = out->n > limit ? SPOT_FILE_LARGE : SPOT_FILE_THERE;
        if (out->state == SPOT_FILE_THERE) s = read_all(c, out, fd, name);
    }
    close(fd);
    return s;
}

/* -- archives ------------------------------------------------------------------------------------------------------------- */

static spot_status inflate_member(spot_ctx *c, uint8_t *bytes, spot_mesh_files *f, const spot_zip_member *m)
{
    spot_zip_stream *packed;
    spot_stream *in;
    spot_status s;

    SPOT_TRY(spot_zip_stream_open(c, &packed, &in, &f->zip, m));
    s = in->take(c, in, bytes, (size_t)m->size);
    if (s == SPOT_OK) s = spot_zip_stream_finish(c, packed);
    spot_zip_stream_close(packed);
    return s;
}

static spot_status read_member(spot_ctx *c, spot_mesh_file *out, spot_mesh_files *f, const spot_zip_member *m, size_t limit)
{
    spot_status s;

    out->n = (size_t)m->size;
    out->state = m->size > limit ? SPOT_FILE_LARGE : SPOT_FILE_THERE;
    if (out->state == SPOT_FILE_LARGE) return SPOT_OK;
    out->bytes = malloc(out->n + 1);
    if (!out->bytes) return spot_fail(c, SPOT_NOMEM, "no memory for the %zu bytes of %.300s", out->n, m->name);
    out->bytes[out->n] = 0;
    s = inflate_member(&f->own, out->bytes, f, m);
    if (s == SPOT_OK) return SPOT_OK;
    snprintf(out->why, sizeof out->why, "%.390s", spot_take_message(&f->own, s));
    out->state = SPOT_FILE_BROKEN;
    return s == SPOT_NOMEM ? spot_fail(c, s, "%s", out->why) : SPOT_OK;
}

static spot_status read_from_archive(spot_ctx *c, spot_mesh_file *out, spot_mesh_files *f, const char *name, size_t limit)
{
    for (int i = 0; i < f->zip.count; i++)
        if (!strcmp(f->zip.member[i].name, name)) return read_member(c, out, f, &f->zip.member[i], limit);
    return SPOT_OK;
}

/* -- names that are not quite right --------------------------------------------------------------------------------------- */

/* The name as its writer meant it: without quotes and blanks around it, with slashes for backslashes, without a drive letter.
 * False: it is too long. */
static bool guess_name(char to[LONGEST], const char *name)
{
    size_t n;

    while (*name == ' ' || *name == '\t' || *name == '"') name++;
    if (((*name | 32) >= 'a' && (*name | 32) <= 'z') && name[1] == ':') name += 2;
    n = strlen(name);
    while (n && strchr(" \t\r\"", name[n - 1])) n--;
    if (n >= LONGEST) return false;
    for (size_t i = 0; i < n; i++) to[i] = name[i] == '\\' ? '/' : name[i];
    to[n] = 0;
    return n > 0;
}

/* The entry of the folder that is step (n) but for its case: the same, else the first by bytes. False: none. */
static bool find_step(char to[256], int folder, const char *step, size_t n)
{
    DIR *d = folder >= 0 ? fdopendir(folder) : NULL;
    bool found = false, same = false;

    if (!d && folder >= 0) close(folder);
    for (const struct dirent *e = d ? readdir(d) : NULL; e && !same; e = readdir(d)) {
        if (strlen(e->d_name) != n || strncasecmp(e->d_name, step, n)) continue;
        same = !memcmp(e->d_name, step, n);
        if (!found || same || strcmp(e->d_name, to) < 0) snprintf(to, 256, "%s", e->d_name);
        found = true;
    }
    if (d) closedir(d);
    return found;
}

/* Names without "." and ".." alone come here. */
static bool find_in_folder(char to[LONGEST], int folder, const char *plain)
{
    size_t used = 0;

    to[0] = 0;
    while (*plain) {
        const size_t n = strcspn(plain, "/");
        char step[256];
        if (!find_step(step, open_below(folder, used ? to : "."), plain, n) || used + n + 2 > LONGEST) return false;
        used += (size_t)snprintf(to + used, LONGEST - used, "%s%s", used ? "/" : "", step);
        plain += n + (plain[n] == '/');
    }
    return true;
}

static bool find_alike(char to[LONGEST], const spot_mesh_files *f, const char *plain)
{
    const char *found = NULL;

    if (f->folder >= 0) return find_in_folder(to, f->folder, plain);
    for (int i = 0; i < f->zip.count; i++) {
        const char *name = f->zip.member[i].name;
        if (!strcasecmp(name, plain) && (!found || !strcmp(name, plain) || strcmp(name, found) < 0)) found = name;
    }
    if (found) snprintf(to, LONGEST, "%s", found);
    return found;
}

/* -- both ----------------------------------------------------------------------------------------------------------------- */

static spot_status read_plain(spot_ctx *c, spot_mesh_file *out, spot_mesh_files *f, const char *plain, size_t limit)
{
    spot_status s;

    *out = (spot_mesh_file){ .state = SPOT_FILE_MISSING };
    s = f->folder >= 0 ? read_from_folder(c, out, f, plain, limit) : read_from_archive(c, out, f, plain, limit);
    if (s != SPOT_OK || out->state != SPOT_FILE_THERE) {
        free(out->bytes);
        out->bytes = NULL;
    }
    return s;
}

static spot_status read_named(spot_ctx *c, spot_mesh_file *out, spot_mesh_files *f, const char *from, const char *name,
                              size_t limit)
{
    char plain[LONGEST];

    *out = (spot_mesh_file){ .state = SPOT_FILE_OUTSIDE };
    return plain_name(plain, from, name) ? read_plain(c, out, f, plain, limit) : SPOT_OK;
}

/* A file by another name. SPOT_FILE_THERE, or *out is as it was. */
static spot_status read_other(spot_ctx *c, spot_mesh_file *out, spot_mesh_files *f, const char *from, const char *name,
                              size_t limit)
{
    char plain[LONGEST], alike[LONGEST];
    spot_mesh_file other;

    if (!plain_name(plain, from, name) || !find_alike(alike, f, plain)) return SPOT_OK;
    SPOT_TRY(read_plain(c, &other, f, alike, limit));
    if (other.state == SPOT_FILE_THERE) *out = other;
    return SPOT_OK;
}

static spot_status read_guessed(spot_ctx *c, spot_mesh_file *out, spot_mesh_files *f, const char *from, const char *name,
                                size_t limit)
{
    char meant[LONGEST];
    const char *base;

    if (!guess_name(meant, name)) return SPOT_OK;
    base = strrchr(meant, '/');
    base = base ? base + 1 : meant;
    if (base != meant && *meant != '/') SPOT_TRY(read_other(c, out, f, from, meant, limit));
    return out->state == SPOT_FILE_THERE ? SPOT_OK : read_other(c, out, f, from, base, limit);
}

spot_status spot_mesh_file_read(spot_ctx *c, spot_mesh_file *out, spot_mesh_files *f, const char *from, const char *name,
                                size_t limit)
{
    char plain[LONGEST];

    SPOT_TRY(read_named(c, out, f, from, name, limit));
    if (out->state == SPOT_FILE_MISSING && strchr(name, '%')) {
        undo_percents(plain, name, sizeof plain);
        SPOT_TRY(read_named(c, out, f, from, plain, limit));
    }
    if (!*from || (out->state != SPOT_FILE_MISSING && out->state != SPOT_FILE_OUTSIDE)) return SPOT_OK;
    return read_guessed(c, out, f, from, name, limit);
}

static spot_status open_archive(spot_ctx *c, spot_mesh_files *f)
{
    spot_status s;

    SPOT_TRY(spot_blob_open(c, &f->blob, f->path));
    s = spot_zip_open(&f->own, &f->zip, &f->blob);
    if (s == SPOT_OK) return s;
    spot_fail_from(c, s, &f->own);
    spot_blob_close(&f->blob);
    f->blob.size = 0;
    return s;
}

spot_status spot_mesh_files_open(spot_ctx *c, spot_mesh_files **out, const char *path)
{
    spot_mesh_files *f = calloc(1, sizeof *f);
    spot_status s = SPOT_OK;
    struct stat st;

    *out = NULL;
    if (f) f->folder = -1;
    if (!f || !(f->path = strdup(path))) {
        free(f);
        return spot_fail(c, SPOT_NOMEM, "no memory to open %.500s", path);
    }
    if (stat(path, &st)) s = spot_fail(c, SPOT_IO, "{mesh.unread} cannot read %.500s: %s", path, strerror(errno));
    else if (S_ISDIR(st.st_mode)) {
        f->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (f->folder < 0) s = spot_fail(c, SPOT_IO, "cannot open the folder %.500s: %s", path, strerror(errno));
    } else {
        s = open_archive(c, f);
    }
    if (s != SPOT_OK) {
        free(f->path);
        free(f);
        return s;
    }
    *out = f;
    return SPOT_OK;
}

void spot_mesh_files_close(spot_mesh_files *f)
{
    if (!f) return;
    if (f->folder >= 0) {
        close(f->folder);
    } else {
        spot_zip_close(&f->zip);
        spot_blob_close(&f->blob);
    }
    free(f->path);
    free(f);
}
