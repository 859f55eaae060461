/* world.h - the folder of a world that the program makes itself: its settings and its pictures. */
#ifndef SPOTTER_WORLD_H
#define SPOTTER_WORLD_H

#include <stdint.h>

#include "base/setting.h"
#include "spotter/ctx.h"

enum { SPOT_WORLD_PATH = 1200 };           /* bytes that hold every path in a world; DIR has at most 1000 characters */

/* DIR/file holds the settings of the world, a line each, but newer ones only where they change something: it is written, or
 * compared. SPOT_USAGE: it holds others, and the two
 * worlds are not mixed. world: its name for messages, "planted zoo". Temp files that killed processes left in the folders of
 * the world are removed when they are an hour old. */
spot_status spot_world_claim(spot_ctx *c, const char *dir, const char *file, const char *world, const spot_setting *rows,
                             const void *cfg);

/* Writes the PNG file of rgb (size, size, 3). A reader sees the whole file or none, but the file is not durable before
 * spot_world_sync(). Several threads and shards may write the same picture at once. */
spot_status spot_world_picture(spot_ctx *c, const char *path, const uint8_t *rgb, int size);

/* Makes all pictures durable. The table that says that they are complete is written after it. */
spot_status spot_world_sync(spot_ctx *c, const char *dir);

#endif
