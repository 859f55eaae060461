/* merge_cache.c - stage values of many run directories into one. A value's name is the hash of its inputs, so there are no
 * conflicts. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "study/merge.h"

/* "<key>.<kind>", not a temporary file. */
static bool is_value(const char *name)
{
    size_t n = strlen(name);

    return n > 33 && strspn(name, "0123456789abcdef") == 32 && name[32] == '.' && strcmp(name + n - 4, ".tmp") != 0;
}

static spot_status cannot_list(spot_ctx *c, const char *folder)
{
    return spot_fail(c, SPOT_IO, "{folder.unlisted} cannot list %s: %s; run the same command again", folder, strerror(errno));
}

static spot_status link_folder(spot_ctx *c, spot_batch *b, const char *to, const char *from)
{
    char path[1600], old[1600];
    struct dirent *e;
    spot_status s = SPOT_OK;
    DIR *d = opendir(from);

    if (!d && errno == ENOENT) return SPOT_OK;
    if (!d) return cannot_list(c, from);
    while (s == SPOT_OK && (errno = 0, e = readdir(d))) {
        if (!is_value(e->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", to, e->d_name);
        snprintf(old, sizeof old, "%s/%s", from, e->d_name);
        if (access(path, F_OK)) s = spot_batch_link(c, b, path, old);
    }
    if (s == SPOT_OK && errno) s = cannot_list(c, from);
    closedir(d);
    return s == SPOT_OK ? spot_batch_commit(c, b) : s;
}

/* Links the study's file beside the cache. */
static spot_status link_beside(spot_ctx *c, spot_batch *b, const char *to, const char *from, const char *name)
{
    char path[1200], old[1200];

    if (!name) return SPOT_OK;
    snprintf(path, sizeof path, "%s/%s", to, name);
    snprintf(old, sizeof old, "%s/%s", from, name);
    if (access(old, F_OK) || !access(path, F_OK)) return SPOT_OK;
    SPOT_TRY(spot_batch_link(c, b, path, old));
    return spot_batch_commit(c, b);
}

spot_status spot_merge_cache(spot_ctx *c, const spot_merge_plan *p)
{
    spot_batch b = { 0 };
    char to[1200], from[1200], folder[8];
    spot_status s = SPOT_OK;

    for (int i = p->onto; i < p->sources && s == SPOT_OK; i++) {
        s = link_beside(c, &b, p->out, p->source[i].dir, p->study->beside);
        for (int k = -1; k < 256 && s == SPOT_OK; k++) {       /* -1: the cache itself holds pixel caches */
            snprintf(folder, sizeof folder, k < 0 ? "" : "/%02x", k);
            snprintf(to, sizeof to, "%s/cache%s", p->out, folder);
            snprintf(from, sizeof from, "%s/cache%s", p->source[i].dir, folder);
            s = spot_check_stop(c);
            if (s == SPOT_OK) s = link_folder(c, &b, to, from);
        }
    }
    spot_batch_drop(&b);
    return s;
}
