/* contents.c - see contents.h. */
#define _POSIX_C_SOURCE 200809L
#include "store/contents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

#define LARGEST ((size_t)1 << 32)

/* A key for the list of files as it lies here: paths, sizes and times. */
static spot_status key_of_list(spot_ctx *c, spot_key *k, char *const *path, int n)
{
    spot_text all = { 0 };
    spot_status s = SPOT_OK;

    for (int i = 0; i < n && s == SPOT_OK; i++) {
        char facts[96];
        struct stat st;
        if (stat(path[i], &st)) s = spot_fail(c, SPOT_IO, "cannot read %s: %s", path[i], strerror(errno));
        else spot_text_add(&all, facts, (size_t)snprintf(facts, sizeof facts, "%lld %lld %ld", (long long)st.st_size,
                           (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec) + 1);
        spot_text_add(&all, path[i], strlen(path[i]) + 1);
        if (i % 1024 == 0 && s == SPOT_OK) s = spot_check_stop(c);
    }
    if (s == SPOT_OK && all.status) s = spot_fail(c, SPOT_NOMEM, "no memory for a list of %d files", n);
    if (s == SPOT_OK) *k = spot_key_join(spot_key_of("contents", 8), "list", all.bytes, all.used);
    spot_text_free(&all);
    return s;
}

static spot_status hash_files(spot_ctx *c, spot_key *key, char *const *path, int n)
{
    int failed = n;

#pragma omp parallel for num_threads(c->threads < 1 ? 1 : c->threads) schedule(dynamic, 16) reduction(min : failed)
    for (int i = 0; i < n; i++) {
        spot_ctx own = { .ops = c->ops };
        unsigned char *bytes = NULL;
        size_t size = 0;
        if ((c->stop && *c->stop) || spot_file_read(&own, path[i], &bytes, &size, LARGEST)) failed = i < failed ? i : failed;
        else key[i] = spot_key_of(bytes, size);
        free(bytes);
    }
    SPOT_TRY(spot_check_stop(c));
    if (failed == n) return SPOT_OK;
    unsigned char *bytes = NULL;               /* again, for the sentence */
    size_t size;
    SPOT_TRY(spot_file_read(c, path[failed], &bytes, &size, LARGEST));
    free(bytes);
    return spot_fail(c, SPOT_IO, "%s could not be read a moment ago; run the same command again", path[failed]);
}

spot_status spot_contents_of(spot_ctx *c, spot_key *key, char *const *path, int n, const spot_store *store)
{
    const size_t bytes = (size_t)n * sizeof *key;
    unsigned char *kept = NULL;
    size_t size = 0;
    bool found = false;
    spot_key k;

    if (!n) return SPOT_OK;
    if (!store) return hash_files(c, key, path, n);
    SPOT_TRY(key_of_list(c, &k, path, n));
    SPOT_TRY(spot_store_get(c, store, k, "contents", &kept, &size, &found));
    found = found && size == bytes;
    if (found) memcpy(key, kept, bytes);
    free(kept);
    if (found) return SPOT_OK;
    SPOT_TRY(hash_files(c, key, path, n));
    return spot_store_put(c, store, k, "contents", key, bytes);
}
