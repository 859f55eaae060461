/* background_config.h - what the config of a background study says: its table, its keys, its models. */
#ifndef SPOTTER_BACKGROUND_CONFIG_H
#define SPOTTER_BACKGROUND_CONFIG_H

#include "base/setting.h"
#include "spotter/background.h"
#include "spotter/store.h"

enum { SPOT_BACKGROUND_PATH = 1300, SPOT_BACKGROUND_NUMBERS = 1 };

extern const spot_setting spot_background_settings[];

/* Hashes the settings on which a model's result depends, and no path: data that move keep their results. The models are not
 * part of it: a result has its model's identity. */
spot_key spot_background_key(const spot_background_config *cfg);

/* Whether two configs are of different runs, in words; whether one only adds models to the other or judges them otherwise. */
bool spot_backgrounds_differ (char *words, size_t size, const spot_background_config *there,
                              const spot_background_config *here);
bool spot_background_replaces(const spot_background_config *there, const spot_background_config *here);

/* Whether keywords are needed, and whether there are some. */
bool spot_background_has_keywords(const spot_background_config *cfg);

#endif
