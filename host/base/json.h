/* json.h - the one writer of JSON (yajl underneath), and one description of a document that both writes and reads it.
 *
 *     spot_json_object(j, "lesson");
 *     spot_json_real(j, "outside", &lesson->outside);
 *     spot_json_end(j);
 *
 * Writing: numbers with as many digits as bring the same double back, NaN and infinities as null; a byte of a text that is
 * not UTF-8 as U+FFFD. Reading: null is NaN; a key that is missing or of another type is remembered in `wrong` (the first
 * one) and leaves its value alone. Members of an array have no key: NULL.
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
#include "spotter/ctx.h"

enum { SPOT_JSON_DEPTH = 12 };

typedef struct spot_json {
    yajl_gen    gen;                       /* NULL: reading */
    spot_text   out;                       /* the document after spot_json_begin */
    yajl_val    at[SPOT_JSON_DEPTH];       /* reading: the objects and arrays that we stand in ... */
    size_t      next[SPOT_JSON_DEPTH];     /* ... and the next member of each array */
    int         depth;
    const char *wrong;
} spot_json;

void spot_json_object(spot_json *j, const char *key);
/* Writing: n members follow. Reading: returns how many there are, at most `most`. */
int  spot_json_array(spot_json *j, const char *key, int n, int most);
void spot_json_end(spot_json *j);

bool spot_json_has(const spot_json *j, const char *key);      /* reading: the object that we stand in has it */

void spot_json_int(spot_json *j, const char *key, int *v);
void spot_json_u64(spot_json *j, const char *key, uint64_t *v);
void spot_json_bool(spot_json *j, const char *key, bool *v);
void spot_json_real(spot_json *j, const char *key, double *v);
void spot_json_text(spot_json *j, const char *key, char *v, size_t size);

/* Writing only. put_text: NULL is null. put_format: a text. put_number: a number as printf writes it; null where that is NaN
 * or infinite. put_raw: n bytes of JSON that are written already. */
void spot_json_put_int (spot_json *j, const char *key, long long v);
void spot_json_put_real(spot_json *j, const char *key, double v);
void spot_json_put_text(spot_json *j, const char *key, const char *v);
__attribute__((format(printf, 3, 4)))
void spot_json_put_format(spot_json *j, const char *key, const char *fmt, ...);
__attribute__((format(printf, 3, 4)))
void spot_json_put_number(spot_json *j, const char *key, const char *fmt, ...);
void spot_json_put_raw(spot_json *j, const char *key, const char *json, size_t n);

/* A document that is to be written; indent NULL: on one line. j must not move until spot_json_free, which accepts a zeroed j.
 * whole: SPOT_NOMEM where memory ran out, SPOT_NUMERIC where an object or array is still open; `what` is for the sentence. */
spot_status spot_json_begin(spot_ctx *c, spot_json *j, const char *indent);
spot_status spot_json_whole(spot_ctx *c, const spot_json *j, const char *what);
void        spot_json_free (spot_json *j);

/* The document of --json: open begins it, indented, and its object; print ends that, writes all to f and frees it. The caller
 * checks whether f took it. */
spot_status spot_json_open (spot_ctx *c, spot_json *j);
void        spot_json_print(spot_json *j, FILE *f);

#endif
