/* heard.h - what a context said. on_log `hear`: `heard` holds the warnings, `murmured` the rest. on_log `hear_lines`: single
 * messages, to count those with certain words. */
#ifndef SPOTTER_TESTS_HEARD_H
#define SPOTTER_TESTS_HEARD_H

#include <stdio.h>
#include <string.h>

#include "spotter/ctx.h"

static char heard[4096], murmured[4096];

static inline void hear(void *user, spot_log_level level, const char *text)
{
    char *to = level == SPOT_LOG_WARN ? heard : murmured;

    (void)user;
    strncat(to, text, sizeof heard - strlen(to) - 1);
}

static char said[16][1024];
static int  says;

static inline void hear_lines(void *user, spot_log_level level, const char *text)
{
    (void)user;
    if (level >= SPOT_LOG_INFO && says < 16) snprintf(said[says++], sizeof *said, "%s", text);
}

static inline int count_said(const char *words)
{
    int n = 0;

    for (int i = 0; i < says; i++) n += strstr(said[i], words) != NULL;
    return n;
}

#endif
