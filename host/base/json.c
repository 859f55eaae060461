/* json.c - see json.h. Writing goes straight to yajl's generator. Reading walks yajl's tree along the same calls: at[] is the
 * path of open objects and arrays, and a value that is missing is NULL there, so that all of its members are missing, too. The
 * calls make the path, not the file; so no file leads deeper than SPOT_JSON_DEPTH. */
#include "base/json.h"
#include "core/pointer.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_key(spot_json *j, const char *key)
{
    if (key) yajl_gen_string(j->gen, (const unsigned char *)key, strlen(key));
}

static yajl_val find_key(yajl_val top, const char *key)
{
    for (size_t i = 0; i < top->u.object.len; i++)
        if (!strcmp(top->u.object.keys[i], key)) return top->u.object.values[i];
    return NULL;
}

/* Reading: the member `key`, or the next one of an array; NULL if it is missing. */
static yajl_val find_member(spot_json *j, const char *key)
{
    yajl_val top = j->depth ? j->at[j->depth - 1] : NULL;

    if (YAJL_IS_OBJECT(top) && key) return find_key(top, key);
    if (!YAJL_IS_ARRAY(top) || j->next[j->depth - 1] == top->u.array.len) return NULL;
    return top->u.array.values[j->next[j->depth - 1]++];
}

bool spot_json_has(const spot_json *j, const char *key)
{
    yajl_val top = j->depth ? j->at[j->depth - 1] : NULL;

    return YAJL_IS_OBJECT(top) && find_key(top, key);
}

static void wrong(spot_json *j, const char *key)
{
    if (!j->wrong) j->wrong = key ? key : "a member of an array";
}

static void enter_value(spot_json *j, const char *key, yajl_val v)
{
    if (!v) wrong(j, key);
    j->at[j->depth] = v;
    j->next[j->depth++] = 0;
}

void spot_json_object(spot_json *j, const char *key)
{
    if (!j->gen) {
        yajl_val v = find_member(j, key);
        enter_value(j, key, YAJL_IS_OBJECT(v) ? v : NULL);
        return;
    }
    write_key(j, key);
    yajl_gen_map_open(j->gen);
    j->next[j->depth++] = 1;               /* writing: whether spot_json_end closes an object */
}

int spot_json_array(spot_json *j, const char *key, int n, int most)
{
    yajl_val v;

    if (!j->gen) {
        v = find_member(j, key);
        if (YAJL_IS_ARRAY(v) && v->u.array.len > (size_t)most) v = NULL;
        enter_value(j, key, YAJL_IS_ARRAY(v) ? v : NULL);
        return YAJL_IS_ARRAY(v) ? (int)v->u.array.len : 0;
    }
    write_key(j, key);
    yajl_gen_array_open(j->gen);
    j->next[j->depth++] = 0;
    return n;
}

void spot_json_end(spot_json *j)
{
    j->depth--;
    if (!j->gen) return;
    if (j->next[j->depth]) yajl_gen_map_close(j->gen);
    else yajl_gen_array_close(j->gen);
}

bool spot_json_exactly(spot_json *j, const char *key, int n)
{
    const int have = spot_json_array(j, key, n, n);

    if (have != n) wrong(j, key);
    return have == n;
}

int spot_json_list(spot_json *j, const char *key, int n, int most, void *list, size_t each, const char *no_memory)
{
    void *own;

    n = spot_json_array(j, key, n, most);
    if (j->gen) return n;
    own = calloc((size_t)n + 1, each);
    spot_pointer_put(list, own);
    if (!own) j->wrong = no_memory;        /* before an earlier key: the document may be right */
    return own ? n : 0;
}

void spot_json_int(spot_json *j, const char *key, int *v)
{
    yajl_val in = j->gen ? NULL : find_member(j, key);

    if (j->gen) spot_json_put_int(j, key, *v);
    else if (YAJL_IS_INTEGER(in) && in->u.number.i >= INT_MIN && in->u.number.i <= INT_MAX) *v = (int)in->u.number.i;
    else wrong(j, key);
}

void spot_json_u64(spot_json *j, const char *key, uint64_t *v)
{
    char *end;

    if (j->gen) {
        spot_json_put_number(j, key, "%llu", (unsigned long long)*v);
        return;
    }
    yajl_val in = find_member(j, key);
    errno = 0;
    if (YAJL_IS_NUMBER(in) && in->u.number.r[0] != '-') {      /* strtoull would take -1 for the greatest number */
        *v = strtoull(in->u.number.r, &end, 10);
        if (!*end && !errno) return;
    }
    wrong(j, key);
}

void spot_json_bool(spot_json *j, const char *key, bool *v)
{
    yajl_val in = j->gen ? NULL : find_member(j, key);

    if (j->gen) {
        write_key(j, key);
        yajl_gen_bool(j->gen, *v);
    } else if (YAJL_IS_TRUE(in) || YAJL_IS_FALSE(in)) *v = YAJL_IS_TRUE(in);
    else wrong(j, key);
}

