/* pixel_cache.c - see pixel_cache.h. All threads decode pictures, AT_A_TIME of them in memory. */
#define _POSIX_C_SOURCE 200809L
#include "store/pixel_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "store/contents.h"
#include "worlds/pictures.h"

enum { AT_A_TIME = 256 };          /* pictures */

typedef struct { char magic[8]; uint64_t pictures, bytes, checksum; } tail;

static const char magic[8] = { 'S', 'P', 'O', 'T', 'A', 'L', 'B', '1' };

static size_t picture_bytes(const spot_photos *p) { return 3 * (size_t)p->cfg.size * (size_t)p->cfg.size; }

double spot_pixel_cache_bytes(const spot_photos *p) { return (double)p->used * (double)(picture_bytes(p) + 8) + sizeof(tail); }

int spot_pixel_cache_pictures(const spot_photos *p) { return p->used; }

spot_status spot_pixel_cache_pace(spot_ctx *c, spot_spent *each, const spot_photos *p)
{
    enum { SOME = 64 };
    int some = p->used < SOME ? p->used : SOME;
    uint8_t *rgb = malloc(picture_bytes(p));
    spot_spent at = spot_spent_now(), all = { 0, 0 };
    spot_decode_buffers room = { 0 };
    spot_status s = rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a picture");

    for (int i = 0; i < some && s == SPOT_OK; i++) s = spot_photo_decode(c, rgb, p, (int)((long)i * p->used / some), &room);
    spot_spend(&all, &at);
    spot_decode_buffers_close(&room);
    free(rgb);
    *each = (spot_spent){ all.wall / some / c->threads, all.cpu / some };
    return s;
}

static tail tail_of(const spot_photos *p, const uint64_t *checksum)
{
    tail t = { .pictures = (uint64_t)p->used, .bytes = picture_bytes(p),
               .checksum = XXH3_64bits(checksum, (size_t)p->used * sizeof *checksum) };

    memcpy(t.magic, magic, sizeof magic);
    return t;
}

static spot_key key_of_cache(const spot_photos *p)
{
    char text[128];
    const int n = snprintf(text, sizeof text, "album of %s, size %d, fit %d", p->hash, p->cfg.size, p->cfg.fit);

    return spot_key_of(text, (size_t)n);
}

static void cache_path(char *path, size_t size, const spot_store *store, const spot_photos *p)
{
    char key[33];

    spot_key_text(key, key_of_cache(p));
    snprintf(path, size, "%s/cache/%s.album", store->dir, key);
}

/* ---- the files that it was made of ---- */

/* Paths of the used pictures, in one block; NULL: no memory. */
static char **list_paths(const spot_photos *p)
{
    char path[SPOT_PHOTO_PATH], **list, *text;
    size_t bytes = 0;

    for (int i = 0; i < p->used; i++) {
        spot_photo_path(p, p->use[i], path);
        bytes += strlen(path) + 1;
    }
    list = malloc((size_t)p->used * sizeof *list + bytes + 1);
    text = (char *)(list + p->used);
    for (int i = 0; list && i < p->used; i++) {
        spot_photo_path(p, p->use[i], path);
        list[i] = strcpy(text, path);
        text += strlen(path) + 1;
    }
    return list;
}

static spot_status compare_files(spot_ctx *c, const spot_key *was, const spot_key *is, char *const *path, int n)
{
    int changed = 0, first = 0;

    for (int i = n - 1; i >= 0; i--)
        if (was[i].hi != is[i].hi || was[i].lo != is[i].lo) changed++, first = i;
    if (!changed) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{pixel_cache.changed} %d of %d pictures have other bytes than when this run decoded them, "
                     "such as %.600s; bring them back, or give these ones a run directory of their own", changed, n,
                     path[first]);
}

static spot_key key_of_files(const spot_photos *p) { return spot_key_join(key_of_cache(p), "sources", "1", 1); }

/* Names and sizes of the files are part of the run's keys; their bytes are hashed when the cache is made, and again when the
 * time of one has changed. key (used): of the files as they are; known: the run has those of the files that it decoded. */
