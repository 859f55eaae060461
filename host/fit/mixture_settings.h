/* mixture_settings.h - the settings of Gaussian mixtures. */
#ifndef SPOTTER_MIXTURE_SETTINGS_H
#define SPOTTER_MIXTURE_SETTINGS_H

#include "base/setting.h"

extern const spot_setting spot_mixture_settings[];   /* of spot_mixture_config */

#endif
