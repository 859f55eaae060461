/* makers.c - the builds and platforms that made a run's values, read from its logs. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "study/run_log.h"

void spot_run_makers_add(spot_run_makers *m, int file, const spot_run_log_line *l)
{
    const spot_run_log_start *s = &m->start;

    if (!strcmp(l->event, "start")) {
        m->started = true;
        m->file = file;
        m->start = l->start;
        return;
    }
    if (!m->started || m->file != file || !(l->kept || !strcmp(l->event, "done"))) return;
    if (!*m->build) {
        memcpy(m->build, s->build, sizeof m->build);
        memcpy(m->platform, s->platform, sizeof m->platform);
    }
    m->builds |= strcmp(m->build, s->build) != 0;
    if (!*m->other && strcmp(m->platform, s->platform)) memcpy(m->other, s->platform, sizeof m->other);
}

static void add_line(void *user, int file, double alive, const spot_run_log_line *l)
{
    (void)alive;
    spot_run_makers_add(user, file, l);
}

spot_status spot_run_makers_read(spot_ctx *c, const char *dir, spot_run_makers *m)
{
    char path[1200];

    snprintf(path, sizeof path, "%s/logs", dir);
    if (access(path, F_OK)) return SPOT_OK;
    m->started = false;
    return spot_run_log_read(c, dir, "", add_line, m);
}

void spot_run_makers_warn(spot_ctx *c, const spot_run_makers *m, const char *dir, const char *here)
{
    if (*m->other)
        spot_log(c, SPOT_LOG_WARN, "%s: its values were made on different platforms (%s; and %s), and equal bits are promised "
                 "on one only", dir, m->platform, m->other);
    else if (here && *m->platform && strcmp(m->platform, here))
        spot_log(c, SPOT_LOG_WARN, "%s: its values were made on another platform (%s; here %s), and equal bits are promised "
                 "on one only", dir, m->platform, here);
}

void spot_run_makers_look(spot_ctx *c, const char *dir, const char *here)
{
    spot_run_makers m = { 0 };

    if (spot_run_makers_read(c, dir, &m) == SPOT_OK) spot_run_makers_warn(c, &m, dir, here);
    else spot_forget(c);
}
