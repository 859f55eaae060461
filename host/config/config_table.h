/* config_table.h - every setting once: its name, where it lies, what it takes, what it means.
 *
 * Reading, checking, printing and documenting a config all walk these tables; the defaults are those of the stages
 * (spot_scene_defaults and its like), so that a number stands in one place. To add a setting: one row. */
#ifndef SPOTTER_CONFIG_TABLE_H
#define SPOTTER_CONFIG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "spotter/config.h"

typedef enum {
    SETTING_INT,         /* int in [lo, hi], a multiple of `unit`  */
    SETTING_RANGE,       /* int[2], [least, most], both in [lo, hi] */
    SETTING_SEED,        /* uint64_t                               */
    SETTING_REAL,        /* double in [lo, hi]                     */
    SETTING_SWITCH,      /* int 0 or 1, written false or true      */
    SETTING_NAME,        /* int, an index into names               */
    SETTING_TEXT,        /* char[hi]                               */
    SETTING_GROUP,       /* a struct described by `rows`           */
    SETTING_LIST         /* array of structs of `size` bytes; their number is an int at `count` */
} spot_setting_kind;

typedef struct spot_setting {
    const char *name;                      /* NULL ends a table */
    spot_setting_kind kind;
    size_t offset;                         /* in the struct that the table describes */
    double lo, hi;                         /* of a list, how many entries */
    int unit;
    const char *const *names;              /* NULL-terminated */
    const struct spot_setting *rows;
    size_t size, count;
    unsigned only;                         /* of a method's settings: bits of the methods that have it; 0: all */
    bool (*when)(const void *group);       /* of a group: whether this config has it; NULL: every one has */
    const char *otherwise;                 /* what is said of one that is given nevertheless */
    const char *help;
} spot_setting;

extern const spot_setting spot_settings[];        /* of spot_config */
extern const char *const  spot_method_names[];    /* by spot_bdm_method; NULL ends them */

const spot_setting *spot_setting_find(const spot_setting *rows, const char *name);
int spot_settings_count(const spot_setting *rows);

/* The table that describes the group at a path like "bdms[1].mixture"; *s is the setting itself, NULL for the whole config.
 * NULL when the path ends at a value. */
const spot_setting *spot_settings_at(const char *path, const spot_setting **s);

/* Whether the group, which s is a setting of, has it: a method has not those of the others, pictures from files have no scene
 * and the other way round. And whether its kind has it, whatever else is set. */
bool spot_setting_applies(const spot_setting *s, const void *group);
bool spot_setting_is_of(const spot_setting *s, const void *group);

/* The settings of a group as YAML. */
void spot_settings_print(FILE *f, const spot_setting *rows, const void *base);

/* The value as a config has it, numbers in the fewest digits that read back; what does not fit is cut. */
const char *spot_setting_text(char *text, size_t size, const spot_setting *s, const void *value);

/* Whether a method's setting is one that its reducer does not read: dim where nothing reduces, and the others' groups. */
bool spot_setting_is_idle(const spot_setting *s, const spot_bdm_config *m);

/* What a setting takes, for sentences and help: "an integer from 16 to 1024". Into text; returns it. */
const char *spot_setting_takes(char *text, size_t size, const spot_setting *s);

#endif
