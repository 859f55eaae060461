/* result.h - a result is described once.
 *
 * An array of quantities, which ends with SPOT_QUANTITIES_END, describes a row: a struct of a study. A quantity is a number, a
 * text, or rows with quantities of their own. All that shows the row is made from its description: JSON, CSV, the terminal's
 * and the Markdown table, the columns of the page, and whether a change of the number is for the worse.
 *
 *     static const spot_quantity model[] = {
 *         SPOT_QUANTITY("model", row, name, .title = "model"),
 *         SPOT_QUANTITY("accuracy", row, accuracy, .title = "accuracy", .unit = SPOT_UNIT_SHARE,
 *                       .direction = SPOT_HIGHER_IS_BETTER, .about = "right answers on the pictures as they are"),
 *         SPOT_COMPUTED("worst", SPOT_AS_REAL, worst_of, .optional = true),
 *         SPOT_QUANTITIES_END
 *     };
 *     static const spot_quantity run[] = {
 *         SPOT_ROWS("models", SPOT_AS_LIST, model, row, count_models, get_model, .title = "Models"),
 *         SPOT_QUANTITIES_END
 *     };
 *
 * A new number is one row here and its computation. */
#ifndef SPOTTER_RESULT_H
#define SPOTTER_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "base/text.h"
#include "result/columns.h"
#include "result/words.h"
#include "spotter/interval.h"
#include "spotter/metric.h"
#include "spotter/report.h"

/* How tables write a number. Files always have the number itself: 0.25 is "25.0 %" of SPOT_UNIT_SHARE. POINTS: a difference of
 * shares. P: a p value. */
typedef enum { SPOT_UNIT_NUMBER, SPOT_UNIT_SHARE, SPOT_UNIT_POINTS, SPOT_UNIT_P, SPOT_UNIT_COUNT, SPOT_UNIT_SECONDS,
               SPOT_UNITS } spot_quantity_unit;

/* ONLY_SHOWN: a change is neither good nor bad. */
typedef enum { SPOT_ONLY_SHOWN, SPOT_HIGHER_IS_BETTER, SPOT_LOWER_IS_BETTER } spot_quantity_direction;

/* SHOWN: everywhere. WIDE: not in the terminal's table of many rows. MORE: in Markdown and in the list of few rows alone. */
typedef enum { SPOT_SHOWN, SPOT_SHOWN_WIDE, SPOT_SHOWN_MORE } spot_quantity_place;

/* Types of values. CHARS: an array of char; TEXT: a pointer, NULL for none. NaN, and NULL, are values that are not there: null
 * in JSON, an empty cell in CSV, "-" in tables. NAME: an int, written as the one of `names`. AVERAGE: a mean with its standard
 * error and the number of its values, an object in JSON. WORDS: an array of sentences, in JSON alone.
 * OBJECT: an object in JSON, its columns stand in the row's place in tables; without a name JSON has its members in place, too.
 * LIST: an array of objects. WRITTEN: members that JSON alone has, which a function puts. */
typedef enum { SPOT_AS_NOTHING, SPOT_AS_INT, SPOT_AS_SEED, SPOT_AS_REAL, SPOT_AS_FLOAT, SPOT_AS_INTERVAL, SPOT_AS_AVERAGE,
               SPOT_AS_CHARS, SPOT_AS_TEXT, SPOT_AS_NAME, SPOT_AS_WORDS, SPOT_AS_OBJECT, SPOT_AS_LIST,
               SPOT_AS_WRITTEN } spot_quantity_type;

/* A number with its interval or spread (NaN: none), or a text. A text with a value: tables write the value, a whole number,
 * before it. n, left_out: of an AVERAGE; n < 0 of others. */
typedef struct { double value, low, high, spread; const char *text; int n, left_out; } spot_quantity_value;
#define SPOT_NO_VALUE ((spot_quantity_value){ NAN, NAN, NAN, NAN, NULL, -1, 0 })

enum { SPOT_QUANTITY_ITEM = 320 };     /* most bytes of a row that `item` fills */

