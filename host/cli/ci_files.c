/* ci_files.c - see ci_files.h. */
#define _POSIX_C_SOURCE 200809L
#include "cli/ci_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { FORMATS = SPOT_CI_SUMMARY + 1, TOP = 256 };

static const char *const option[FORMATS] = { "--junit", "--sarif", "--summary" };

static const char *path_of(const cli_ci *o, int format)
{
    return format == SPOT_CI_JUNIT ? o->junit : format == SPOT_CI_SARIF ? o->sarif : o->summary;
}

void cli_ci_check(const struct argp_state *state, const cli_ci *o)
{
    for (int i = 0; i < FORMATS; i++)
        for (int k = 0; k < i; k++)
            if (path_of(o, i) && path_of(o, k) && !strcmp(path_of(o, i), path_of(o, k)))
                argp_error(state, "%s and %s both name %s", option[k], option[i], path_of(o, i));
}

/* A summary may follow other text, but not the bytes of an array or a picture. A stream is nobody's file. */
static spot_status check_file(spot_ctx *c, const cli_ci *o, int format)
{
    const char *path = path_of(o, format);
    char top[TOP];
    const int n = path ? spot_file_peek(path, top, sizeof top) : -1;

    if (n < 0) return SPOT_OK;
    if (format == SPOT_CI_SUMMARY && memchr(top, 0, (size_t)n))
        return spot_fail(c, SPOT_USAGE, "{ci.no_text} %s %s is there, and it is no text to which a summary can be added; "
                         "choose another name", option[format], path);
    if (o->replace || spot_ci_is_ours((spot_ci_format)format, top, (size_t)n)) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{ci.foreign} %s is there, and spotter did not write it for %s; choose another name, "
                     "or say --replace", path, option[format]);
}

/* A run of hours should not end at a folder that is not there. */
static spot_status check_place(spot_ctx *c, const char *path)
{
    char folder[1200];
    struct stat st;
    char *slash;
    int error = 0;

    snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    if (!stat(path, &st)) error = S_ISDIR(st.st_mode) ? EISDIR : 0;
    else if (access(slash ? folder : ".", W_OK)) error = errno;
    return error ? spot_fail(c, SPOT_IO, "{ci.place} cannot write %s: %s", path, strerror(error)) : SPOT_OK;
}

spot_status cli_ci_begin(spot_ctx *c, const cli_ci *o)
{
    for (int i = 0; i < FORMATS; i++) {
        if (path_of(o, i)) SPOT_TRY(check_place(c, path_of(o, i)));
        SPOT_TRY(check_file(c, o, i));
    }
    return SPOT_OK;
}

static spot_status write_file(spot_ctx *c, const cli_ci *o, int format, const spot_ci_report *r)
{
    const char *path = path_of(o, format);
    spot_text text = { 0 };
    spot_status s;

    if (!path) return SPOT_OK;
    SPOT_TRY(check_file(c, o, format));
    s = spot_ci_text(c, &text, (spot_ci_format)format, r);
    fflush(stdout);                            /* the file may be stdout */
    if (s == SPOT_OK)
        s = (format == SPOT_CI_SUMMARY ? spot_file_append : spot_file_write)(c, path, text.bytes, text.used);
    spot_text_free(&text);
    return s;
}

spot_status cli_ci_write(spot_ctx *c, cli_ci *o, const spot_ci_report *r)
{
    o->written = true;
    for (int i = 0; i < FORMATS; i++) SPOT_TRY(write_file(c, o, i, r));
    return SPOT_OK;
}

/* A file that cannot be written here stays unsaid: the command ends with the failure before it. */
spot_status cli_ci_end(spot_ctx *c, spot_status s, cli_ci *o, const char *command, const char *about)
{
    spot_ctx quiet = { 0 };
    spot_ci_report r = { .command = command, .status = s, .input = about };

    if (s == SPOT_OK || o->written) return s;
    r.message = spot_message(c, s);
    snprintf(r.subject, sizeof r.subject, "%s", about);
    for (int i = 0; i < FORMATS; i++)
        if (write_file(&quiet, o, i, &r)) spot_forget(&quiet);
    o->written = true;
    return s;
}
