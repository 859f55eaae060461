/* yaml.h - a config of any kind: YAML text <-> a struct that a table of settings describes. config.h has the sweep's kind;
 * another study has its own table, checks and defaults. */
#ifndef SPOTTER_YAML_H
#define SPOTTER_YAML_H

#include <stdio.h>
#include <yaml.h>

#include "base/setting.h"

struct spot_reading;           /* config_read.h */

typedef struct {
    const spot_setting *rows;
    const char *example, *help;            /* a config to begin from; the command that lists all settings */
    /* Appends an entry of a list to the *filled ones, as one or several. NULL: each entry is one struct of the list. */
    spot_status (*fill_entry)(struct spot_reading *r, void *list, int *filled, const yaml_node_t *mapping, int entry,
                              const char *at);
    /* Checks that involve several settings, which refuse with spot_refuse. NULL: none. */
    spot_status (*check)(struct spot_reading *r, const void *cfg, const yaml_node_t *root);
} spot_config_kind;

/* cfg has its defaults before. Unknown keys and wrong values are SPOT_USAGE with file, line and what is allowed; aliases, deep
 * nesting and files above 1 MB are refused. */
spot_status spot_yaml_parse(spot_ctx *c, const spot_config_kind *k, void *cfg, const char *text, size_t len, const char *name);
spot_status spot_yaml_load (spot_ctx *c, const spot_config_kind *k, void *cfg, const char *path);

/* print: the whole config as YAML that reads back as the same; *text is malloc'd. document: every setting with default, range
 * and meaning; cfg: the defaults. */
spot_status spot_yaml_print   (spot_ctx *c, const spot_setting *rows, const void *cfg, char **text);
void        spot_yaml_document(FILE *f, const spot_setting *rows, const void *cfg);

/* The text of a file, at most 1 MB; *text is malloc'd, also after a failure. A pipe can be read only once: whoever asks more
 * than one question about a config reads its text first. */
spot_status spot_yaml_text(spot_ctx *c, char **text, size_t *n, const char *path);

/* The text of the scalar at the top of the document with this name; "" if there is none. The other settings are not looked at.
 * word: of a file; word_of: of a text that came from path. */
spot_status spot_yaml_word   (spot_ctx *c, char *word, size_t size, const char *path, const char *name);
spot_status spot_yaml_word_of(spot_ctx *c, char *word, size_t size, const char *text, size_t len, const char *path,
                              const char *name);

#endif
