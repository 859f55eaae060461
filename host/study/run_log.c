/* run_log.c - writes one JSON line per event with a single write(), and updates the file's time from a thread. */
#define _DEFAULT_SOURCE                /* timegm */
#include "study/run_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/platform.h"

enum { BEAT = 15 };                    /* seconds between signs of life; work.h promises at most 30 */

/* It runs in a thread of its own, since some stages compute for minutes inside one call. */
static void *update_file_time(void *user)
{
    spot_run_log *d = user;
    struct timespec until;

    pthread_mutex_lock(&d->lock);
    while (d->open) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += BEAT;
        if (pthread_cond_timedwait(&d->closing, &d->lock, &until) == ETIMEDOUT) futimens(d->fd, NULL);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

void spot_run_log_open(spot_ctx *c, spot_run_log *d, const char *dir, int shard, int shards)
{
    char path[1200], host[64] = "";

    memset(d, 0, sizeof *d);
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%s/logs/%d-of-%d-%s-%ld.jsonl", dir, shard, shards, host, (long)getpid());
    d->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (d->fd < 0) {
        spot_log(c, SPOT_LOG_WARN, "no log will be kept: cannot write %s: %s", path, strerror(errno));
        return;
    }
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->closing, NULL);
    d->open = true;
    if (!pthread_create(&d->beat, NULL, update_file_time, d)) return;
    spot_log(c, SPOT_LOG_WARN, "cannot start a thread: `spotter status` may report this process as lost");
    d->beat = pthread_self();
}

void spot_run_log_close(spot_run_log *d)
{
    if (d->fd < 0) return;
    pthread_mutex_lock(&d->lock);
    d->open = false;
    pthread_cond_signal(&d->closing);
    pthread_mutex_unlock(&d->lock);
    if (!pthread_equal(d->beat, pthread_self())) pthread_join(d->beat, NULL);
    pthread_mutex_destroy(&d->lock);
    pthread_cond_destroy(&d->closing);
    close(d->fd);
    d->fd = -1;
}

/* Whether an optional member is written, or is there to be read. */
static bool wanted(spot_json *j, const char *key, bool found) { return j->gen ? found : spot_json_has(j, key); }

static void describe_start(spot_json *j, spot_run_log_start *s)
{
    spot_json_int(j, "shard", &s->shard);
    spot_json_int(j, "shards", &s->shards);
    spot_json_int(j, "from", &s->from);
    spot_json_int(j, "to", &s->to);
    spot_json_int(j, "ecs", &s->ecs);
    spot_json_int(j, "pid", &s->pid);
    spot_json_text(j, "config", s->config, sizeof s->config);
    spot_json_text(j, "host", s->host, sizeof s->host);
    spot_json_text(j, "job", s->job, sizeof s->job);
    spot_json_text(j, "build", s->build, sizeof s->build);
    spot_json_text(j, "device", s->device, sizeof s->device);
    spot_json_text(j, "unit", s->unit, sizeof s->unit);
    spot_json_text(j, "platform", s->platform, sizeof s->platform);
}

/* "2026-11-21T18:25:36.123Z" */
static void describe_time(spot_json *j, double *at)
{
    time_t whole = (time_t)floor(*at);
    struct tm utc = { 0 };
    char text[40] = "";
    double seconds = 0;
    size_t n;

    if (j->gen) {
        n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", gmtime_r(&whole, &utc));
        snprintf(text + n, sizeof text - n, ".%03dZ", (int)(1e3 * (*at - (double)whole)));
        spot_json_text(j, "at", text, sizeof text);
        return;
    }
    spot_json_text(j, "at", text, sizeof text);
    if (sscanf(text, "%d-%d-%dT%d:%d:%lfZ", &utc.tm_year, &utc.tm_mon, &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &seconds) != 6)
        j->wrong = "at";
    utc.tm_year -= 1900;
    utc.tm_mon--;
    *at = (double)timegm(&utc) + seconds;
}

