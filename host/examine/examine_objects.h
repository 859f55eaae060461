/* examine_objects.h - the objects of a study: the catalogue's entries in classes, which of them are held out, and their
 * meshes in the memory of c's device. */
#ifndef SPOTTER_EXAMINE_OBJECTS_H
#define SPOTTER_EXAMINE_OBJECTS_H

#include "examine/examine_config.h"

typedef struct {
    const spot_examine_config *cfg;
    spot_catalogue list;
    int   *first;                  /* (classes + 1): the entries of class k begin at first[k] */
    int   *held;                   /* (classes): the first so many of them are held out */
    spot_render_mesh **mesh;       /* (entries): NULL before spot_examine_mesh */
    char (*hash)[33];              /* (entries) of the meshes */
    bool  *warned;                 /* (entries): its words were said */
    char **words;                   /* (entries): what is not drawn as the file says; NULL: it was not read, or all is */
    spot_mesh_files *files;        /* the folder or archive that was read last ... */
    const char *archive;           /* ... and its path */
} spot_examine_objects_list;

/* Reads the catalogue; gives a config without classes those of the catalogue. Close it also after a failure. */
spot_status spot_examine_objects_open (spot_ctx *c, spot_examine_objects_list *o, spot_examine_config *cfg);
void        spot_examine_objects_close(spot_ctx *c, spot_examine_objects_list *o);

/* The same of any number of objects and classes: none is examined. */
spot_status spot_examine_objects_list_all(spot_ctx *c, spot_examine_objects_list *o, spot_examine_config *cfg);

/* Loads the mesh of an entry, unless it is there. */
spot_status spot_examine_mesh(spot_ctx *c, spot_examine_objects_list *o, int entry);

/* Whether this failure of spot_examine_mesh lets a study go on without the object: its file cannot be read. Where the program
 * that reads it was too slow, another run would have the object, and other numbers. */
bool        spot_examine_may_leave(const spot_ctx *c, spot_status s);

/* Says once what of an object that was read is not drawn as its file says. */
void spot_examine_warn_of_mesh(spot_ctx *c, spot_examine_objects_list *o, int entry);

/* Gives back meshes, so that memory holds only those that are in use. */
void spot_examine_meshes_drop(spot_ctx *c, spot_examine_objects_list *o);

/* The number by which random draws address an object: a hash of its id, so that it is the same in every config. */
uint32_t spot_examine_number(const char *id);

/* The entry with this id; -1: none. */
int spot_examine_find(const spot_examine_objects_list *o, const char *id);

/* The entries of class k that a network trained here learns: *n of them from *from on. */
void spot_examine_learned(const spot_examine_objects_list *o, const spot_examine_model *m, int k, int *from, int *n);

#endif
