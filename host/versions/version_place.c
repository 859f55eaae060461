/* version_place.c - see version_place.h. */
#define _POSIX_C_SOURCE 200809L
#include "versions/version_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "formats/formats.h"

/* The length of what stands before the last colon of the first n bytes; n where there is no colon. */
static int before_colon(const char *text, int n)
{
    for (int i = n - 1; i >= 0; i--)
        if (text[i] == ':') return i;
    return n;
}

spot_status spot_version_place_of(spot_ctx *c, spot_version_place *p, const char *version)
{
    const int whole = (int)strnlen(version, sizeof p->dir);
    struct stat st;
    int n = whole;

    if (whole == (int)sizeof p->dir) return spot_fail(c, SPOT_USAGE, "the path %.60s... is too long", version);
    for (;;) {                             /* from the whole name to ever shorter ones */
        const int shorter = before_colon(version, n);
        snprintf(p->dir, sizeof p->dir, "%.*s", n, version);
        if (!stat(p->dir, &st) && S_ISDIR(st.st_mode)) break;
        if (shorter == n) {
            n = before_colon(version, whole);
            snprintf(p->dir, sizeof p->dir, "%.*s", n, version);
            break;
        }
        n = shorter;
    }
    p->model = n < whole ? version + n + 1 : NULL;
    return SPOT_OK;
}

spot_version_kind spot_version_kind_of(const char *version)
{
    spot_ctx quiet = { 0 };
    spot_version_place p;
    const char *member;
    char path[1200], *file = NULL;
    struct stat st;
    bool is_file;

    snprintf(path, sizeof path, "%s/subject.safetensors", version);
    if (!stat(path, &st)) return SPOT_VERSION_FINDINGS;
    is_file = spot_place_split(&quiet, &file, &member, version) || (!stat(file, &st) && !S_ISDIR(st.st_mode));
    free(file);
    if (is_file || spot_version_place_of(&quiet, &p, version)) return SPOT_VERSION_PROBABILITIES;
    return !stat(p.dir, &st) && S_ISDIR(st.st_mode) ? SPOT_VERSION_RUN : SPOT_VERSION_PROBABILITIES;
}

spot_status spot_version_model(spot_ctx *c, int *model, const spot_version_place *p, const void *run, int models,
                               const char *(*name_of)(const void *run, int model))
{
    *model = 0;
    if (!models) return spot_fail(c, SPOT_INPUT, "%s has no models", p->dir);
    if (!p->model && models == 1) return SPOT_OK;
    for (; p->model && *model < models; ++*model)
        if (!strcmp(name_of(run, *model), p->model)) return SPOT_OK;
    if (p->model) return spot_fail(c, SPOT_USAGE, "{run.no_model} %s has no model \"%s\"", p->dir, p->model);
    return spot_fail(c, SPOT_USAGE, "%s has %d models; name one, such as %s:%s", p->dir, models, p->dir, name_of(run, 0));
}

/* ---- names of versions ---- */

/* A path with its member. */
typedef struct { char *path; const char *member; int length; } name_source;

static spot_status open_source(spot_ctx *c, name_source *x, const char *version)
{
    SPOT_TRY(spot_place_split(c, &x->path, &x->member, version));
    for (x->length = (int)strlen(x->path); x->length > 1 && x->path[x->length - 1] == '/'; x->length--) ;
    return SPOT_OK;
}

/* The last `parts` names of a path; 0: the last one without its ending. Returns whether names stand before them. */
static bool put_end(char name[SPOT_VERSION_NAME], const name_source *x, int parts)
{
    int from = x->length, end = x->length, left = parts;

    while (from > 0 && (x->path[from - 1] != '/' || --left > 0)) from--;
    for (int dot = end - 1; !parts && end == x->length && dot > from; dot--)
        if (x->path[dot] == '.') end = dot;
    snprintf(name, SPOT_VERSION_NAME, "%.*s%s%s", end - from, x->path + from, x->member ? ":" : "", x->member ? x->member : "");
    spot_plain(name);
    return from > 0;
}

spot_status spot_version_names(spot_ctx *c, char name[SPOT_VERSIONS][SPOT_VERSION_NAME],
                               const char *const version[SPOT_VERSIONS])
{
    name_source of[SPOT_VERSIONS] = { 0 };
    spot_status how = SPOT_OK;
    bool more = true;

    for (int u = 0; !how && u < SPOT_VERSIONS; u++) how = open_source(c, &of[u], version[u]);
    *name[0] = *name[1] = 0;
    for (int parts = 0; !how && more && !strcmp(name[0], name[1]); parts++) {
        more = !parts;
        for (int u = 0; u < SPOT_VERSIONS; u++) more |= put_end(name[u], &of[u], parts);
    }
    for (int u = 0; u < SPOT_VERSIONS; u++) free(of[u].path);
    if (how || strcmp(name[0], name[1])) return how;
    strcpy(name[0], "version 1"), strcpy(name[1], "version 2");
    return SPOT_OK;
}
