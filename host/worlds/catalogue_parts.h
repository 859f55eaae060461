/* catalogue_parts.h - a growing list of entries, and the layouts that fill it. */
#ifndef SPOTTER_CATALOGUE_PARTS_H
#define SPOTTER_CATALOGUE_PARTS_H

#include <stddef.h>

#include "spotter/mesh.h"

enum { SPOT_MOST_ENTRIES = 10000000 };

typedef struct { spot_catalogue_entry *entry; int n, room; } spot_entries;

/* Adds an entry without texts; *out is valid until the next one. */
spot_status spot_entries_add(spot_ctx *c, spot_entries *l, spot_catalogue_entry **out);
void        spot_entries_close(spot_entries *l);

void        spot_entry_free(spot_catalogue_entry *e);

/* *to becomes a copy of text. */
spot_status spot_entry_set(spot_ctx *c, char **to, const char *text);

/* The layouts. path: an archive; a folder. */
spot_status spot_catalogue_sweet_home(spot_ctx *c, spot_entries *l, const char *path);
spot_status spot_catalogue_shapenet  (spot_ctx *c, spot_entries *l, const char *path);
spot_status spot_catalogue_folder    (spot_ctx *c, spot_entries *l, const char *path);

/* The properties of one catalogue, whose archive is at `path`. */
spot_status spot_catalogue_properties(spot_ctx *c, spot_entries *l, const char *text, size_t n, const char *path);

#endif
