/* background_runs.c - the directories of runs and of their variants. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

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
    char path[SPOT_BACKGROUND_PATH];
    void *config = NULL;
    spot_status s = add_run(c, list, runs, dir);

    if (s == SPOT_OK) s = spot_study_load_run(c, &spot_background_study, &config, dir);
    for (int k = 0; s == SPOT_OK && k < ((spot_background_config *)config)->variants; k++) {
        spot_background_variant_path(path, sizeof path, dir, config, k);
        s = add_run(c, list, runs, path);
    }
    spot_study_close(config);
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
