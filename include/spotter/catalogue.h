/* catalogue.h - collections of 3-D models: which there are, their classes, licences and authors.
 *
 * Three layouts are known:
 *     Sweet Home 3D   archives (.sh3f) or a folder of them, each with PluginFurnitureCatalog.properties
 *     ShapeNet        <synset>/<model>/model.obj (version 1), <synset>/<model>/models/model_normalized.obj (version 2), and
 *                     taxonomy.json, which names the synsets
 *     a folder        CLASS/model.obj, .ply, .glb, .gltf at any depth below CLASS */
#ifndef SPOTTER_CATALOGUE_H
#define SPOTTER_CATALOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MAX_CATALOGUE_CLASSES 64

/* One class as rules on the catalogue's entries; an entry belongs to the first class whose rules it meets. Words are those of
 * the name in lower case, separated by anything but letters and digits; lists of words have spaces between them. A rule that
 * is "" or NULL fits all; the rules of a class must all fit. A class without any rule takes the entries whose own class has its
 * name. */
typedef struct {
    const char *name;
    const char *category;          /* the entry's category */
    const char *words;             /* one of them is a word of the name */
    const char *last;              /* one of them is the last word */
    const char *starts;            /* or the name starts so (beside `last`: one of both) */
    const char *without;           /* and none of them occurs in the name */
    int  door;                     /* 1: the entry is a door or a window */
    int  leave;                    /* 1: such entries are left out */
} spot_catalogue_class;

typedef struct {
    char *id, *name;               /* unique, as the catalogue has it; for readers */
    char *category;                /* the catalogue's; of ShapeNet the synset's name, of folders the first one */
    char *licence, *author;        /* "": not known */
    char *archive;                 /* path for spot_mesh_files_open ... */
    char *file;                    /* ... and of the model in it */
    double turn[9];                /* spot_mesh_options.turn; all 0: none */
    bool  z_up, door;
    int   cls;                     /* of the classes given; -1: none */
} spot_catalogue_entry;

typedef struct {
    int entries;
    spot_catalogue_entry *entry;   /* in order of class and then of the SHA-1 of the id, so that a split is one cut: the
                                    * first quarter of a class is held out */
    int  classes;
    char (*cls)[64];               /* (classes): those of the rules that are not left out; without rules the categories */
    void *owned;
} spot_catalogue;

/* Entries without a class are left out. SPOT_INPUT where nothing is found or
 * a properties file or taxonomy cannot be read; the sentence names the line. */
spot_status spot_catalogue_read (spot_ctx *c, spot_catalogue *k, const char *path, const spot_catalogue_class *cls,
                                 int classes);
void        spot_catalogue_close(spot_catalogue *k);

#ifdef __cplusplus
}
#endif
#endif
