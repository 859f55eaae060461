/* ci_files.c - see ci_files.h. */
#define _XOPEN_SOURCE 700
#include "cli/ci_files.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"

enum { FORMATS = SPOT_CI_SUMMARY + 1, TOP = 256, PATH = 2 * PATH_MAX + 2 };

static const char *const option[FORMATS] = { "--junit", "--sarif", "--summary" };

static const char *path_of(const cli_ci *o, int format)
{
    return format == SPOT_CI_JUNIT ? o->junit : format == SPOT_CI_SARIF ? o->sarif : o->summary;
}

/* The path without links and dots, as far as it is there. */
static bool real_path(char real[PATH], const char *path)
{
    char head[PATH], whole[PATH_MAX];
    size_t n = strlen(path), k;

    while (n > 1 && path[n - 1] == '/') n--;
    for (k = n; ; ) {
        while (k > 1 && path[k - 1] == '/') k--;
        snprintf(head, sizeof head, "%.*s", k ? (int)k : 1, k ? path : ".");
        if (realpath(head, whole)) break;
        if (!strcmp(head, ".") || !strcmp(head, "/")) return false;
        while (k && path[k - 1] != '/') k--;
    }
    while (k < n && path[k] == '/') k++;
    snprintf(real, PATH, "%s%s%.*s", k < n && !strcmp(whole, "/") ? "" : whole, k < n ? "/" : "", (int)(n - k), path + k);
    return true;
}

static bool is_same(const char *a, const char *b)
{
    char x[PATH], y[PATH];

    return a && b && real_path(x, a) && real_path(y, b) && !strcmp(x, y);
}

void cli_ci_check(const struct argp_state *state, const cli_ci *o)
{
    for (int i = 0; i < FORMATS; i++)
        for (int k = 0; k < i; k++)
            if (is_same(path_of(o, i), path_of(o, k)))
                argp_error(state, "%s and %s both name %s", option[k], option[i], path_of(o, i));
}

void cli_ci_take_in(cli_ci *o, const char *folder, const char *name)
{
    if (!folder || o->takens == CLI_CI_TAKEN) return;
    o->taken[o->takens].folder = folder;
    o->taken[o->takens++].name = name;
}

void cli_ci_take(cli_ci *o, const char *path) { cli_ci_take_in(o, path, NULL); }

void cli_ci_take_rows(cli_ci *o, const spot_subject_files *f)
{
    const char *list[CLI_INPUTS];

    cli_inputs(list, f);
    for (int i = 0; i < CLI_INPUTS; i++) cli_ci_take(o, list[i]);
    cli_ci_take(o, f->images);
}

typedef enum { FREE, INSIDE, TAKEN } place_kind;

/* FILE:NAME is FILE where there is no file of the whole name. Without a name there may be several, in lines. */
static place_kind kind_of(const char *real, const char *folder, const char *name)
{
    const char *next = name ? NULL : strchr(folder, '\n');
    place_kind rest;
    char path[PATH], own[PATH];
    struct stat st;
    size_t n;

    if (next && (rest = kind_of(real, next + 1, NULL)) > FREE) return rest;
    if (snprintf(path, sizeof path, "%.*s%s%s", next ? (int)(next - folder) : (int)strlen(folder), folder, name ? "/" : "",
                 name ? name : "") >= PATH) return FREE;
    for (char *colon; !name && stat(path, &st) && (colon = strrchr(path, ':')); ) *colon = 0;
    if (!*path || !real_path(own, path)) return FREE;
    if (!strcmp(real, own)) return TAKEN;
    n = strlen(own);
    return !strncmp(real, own, n) && real[n] == '/' ? INSIDE : FREE;
}

static place_kind place_of(const cli_ci *o, const char *path)
{
    place_kind kind = FREE;
    char real[PATH];

    if (!real_path(real, path)) return FREE;
    for (int i = 0; i < o->takens; i++) {
        const place_kind k = kind_of(real, o->taken[i].folder, o->taken[i].name);
        if (k > kind) kind = k;
    }
    return kind;
}

static bool is_prose(const char *path)
{
    static const char *const end[] = { ".md", ".markdown", ".txt" };
    const size_t n = strlen(path);

    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        if (n > strlen(end[i]) && !strcmp(path + n - strlen(end[i]), end[i])) return true;
    return is_same(path, getenv("GITHUB_STEP_SUMMARY"));
}

/* A stream is nobody's file. */
static spot_status check_file(spot_ctx *c, const cli_ci *o, int format)
{
    const char *path = path_of(o, format);
    char top[TOP];
    struct stat st;
    const bool is_there = path && !stat(path, &st);
    int n;

    if (!path || (is_there && !S_ISREG(st.st_mode))) return SPOT_OK;
    if (place_of(o, path) == TAKEN)
        return spot_fail(c, SPOT_USAGE, "{ci.taken} %s is a file that this command reads or writes; choose another name for %s",
                         path, option[format]);
    if (!is_there || !st.st_size) return SPOT_OK;
    if (format == SPOT_CI_SUMMARY)
        return is_prose(path) ? SPOT_OK
             : spot_fail(c, SPOT_USAGE, "{ci.no_text} %s %s is there, and a summary is added only to *.md, *.markdown, *.txt "
                         "and $GITHUB_STEP_SUMMARY; choose another name", option[format], path);
    n = spot_file_peek(path, top, sizeof top);
    if (n > 0 && spot_ci_is_ours((spot_ci_format)format, top, (size_t)n)) return SPOT_OK;
    if (place_of(o, path) == INSIDE)
        return spot_fail(c, SPOT_USAGE, "{ci.inside} %s is there, spotter did not write it for %s, and its folder is one that "
                         "this command reads or writes; choose another name", path, option[format]);
    return o->replace ? SPOT_OK
         : spot_fail(c, SPOT_USAGE, "{ci.foreign} %s is there, and spotter did not write it for %s; choose another name, "
                     "or say --replace", path, option[format]);
}

/* The folder of the path is one that the command makes. */
static bool is_made_later(const cli_ci *o, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH];

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
    for (int i = 0; *folder && i < o->takens; i++)
        if (!o->taken[i].name && is_same(folder, o->taken[i].folder)) return access(folder, F_OK);
    return false;
}

spot_status cli_ci_begin(spot_ctx *c, const cli_ci *o)
{
    for (int i = 0; i < FORMATS; i++) {
        const char *path = path_of(o, i);
        if (path && !is_made_later(o, path)) SPOT_TRY(spot_file_place(c, path, i == SPOT_CI_SUMMARY));
        SPOT_TRY(check_file(c, o, i));
    }
    return SPOT_OK;
}

/* The file that was judged, of FILE:NAME; of a folder, or FOLDER:MODEL, its config. */
static void find_input(char path[PATH], const char *input)
{
    struct stat st;

    snprintf(path, PATH, "%s", input);
    for (char *colon; stat(path, &st) && (colon = strrchr(path, ':')); ) *colon = 0;
    if (stat(path, &st)) snprintf(path, PATH, "%s", input);
    else if (S_ISDIR(st.st_mode)) snprintf(path + strlen(path), PATH - strlen(path), "/config.yaml");
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
    spot_ctx quiet = { 0 };
    spot_ci_report file = *r;
    spot_status first = SPOT_OK;
    char input[PATH];

    if (r->input) find_input(input, r->input), file.input = input;
    o->written = true;
    for (int i = 0; i < FORMATS; i++) {
        const spot_status s = write_file(first ? &quiet : c, o, i, &file);
        if (first && s) spot_forget(&quiet);
        if (!first) first = s;
    }
    return first;
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
