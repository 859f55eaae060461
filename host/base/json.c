/* json.c - JSON in and out. */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

enum { MAX_DEPTH = 64 };       /* of nesting, written or read; yajl_tree_free recurses */

struct spot_json {
    yajl_gen gen;
    yajl_gen_status bad;       /* of the first call that failed */
    int  depth;
    bool is_map[MAX_DEPTH];
};

static void note(spot_json *j, yajl_gen_status s)
{
    if (!j->bad) j->bad = s;
}

spot_json *spot_json_open(bool pretty)
{
    spot_json *j = calloc(1, sizeof *j);

    if (!j) return NULL;
    j->gen = yajl_gen_alloc(NULL);
    if (!j->gen) return free(j), NULL;
    yajl_gen_config(j->gen, yajl_gen_beautify, (int)pretty);
    yajl_gen_config(j->gen, yajl_gen_indent_string, "  ");
    yajl_gen_config(j->gen, yajl_gen_validate_utf8, 1);
    return j;
}

static void open_group(spot_json *j, bool map)
{
    if (!j) return;
    if (j->depth == MAX_DEPTH) { note(j, yajl_max_depth_exceeded); return; }
    note(j, map ? yajl_gen_map_open(j->gen) : yajl_gen_array_open(j->gen));
    j->is_map[j->depth++] = map;
}

void spot_json_map (spot_json *j) { open_group(j, true); }
void spot_json_list(spot_json *j) { open_group(j, false); }

void spot_json_end(spot_json *j)
{
    if (!j) return;
    if (!j->depth) { note(j, yajl_gen_in_error_state); return; }
    note(j, j->is_map[--j->depth] ? yajl_gen_map_close(j->gen) : yajl_gen_array_close(j->gen));
}

