/* method_list.h - the values of --method and --class. */
#ifndef SPOTTER_METHOD_LIST_H
#define SPOTTER_METHOD_LIST_H

#include "spotter/config.h"
#include "spotter/discover.h"

/* The default of --method for discover and check, where there is no --config either. The library's own default says the same
 * (spot_discover_defaults): change both. */
#define CLI_METHODS "joinspot,ward"

/* "planespot-tsne,domino": methods, each with its reducer if that is not the method's default. They replace those of cfg->bdm.
 * SPOT_USAGE names the word that is none. */
spot_status cli_methods_read(spot_ctx *c, spot_config *cfg, const char *list);

/* *cls: the number of the class of s that the text names by its name or its number, a name first; "each" gives
 * SPOT_EACH_CLASS (a search in each class), "all" SPOT_ALL_CLASSES (one search in all rows), "both" and NULL both. */
spot_status cli_class_read(spot_ctx *c, int *cls, const char *text, const spot_subject *s);

#endif
