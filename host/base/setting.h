/* setting.h - one row describes one setting: its name, where it lies, its default, the values it takes, its meaning.
 *
 * A table of rows describes a struct of settings. Configs are read, printed, hashed and documented by walking tables;
 * defaults are set and structs are checked by walking the same tables, so that a number stands in one place. Every stage
 * owns the tables of its structs. */
#ifndef SPOTTER_SETTING_H
#define SPOTTER_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "spotter/ctx.h"

typedef enum {
    SETTING_END,         /* ends a table                            */
    SETTING_INT,         /* int in [lo, hi], a multiple of `unit`   */
    SETTING_RANGE,       /* int[2], [least, most], both in [lo, hi] */
    SETTING_SEED,        /* uint64_t                                */
    SETTING_REAL,        /* double in [lo, hi]                      */
    SETTING_SWITCH,      /* int 0 or 1, written false or true       */
    SETTING_NAME,        /* int, an index into names                */
    SETTING_TEXT,        /* char[hi]                                */
    SETTING_GROUP,       /* a struct that `rows` describes          */
    SETTING_LIST,        /* an array of lo to hi structs of `size` bytes; their number is an int at `count` */
    SETTING_PART         /* no setting: the rows of `rows`, or of `part`, follow in its place */
} spot_setting_kind;

typedef struct spot_setting {
    const char *name;
    spot_setting_kind kind;
    size_t offset;                                   /* in the struct that the table describes */
    double lo, hi, def[2];                           /* range and default; def[1]: the most of a range */
    int unit;
    const char *text;                                /* default of a text; NULL: "" */
    const char *const *names;                        /* NULL-terminated */
    const struct spot_setting *rows;
    size_t size, count;
    const struct spot_setting *(*part)(int value);   /* the rows that go with this value of the setting `of` */
    const struct spot_setting *of;                   /* a NAME in the same table */
    unsigned values;                                 /* bits of the values of `of` with which this setting is read; 0: all */
    bool (*when)(const void *group);                 /* whether a group of settings has this one; NULL: always */
    const char *otherwise;                           /* the sentence for one that is given all the same */
    const char *help;                                /* a noun phrase that stands alone */
} spot_setting;

/* SPOT_ROW("size", INT, spot_scene_config, size, "pixels a side", SPOT_IN(32, 1024), SPOT_DEF(224)) */
#define SPOT_ROW(name_, kind_, type, field, help_, ...) \
    { .name = name_, .kind = SETTING_##kind_, .offset = offsetof(type, field), .help = help_, __VA_ARGS__ }
#define SPOT_IN(least, most) .lo = (least), .hi = (most)
#define SPOT_DEF(...)        .def = { __VA_ARGS__ }
#define SPOT_ONE_OF(...)     .names = (const char *const[]){ __VA_ARGS__, NULL }
#define SPOT_SWITCH          .hi = 1
#define SPOT_END             { .kind = SETTING_END }

/* All rows of a table for one struct, those of parts in their places:
 * for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) */
typedef struct {
    const spot_setting *s;       /* NULL: there are no more */
    char *value;                 /* where it lies */
    char *group;                 /* the struct that s's own table describes */
    const spot_setting *rest;    /* what follows after a part, and the struct of its table */
    char *whole;
} spot_setting_walk;

spot_setting_walk spot_settings_walk(const spot_setting *rows, const void *group);
void              spot_settings_next(spot_setting_walk *w);

/* The walk at the setting of this name; w.s is NULL where the struct has none. */
spot_setting_walk spot_settings_at(const spot_setting *rows, const void *group, const char *name);

/* The row of this name, whatever part has it; NULL where no part has one. */
const spot_setting *spot_setting_find(const spot_setting *rows, const char *name);

/* Whether the group has the setting (when); and whether the setting is not read, because of the value of `of`. */
bool spot_setting_applies(const spot_setting *s, const void *group);
bool spot_setting_is_idle(const spot_setting *s, const void *group);

/* Sets every setting of a zeroed struct to its default. Lists stay empty. */
void spot_settings_defaults(const spot_setting *rows, void *group);

/* Checks every setting that is read. Fails with `status` and a sentence such as "spotlight.steps is 1; it takes an integer
 * from 2 to 1000000". above: "spotlight"; "" for nothing. */
spot_status spot_settings_check(spot_ctx *c, spot_status status, const spot_setting *rows, const void *group,
                                const char *above);

/* The texts of a value (two of a range, else one) into it. False: this is not what the setting takes. */
bool spot_setting_read(const spot_setting *s, void *value, const char *const *text);

/* The value as a config has it, numbers in the fewest digits that read back. text: cut to its size; empty without memory for a
 * stream. print: whole. */
const char *spot_setting_text(char *text, size_t size, const spot_setting *s, const void *value);
void        spot_setting_print(FILE *f, const spot_setting *s, const void *value);

/* What a setting takes, for sentences and help: "an integer from 16 to 1024". Into text; returns it. */
const char *spot_setting_takes(char *text, size_t size, const spot_setting *s);

#endif