void spot_run_log_describe(spot_json *j, spot_run_log_line *l)
{
    describe_time(j, &l->at);
    spot_json_text(j, "event", l->event, sizeof l->event);
    if (wanted(j, "kept", l->kept)) spot_json_bool(j, "kept", &l->kept);
    if (wanted(j, "ec", l->ec >= 0)) spot_json_int(j, "ec", &l->ec);
    if (wanted(j, "seconds", isfinite(l->seconds))) spot_json_real(j, "seconds", &l->seconds);
    if (wanted(j, "status", *l->status)) spot_json_text(j, "status", l->status, sizeof l->status);
    if (!strcmp(l->event, "start")) describe_start(j, &l->start);
    if (wanted(j, "text", *l->text)) spot_json_text(j, "text", l->text, sizeof l->text);
}

static void write_line(spot_run_log *d, spot_run_log_line *l)
{
    spot_ctx quiet = { 0 };
    struct timespec now;
    spot_json j;

    if (d->fd < 0 || spot_json_begin(&quiet, &j, NULL) != SPOT_OK) return;
    clock_gettime(CLOCK_REALTIME, &now);
    l->at = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    l->seconds = round(1e3 * l->seconds) / 1e3;
    spot_json_object(&j, NULL);
    spot_run_log_describe(&j, l);
    spot_json_end(&j);
    spot_text_adds(&j.out, "\n");
    pthread_mutex_lock(&d->lock);
    if (d->torn) d->torn = write(d->fd, "\n", 1) != 1;
    if (!d->torn && !j.out.status) d->torn = write(d->fd, j.out.bytes, j.out.used) != (ssize_t)j.out.used;
    pthread_mutex_unlock(&d->lock);
    spot_json_free(&j);
}

void spot_run_log_write(spot_run_log *d, const char *event, int ec, double seconds, const char *text)
{
    spot_run_log_line l = { .ec = ec, .seconds = seconds };

    snprintf(l.event, sizeof l.event, "%s", event);
    if (text) snprintf(l.text, sizeof l.text, "%s", text);
    write_line(d, &l);
}

void spot_run_log_kept(spot_run_log *d, const char *kind, int ec, double seconds, const char *text)
{
    spot_run_log_line l = { .kept = true, .ec = ec, .seconds = seconds };

    snprintf(l.event, sizeof l.event, "%s", kind);
    if (text) snprintf(l.text, sizeof l.text, "%s", text);
    write_line(d, &l);
}

static const char *env(const char *name)
{
    const char *v = getenv(name);

    return v ? v : "";
}

/* The scheduler's name of this process. */
static void name_job(char *text, size_t size)
{
    if (*env("SLURM_ARRAY_JOB_ID")) snprintf(text, size, "%s_%s", env("SLURM_ARRAY_JOB_ID"), env("SLURM_ARRAY_TASK_ID"));
    else if (*env("SLURM_JOB_ID")) snprintf(text, size, "%s", env("SLURM_JOB_ID"));
    else snprintf(text, size, "%s", *env("JOB_COMPLETION_INDEX") ? env("HOSTNAME") : "");
}

void spot_run_log_begin(spot_ctx *c, spot_run_log *d, spot_run_log_start *s, const char *text)
{
    spot_run_log_line l = { .event = "start", .ec = -1, .seconds = NAN };

    s->pid = (int)getpid();
    gethostname(s->host, sizeof s->host - 1);
    name_job(s->job, sizeof s->job);
    spot_build(s->build, sizeof s->build);
    snprintf(s->device, sizeof s->device, "%s", spot_ctx_device_name(c));
    spot_platform_unit(c, s->unit, sizeof s->unit);
    spot_platform(c, s->platform, sizeof s->platform);
    l.start = *s;
    snprintf(l.text, sizeof l.text, "%s", text);
    write_line(d, &l);
}

void spot_run_log_end(spot_run_log *d, spot_status s, double seconds, const char *text)
{
    spot_run_log_line l = { .event = "end", .ec = -1, .seconds = seconds };

    snprintf(l.status, sizeof l.status, "%s", spot_status_name(s));
    if (text) snprintf(l.text, sizeof l.text, "%s", text);
    write_line(d, &l);
}
