/* setting.h - one row describes one setting: name, offset, default, accepted values, what it affects, help.
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
    SETTING_TEXT,        /* const char *, NULL as "", of at most hi - 1 bytes */
    SETTING_GROUP,       /* a struct that `rows` describes          */
    SETTING_LIST,        /* a pointer to lo to hi structs of `size` bytes; their number is an int at `count` */
    SETTING_PART         /* no setting: stands for the rows of `rows` or of `part` */
} spot_setting_kind;

/* The results that a setting changes, by the first of them: a key includes the settings that change its value, and a change of
 * a setting makes just those results anew. A row that says nothing has the affects of the group, list or part around it. */
typedef enum {
    SPOT_AFFECTS_PATH         = 1 << 0,    /* none: it says where files lie, and what they hold is part of keys by itself */
    SPOT_AFFECTS_PICTURES     = 1 << 1,    /* the pictures, real or rendered, and the conditions under which they are made */
    SPOT_AFFECTS_BASE         = 1 << 2,    /* the model that all trainings start from (beside MODEL or PICTURES) */
    SPOT_AFFECTS_MODEL        = 1 << 3,    /* the models under examination */
    SPOT_AFFECTS_ROBUST       = 1 << 4,    /* the robust network of a sweep */
    SPOT_AFFECTS_VIEW         = 1 << 5,    /* the numbers that a model gives for the pictures */
    SPOT_AFFECTS_POINTS       = 1 << 6,    /* the points that a reducer makes of features */
    SPOT_AFFECTS_FINDING      = 1 << 7,    /* the result of a unit */
    SPOT_AFFECTS_JUDGING      = 1 << 8,    /* only what is concluded from finished results */
    SPOT_AFFECTS_PRESENTATION = 1 << 9,    /* only names and texts for readers */
    SPOT_AFFECTS_EXTENT       = 1 << 10,   /* how many units or runs there are; the result of none of them */
    SPOT_AFFECTS_ALL          = (1 << 11) - 1
} spot_affects;

/* A setting that was added after results were kept: its default is not part of keys. */
typedef enum {
    SPOT_NEWER_THAN_VALUES = 1,            /* not part of the keys of stages' values */
    SPOT_NEWER_THAN_RUNS   = 2,            /* not part of the keys of whole runs */
    SPOT_NEWER             = 3
} spot_setting_age;

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
    unsigned affects;                                /* spot_affects */
    unsigned newer;                                  /* spot_setting_age */
    bool grows;                                      /* a list: a run may get further entries. Keys leave all of them out */
    const char *(*counts_as)(const char *text);      /* a text that is a path or not: what keys have in its place */
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
    unsigned affects;            /* s's own, or those of the part that it stands in; 0: neither says */
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

/* The text at the address of a TEXT, "" where a caller left it out; the number of a list's entries, and entry e of it. */
static inline const char *spot_setting_word(const void *value)
{
    const char *word = *(const char *const *)value;

    return word ? word : "";
}
static inline int spot_setting_entries(const spot_setting *s, const void *group)
{
    return *(const int *)(const void *)((const char *)group + s->count);
}
static inline char *spot_setting_entry(const spot_setting *s, const void *value, int e)
{
    return *(char *const *)value + (size_t)e * s->size;
}

/* Bytes of a value; 0 of groups, lists and parts. */
size_t spot_setting_bytes(const spot_setting *s);

/* Whether the value is the default. */
bool spot_setting_is_default(const spot_setting *s, const void *value);

/* Sets every setting of a struct to its default. Lists become empty. */
void spot_settings_defaults(const spot_setting *rows, void *group);

/* Checks every setting that is used. Fails with `status` and a sentence such as "spotlight.steps is 1; it takes an integer
 * from 2 to 1000000". above: the path before the names ("spotlight"), or "". */
spot_status spot_settings_check(spot_ctx *c, spot_status status, const spot_setting *rows, const void *group,
                                const char *above);

/* Parses a value from its texts (two for a range, else one). False: the setting does not accept it. A TEXT becomes the text
 * itself, which must outlive the group. */
bool spot_setting_read(const spot_setting *s, void *value, const char *const *text);

/* The value as a config writes it, numbers in the fewest digits that read back. text: cut to its size, empty if there is no
 * memory for a stream; returned. print: whole. */
const char *spot_setting_text(char *text, size_t size, const spot_setting *s, const void *value);
void        spot_setting_print(FILE *f, const spot_setting *s, const void *value);

/* The accepted values, for errors and help: "an integer from 16 to 1024". Returns text. */
const char *spot_setting_takes(char *text, size_t size, const spot_setting *s);

#endif
