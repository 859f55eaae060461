/* mesh_files.h - the files of one folder or archive, for what a model names. */
#ifndef SPOTTER_MESH_FILES_H
#define SPOTTER_MESH_FILES_H

#include "spotter/mesh.h"

/* Why a file is not there. OUTSIDE: its name is absolute, has a drive letter or a backslash, or leads out of the folder. */
typedef enum { SPOT_FILE_THERE, SPOT_FILE_MISSING, SPOT_FILE_OUTSIDE, SPOT_FILE_LARGE, SPOT_FILE_BROKEN } spot_file_state;

typedef struct {
    spot_file_state state;
    uint8_t *bytes;                /* malloc'd, with a NUL behind them; NULL unless it is there */
    size_t   n;                    /* also of a file that is too large */
    char     why[400];             /* of a broken one */
} spot_mesh_file;

/* Reads the file `name`, which stands in the folder of the file `from` ("": in the first folder). Fails for memory only.
 * Where there is none of that name, its %20 is taken for a space, and so on, as in the URIs of glTF. A file that another one
 * names (`from` is not "") is then sought as its writer may have meant it: with slashes for backslashes, without quotes and
 * blanks around it, in any case of its letters; and at last its last part in the folder of `from`. */
spot_status spot_mesh_file_read(spot_ctx *c, spot_mesh_file *out, spot_mesh_files *f, const char *from, const char *name,
                                size_t limit);

const char *spot_mesh_files_path(const spot_mesh_files *f);

#endif
