/* config_files.h - the files that a config names are there before the first long work of a study. */
#ifndef SPOTTER_CONFIG_FILES_H
#define SPOTTER_CONFIG_FILES_H

#include "base/setting.h"

/* SPOT_IO names the first setting, of those that say where files lie (SPOT_AFFECTS_PATH), whose file or folder is not there or
 * cannot be read. made: a folder that the study makes itself, whose files count as there; "": none. What the files hold is
 * checked by those who read them. */
spot_status spot_config_files_check(spot_ctx *c, const spot_setting *rows, const void *group, const char *made);

#endif
