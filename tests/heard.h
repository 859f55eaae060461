/* heard.h - what a context whose on_log is `hear` said: `heard` holds the warnings, `murmured` the rest. */
#ifndef SPOTTER_TESTS_HEARD_H
#define SPOTTER_TESTS_HEARD_H

#include <string.h>

#include "spotter/ctx.h"

static char heard[4096], murmured[4096];

static inline void hear(void *user, spot_log_level level, const char *text)
{
    char *to = level == SPOT_LOG_WARN ? heard : murmured;

    (void)user;
    strncat(to, text, sizeof heard - strlen(to) - 1);
}

#endif
