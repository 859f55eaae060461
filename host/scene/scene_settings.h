/* scene_settings.h - the settings of scenes and of pictures from files. */
#ifndef SPOTTER_SCENE_SETTINGS_H
#define SPOTTER_SCENE_SETTINGS_H

#include "base/setting.h"

extern const spot_setting spot_scene_settings[];     /* of spot_scene_config */
extern const spot_setting spot_photos_settings[];    /* of spot_photos_config */

#endif
