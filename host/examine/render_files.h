/* render_files.h - the folder of `spotter render`: pictures, masks, depths, the table of their conditions. A file that is there
 * stays: with the bytes that it would have it counts, and with others the run ends. */
#ifndef SPOTTER_RENDER_FILES_H
#define SPOTTER_RENDER_FILES_H

#include <stdbool.h>

#include "base/text.h"
#include "spotter/mesh.h"

typedef struct {
    const char *dir;
    int  size;                     /* of a picture */
    bool masks, depth;
    char cls[72], stem[80];        /* of the object: its folder, the beginning of its files' names */
    const char *cls_name, *id;
    spot_text lines;               /* of conditions.csv */
    int  written;                  /* files that were not there, but for conditions.csv and render.json */
} spot_render_files;

typedef struct {
    int  number;                   /* of the object's renders */
    const uint8_t *rgb, *mask;     /* (size, size, 3), (size, size); mask and depth as the folder has them */
    const float   *depth;
    const spot_conditions *at;
    double area;
    bool valid;
} spot_render_file;

/* SPOT_USAGE where the folder holds anything that this program did not make, or files of another key. Close it also after a
 * failure. object: those that are added next are of it; its texts outlive the calls. end: writes conditions.csv. */
spot_status spot_render_files_open  (spot_ctx *c, spot_render_files *f, const char *dir, const char *key, int size, bool masks,
                                     bool depth);
spot_status spot_render_files_object(spot_ctx *c, spot_render_files *f, const char *cls, const char *id, uint32_t number);
spot_status spot_render_files_add   (spot_ctx *c, spot_render_files *f, const spot_render_file *one);
spot_status spot_render_files_end   (spot_ctx *c, spot_render_files *f);
void        spot_render_files_close (spot_render_files *f);

#endif
