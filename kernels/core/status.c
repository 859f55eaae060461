/* status.c - failures and messages. Linked into the program and into every device plugin. */
#include "spotter/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "spotter/ctx.h"

static const struct { const char *name, *words; int exit_code; } statuses[] = {
#define X(name, exit_code, words) { #name, words, exit_code },
    SPOT_STATUS_LIST(X)
#undef X
};

/* Those of ASCII, and U+0080 to U+009F, which some terminals obey, too. */
char *spot_plain(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) p[0] = p[1] = '?';
        if (*p < ' ' || *p == 127) *p = '?';
    }
    return text;
}

spot_status spot_fail(spot_ctx *c, spot_status s, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
#pragma omp critical(spot_fail)
    if (c->status == SPOT_OK) {
        c->status = s;
        vsnprintf(c->message, sizeof c->message, fmt, args);
        spot_plain(c->message);
    }
    va_end(args);
    return s;
}

const char *spot_message(const spot_ctx *c, spot_status s)
{
    if (c->status != SPOT_OK && c->message[0]) return c->message;
    return statuses[s].words;
}

void spot_forget(spot_ctx *c)
{
    c->status = SPOT_OK;
    c->message[0] = 0;
}

int spot_exit_code(spot_status s) { return statuses[s].exit_code; }

const char *spot_status_name(spot_status s) { return statuses[s].name; }

void spot_log(spot_ctx *c, spot_log_level level, const char *fmt, ...)
{
    char text[1024], signed_text[1200];
    int ec = 0;
    va_list args;

    if (!c->on_log) return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    spot_plain(text);
    if (c->who) sscanf(text, "EC %*u%n", &ec);         /* "EC 3, spotlight: ...", or "spotlight: ..." */
    snprintf(signed_text, sizeof signed_text, "%.*s%s%.100s%s%s", ec, text, ec ? ", " : "", c->who ? c->who : "",
             c->who && !ec ? ": " : "", text + ec);
#pragma omp critical(spot_log)
    c->on_log(c->user, level, signed_text);
}

void spot_tell(spot_ctx *c, const char *stage, int ec, double done, double total, const char *note)
{
    spot_progress p = { stage, ec, done, total, note };

    if (!c->on_progress) return;
#pragma omp critical(spot_log)
    c->on_progress(c->user, &p);
}

spot_status spot_check_stop(spot_ctx *c)
{
    if (!c->stop || !__atomic_load_n(c->stop, __ATOMIC_RELAXED)) return SPOT_OK;       /* another thread may have raised it */
    return spot_fail(c, SPOT_STOPPED, "stopped on request; what was computed is saved, the same command goes on");
}
