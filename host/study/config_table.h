/* config_table.h - the table of a whole config, composed of the stages' tables.
 *
 * To add a setting: a member of the stage's struct and a row of its table (host/worlds, host/models, host/stats,
 * host/metric; those of a discovery method in its own file in host/bdm). */
#ifndef SPOTTER_CONFIG_TABLE_H
#define SPOTTER_CONFIG_TABLE_H

#include <stdio.h>

#include "spotter/config.h"
#include "study/yaml.h"

extern const spot_setting spot_settings[];        /* rows for spot_config */
extern const spot_config_kind spot_sweep_kind;

/* Prints the settings of a group as YAML. */
void spot_settings_print(FILE *f, const spot_setting *rows, const void *base);

#endif
