/* model_settings.h - the settings of networks and their training. */
#ifndef SPOTTER_MODEL_SETTINGS_H
#define SPOTTER_MODEL_SETTINGS_H

#include "base/setting.h"

extern const spot_setting spot_model_settings[];     /* of spot_model_config */

#endif