static spot_status check_files(spot_ctx *c, const spot_store *store, const spot_photos *p, spot_key *key, bool *known)
{
    char **path = list_paths(p);
    unsigned char *kept = NULL;
    size_t size = 0;
    spot_status s = path ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the names of %d pictures", p->used);

    *known = false;
    if (s == SPOT_OK) s = spot_contents_of(c, key, NULL, (const char *const *)path, p->used, store);
    if (s == SPOT_OK) s = spot_store_get(c, store, key_of_files(p), "sources", &kept, &size, known);
    *known = *known && size == (size_t)p->used * sizeof *key;
    if (s == SPOT_OK && *known) s = compare_files(c, (const spot_key *)(const void *)kept, key, path, p->used);
    free(kept), free(path);
    return s;
}

/* ---- creating it ---- */

typedef struct {
    spot_photos   *p;
    FILE          *file;
    uint8_t       *rgb;            /* (AT_A_TIME) pictures */
    uint64_t      *checksum;       /* (used) */
    spot_decode_buffers *room;     /* (threads) */
    int            unreadable;
    int            first;          /* the first unreadable picture */
    spot_status    status;         /* any other failure */
} cache_writer;

/* Counts an unreadable picture and keeps the error of the first one; any other failure replaces both. */
static void note_failure(cache_writer *m, spot_ctx *c, const spot_ctx *mine, int row, spot_status s)
{
#pragma omp critical(pixel_cache_failure)
    {
        if (s != SPOT_INPUT) m->status = s;
        else m->unreadable++;
        if (s != SPOT_INPUT || m->first < 0 || row < m->first) {
            m->first = row;
            spot_forget(c);
            spot_fail_from(c, s, mine);
        }
    }
}

static void decode_pictures(spot_ctx *c, cache_writer *m, int from, int n)
{
    size_t bytes = picture_bytes(m->p);

#pragma omp parallel for schedule(dynamic) num_threads(c->threads)
    for (int i = 0; i < n; i++) {
        uint8_t *rgb = m->rgb + (size_t)i * bytes;
        spot_ctx mine = { .ops = c->ops, .threads = 1 };           /* with its own error */
        spot_status s = spot_photo_decode(&mine, rgb, m->p, from + i, &m->room[omp_get_thread_num()]);
        if (s) note_failure(m, c, &mine, from + i, s);
        else m->checksum[from + i] = XXH3_64bits(rgb, bytes);
    }
}

static spot_status fail_unreadable(spot_ctx *c, const cache_writer *m)
{
    if (m->status) return m->status;
    return spot_fail(c, SPOT_INPUT, "{pixel_cache.unreadable} %d of %d pictures cannot be read; the first: %.800s",
                     m->unreadable, m->p->used, spot_take_message(c, SPOT_INPUT));
}

/* Decodes all pictures, to count all broken ones; writes nothing after the first of them. */
static spot_status write_cache(spot_ctx *c, cache_writer *m)
{
    const spot_photos *p = m->p;
    tail t;

    for (int from = 0; from < p->used; from += AT_A_TIME) {
        int n = p->used - from < AT_A_TIME ? p->used - from : AT_A_TIME;
        SPOT_TRY(spot_check_stop(c));
        decode_pictures(c, m, from, n);
        if (m->status) return m->status;
        if (!m->unreadable && fwrite(m->rgb, picture_bytes(p), (size_t)n, m->file) < (size_t)n) return SPOT_IO;
        spot_tell(c, "decode", -1, from + n, p->used, "");
    }
    if (m->unreadable) return fail_unreadable(c, m);
    t = tail_of(p, m->checksum);
    if (fwrite(m->checksum, sizeof *m->checksum, (size_t)p->used, m->file) < (size_t)p->used) return SPOT_IO;
    return fwrite(&t, sizeof t, 1, m->file) == 1 ? SPOT_OK : SPOT_IO;
}

static spot_status write_file(spot_ctx *c, cache_writer *m, const char *path)
{
    char temp[PATH_MAX];
    int fd, error;
    spot_status s;

    SPOT_TRY(spot_file_begin(c, temp, sizeof temp, path, &fd));
    m->file = fdopen(fd, "wb");
    if (!m->file) {
        close(fd);
        return spot_file_abort(c, temp, path, ENOMEM);
    }
    s = write_cache(c, m);
    error = s == SPOT_IO ? errno : 0;
    if (fclose(m->file) && !s) { s = SPOT_IO; error = errno; }
    if (s == SPOT_IO) return spot_file_abort(c, temp, path, error);
    if (!s) return spot_file_commit(c, temp, path);
    unlink(temp);
    return s;
}

