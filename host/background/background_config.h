/* background_config.h - what the config of a background study says: its table, its keys, its models. */
#ifndef SPOTTER_BACKGROUND_CONFIG_H
#define SPOTTER_BACKGROUND_CONFIG_H

#include "base/key.h"
#include "spotter/background.h"
#include "study/yaml.h"

enum { SPOT_BACKGROUND_PATH = 1300, SPOT_BACKGROUND_NUMBERS = 3 };

/* Defaults of the cuts of learned reliance (bench/studies/background.md says why these). */
#define SPOT_LEARNED_INVARIANT 0.1
#define SPOT_LEARNED_VARIANT   0.2

extern const spot_setting spot_background_settings[];

extern const spot_config_kind spot_background_kind;

/* Hashes the settings on which a model's result depends, and no path: data that move keep their results. The models are not
 * part of it: a result has its model's identity. */
spot_key spot_background_key(const spot_background_config *cfg);

/* The run before variant k that looks at the same pictures: -1, the config's own; or a variant; k: there is none. */
int spot_background_same_look(const spot_background_config *cfg, int k);

/* Gives the variants the files that the config names now. */
void spot_background_share_files(spot_background_config *cfg);

/* Whether keywords are needed, and whether there are some. */
bool spot_background_has_keywords(const spot_background_config *cfg);

/* Levels of the pyramids: the setting, or where it is 0 by data.size (background.h). */
int spot_background_levels(const spot_background_config *cfg);

/* Backgrounds of its own class that a target gets, at most. */
int spot_background_own(const spot_background_config *cfg);

/* Sets the levels of a config and of its variants where they are 0. */
void spot_background_set_levels(spot_background_config *cfg);

#endif
