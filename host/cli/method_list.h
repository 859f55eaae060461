/* method_list.h - the values of --method and --class. */
#ifndef SPOTTER_METHOD_LIST_H
#define SPOTTER_METHOD_LIST_H

#include "spotter/config.h"
#include "spotter/discover.h"

#define CLI_METHODS "joinspot,ward"      /* of discover and check, without --method and --config: those of
                                            spot_discover_defaults */

/* "planespot-tsne,domino": methods, each with its reducer if that is not the method's default, into cfg->bdm. SPOT_USAGE names
 * the word that is none. */
spot_status cli_methods_read(spot_ctx *c, spot_config *cfg, const char *list);

/* The class of s that the text names: its name, its number, "each" or "all"; a name has priority over a number. NULL: each. */
spot_status cli_class_read(spot_ctx *c, int *cls, const char *text, const spot_subject *s);

#endif
