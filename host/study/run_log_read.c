/* run_log_read.c - reads the logs of a run line by line. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "study/run_log.h"

enum { LOG_LIMIT = 1 << 30 };

static bool parse_line(spot_run_log_line *l, const char *text)
{
    spot_json j = { .depth = 1 };

    memset(l, 0, sizeof *l);
    l->ec = -1;
    l->seconds = NAN;
    j.at[0] = spot_tree_parse(text, strlen(text), NULL, 0);
    if (YAJL_IS_OBJECT(j.at[0])) spot_run_log_describe(&j, l);
    else j.wrong = "the line";
    yajl_tree_free(j.at[0]);
    /* Logs may come from other machines, and people read them in terminals. */
    char *const text_of[] = { l->event, l->status, l->text, l->start.config, l->start.host, l->start.job, l->start.build,
                              l->start.device, l->start.unit, l->start.platform };
    for (size_t i = 0; i < sizeof text_of / sizeof *text_of; i++) spot_plain(text_of[i]);
    return !j.wrong;
}

static spot_status read_file(spot_ctx *c, const char *path, int file, spot_run_log_on_line *on_line, void *user)
{
    spot_run_log_line *l;
    unsigned char *text;
    struct stat st;
    size_t n;

    if (stat(path, &st) || !S_ISREG(st.st_mode)) return SPOT_OK;       /* removed since it was listed; or a pipe */
    SPOT_TRY(spot_file_read(c, path, &text, &n, LOG_LIMIT));
    l = malloc(sizeof *l);
    for (char *at = (char *)text, *end; l && (end = strchr(at, '\n')); at = end + 1) {
        *end = 0;
        if (parse_line(l, at)) on_line(user, file, (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec, l);
    }
    free(text);
    if (!l) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    free(l);
    return SPOT_OK;
}

spot_status spot_run_log_read(spot_ctx *c, const char *dir, const char *prefix, spot_run_log_on_line *on_line, void *user)
{
    struct dirent **entry;
    char path[1400];
    spot_status s = SPOT_OK;
    int n, file = 0;

    snprintf(path, sizeof path, "%s/logs", dir);
    n = scandir(path, &entry, NULL, alphasort);
    if (n < 0) return spot_fail(c, SPOT_IO, "{run.unread} cannot read %s: %s; is %s a run directory?", path, strerror(errno),
                                dir);
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name, *dot = strrchr(name, '.');
        if (s == SPOT_OK && !strncmp(name, prefix, strlen(prefix)) && dot && !strcmp(dot, ".jsonl")) {
            snprintf(path, sizeof path, "%s/logs/%s", dir, name);
            s = read_file(c, path, file++, on_line, user);
        }
        free(entry[i]);
    }
    free(entry);
    return s;
}

typedef struct { double last; int starts; } progress;

static void note_progress(void *user, int file, double alive, const spot_run_log_line *l)
{
    progress *p = user;
    (void)file, (void)alive;

    if (l->kept && l->at > p->last) p->last = l->at;
}

static void count_start(void *user, int file, double alive, const spot_run_log_line *l)
{
    progress *p = user;
    (void)file, (void)alive;

    p->starts += !strcmp(l->event, "start") && l->at > p->last;
}

int spot_run_log_starts(spot_ctx *c, const char *dir, int shard, int shards)
{
    progress p = { 0 };
    char prefix[48];

    snprintf(prefix, sizeof prefix, "%d-of-%d-", shard, shards);
    if (spot_run_log_read(c, dir, prefix, note_progress, &p) == SPOT_OK
        && spot_run_log_read(c, dir, prefix, count_start, &p) == SPOT_OK) return p.starts;
    spot_forget(c);
    return 0;
}
