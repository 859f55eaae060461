/* shift_pictures.h - the classes of a study of shifts, and the pictures of one of its folders. */
#ifndef SPOTTER_SHIFT_PICTURES_H
#define SPOTTER_SHIFT_PICTURES_H

#include "base/folder.h"
#include "shifts/shifts_config.h"
#include "store/store.h"

/* The classes: the folders of the real pictures, or of the first source's base where there are none. */
typedef struct {
    int    n;
    char **folder, **name;     /* (n): sorted folders; names for captions */
    void  *owned;
} spot_shift_classes;

/* SPOT_INPUT where the folder is not there or has an empty class, or where data.names lacks one. */
spot_status spot_shift_classes_open (spot_ctx *c, spot_shift_classes *k, const spot_shifts_config *cfg);
void        spot_shift_classes_close(spot_shift_classes *k);
int         spot_shift_class_of(const spot_shift_classes *k, const char *folder);      /* -1: none */

typedef struct {
    spot_shift_unit unit;
    spot_folder list;          /* pictures by class, folder and name */
    int  *cls;                 /* (list.n): the study's class */
    int   absent;              /* classes without a picture here */
    char  first_absent[128];
    char  root[SPOT_SHIFT_PATH], id[SPOT_SHIFT_PATH];      /* folder; id/path is a picture's name in tables */
    char  hash[33];            /* of the paths below the folder and the bytes of all pictures */
} spot_shift_pictures;

/* SPOT_INPUT for a class that the study does not have. store: remembers the hash by sizes and times; NULL: no hash. Close also
 * after a failure, zeroed before. */
spot_status spot_shift_pictures_open (spot_ctx *c, spot_shift_pictures *p, const spot_shifts_config *cfg,
                                      const spot_shift_classes *k, spot_shift_unit unit, const spot_store *store);
void        spot_shift_pictures_close(spot_shift_pictures *p);

/* Full paths of n pictures from `from` on, in one malloc'd block; NULL: no memory. */
char **spot_shift_paths(const spot_shift_pictures *p, int from, int n);

/* The work of all missing units, in pictures that one network looks at: one bar for the whole run. */
typedef struct { double done, total; } spot_shift_progress;
void spot_shift_progress_add(spot_ctx *c, spot_shift_progress *p, int pictures, const char *what);

#endif
