/* metric_settings.h - settings of scores. */
#ifndef SPOTTER_METRIC_SETTINGS_H
#define SPOTTER_METRIC_SETTINGS_H

#include "base/setting.h"

extern const spot_setting spot_metric_settings[];    /* rows for spot_metric_config */

#endif
