/* folder.h - pictures in folders, as torchvision's ImageFolder finds them: root/class/any/where/picture.png. */
#ifndef SPOTTER_FOLDER_H
#define SPOTTER_FOLDER_H

#include "spotter/ctx.h"

typedef struct {
    int    classes, n;
    char **class_name;     /* (classes): folders in root, by name */
    char **path;           /* (n): below root, by class, then by folder, then by name, all in the order of their bytes */
    int   *cls;            /* (n) */
    int    others;         /* files whose names do not end as pictures' do (torchvision's IMG_EXTENSIONS): not in path */
    char   other[256];     /* the first of them */
    void  *owned[2];
} spot_folder;

/* Links are followed. SPOT_INPUT when there are no classes, a class has no pictures, or folders lie deeper than 32; SPOT_IO
 * when one cannot be listed. Close after success; close accepts a zeroed one. */
spot_status spot_folder_list (spot_ctx *c, spot_folder *f, const char *root);
void        spot_folder_close(spot_folder *f);

#endif
