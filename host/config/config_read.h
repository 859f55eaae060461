/* config_read.h - what the parts of reading a config share: the text, its lists of values, the sentence of a refusal. */
#ifndef SPOTTER_CONFIG_READ_H
#define SPOTTER_CONFIG_READ_H

#include "config/config_table.h"

enum { SPOT_CONFIG_PATH = 256, SPOT_MAX_AXES = 256, SPOT_MAX_VALUES = 1024 };

/* A setting of bdms[entry] that the text gives as a list of values: the entry stands for their product. */
typedef struct {
    unsigned entry;
    char     path[96];             /* below the entry: "tsne.perplexity" */
    int      first, n;             /* its values among all */
    int      at;                   /* the one that the combination being filled in has */
} spot_axis;

/* The lists of a text in its order; `flat` is the text with the first value in each list's place. */
typedef struct {
    char     *flat, *values;
    size_t    flat_len;
    int       axes;
    spot_axis axis[SPOT_MAX_AXES];
    char     *value[SPOT_MAX_VALUES];
} spot_grid;

/* What libcyaml refused, "bdms[1].mixture", and the key that it did not know. */
typedef struct { char path[SPOT_CONFIG_PATH], key[64]; } spot_refused;

typedef struct {
    spot_ctx    *c;
    const char  *name, *text;      /* the file */
    size_t       len;
    spot_refused refused;
    spot_grid    grid;
    unsigned     entry[SPOT_MAX_BDMS];    /* the entry of the text that a method of the config comes from */
} spot_reading;

/* config_grid.c: also refuses what is no YAML document of modest depth. */
spot_status spot_grid_read(spot_reading *r);
void        spot_grid_free(spot_grid *g);

/* config_fill.c: slot[i] is the text of rows[i], or its group's slots; what is NULL keeps its default. */
spot_status spot_config_fill(spot_reading *r, spot_config *cfg, void **slot);
spot_status spot_config_check(spot_reading *r, const spot_config *cfg);     /* what no single setting can see */
const char *spot_path_join(char path[SPOT_CONFIG_PATH], const char *above, const char *name);

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
spot_status spot_refuse(spot_reading *r, const char *path, const char *fmt, ...);

#endif
