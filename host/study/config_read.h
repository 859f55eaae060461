/* config_read.h - shared parts of the config reader: the document, its lists of values, its errors. */
#ifndef SPOTTER_CONFIG_READ_H
#define SPOTTER_CONFIG_READ_H

#include <yaml.h>

#include "study/config_table.h"
#include "study/yaml.h"

enum { SPOT_CONFIG_PATH = 256, SPOT_MAX_AXES = 256 };

/* A setting of an entry of bdms that is a list of values. The entry stands for the product of its lists. */
typedef struct {
    const yaml_node_t *list;
    char path[96];                 /* below the entry: "tsne.perplexity" */
    int  n, at;                    /* number of values; index of the value in the present combination */
} spot_axis;

typedef struct spot_reading spot_reading;
struct spot_reading {
    spot_ctx       *c;
    const char     *name;          /* the file */
    yaml_document_t document;
    int             axes;          /* of the present entry */
    spot_axis       axis[SPOT_MAX_AXES];
    int             entry[SPOT_MAX_BDMS], line[SPOT_MAX_BDMS];    /* by method: its entry in the text, and the entry's line */
    const spot_config_kind *kind;
    spot_memory **memory;            /* the config's */
};

/* A key and its value in a mapping; key is NULL if the mapping lacks it. */
typedef struct { const yaml_node_t *key, *value; } spot_pair;

static inline int         spot_line_of(const yaml_node_t *n) { return (int)n->start_mark.line + 1; }
static inline const char *spot_text_of(const yaml_node_t *n) { return (const char *)n->data.scalar.value; }

spot_pair          spot_pair_at(spot_reading *r, const yaml_node_t *mapping, const char *name);
const yaml_node_t *spot_item_at(spot_reading *r, const yaml_node_t *list, int i);
int                spot_items_of(const yaml_node_t *list);
int                spot_line_at (spot_reading *r, const yaml_node_t *mapping, const char *name);     /* 0: it is lacking */

/* Fails with SPOT_USAGE and the file, the line (0: none) and the reason. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
spot_status spot_refuse(spot_reading *r, int line, const char *fmt, ...);
const char *spot_path_join(char path[SPOT_CONFIG_PATH], const char *above, const char *name);

/* Memory of the config. text: a copy, in *copy. */
spot_status spot_config_take(spot_reading *r, void *taken, size_t bytes);
spot_status spot_config_text(spot_reading *r, const char **copy, const char *text);

/* config_fill.c: fills a group of settings from a mapping; settings that the mapping lacks keep their values. */
spot_status spot_config_fill(spot_reading *r, const spot_setting *rows, void *group, const yaml_node_t *mapping,
                             const char *above);

/* The text of a value, or of a list's value in the present combination (*at: its index; else -1). NULL: neither. */
const char *spot_value_text(spot_reading *r, const yaml_node_t *value, int *at);

/* config_grid.c: appends the methods of an entry of bdms to the *filled ones. */
spot_status spot_entry_fill(spot_reading *r, void *list, int *filled, const yaml_node_t *mapping, int entry, const char *at);

/* config_check.c: checks that involve several settings. */
spot_status spot_config_check(spot_reading *r, const void *config, const yaml_node_t *root);

#endif
