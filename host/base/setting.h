/* setting.h - one row describes one setting: name, offset, default, accepted values, help.
 *
 * A table of rows describes a struct of settings. The same tables read, print, hash and document configs, set defaults and
 * check structs, so each number is written once. Every stage owns the tables of its structs. */
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
    SETTING_SPAN,        /* double[2], [least, most], both in [lo, hi] */
    SETTING_SWITCH,      /* int 0 or 1, written false or true       */
    SETTING_NAME,        /* int, an index into names                */
    SETTING_TEXT,        /* char[hi]                                */
    SETTING_GROUP,       /* a struct that `rows` describes          */
    SETTING_LIST,        /* an array of lo to hi structs of `size` bytes; their number is an int at `count` */
    SETTING_PART         /* no setting: stands for the rows of `rows` or of `part` */
} spot_setting_kind;

typedef struct spot_setting {
    const char *name;
    spot_setting_kind kind;
    size_t offset;                                   /* in the struct that the table describes */
    double lo, hi, def[2];                           /* range and default; def[1]: the most of a range or span */
    int unit;
    const char *text;                                /* default of a text; NULL: "" */
    const char *const *names;                        /* NULL-terminated */
    const struct spot_setting *rows;
    size_t size, count;
    const struct spot_setting *(*part)(int value);   /* the rows for this value of the setting `of` */
    const struct spot_setting *of;                   /* a NAME in the same table */
    unsigned values;                                 /* bit v: the setting is read if `of` has value v; 0: always */
    bool (*when)(const void *group);                 /* whether a group of settings has this one; NULL: always */
    bool inherits;                                   /* a list: an entry begins with the values that the groups of the same
                                                      * names beside the list have, and prints what differs from them */
    bool newer;                                      /* than existing runs: its default is not part of keys */
    const char *otherwise;                           /* the error if a config sets it although `when` is false */
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

/* Visits all rows of a table for one struct, with the rows of a part in its place:
 * for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) */
typedef struct {
    const spot_setting *s;       /* NULL: no more rows */
    char *value;                 /* address of its value */
    char *group;                 /* the struct that s's own table describes */
    const spot_setting *rest;    /* inside a part: the next row after the part ... */
    char *whole;                 /* ... and the struct of that row's table */
} spot_setting_walk;

spot_setting_walk spot_settings_walk(const spot_setting *rows, const void *group);
void              spot_settings_next(spot_setting_walk *w);

/* The walk at the setting with this name; w.s is NULL if the struct has none. */
spot_setting_walk spot_settings_at(const spot_setting *rows, const void *group, const char *name);

/* The row with this name, in any part; NULL if there is none. */
const spot_setting *spot_setting_find(const spot_setting *rows, const char *name);

/* applies: the group has the setting (`when`). is_idle: the value of `of` makes the setting unused (`values`). */
bool spot_setting_applies(const spot_setting *s, const void *group);
bool spot_setting_is_idle(const spot_setting *s, const void *group);

/* Whether a config writes the setting as two numbers. */
static inline bool spot_setting_is_pair(const spot_setting *s) { return s->kind == SETTING_RANGE || s->kind == SETTING_SPAN; }

/* Whether this value of a `newer` setting means what was done before the setting existed. */
bool spot_setting_is_old(const spot_setting *s, const void *value);

/* Sets every setting of a zeroed struct to its default. Lists stay empty. */
void spot_settings_defaults(const spot_setting *rows, void *group);

/* Checks every setting that is used. Fails with `status` and a sentence such as "spotlight.steps is 1; it takes an integer
 * from 2 to 1000000". above: the path before the names ("spotlight"), or "". */
spot_status spot_settings_check(spot_ctx *c, spot_status status, const spot_setting *rows, const void *group,
                                const char *above);

/* Parses a value from its texts (two for a range, else one). False: the setting does not accept it. */
bool spot_setting_read(const spot_setting *s, void *value, const char *const *text);

/* The value as a config writes it, numbers in the fewest digits that read back. text: cut to its size, empty if there is no
 * memory for a stream; returned. print: whole. */
const char *spot_setting_text(char *text, size_t size, const spot_setting *s, const void *value);
void        spot_setting_print(FILE *f, const spot_setting *s, const void *value);

/* The accepted values, for errors and help: "an integer from 16 to 1024". Returns text. */
const char *spot_setting_takes(char *text, size_t size, const spot_setting *s);

#endif
