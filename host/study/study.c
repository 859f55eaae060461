/* study.c - a study's config: load, key, close, for every study. */
#include <stdlib.h>

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