static spot_status create_cache(spot_ctx *c, spot_photos *p, const char *path)
{
    cache_writer m = { .p = p, .first = -1 };
    spot_status s;

    m.rgb = malloc(AT_A_TIME * picture_bytes(p));
    m.checksum = malloc((size_t)p->used * sizeof *m.checksum + 1);
    m.room = calloc((size_t)c->threads, sizeof *m.room);
    if (m.rgb && m.checksum && m.room) s = write_file(c, &m, path);
    else s = spot_fail(c, SPOT_NOMEM, "no memory to decode %d pictures of %d px at a time", AT_A_TIME, p->cfg.size);
    for (int i = 0; m.room && i < c->threads; i++) spot_decode_buffers_close(&m.room[i]);
    free(m.room);
    free(m.checksum);
    free(m.rgb);
    return s;
}

/* ---- reading it ---- */

/* Opens the cache if its file is complete: *found. */
static spot_status open_cache(spot_ctx *c, spot_photos *p, const char *path, bool *found)
{
    size_t pixels = (size_t)p->used * picture_bytes(p), hashes = (size_t)p->used * sizeof(uint64_t);
    uint64_t *checksum = malloc(hashes + 1);
    int fd = checksum ? spot_file_open(path) : -1;
    tail t, want;

    *found = false;
    if (!checksum) return spot_fail(c, SPOT_NOMEM, "no memory for the hashes of %d pictures", p->used);
    if (fd >= 0 && pread(fd, checksum, hashes, (off_t)pixels) == (ssize_t)hashes
        && pread(fd, &t, sizeof t, (off_t)(pixels + hashes)) == (ssize_t)sizeof t
        && lseek(fd, 0, SEEK_END) == (off_t)(pixels + hashes + sizeof t)) {
        want = tail_of(p, checksum);
        *found = !memcmp(&t, &want, sizeof t);
    }
    if (*found) spot_photos_pixel_cache(p, fd, checksum);
    if (!*found && fd >= 0) close(fd);
    if (!*found) free(checksum);
    return SPOT_OK;
}

static spot_status find_or_create(spot_ctx *c, const spot_store *store, spot_photos *p)
{
    char path[1200];
    bool found;

    cache_path(path, sizeof path, store, p);
    SPOT_TRY(open_cache(c, p, path, &found));
    if (found) return SPOT_OK;
    if (!access(path, F_OK)) spot_log(c, SPOT_LOG_WARN, "%s is not whole; it is written again", path);
    spot_log(c, SPOT_LOG_INFO, "decoding %d picture%s into %s (%.2f GB)", p->used, p->used == 1 ? "" : "s", path,
             spot_pixel_cache_bytes(p) / 1e9);
    SPOT_TRY(create_cache(c, p, path));
    SPOT_TRY(open_cache(c, p, path, &found));
    return found ? SPOT_OK : spot_fail(c, SPOT_IO, "%s was written and is not whole; is the disk sound?", path);
}

spot_status spot_pixel_cache_open(spot_ctx *c, const spot_store *store, spot_photos *p)
{
    const size_t bytes = (size_t)p->used * sizeof(spot_key);
    spot_key *key = malloc(bytes + 1);
    bool known = false;
    spot_status s = key ? check_files(c, store, p, key, &known)
                        : spot_fail(c, SPOT_NOMEM, "no memory for the hashes of %d pictures", p->used);

    if (s == SPOT_OK) s = find_or_create(c, store, p);
    if (s == SPOT_OK && !known) s = spot_store_put(c, store, key_of_files(p), "sources", key, bytes);
    free(key);
    return s;
}

spot_status spot_pixel_cache_find(spot_ctx *c, const char *dir, spot_photos *p, bool *found)
{
    spot_store store;
    char path[1200];

    *found = false;
    SPOT_TRY(spot_store_open_to_read(c, &store, dir));
    cache_path(path, sizeof path, &store, p);
    return open_cache(c, p, path, found);
}
