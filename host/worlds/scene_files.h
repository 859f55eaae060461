/* scene_files.h - an EC's images as files. */
#ifndef SPOTTER_SCENE_FILES_H
#define SPOTTER_SCENE_FILES_H

#include "spotter/scene.h"

/* Draws image `index` of a split and writes it as a PNG in dir. file gets its name, "test-000007.png"; rgb (size, size, 3) is
 * scratch. */
spot_status spot_scene_picture(spot_ctx *c, const char *dir, const spot_ec *ec, spot_split split, uint32_t index,
                              spot_image *image, uint8_t *rgb, char file[32]);

/* Writes the n images of these numbers in the folder dir, and dir/rows.csv with their names and attributes in the same
 * order. */
spot_status spot_scene_rows(spot_ctx *c, const char *dir, const spot_ec *ec, spot_split split, const int *index, int n);

#endif