typedef struct spot_quantity {
    const char *name;                  /* key of JSON, column of CSV. With dots, "sets.suite.accuracy", it is a column whose
                                        * number JSON has in nested objects, and which JSON does not write again. NULL of a
                                        * number or text: in tables alone */
    spot_quantity_type type;
    size_t at;                         /* of the value in the row; for an OBJECT with `behind`, of a pointer to it */
    void (*get)(spot_quantity_value *out, const void *row);        /* computes the value, if not NULL; low, high, spread: NaN */
    void (*get_at)(spot_quantity_value *out, const void *row, int index);      /* the same, of a column among many */
    int index;
    const char *const *names;
    const char *title;                 /* heading; NULL: no table shows it */
    const char *label;                 /* on the axis of a figure; NULL: title */
    const char *missing;               /* in tables, where it has no value; NULL: "-" */
    const char *about;                 /* what it is: a noun phrase, or a plain sentence, of one line */
    spot_quantity_unit unit;
    spot_quantity_direction direction;
    spot_quantity_place place;
    int  digits;                       /* after the point, of SPOT_UNIT_NUMBER in tables; 0: 3 */
    const char *format;                /* printf's of the number in tables, with its unit, if not NULL; a share as per cent */
    int  decimals;                     /* after the point in files; 0: as many as read back as the same number */
    void (*put)(spot_json *j, const void *row);        /* WRITTEN; of another type: JSON's form of it, if not NULL */
    bool right, beside, whole;         /* tables: a text stands at the right; the column stays beside the one before it; a long
                                        * text is not shortened */
    bool keep;                         /* LIST: tables keep columns without a value, but optional ones */
    int  page;                         /* LIST: columns of a line in TEXT; 0: SPOT_PAGE */
    void (*below)(FILE *f, const void *row);           /* LIST: prints lines below a row in TEXT, if not NULL */
    bool optional;                     /* JSON leaves it out where it has no value or no row, instead of null or [] */
    bool behind;
    const struct spot_quantity *rows;  /* OBJECT, LIST: quantities of the other struct */
    long (*items)(const void *row);    /* LIST: how many; item: fills the struct of row i, false: it is left out */
    bool (*item)(void *out, const void *row, long i);
    size_t size;                       /* bytes of that struct */
    char last;                         /* unused: a macro's list of members is never empty */
} spot_quantity;

#define SPOT_MEMBER(type, field)  (((type *)0)->field)
#define SPOT_QUANTITY(...)        SPOT_QUANTITY_(__VA_ARGS__, .last = 0)        /* name, type, field, further members */
#define SPOT_COMPUTED(...)        SPOT_COMPUTED_(__VA_ARGS__, .last = 0)        /* name, type of value, get, ... */
#define SPOT_OBJECT(...)          SPOT_OBJECT_(__VA_ARGS__, .last = 0)          /* name, type, field, rows, ... */
#define SPOT_BEHIND(...)          SPOT_OBJECT_(__VA_ARGS__, .behind = true)     /* the same of a pointer */
#define SPOT_ROWS(...)            SPOT_ROWS_(__VA_ARGS__, .last = 0)            /* name, LIST, rows, their type, items, item */
#define SPOT_HERE(name_, rows_)   { .name = name_, .type = SPOT_AS_OBJECT, .rows = rows_ }      /* of the same struct */
#define SPOT_WRITTEN(put_)        { .type = SPOT_AS_WRITTEN, .put = put_ }
#define SPOT_NAMED(name_, type_, field, ...) { .name = name_, .at = offsetof(type_, field), .type = SPOT_AS_NAME, \
    .names = (const char *const []){ __VA_ARGS__ } }
#define SPOT_QUANTITY_(name_, type_, field, ...) { .name = name_, .at = offsetof(type_, field), .type = \
    _Generic(&SPOT_MEMBER(type_, field), int *: SPOT_AS_INT, uint64_t *: SPOT_AS_SEED, double *: SPOT_AS_REAL, \
             float *: SPOT_AS_FLOAT, spot_interval *: SPOT_AS_INTERVAL, spot_average *: SPOT_AS_AVERAGE, \
             char **: SPOT_AS_TEXT, const char **: SPOT_AS_TEXT, spot_words *: SPOT_AS_WORDS, \
             char (*)[sizeof SPOT_MEMBER(type_, field)]: SPOT_AS_CHARS), __VA_ARGS__ }
#define SPOT_COMPUTED_(name_, type_, get_, ...) { .name = name_, .type = type_, .get = get_, __VA_ARGS__ }
#define SPOT_OBJECT_(name_, type_, field, rows_, ...) \
    { .name = name_, .type = SPOT_AS_OBJECT, .at = offsetof(type_, field), .rows = rows_, __VA_ARGS__ }
