/* version_place.c - see version_place.h. */
#define _POSIX_C_SOURCE 200809L
#include "versions/version_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
