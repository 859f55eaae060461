/* embed_settings.h - settings of reducers. */
#ifndef SPOTTER_EMBED_SETTINGS_H
#define SPOTTER_EMBED_SETTINGS_H

#include "base/setting.h"

extern const spot_setting spot_embed_settings[];     /* rows for spot_embed_config; the first row names the reducer */

#endif
