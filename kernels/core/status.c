/* status.c - failures and messages. Linked into the program and into every device plugin. */
#include "spotter/status.h"

#include <stdio.h>
#include <string.h>

#include "spotter/ctx.h"

static const struct { const char *name, *words; int exit_code; } statuses[] = {
#define X(name, exit_code, words) { #name, words, exit_code },
    SPOT_STATUS_LIST(X)
#undef X
};

/* Control characters are those of ASCII, and U+0080 to U+009F, which some terminals obey, too. */
char *spot_plain(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) p[0] = p[1] = '?';
        if (*p < ' ' || *p == 127) *p = '?';
    }
    return text;
}

/* Takes the id off a format that begins with one; returns the rest. */
static const char *take_id(const char *fmt, char *id, size_t size)
{
    const size_t length = *fmt == '{' ? strspn(fmt + 1, "abcdefghijklmnopqrstuvwxyz0123456789_.") : 0;

    if (!length || strncmp(fmt + 1 + length, "} ", 2)) return fmt;
    snprintf(id, size, "%.*s", (int)length, fmt + 1);
    return fmt + length + 3;
}

/* An empty id is that of the last failure where text contains its sentence, which is still in c. */
static void keep_failure(spot_ctx *c, spot_status s, const char *id, int label_length, const char *text)
{
#pragma omp critical(spot_fail)
    if (c->status == SPOT_OK) {
        if (*id || !c->message[0] || !strstr(text, c->message)) strcpy(c->id, id);
        c->status = s;
        c->label_length = label_length;
        strcpy(c->message, text);
    }
}

static spot_status write_failure(spot_ctx *c, spot_status s, const char *label, const char *fmt, va_list args)
{
    char text[sizeof c->message], id[sizeof c->id] = "";   /* args may have what spot_take_message returned */
    const int label_length = snprintf(text, sizeof text, "%s%s", label, *label ? ": " : "");

    fmt = take_id(fmt, id, sizeof id);
    vsnprintf(text + label_length, sizeof text - (size_t)label_length, fmt, args);
    spot_plain(text);
    keep_failure(c, s, id, label_length, text);
    return s;
}

spot_status spot_fail_args(spot_ctx *c, spot_status s, const char *fmt, va_list args)
{
    return write_failure(c, s, "", fmt, args);
}

spot_status spot_fail(spot_ctx *c, spot_status s, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    write_failure(c, s, "", fmt, args);
    va_end(args);
    return s;
}

spot_status spot_fail_of(spot_ctx *c, spot_status s, uint32_t problem, const char *fmt, ...)
{
    spot_label label = spot_label_of(c, problem);
    va_list args;

    va_start(args, fmt);
    write_failure(c, s, label.text, fmt, args);
    va_end(args);
    return s;
}

spot_status spot_fail_from(spot_ctx *c, spot_status s, const spot_ctx *from)
{
    keep_failure(c, s, spot_failure_id(from), 0, spot_message(from, s));
    return s;
}

const char *spot_failure_id(const spot_ctx *c) { return c->status != SPOT_OK ? c->id : ""; }

const char *spot_message(const spot_ctx *c, spot_status s)
{
    if (c->status != SPOT_OK && c->message[0]) return c->message;
    return statuses[s].words;
}

const char *spot_message_alone(const spot_ctx *c, spot_status s)
{
    const char *message = spot_message(c, s);

    return message == c->message ? message + c->label_length : message;
}

void spot_forget(spot_ctx *c)
{
    spot_take_message(c, SPOT_OK);
    c->message[0] = 0;
}

const char *spot_take_message(spot_ctx *c, spot_status s)
{
    const char *message = spot_message(c, s);

    c->status = SPOT_OK;
    c->label_length = 0;
    return message;
}

int spot_exit_code(spot_status s) { return statuses[s].exit_code; }

const char *spot_status_name(spot_status s) { return statuses[s].name; }

spot_label spot_label_of(const spot_ctx *c, uint32_t problem)
{
    spot_label label;

    if (c->label) c->label(c->user, problem, label.text, sizeof label.text);
    else snprintf(label.text, sizeof label.text, "EC %u", problem);
    return label;
}

/* "EC 3, spotlight: ..."; without a label "spotlight: ...". */
static void log_line(spot_ctx *c, spot_log_level level, const char *label, const char *fmt, va_list args)
{
    const char *who = c->who ? c->who : "";
    char text[1024], line[1300];

    vsnprintf(text, sizeof text, fmt, args);
    snprintf(line, sizeof line, "%s%s%.100s%s%s", label, *label && *who ? ", " : "", who, *label || *who ? ": " : "", text);
    spot_plain(line);
#pragma omp critical(spot_log)
    c->on_log(c->user, level, line);
}

void spot_log(spot_ctx *c, spot_log_level level, const char *fmt, ...)
{
    va_list args;

    if (!c->on_log) return;
    va_start(args, fmt);
    log_line(c, level, "", fmt, args);
    va_end(args);
}

void spot_log_of(spot_ctx *c, spot_log_level level, uint32_t problem, const char *fmt, ...)
{
    va_list args;

    if (!c->on_log) return;
    va_start(args, fmt);
    log_line(c, level, spot_label_of(c, problem).text, fmt, args);
    va_end(args);
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
    return spot_fail(c, SPOT_STOPPED,
                     "{run.stopped} stopped on request; the results so far are saved, the same command continues");
}
