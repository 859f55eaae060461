/* folder.h - pictures in folders, as torchvision's ImageFolder finds them: root/class/any/where/picture.png. */
#ifndef SPOTTER_FOLDER_H
#define SPOTTER_FOLDER_H

#include <stdbool.h>

#include "spotter/ctx.h"

typedef struct {
    int    classes, n;
    char **class_name;     /* (classes): folders in root, sorted by name */
    char **path;           /* (n): below root, sorted by class, folder and name, in byte order */
    int   *cls;            /* (n): the class of each picture */
    int    others;         /* files without a picture's extension (torchvision's IMG_EXTENSIONS and .gif); path omits them */
    char   other[256];     /* the first of these files */
    int    unread;         /* those of them that are AVIF or HEIC by their names */
    int    doubles;        /* files ._NAME in which macOS keeps a file's attributes (AppleDouble); path omits them, too */
    void  *owned[2];
} spot_folder;

/* Follows links. SPOT_INPUT if there are no classes, all are called as splits (train, test ...), a class has no pictures, or
 * folders lie deeper than 32; SPOT_IO if a folder cannot be listed. Close after success; close accepts a zeroed struct. */
spot_status spot_folder_list (spot_ctx *c, spot_folder *f, const char *root);
void        spot_folder_close(spot_folder *f);

/* All pictures below root, at any depth and in root itself; classes is 0. Sorted by the folder in root, then as above: the
 * pictures of an ImageFolder come in its order. SPOT_INPUT if there are none. */
spot_status spot_folder_pictures(spot_ctx *c, spot_folder *f, const char *root);

/* Whether `path` is the folder `root` or lies below it, through links, too. path need not be there: then the nearest folder
 * above it that is there decides. False where root is no folder. */
bool spot_folder_holds(const char *root, const char *path);

/* The folder in which the names of a list lie, such as a COCO file's or a table's, which may be a stranger's. */
typedef struct {
    const char *path;          /* borrowed */
    char       *real;          /* the same without symbolic links; NULL: links may lead out */
} spot_list_folder;

/* links: pictures may be symbolic links that lead out of the folder. A folder that is not there is no failure: it holds nothing
 * that could be read. Close also after a failure. */
spot_status spot_list_folder_open (spot_ctx *c, spot_list_folder *l, const char *path, bool links);
void        spot_list_folder_close(spot_list_folder *l);

/* Whether a name has "..", which leads out of its folder. */
bool spot_name_leads_out(const char *name);

/* SPOT_INPUT where the name of row `row` leads out of the folder by "..", or by a symbolic link that must not. The file need
 * not be there. option: what the command calls the option that allows links; NULL: there is none. */
spot_status spot_list_folder_check(spot_ctx *c, const spot_list_folder *l, int row, const char *name, const char *option);

/* Logs how many files are left out by their names, and as AppleDouble; nothing where there are none. */
void spot_folder_log_others (spot_ctx *c, const spot_folder *f, const char *root);
void spot_folder_log_doubles(spot_ctx *c, const spot_folder *f, const char *root);       /* those of AppleDouble alone */

#endif
