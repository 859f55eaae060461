/* json.c - one description of a JSON document that both writes it and reads it back. */
#include "base/json.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void key_out(spot_json *j, const char *key)
{
    if (key) yajl_gen_string(j->gen, (const unsigned char *)key, strlen(key));
}

static yajl_val of_object(yajl_val top, const char *key)
{
    for (size_t i = 0; i < top->u.object.len; i++)
        if (!strcmp(top->u.object.keys[i], key)) return top->u.object.values[i];
    return NULL;
}

/* Reading: the member `key`, or the next one of an array; NULL when it is not there. */
static yajl_val member(spot_json *j, const char *key)
{
    yajl_val top = j->depth ? j->at[j->depth - 1] : NULL;

    if (YAJL_IS_OBJECT(top) && key) {
        return of_object(top, key);
    } else if (YAJL_IS_ARRAY(top) && j->next[j->depth - 1] < top->u.array.len) {
        return top->u.array.values[j->next[j->depth - 1]++];
    }
    return NULL;
}

bool spot_json_has(const spot_json *j, const char *key)
{
    yajl_val top = j->depth ? j->at[j->depth - 1] : NULL;

    return YAJL_IS_OBJECT(top) && of_object(top, key);
}

static void wrong(spot_json *j, const char *key)
{
    if (!j->wrong) j->wrong = key ? key : "a member of an array";
}

static void enter(spot_json *j, const char *key, yajl_val v)
{
    if (!v) wrong(j, key);
    j->at[j->depth] = v;
    j->next[j->depth++] = 0;
}

void spot_json_object(spot_json *j, const char *key)
{
    if (!j->gen) {
        yajl_val v = member(j, key);
        enter(j, key, YAJL_IS_OBJECT(v) ? v : NULL);
        return;
    }
    key_out(j, key);
    yajl_gen_map_open(j->gen);
    j->next[j->depth++] = 1;
}

int spot_json_array(spot_json *j, const char *key, int n, int most)
{
    yajl_val v;

    if (!j->gen) {
        v = member(j, key);
        if (YAJL_IS_ARRAY(v) && v->u.array.len > (size_t)most) v = NULL;
        enter(j, key, YAJL_IS_ARRAY(v) ? v : NULL);
        return YAJL_IS_ARRAY(v) ? (int)v->u.array.len : 0;
    }
    key_out(j, key);
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

void spot_json_int(spot_json *j, const char *key, int *v)
{
    if (j->gen) {
        key_out(j, key);
        yajl_gen_integer(j->gen, *v);
        return;
    }
    yajl_val in = member(j, key);
    if (YAJL_IS_INTEGER(in) && in->u.number.i >= INT_MIN && in->u.number.i <= INT_MAX) *v = (int)in->u.number.i;
    else wrong(j, key);
}

void spot_json_u64(spot_json *j, const char *key, uint64_t *v)
{
    char text[32], *end;

    if (j->gen) {
        key_out(j, key);
        yajl_gen_number(j->gen, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)*v));
        return;
    }
    yajl_val in = member(j, key);
    errno = 0;
    if (YAJL_IS_NUMBER(in) && in->u.number.r[0] != '-') {
        *v = strtoull(in->u.number.r, &end, 10);
        if (!*end && !errno) return;
    }
    wrong(j, key);
}

void spot_json_bool(spot_json *j, const char *key, bool *v)
{
    if (j->gen) {
        key_out(j, key);
        yajl_gen_bool(j->gen, *v);
        return;
    }
    yajl_val in = member(j, key);
    if (YAJL_IS_TRUE(in) || YAJL_IS_FALSE(in)) *v = YAJL_IS_TRUE(in);
    else wrong(j, key);
}

void spot_json_real(spot_json *j, const char *key, double *v)
{
    char text[32];
    int n = 0;

    if (j->gen) {
        key_out(j, key);
        for (int digits = 15; digits <= 17 && (!n || strtod(text, NULL) != *v); digits++)
            n = snprintf(text, sizeof text, "%.*g", digits, *v);
        if (isfinite(*v)) yajl_gen_number(j->gen, text, (size_t)n);
        else yajl_gen_null(j->gen);
        return;
    }
    yajl_val in = member(j, key);
    if (YAJL_IS_NULL(in)) *v = NAN;
    else if (YAJL_IS_NUMBER(in)) *v = strtod(in->u.number.r, NULL);   /* as exact as it was written */
    else wrong(j, key);
}

void spot_json_text(spot_json *j, const char *key, char *v, size_t size)
{
    if (j->gen) {
        key_out(j, key);
        yajl_gen_string(j->gen, (const unsigned char *)v, strlen(v));
        return;
    }
    yajl_val in = member(j, key);
    if (YAJL_IS_STRING(in)) snprintf(v, size, "%s", in->u.string);
    else wrong(j, key);
}

spot_status spot_json_open(spot_ctx *c, spot_json *j)
{
    *j = (spot_json){ .gen = yajl_gen_alloc(NULL) };
    if (!j->gen) return spot_fail(c, SPOT_NOMEM, "no memory for a JSON document");
    yajl_gen_config(j->gen, yajl_gen_beautify, 1);
    yajl_gen_config(j->gen, yajl_gen_indent_string, "  ");
    spot_json_object(j, NULL);
    return SPOT_OK;
}

void spot_json_print(spot_json *j, FILE *f)
{
    const unsigned char *text;
    size_t n;

    spot_json_end(j);
    yajl_gen_get_buf(j->gen, &text, &n);
    fwrite(text, 1, n, f);
    yajl_gen_free(j->gen);
    j->gen = NULL;
}
