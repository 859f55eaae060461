/* scene_settings.h - settings of scenes and of pictures from files. */
#ifndef SPOTTER_SCENE_SETTINGS_H
#define SPOTTER_SCENE_SETTINGS_H

#include "base/setting.h"

extern const spot_setting spot_scene_settings[];     /* rows for spot_scene_config */
extern const spot_setting spot_photos_settings[];    /* rows for spot_photos_config */

#endif
