/* config.c - the config of a sweep. */
#include "spotter/config.h"

#include <string.h>

#include "config/config_read.h"

spot_config spot_config_defaults(void)
{
    spot_config cfg;

    memset(&cfg, 0, sizeof cfg);
    spot_settings_defaults(spot_settings, &cfg);
    cfg.bdms = 1;
    cfg.bdm[0] = spot_bdm_defaults(SPOT_PLANESPOT);
    return cfg;
}

static const spot_config_kind sweeps = {
    .rows = spot_settings, .example = "configs/quickstart.yaml", .help = "spotter help config", .fill_entry = spot_entry_fill,
    .check = spot_config_check,
};

spot_status spot_config_parse(spot_ctx *c, spot_config *cfg, const char *text, size_t len, const char *name)
{
    *cfg = spot_config_defaults();
    return spot_yaml_parse(c, &sweeps, cfg, text, len, name);
}

spot_status spot_config_load(spot_ctx *c, spot_config *cfg, const char *path)
{
    *cfg = spot_config_defaults();
    return spot_yaml_load(c, &sweeps, cfg, path);
}
