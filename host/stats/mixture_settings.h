/* mixture_settings.h - settings of Gaussian mixtures. */
#ifndef SPOTTER_MIXTURE_SETTINGS_H
#define SPOTTER_MIXTURE_SETTINGS_H

#include "base/setting.h"

extern const spot_setting spot_mixture_settings[];   /* rows for spot_mixture_config */

#endif
