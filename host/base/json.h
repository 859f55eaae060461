/* json.h - JSON in and out: a writer over yajl_gen, a reader over yajl_tree that names what is missing.
 *
 *     spot_json *j = spot_json_open(false);
 *     spot_json_map(j);
 *     spot_json_key(j, "ec"); spot_json_int(j, 3);
 *     spot_json_end(j);
 *     spot_status s = spot_json_take(c, &j, &text, &len);    // text is malloc'd, NUL behind its end; j is gone
 *
 * Writing calls return nothing: the first failure is kept and comes out of spot_json_take. */
#ifndef SPOTTER_BASE_JSON_H
#define SPOTTER_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <yajl/yajl_tree.h>

#include "spotter/ctx.h"

typedef struct spot_json spot_json;

spot_json *spot_json_open(bool pretty);                     /* NULL is accepted by all below: no memory */
void spot_json_map (spot_json *j);                          /* { */
void spot_json_list(spot_json *j);                          /* [ */
void spot_json_end (spot_json *j);                          /* closes the innermost of the two */
void spot_json_key (spot_json *j, const char *key);
void spot_json_text(spot_json *j, const char *text);        /* NULL: null. Bytes that are not UTF-8 become '?' */
void spot_json_int (spot_json *j, long long value);
void spot_json_real(spot_json *j, double value);            /* shortest text that reads back equal; not finite: null */
void spot_json_bool(spot_json *j, bool value);
void spot_json_none(spot_json *j);                          /* null */
spot_status spot_json_take(spot_ctx *c, spot_json **j, char **text, size_t *len);   /* len may be NULL */
void spot_json_drop(spot_json *j);                          /* instead of take */

/* The shortest decimal text that strtod reads back to the same double. */
void spot_real_text(char text[32], double value);

/* The tree of one document; free with yajl_tree_free. `name` is the file for the sentence. SPOT_INPUT when it is no JSON. */
spot_status spot_json_read(spot_ctx *c, yajl_val *tree, const char *text, size_t len, const char *name);

/* The member `key` of a map; SPOT_INPUT naming file and key when it is missing or of another type. */
spot_status spot_json_get     (spot_ctx *c, const char *name, yajl_val map, const char *key, yajl_type type, yajl_val *out);
spot_status spot_json_get_int (spot_ctx *c, const char *name, yajl_val map, const char *key, long long *out);
spot_status spot_json_get_real(spot_ctx *c, const char *name, yajl_val map, const char *key, double *out);   /* null: NaN */
spot_status spot_json_get_text(spot_ctx *c, const char *name, yajl_val map, const char *key, const char **out);
spot_status spot_json_get_bool(spot_ctx *c, const char *name, yajl_val map, const char *key, bool *out);

#endif
