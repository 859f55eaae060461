/* diary.c - one JSON line an event, each by a single write. */
#define _POSIX_C_SOURCE 200809L
#include "sweep/diary.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/json.h"

double spot_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void spot_diary_open(spot_ctx *c, spot_diary *d, const char *dir)
{
    char path[1200], host[64] = "";

    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%s/logs/%s-%ld.jsonl", dir, host, (long)getpid());
    d->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (d->fd < 0) spot_log(c, SPOT_LOG_WARN, "no log will be kept: cannot write %s: %s", path, strerror(errno));
}

void spot_diary_close(spot_diary *d)
{
    if (d->fd >= 0) close(d->fd);
    d->fd = -1;
}

void spot_diary_write(spot_diary *d, const char *event, int ec, double seconds, const char *text)
{
    spot_json j = { .gen = d->fd < 0 ? NULL : yajl_gen_alloc(NULL) };
    char at[32], what[64];
    const unsigned char *line;
    time_t now = time(NULL);
    struct tm utc;
    size_t n;

    if (!j.gen) return;
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    snprintf(what, sizeof what, "%s", event);
    spot_json_object(&j, NULL);
    spot_json_text(&j, "at", at, sizeof at);
    spot_json_text(&j, "event", what, sizeof what);
    if (ec >= 0) spot_json_int(&j, "ec", &ec);
    seconds = round(1e3 * seconds) / 1e3;
    if (isfinite(seconds)) spot_json_real(&j, "seconds", &seconds);
    if (text) spot_json_text(&j, "text", (char *)text, 0);
    spot_json_end(&j);
    yajl_gen_reset(j.gen, "\n");
    yajl_gen_get_buf(j.gen, &line, &n);
#pragma omp critical(spot_diary)
    if (d->fd >= 0 && write(d->fd, line, n) < 0) spot_diary_close(d);
    yajl_gen_free(j.gen);
}
