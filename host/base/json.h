/* json.h - writes JSON (through yajl). One description of a document both writes and reads it:
 *
 *     spot_json_object(j, "lesson");
 *     spot_json_real(j, "outside", &lesson->outside);
 *     spot_json_end(j);
 *
 * Writing: a number has the fewest digits that read back as the same double; NaN and infinities become null; a byte that is
 * not UTF-8 becomes U+FFFD. Reading: null becomes NaN; a key that is missing or has another type leaves its value unchanged,
 * and `wrong` names the first such key. Members of an array have no key: pass NULL.
 *
 * Code that only writes uses spot_json_put_*, which take values:
 *
 *     SPOT_TRY(spot_json_begin(c, &j, NULL));
 *     spot_json_object(&j, NULL);
 *     spot_json_put_int(&j, "ecs", n);
 *     spot_json_put_number(&j, "seconds", "%.1f", seconds);
 *     spot_json_end(&j);
 *     status = spot_json_whole(c, &j, "plan");         // then j.out.bytes, j.out.used
 *     spot_json_free(&j); */
#ifndef SPOTTER_JSON_H
#define SPOTTER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

#include "base/text.h"
#include "spotter/interval.h"
#include "spotter/ctx.h"

enum { SPOT_JSON_DEPTH = 12 };

typedef struct spot_json {
    yajl_gen    gen;                       /* NULL: reading */
    spot_text   out;                       /* the document, after spot_json_begin */
    yajl_val    at[SPOT_JSON_DEPTH];       /* reading: the open objects and arrays ... */
    size_t      next[SPOT_JSON_DEPTH];     /* ... and the next member of each array */
    int         depth;
    const char *wrong;
} spot_json;

void spot_json_object(spot_json *j, const char *key);
/* Writing: n members follow. Reading: returns the number of members, at most `most`. */
int  spot_json_array(spot_json *j, const char *key, int n, int most);
/* An array of n members, no more and no fewer. False: the document has another number, and it is wrong; the array is open all
 * the same, and ends with spot_json_end. */
bool spot_json_exactly(spot_json *j, const char *key, int n);
/* list: the address of a pointer to the members, of `each` bytes. Reading: they are calloc'd, with one behind the last, or
 * `no_memory` is wrong. Returns their number, at most `most`. */
int  spot_json_list(spot_json *j, const char *key, int n, int most, void *list, size_t each, const char *no_memory);
void spot_json_end(spot_json *j);

bool spot_json_has(const spot_json *j, const char *key);      /* reading: whether the open object has this key */

void spot_json_int(spot_json *j, const char *key, int *v);
void spot_json_u64(spot_json *j, const char *key, uint64_t *v);
void spot_json_bool(spot_json *j, const char *key, bool *v);
void spot_json_real(spot_json *j, const char *key, double *v);
void spot_json_ints (spot_json *j, const char *key, int *v, int n);            /* arrays of n numbers, whole */
void spot_json_reals(spot_json *j, const char *key, double *v, int n);
void spot_json_text(spot_json *j, const char *key, char *v, size_t size);

/* Writing only. put_text: NULL becomes null. put_format: a text. put_number: a number as printf writes it; NaN and infinities
 * become null. put_raw: n bytes of finished JSON. */
void spot_json_put_int (spot_json *j, const char *key, long long v);
void spot_json_put_real(spot_json *j, const char *key, double v);
void spot_json_put_text(spot_json *j, const char *key, const char *v);
void spot_json_put_interval(spot_json *j, const char *key, spot_interval v);       /* an object: value, low, high */
__attribute__((format(printf, 3, 4)))
void spot_json_put_format(spot_json *j, const char *key, const char *fmt, ...);
__attribute__((format(printf, 3, 4)))
void spot_json_put_number(spot_json *j, const char *key, const char *fmt, ...);
void spot_json_put_raw(spot_json *j, const char *key, const char *json, size_t n);

/* begin: starts a document; indent NULL writes it on one line. j must not move before spot_json_free, which accepts a zeroed j.
 * whole: SPOT_NOMEM if memory ran out, SPOT_NUMERIC if an object or array is still open; `what` names the document. */
spot_status spot_json_begin(spot_ctx *c, spot_json *j, const char *indent);
spot_status spot_json_whole(spot_ctx *c, const spot_json *j, const char *what);
void        spot_json_free (spot_json *j);

/* The document of --json. open: begins an indented document and its object. print: ends the object, writes the document to f
 * and frees it; the caller checks f for write errors. */
spot_status spot_json_open (spot_ctx *c, spot_json *j);
void        spot_json_print(spot_json *j, FILE *f);

#endif
