/* json.h - one description of a JSON document that both writes it and reads it back (yajl underneath).
 *
 *     spot_json_object(j, "lesson");
 *     spot_json_real(j, "outside", &lesson->outside);
 *     spot_json_end(j);
 *
 * Writing: numbers with as many digits as bring the same double back, NaN and infinities as null. Reading: null is NaN;
 * a key that is missing or of another type is remembered in `wrong` (the first one) and leaves its value alone. Members
 * of an array have no key. */
#ifndef SPOTTER_JSON_H
#define SPOTTER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_tree.h>

#include "spotter/ctx.h"

typedef struct spot_json {
    yajl_gen    gen;           /* NULL: reading */
    yajl_val    at[8];         /* reading: the objects and arrays that we stand in ... */
    size_t      next[8];       /* ... and the next member of each array */
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

/* A document of its own, indented, for --json: open begins its object; print ends that, writes all to f and frees it. Whether f
 * took it, its owner asks. */
spot_status spot_json_open (spot_ctx *c, spot_json *j);
void        spot_json_print(spot_json *j, FILE *f);

#endif
