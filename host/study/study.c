/* study.c - a study's config: load, close, key, print, compare, for every study. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "spotter/arena.h"
#include "spotter/work.h"
#include "study/yaml.h"

spot_status spot_study_load(spot_ctx *c, const spot_study *y, void **config, const char *path)
{
    *config = calloc(1, y->config->size);
    if (!*config) return spot_fail(c, SPOT_NOMEM, "no memory for a config");
    if (path) return spot_yaml_load(c, y->config, *config, path);
    spot_config_reset(y->config, *config);
    return SPOT_OK;
}

spot_status spot_study_load_run(spot_ctx *c, const spot_study *y, void **config, const char *dir)
{
    char path[1200];

    *config = NULL;
    snprintf(path, sizeof path, "%s/config.yaml", dir);
    if (access(path, F_OK)) return spot_fail(c, SPOT_IO, "{run.missing} %s is no run directory: it has no config.yaml", dir);
    return spot_study_load(c, y, config, path);
}

void spot_study_close(void *config)
{
    if (config) spot_memory_close(config);           /* its first member */
    free(config);
}

spot_status spot_study_key(spot_ctx *c, const spot_study *y, char key[33], const void *config)
{
    if (y->key) return y->key(c, key, config);
    spot_key_text(key, spot_config_key(y->config, config));
    return SPOT_OK;
}

spot_status spot_study_print(spot_ctx *c, const spot_study *y, const void *config, char **text)
{
    return spot_yaml_print(c, y->config->rows, config, text);
}

bool spot_study_differs(const spot_study *y, char *words, size_t size, const void *saved, const void *here)
{
    return spot_config_is_other(words, size, y->config, saved, here);
}
