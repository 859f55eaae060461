/* merge_convolutions.c - cuDNN's plans of many run directories into one (kernels/net/conv_stored.cu), so that a merged run
 * which continues rounds as before. They are a few hundred bytes each and are merged without --cache, too. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "study/merge.h"

enum { PATH = 1600, LINES = 3 };           /* of a plan's file, without the remark: its heading, the choice and its digest */
#define LARGEST ((size_t)1 << 16)

typedef struct { spot_ctx *c; spot_batch files; int others; } merging;

static bool is_plan(const char *name)
{
    const size_t n = strlen(name);

    return n > 5 && !strcmp(name + n - 5, ".plan");
}

/* Where the lines end that say which plan it is; 0: it has fewer. */
static size_t choice_ends(const unsigned char *text, size_t n)
{
    size_t at = 0;

    for (int line = 0; line < LINES && at < n; line += text[at++] == '\n');
    return at < n ? at : 0;
}

static bool is_same_choice(spot_ctx *c, const char *path, const char *other)
{
    unsigned char *a = NULL, *b = NULL;
    size_t n = 0, m = 0;
    bool same = true;                      /* a file that cannot be read is the sweep's to judge */

    if (spot_file_read(c, path, &a, &n, LARGEST) || spot_file_read(c, other, &b, &m, LARGEST)) spot_forget(c);
    else same = choice_ends(a, n) == choice_ends(b, m) && !memcmp(a, b, choice_ends(a, n));
    free(a);
    free(b);
    return same;
}

/* Takes a plan that out lacks. */
static spot_status merge_plan(merging *m, const char *path, const char *from)
{
    struct stat st;

    if (lstat(from, &st) || !S_ISREG(st.st_mode)) return SPOT_OK;
    if (lstat(path, &st)) return spot_batch_link(m->c, &m->files, path, from);
    m->others += S_ISREG(st.st_mode) && !is_same_choice(m->c, path, from);
    return SPOT_OK;
}

static spot_status cannot_list(spot_ctx *c, const char *folder)
{
    return spot_fail(c, SPOT_IO, "{folder.unlisted} cannot list %s: %s; run the same command again", folder, strerror(errno));
}

/* Merges the plans of a folder, or with deep those of its folders. Links are not followed. */
static spot_status merge_folder(merging *m, const char *to, const char *from, bool deep)
{
    const int fd = open(from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    char path[PATH], old[PATH];
    struct dirent *e;
    struct stat st;
    spot_status s = SPOT_OK;

    if (!d) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? SPOT_OK : cannot_list(m->c, from);
    while (s == SPOT_OK && (errno = 0, e = readdir(d))) {
        snprintf(path, sizeof path, "%s/%s", to, e->d_name);
        snprintf(old, sizeof old, "%s/%s", from, e->d_name);
        if (!deep && is_plan(e->d_name)) s = merge_plan(m, path, old);
        if (deep && e->d_name[0] != '.' && !lstat(old, &st) && S_ISDIR(st.st_mode)) s = merge_folder(m, path, old, false);
    }
    if (s == SPOT_OK && errno) s = cannot_list(m->c, from);
    closedir(d);
    return s == SPOT_OK ? spot_batch_commit(m->c, &m->files) : s;
}

spot_status spot_merge_plans(spot_ctx *c, const spot_merge_plan *p)
{
    merging m = { .c = c };
    char to[PATH], from[PATH];
    spot_store store;
    spot_status s = spot_store_open_to_read(c, &store, p->out);

    snprintf(to, sizeof to, "%s/plans", p->out);
    for (int i = p->onto; i < p->sources && s == SPOT_OK; i++) {
        m.others = 0;
        snprintf(from, sizeof from, "%s/plans", p->source[i].dir);
        if (access(from, F_OK)) continue;
        s = spot_store_folder(c, &store, "plans");
        if (s == SPOT_OK) s = merge_folder(&m, to, from, true);
        if (m.others)
            spot_log(c, SPOT_LOG_WARN, "%s convolved otherwise than the directories before it, in %d ways: its results may "
                     "differ from theirs in the last bits", p->source[i].dir, m.others);
    }
    spot_batch_drop(&m.files);
    return s;
}
