/* config.c - the config of a sweep. */
#include "spotter/config.h"

#include <string.h>

#include "study/config_read.h"

spot_config spot_config_defaults(void)
{
    spot_config cfg;

    memset(&cfg, 0, sizeof cfg);
    spot_settings_defaults(spot_settings, &cfg);
    return cfg;
}

spot_status spot_config_room(spot_ctx *c, spot_config *cfg, int bdms, int variants)
{
    cfg->bdm = spot_memory_take(&cfg->memory, ((size_t)bdms + 1) * sizeof *cfg->bdm);
    cfg->variant = spot_memory_take(&cfg->memory, ((size_t)variants + 1) * sizeof *cfg->variant);
    if (!cfg->bdm || !cfg->variant) return spot_fail(c, SPOT_NOMEM, "no memory for %d methods of a config", bdms);
    cfg->bdms = bdms;
    cfg->variants = variants;
    for (int b = 0; b < bdms; b++) cfg->bdm[b] = spot_bdm_defaults(SPOT_PLANESPOT);
    for (int v = 0; v < variants; v++) cfg->variant[v] = (spot_variant){ "", cfg->scene };
    return SPOT_OK;
}

/* A config without methods has the default one. */
static spot_status name_a_method(spot_ctx *c, void *config)
{
    spot_config *cfg = config;
    spot_variant *variant = cfg->variant;
    const int variants = cfg->variants;

    if (cfg->bdms) return SPOT_OK;
    SPOT_TRY(spot_config_room(c, cfg, 1, 0));
    cfg->variant = variant, cfg->variants = variants;
    return SPOT_OK;
}

/* The saved methods come first, with the settings that they had. */
static bool gains_methods(char *words, size_t size, const void *saved, const void *here)
{
    spot_config less = *(const spot_config *)here;

    if (less.bdms <= ((const spot_config *)saved)->bdms) return false;
    less.bdms = ((const spot_config *)saved)->bdms;
    return !spot_config_is_other(words, size, &spot_sweep_kind, saved, &less);
}

const spot_config_kind spot_sweep_kind = {
    .rows = spot_settings, .example = "configs/quickstart.yaml", .help = "spotter help config", .fill_entry = spot_entry_fill,
    .check = spot_config_check, .size = sizeof(spot_config),
    .run = SPOT_AFFECTS_ALL & ~SPOT_AFFECTS_EXTENT, .complete = name_a_method,
    .gains = gains_methods,
};

spot_status spot_config_parse(spot_ctx *c, spot_config *cfg, const char *text, size_t len, const char *name)
{
    return spot_yaml_parse(c, &spot_sweep_kind, cfg, text, len, name);
}

spot_status spot_config_load(spot_ctx *c, spot_config *cfg, const char *path)
{
    return spot_yaml_load(c, &spot_sweep_kind, cfg, path);
}
