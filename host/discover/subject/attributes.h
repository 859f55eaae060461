/* attributes.h - makes items of columns of values, for the readers of attributes (spotter/describe.h). */
#ifndef SPOTTER_ATTRIBUTES_H
#define SPOTTER_ATTRIBUTES_H

#include <stdarg.h>

#include "spotter/describe.h"

enum { SPOT_NO_FLAG = 2 };             /* the value of a row that has none */

/* The same with the items of `like`, by their names and ranges, whatever the table has else. An item whose column is not there
 * holds for no row; a warning names it, unless its column in `like` is SPOT_OF_PICTURES. */
enum { SPOT_OF_PICTURES = 1 };
spot_status spot_attributes_like(spot_ctx *c, spot_attributes *a, const char *where, const spot_subject *s,
                                 const spot_attributes *like);

void spot_attributes_begin(spot_attributes *a, int rows);

/* The items of `like` by their names, which hold for no row yet. */
spot_status spot_attributes_names(spot_ctx *c, spot_attributes *a, int rows, const spot_attributes *like);

/* Adds an item that holds for no row yet; *bit (words) is valid until the next item. Columns come in ascending order. */
__attribute__((format(printf, 5, 6)))
spot_status spot_attributes_item(spot_ctx *c, spot_attributes *a, int column, uint64_t **bit, const char *fmt, ...);

/* The items of a column, value (rows): 0, 1 or SPOT_NO_FLAG; numbers of at least two different values, NaN for none; words, ""
 * for none. */
spot_status spot_attributes_flags  (spot_ctx *c, spot_attributes *a, int column, const char *name, const uint8_t *value);
spot_status spot_attributes_numbers(spot_ctx *c, spot_attributes *a, int column, const char *name, const double *value);
/* The thirds of numbers, which may be equal: then there is none. front: of the names, such as "size=". */
spot_status spot_attributes_thirds (spot_ctx *c, spot_attributes *a, int column, const char *front, const double *value,
                                    const char *const part[3]);
spot_status spot_attributes_words  (spot_ctx *c, spot_attributes *a, int column, const char *name, char *const *word);

/* The same, or the terms of free text (describe.h), "NAME has TERM". spot_text_has_term: whether such a text has the term. */
#define SPOT_HAS_TERM " has "
bool spot_text_has_term(const char *text, const char *term);
spot_status spot_attributes_text(spot_ctx *c, spot_attributes *a, int column, const char *name, char *const *word);

/* A comparison of a column of numbers. */
typedef enum { SPOT_NO_RELATION, SPOT_BELOW, SPOT_ABOVE, SPOT_EQUAL, SPOT_AT_MOST, SPOT_AT_LEAST } spot_relation;
typedef struct { const char *column; spot_relation how; double value; } spot_column_cut;

/* in (rows of the subject): 0 for every row whose number in the table is not so, or is missing. The table is read as
 * spot_attributes_of_subject does. SPOT_USAGE where it has no such column of numbers. */
spot_status spot_attributes_compare(spot_ctx *c, uint8_t *in, const spot_subject *s, const char *where,
                                    const spot_column_cut *cut);

#endif
