/* contents.c - see contents.h. */
#define _POSIX_C_SOURCE 200809L
#include "store/contents.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

#define LARGEST ((size_t)1 << 32)

/* A path that does not fit is cut to one that no file can have. */
enum { LONGEST = PATH_MAX + 1 };

static const char *whole_path(char to[LONGEST], const char *root, const char *path)
{
    if (!root) return path;
    snprintf(to, LONGEST, "%s/%s", root, path);
    return to;
}

/* A key for the list of files as it lies here: paths, sizes and times. */
static spot_status key_of_list(spot_ctx *c, spot_key *k, const char *root, const char *const *path, int n)
{
    spot_text all = { 0 };
    spot_status s = SPOT_OK;

    for (int i = 0; i < n && s == SPOT_OK; i++) {
        char facts[96], space[LONGEST];
        const char *file = whole_path(space, root, path[i]);
        struct stat st;
        if (stat(file, &st)) s = spot_fail(c, SPOT_IO, "{file.unread} cannot read %s: %s", file, strerror(errno));
        else spot_text_add(&all, facts, (size_t)snprintf(facts, sizeof facts, "%lld %lld %ld", (long long)st.st_size,
                           (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec) + 1);
        spot_text_add(&all, file, strlen(file) + 1);
        if (i % 1024 == 0 && s == SPOT_OK) s = spot_check_stop(c);
    }
    if (s == SPOT_OK && all.status) s = spot_fail(c, SPOT_NOMEM, "no memory for a list of %d files", n);
    if (s == SPOT_OK) *k = spot_key_join(spot_key_of("contents", 8), "list", all.bytes, all.used);
    spot_text_free(&all);
    return s;
}

/* Why a file cannot be read: the threads' own sentences are lost. */
static spot_status say_why(spot_ctx *c, const char *path)
{
    unsigned char *bytes = NULL;
    size_t size;

    SPOT_TRY(spot_file_read(c, path, &bytes, &size, LARGEST));
    free(bytes);
    return spot_fail(c, SPOT_IO, "%s could not be read a moment ago; run the same command again", path);
}

static spot_status hash_files(spot_ctx *c, spot_key *key, const char *root, const char *const *path, int n)
{
    char space[LONGEST];
    int failed = n;

#pragma omp parallel for num_threads(c->threads < 1 ? 1 : c->threads) schedule(dynamic, 16) reduction(min : failed)
    for (int i = 0; i < n; i++) {
        char own_space[LONGEST];
        const char *file = whole_path(own_space, root, path[i]);
        spot_ctx own = { .ops = c->ops };
        unsigned char *bytes = NULL;
        size_t size = 0;
        if ((c->stop && *c->stop) || spot_file_read(&own, file, &bytes, &size, LARGEST)) failed = i < failed ? i : failed;
        else key[i] = spot_key_of(bytes, size);
        free(bytes);
    }
    SPOT_TRY(spot_check_stop(c));
    return failed == n ? SPOT_OK : say_why(c, whole_path(space, root, path[failed]));
}

spot_status spot_contents_of(spot_ctx *c, spot_key *key, const char *root, const char *const *path, int n,
                             const spot_store *store)
{
    const size_t bytes = (size_t)n * sizeof *key;
    unsigned char *kept = NULL;
    size_t size = 0;
    bool found = false;
    spot_key k;

    if (!n) return SPOT_OK;
    if (!store) return hash_files(c, key, root, path, n);
    SPOT_TRY(key_of_list(c, &k, root, path, n));
    SPOT_TRY(spot_store_get(c, store, k, "contents", &kept, &size, &found));
    found = found && size == bytes;
    if (found) memcpy(key, kept, bytes);
    free(kept);
    if (found) return SPOT_OK;
    SPOT_TRY(hash_files(c, key, root, path, n));
    if (spot_store_put(c, store, k, "contents", key, bytes)) spot_forget(c);       /* it saves time and no more */
    return SPOT_OK;
}
