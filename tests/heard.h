/* heard.h - the warnings of a context whose on_log is `hear`. */
#ifndef SPOTTER_TESTS_HEARD_H
#define SPOTTER_TESTS_HEARD_H

#include <string.h>

#include "spotter/ctx.h"

static char heard[4096];

static inline void hear(void *user, spot_log_level level, const char *text)
{
    (void)user;
    if (level == SPOT_LOG_WARN) strncat(heard, text, sizeof heard - strlen(heard) - 1);
}

#endif