void spot_json_text(spot_json *j, const char *text)
{
    yajl_gen_status status;
    size_t n;
    char *plain;

    if (!text) { spot_json_none(j); return; }
    if (!j) return;
    n = strlen(text);
    status = yajl_gen_string(j->gen, (const unsigned char *)text, n);
    if (status != yajl_gen_invalid_string) { note(j, status); return; }
    plain = malloc(n + 1);
    if (!plain) { note(j, yajl_gen_in_error_state); return; }
    for (size_t i = 0; i <= n; i++) plain[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    note(j, yajl_gen_string(j->gen, (unsigned char *)plain, n));
    free(plain);
}

void spot_json_key(spot_json *j, const char *key)   { spot_json_text(j, key); }
void spot_json_int(spot_json *j, long long value)   { if (j) note(j, yajl_gen_integer(j->gen, value)); }
void spot_json_bool(spot_json *j, bool value)       { if (j) note(j, yajl_gen_bool(j->gen, value)); }
void spot_json_none(spot_json *j)                   { if (j) note(j, yajl_gen_null(j->gen)); }

void spot_real_text(char text[32], double value)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

void spot_json_real(spot_json *j, double value)
{
    char text[32];

    if (!j) return;
    if (!isfinite(value)) { spot_json_none(j); return; }
    spot_real_text(text, value);
    note(j, yajl_gen_number(j->gen, text, strlen(text)));
}

void spot_json_drop(spot_json *j)
{
    if (!j) return;
    yajl_gen_free(j->gen);
    free(j);
}

spot_status spot_json_take(spot_ctx *c, spot_json **jp, char **text, size_t *len)
{
    spot_json *j = *jp;
    const unsigned char *buffer = NULL;
    size_t n = 0;
    spot_status s = SPOT_OK;

    *jp = NULL;
    *text = NULL;
    if (!j) return spot_fail(c, SPOT_NOMEM, "no memory for a JSON text");
    if (j->bad || j->depth)
        s = spot_fail(c, SPOT_INVALID, "JSON was written out of order (yajl status %d, %d groups open)", j->bad, j->depth);
    else {
        yajl_gen_get_buf(j->gen, &buffer, &n);
        *text = malloc(n + 1);
        if (!*text) s = spot_fail(c, SPOT_NOMEM, "no memory for a JSON text of %zu bytes", n);
    }
    if (*text) {
        memcpy(*text, buffer, n);
        (*text)[n] = 0;
        if (len) *len = n;
    }
    spot_json_drop(j);
    return s;
}

/* The deepest nesting of brackets outside strings. */
static int depth_of(const char *text)
{
    int depth = 0, deepest = 0;
    bool quoted = false;

    for (const char *p = text; *p; p++) {
        if (quoted && *p == '\\' && p[1]) p++;
        else if (*p == '"') quoted = !quoted;
        else if (!quoted && (*p == '[' || *p == '{')) { if (++depth > deepest) deepest = depth; }
        else if (!quoted && (*p == ']' || *p == '}')) depth--;
    }
    return deepest;
}

spot_status spot_json_read(spot_ctx *c, yajl_val *tree, const char *text, size_t len, const char *name)
{
    char why[256] = "", *line;

    *tree = NULL;
    if (strlen(text) != len) return spot_fail(c, SPOT_INPUT, "%s is not JSON: it holds a NUL byte", name);
    if (depth_of(text) > MAX_DEPTH)
        return spot_fail(c, SPOT_INPUT, "%s: JSON nested deeper than %d", name, MAX_DEPTH);
    *tree = yajl_tree_parse(text, why, sizeof why);
    if (*tree) return SPOT_OK;
    line = strchr(why, '\n');
    if (line) *line = 0;
    return spot_fail(c, SPOT_INPUT, "%s is not JSON: %s", name, why[0] ? why : "it ends too early");
}

static const char *type_name(yajl_type type)
{
    switch (type) {
    case yajl_t_string: return "a text";
    case yajl_t_number: return "a number";
    case yajl_t_object: return "a map";
    case yajl_t_array:  return "a list";
    case yajl_t_null:   return "null";
    case yajl_t_true:
    case yajl_t_false:  return "true or false";
    default:            return "a value";
    }
}

/* The member, NULL when it is not there. (yajl_tree_get takes types one at a time only.) */
static yajl_val member(yajl_val map, const char *key)
{
    if (!YAJL_IS_OBJECT(map)) return NULL;
    for (size_t i = 0; i < map->u.object.len; i++)
        if (!strcmp(map->u.object.keys[i], key)) return map->u.object.values[i];
    return NULL;
}

static spot_status wrong(spot_ctx *c, const char *name, yajl_val found, const char *key, const char *wanted)
{
    if (!found) return spot_fail(c, SPOT_INPUT, "%s lacks \"%s\"", name, key);
    return spot_fail(c, SPOT_INPUT, "%s: \"%s\" is %s, not %s", name, key, type_name(found->type), wanted);
}

spot_status spot_json_get(spot_ctx *c, const char *name, yajl_val map, const char *key, yajl_type type, yajl_val *out)
{
    *out = member(map, key);
    return *out && (*out)->type == type ? SPOT_OK : wrong(c, name, *out, key, type_name(type));
}

spot_status spot_json_get_int(spot_ctx *c, const char *name, yajl_val map, const char *key, long long *out)
{
    yajl_val v = member(map, key);

    if (!v || !YAJL_IS_INTEGER(v)) return wrong(c, name, v, key, "a whole number");
    *out = YAJL_GET_INTEGER(v);
    return SPOT_OK;
}

spot_status spot_json_get_real(spot_ctx *c, const char *name, yajl_val map, const char *key, double *out)
{
    yajl_val v = member(map, key);

    if (v && YAJL_IS_NULL(v)) { *out = NAN; return SPOT_OK; }
    if (!v || !YAJL_IS_NUMBER(v)) return wrong(c, name, v, key, "a number");
    *out = strtod(YAJL_GET_NUMBER(v), NULL);
    return SPOT_OK;
}

spot_status spot_json_get_text(spot_ctx *c, const char *name, yajl_val map, const char *key, const char **out)
{
    yajl_val v;

    SPOT_TRY(spot_json_get(c, name, map, key, yajl_t_string, &v));
    *out = YAJL_GET_STRING(v);
    return SPOT_OK;
}

spot_status spot_json_get_bool(spot_ctx *c, const char *name, yajl_val map, const char *key, bool *out)
{
    yajl_val v = member(map, key);

    if (!v || (v->type != yajl_t_true && v->type != yajl_t_false)) return wrong(c, name, v, key, "true or false");
    *out = YAJL_IS_TRUE(v);
    return SPOT_OK;
}