#define SPOT_ROWS_(name_, as, rows_, type_, items_, item_, ...) { .name = name_, .type = as, .rows = rows_, \
    .items = items_, .item = item_, .size = sizeof(type_) / (sizeof(type_) <= SPOT_QUANTITY_ITEM), __VA_ARGS__ }
/* A whole number in a double, whose NaN is no value. */
#define SPOT_WHOLE_NUMBER(name_, type_, field) { .name = name_, .type = SPOT_AS_INT, .get_at = spot_quantity_whole, \
    .index = (int)offsetof(type_, field) }
#define SPOT_QUANTITIES_END { .type = SPOT_AS_NOTHING }

/* The value of a quantity that is no object and no rows. */
spot_quantity_value spot_quantity_of(const spot_quantity *q, const void *row);

void spot_quantity_whole(spot_quantity_value *v, const void *row, int at);

/* Sets the value of an AVERAGE. */
void spot_quantity_average(spot_quantity_value *v, const spot_average *a, int more_left_out);

/* "81.2 % [79.0, 83.1]", "0.500 (0.021)"; "-" where there is no value. Returns text. */
const char *spot_quantity_text(char text[96], const spot_quantity *q, const spot_quantity_value *v);

/* 1: `now` is better than `before`; -1: worse; 0: equal, only shown, or one of them is not there. */
int spot_quantity_change(const spot_quantity *q, double before, double now);

/* The column with this name or title; NULL: there is none. */
const spot_quantity *spot_quantity_find(const spot_quantity *q, const char *word);

/* 1: a higher value of the column with this name or title is better; -1: a lower one; 0: it is only shown, or not there. */
int spot_quantity_sign(const spot_quantity *q, const char *word);

/* ---- JSON ---- */

/* Adds the members of a row to the open object. */
void spot_quantities_put(spot_json *j, const spot_quantity *q, const void *row);

/* Adds an array of sentences. */
void spot_words_put(spot_json *j, const char *key, const spot_words *w);

/* Visits the columns of a row, numbers and texts, those of objects in their place. row NULL: only the columns. */
typedef void spot_quantity_visitor(void *user, const spot_quantity *q, const void *row);
void spot_quantities_visit(const spot_quantity *q, const void *row, spot_quantity_visitor *visit, void *user);

/* Adds an array that describes the columns of a table: name, title, about, unit ("text" of a text), direction, digits. */
void spot_quantities_describe(spot_json *j, const char *key, const spot_quantity *list);

/* The document of a study: schema 1, the config's key, the version of its numbers, and the row's members. */
typedef struct { const char *key; int numbers; } spot_result_head;
spot_status spot_result_document(spot_ctx *c, spot_text *out, const spot_result_head *head, const spot_quantity *q,
                                 const void *row, const char *indent);

/* Writes a file unless it has these bytes: a finished run on a disk that cannot be written is no failure. */
spot_status spot_result_write(spot_ctx *c, const char *path, const spot_text *text);

/* ---- tables: the rows of a LIST of `root` ---- */

/* TEXT and MD leave out columns without a value. CSV: an interval has three columns, NAME, NAME_low and NAME_high. The caller
 * checks f. */
void spot_result_print(FILE *f, spot_table_format format, const spot_quantity *list, const void *root);

/* The same for few rows: a row's name, then a line for each quantity: heading, value, what it is. */
void spot_result_print_rows(FILE *f, const spot_quantity *list, const void *root);

/* The same for programs: CSV, or an indented object with the list. */
spot_status spot_result_data(spot_ctx *c, FILE *f, spot_table_format format, const spot_quantity *list, const void *root);

/* A LIST with further columns, whose number and headings come with the data; all are kept. add: a column of numbers, which the
 * caller may change to another type; those that a table has no room for are left out. */
typedef struct { spot_quantity list, column[SPOT_COLUMNS + 1]; char title[SPOT_COLUMNS][32]; int columns; } spot_wide_list;
void spot_wide_begin(spot_wide_list *w, const spot_quantity *list, const char *title);
__attribute__((format(printf, 4, 5)))
spot_quantity *spot_wide_add(spot_wide_list *w, void (*get_at)(spot_quantity_value *, const void *, int), int index,
                             const char *fmt, ...);

/* The CSV of a file in a run directory, by spot_result_write. */
spot_status spot_result_csv(spot_ctx *c, const char *path, const spot_quantity *list, const void *root);

#endif