void spot_json_real(spot_json *j, const char *key, double *v)
{
    yajl_val in = j->gen ? NULL : find_member(j, key);

    if (j->gen) spot_json_put_real(j, key, *v);
    else if (YAJL_IS_NULL(in)) *v = NAN;
    else if (YAJL_IS_NUMBER(in)) *v = strtod(in->u.number.r, NULL);   /* yajl's own double is less exact */
    else wrong(j, key);
}

void spot_json_ints(spot_json *j, const char *key, int *v, int n)
{
    if (spot_json_exactly(j, key, n))
        for (int i = 0; i < n; i++) spot_json_int(j, NULL, &v[i]);
    spot_json_end(j);
}

void spot_json_reals(spot_json *j, const char *key, double *v, int n)
{
    if (spot_json_exactly(j, key, n))
        for (int i = 0; i < n; i++) spot_json_real(j, NULL, &v[i]);
    spot_json_end(j);
}

void spot_json_text(spot_json *j, const char *key, char *v, size_t size)
{
    yajl_val in = j->gen ? NULL : find_member(j, key);

    if (j->gen) spot_json_put_text(j, key, v);
    else if (YAJL_IS_STRING(in)) snprintf(v, size, "%s", in->u.string);
    else wrong(j, key);
}

/* ---- writing only ---- */

void spot_json_put_int(spot_json *j, const char *key, long long v)
{
    write_key(j, key);
    yajl_gen_integer(j->gen, v);
}

void spot_json_put_real(spot_json *j, const char *key, double v)
{
    char text[32];

    spot_json_put_number(j, key, "%s", spot_digits(text, v, 15));
}

void spot_json_put_interval(spot_json *j, const char *key, spot_interval v)
{
    spot_json_object(j, key);
    spot_json_put_real(j, "value", v.value);
    spot_json_put_real(j, "low", v.low);
    spot_json_put_real(j, "high", v.high);
    spot_json_end(j);
}

void spot_json_put_text(spot_json *j, const char *key, const char *v)
{
    spot_text clean = { 0 };

    write_key(j, key);
    if (!v) {
        yajl_gen_null(j->gen);
        return;
    }
    if (spot_utf8(v, strlen(v)) < strlen(v)) spot_text_utf8(&clean, v);
    if (clean.status) j->out.status = clean.status;
    if (clean.used) yajl_gen_string(j->gen, (const unsigned char *)clean.bytes, clean.used);
    else yajl_gen_string(j->gen, (const unsigned char *)v, strlen(v));
    spot_text_free(&clean);
}

void spot_json_put_format(spot_json *j, const char *key, const char *fmt, ...)
{
    char text[2048];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    spot_json_put_text(j, key, text);
}

void spot_json_put_number(spot_json *j, const char *key, const char *fmt, ...)
{
    char text[400];            /* %f of the greatest double takes 317 */
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    write_key(j, key);
    if (strchr("0123456789", text[*text == '-'])) yajl_gen_number(j->gen, text, strlen(text));
    else yajl_gen_null(j->gen);
}

void spot_json_put_raw(spot_json *j, const char *key, const char *json, size_t n)
{
    write_key(j, key);
    yajl_gen_number(j->gen, json, n);      /* yajl copies a number unchanged */
}

/* ---- documents ---- */

static void add_text(void *out, const char *text, size_t n) { spot_text_add(out, text, n); }

spot_status spot_json_begin(spot_ctx *c, spot_json *j, const char *indent)
{
    *j = (spot_json){ .gen = yajl_gen_alloc(NULL) };
    if (!j->gen) return spot_fail(c, SPOT_NOMEM, "no memory for a JSON document");
    yajl_gen_config(j->gen, yajl_gen_print_callback, add_text, (void *)&j->out);
    if (indent) {
        yajl_gen_config(j->gen, yajl_gen_beautify, 1);
        yajl_gen_config(j->gen, yajl_gen_indent_string, indent);
    }
    return SPOT_OK;
}

spot_status spot_json_whole(spot_ctx *c, const spot_json *j, const char *what)
{
    if (j->out.status) return spot_fail(c, j->out.status, "no memory for the JSON of %s", what);
    if (j->depth) return spot_fail(c, SPOT_NUMERIC, "the JSON of %s is not whole", what);
    return SPOT_OK;
}

void spot_json_free(spot_json *j)
{
    if (j->gen) yajl_gen_free(j->gen);
    spot_text_free(&j->out);
    j->gen = NULL;
}

spot_status spot_json_open(spot_ctx *c, spot_json *j)
{
    SPOT_TRY(spot_json_begin(c, j, "  "));
    spot_json_object(j, NULL);
    return SPOT_OK;
}

void spot_json_print(spot_json *j, FILE *f)
{
    spot_json_end(j);
    fwrite(j->out.bytes, 1, j->out.used, f);
    spot_json_free(j);
}
