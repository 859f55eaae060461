/* model_settings.h - settings of networks and their training. */
#ifndef SPOTTER_MODEL_SETTINGS_H
#define SPOTTER_MODEL_SETTINGS_H

#include "base/setting.h"

extern const spot_setting spot_model_settings[];     /* rows for spot_model_config */
extern const spot_setting spot_encoder_settings[];   /* rows for spot_encoder_config */

#endif
