/* yaml.h - a config of any kind: YAML text <-> a struct that a table of settings describes. Each study has its kind. */
#ifndef SPOTTER_YAML_H
#define SPOTTER_YAML_H

#include <stdio.h>
#include <yaml.h>

#include "base/key.h"
#include "base/setting.h"

struct spot_reading;           /* config_read.h */

/* The struct of a config begins with `spot_memory *memory`, in which texts and lists lie. */
typedef struct spot_config_kind {
    const spot_setting *rows;
    size_t size;                           /* of the struct */
    unsigned key, run;                     /* spot_affects: settings of which a unit's result depends; that make another run */
    bool used;                             /* settings that the value of another makes unused count in no key */
    const char *example, *help;            /* a config to begin from; the command that lists all settings */
    /* Appends an entry of a list, which has room for all, to the *filled ones, as one or several. NULL: each entry is one
     * struct of the list. */
    spot_status (*fill_entry)(struct spot_reading *r, void *list, int *filled, const yaml_node_t *mapping, int entry,
                              const char *at);
    /* Checks that involve several settings, which refuse with spot_refuse. NULL: none. */
    spot_status (*check)(struct spot_reading *r, const void *cfg, const yaml_node_t *root);
    /* Fills settings that the text leaves out and that others decide, after the checks. NULL: there are none. */
    spot_status (*complete)(spot_ctx *c, void *cfg);
    /* Whether `here` asks the saved run's units for more results and changes nothing else, which else replaces words (or leaves
     * them: it asks for no more). NULL: a run gets no more. */
    bool (*gains)(char *words, size_t size, const void *saved, const void *here);
} spot_config_kind;

void spot_config_reset(const spot_config_kind *k, void *cfg);      /* to the defaults; frees nothing */

/* The hash of the settings in k->key. */
spot_key spot_config_key(const spot_config_kind *k, const void *cfg);

/* Whether two configs are of different runs: words gets the first such setting. Whether any setting differs. */
bool spot_config_is_other(char *words, size_t size, const spot_config_kind *k, const void *saved, const void *here);
bool spot_config_changes (const spot_config_kind *k, const void *saved, const void *here);

/* cfg is overwritten, beginning with its defaults; the caller closes its memory, also after a failure. Unknown keys and wrong
 * values are SPOT_USAGE with file, line and what is allowed; aliases, deep nesting and files above 1 MB are refused. */
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
