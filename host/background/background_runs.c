/* background_runs.c - the directories of runs and of their variants. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background/background_config.h"

static spot_status add_run(spot_ctx *c, char ***list, int *runs, const char *dir)
{
    char **more = realloc(*list, ((size_t)*runs + 1) * sizeof *more);

    if (more) *list = more;
    if (more) more[*runs] = strdup(dir);
    if (!more || !more[*runs]) return spot_fail(c, SPOT_NOMEM, "no memory for a list of runs");
    ++*runs;
    return SPOT_OK;
}

static spot_status add_with_variants(spot_ctx *c, char ***list, int *runs, const char *dir)
{
    spot_background_config cfg = { 0 };
    char path[SPOT_BACKGROUND_PATH];
    spot_status s = add_run(c, list, runs, dir);

    snprintf(path, sizeof path, "%s/config.yaml", dir);
    if (s == SPOT_OK && access(path, F_OK)) s = spot_fail(c, SPOT_IO,
                                                          "{run.missing} %s is no run directory: it has no config.yaml", dir);
    if (s == SPOT_OK) s = spot_background_load(c, &cfg, path);
    for (int k = 0; s == SPOT_OK && k < cfg.variants; k++) {
        spot_background_variant_path(path, sizeof path, dir, &cfg, k);
        s = add_run(c, list, runs, path);
    }
    spot_memory_close(&cfg.memory);
    return s;
}

spot_status spot_background_runs(spot_ctx *c, char ***list, int *runs, const char *const *dirs, int n)
{
    spot_status s = SPOT_OK;

    *list = NULL, *runs = 0;
    for (int i = 0; s == SPOT_OK && i < n; i++) s = add_with_variants(c, list, runs, dirs[i]);
    if (s != SPOT_OK) spot_background_runs_free(*list, *runs), *list = NULL, *runs = 0;
    return s;
}

void spot_background_runs_free(char **list, int runs)
{
    for (int i = 0; list && i < runs; i++) free(list[i]);
    free(list);
}
