/* setting.c - walks tables of settings: defaults, checks, texts of values. */
#define _POSIX_C_SOURCE 200809L
#include "base/setting.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "core/pointer.h"

/* ---- walks ---- */

static const spot_setting *rows_of_part(const spot_setting *s, const char *group)
{
    static const spot_setting none = SPOT_END;
    const spot_setting *rows = s->rows ? s->rows : s->part(*(const int *)(const void *)(group + s->of->offset));

    return rows ? rows : &none;
}

/* Moves from a part into its rows, and from their end to the row after the part. */
static void enter_parts(spot_setting_walk *w)
{
    unsigned of_part = w->rest ? w->rest[-1].affects : 0;

    while (w->s->kind == SETTING_PART || (w->s->kind == SETTING_END && w->rest)) {
        bool begins = w->s->kind == SETTING_PART;
        const spot_setting *s = begins ? rows_of_part(w->s, w->group) : w->rest;
        char *group = begins ? w->group + w->s->offset : w->whole;
        of_part = begins ? w->s->affects : 0;
        w->rest = begins ? w->s + 1 : NULL;
        w->whole = w->group;
        w->s = s;
        w->group = group;
    }
    w->value = w->group + w->s->offset;
    w->affects = w->s->affects ? w->s->affects : of_part;
    if (w->s->kind == SETTING_END) w->s = NULL;
}

spot_setting_walk spot_settings_walk(const spot_setting *rows, const void *group)
{
    spot_setting_walk w = { .s = rows, .group = (char *)(uintptr_t)group };

    enter_parts(&w);
    return w;
}

void spot_settings_next(spot_setting_walk *w)
{
    w->s++;
    enter_parts(w);
}

spot_setting_walk spot_settings_at(const spot_setting *rows, const void *group, const char *name)
{
    spot_setting_walk w = spot_settings_walk(rows, group);

    while (w.s && strcmp(w.s->name, name)) spot_settings_next(&w);
    return w;
}

const spot_setting *spot_setting_find(const spot_setting *rows, const char *name)
{
    for (const spot_setting *s = rows, *found = NULL; s && s->kind != SETTING_END; s++) {
        if (s->kind != SETTING_PART) {
            if (!strcmp(s->name, name)) return s;
        } else if (s->rows) found = spot_setting_find(s->rows, name);
        else
            for (int v = 0; s->of->names[v] && !found; v++) found = spot_setting_find(s->part(v), name);
        if (found) return found;
    }
    return NULL;
}

bool spot_setting_applies(const spot_setting *s, const void *group) { return !s->when || s->when(group); }

bool spot_setting_is_idle(const spot_setting *s, const void *group)
{
    return s->values && !(s->values >> *(const int *)(const void *)((const char *)group + s->of->offset) & 1);
}

size_t spot_setting_bytes(const spot_setting *s)
{
    switch (s->kind) {
    case SETTING_END:
    case SETTING_GROUP:
    case SETTING_LIST:
    case SETTING_PART:  return 0;
    case SETTING_RANGE: return 2 * sizeof(int);
    case SETTING_SEED:  return sizeof(uint64_t);
    case SETTING_REAL:  return sizeof(double);
    case SETTING_SPAN:  return 2 * sizeof(double);
    case SETTING_TEXT:  return sizeof(const char *);
    default:            return sizeof(int);
    }
}

bool spot_setting_is_default(const spot_setting *s, const void *value)
{
    const double *real = value;
    const int *i = value;

    switch (s->kind) {
    case SETTING_TEXT:  return !strcmp(spot_setting_word(value), s->text ? s->text : "");
    case SETTING_SPAN:  return real[0] == s->def[0] && real[1] == s->def[1];
    case SETTING_RANGE: return i[0] == (int)s->def[0] && i[1] == (int)s->def[1];
    case SETTING_REAL:  return *real == s->def[0];
    case SETTING_SEED:  return *(const uint64_t *)value == (uint64_t)s->def[0];
    default:            return *i == (int)s->def[0];
    }
}

/* ---- defaults ---- */

void spot_settings_defaults(const spot_setting *rows, void *group)
{
    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        const spot_setting *s = w.s;
        int *i = (int *)(void *)w.value;
        double *real = (double *)(void *)w.value;
        switch (s->kind) {
        case SETTING_GROUP: spot_settings_defaults(s->rows, w.value); break;
        case SETTING_LIST:  spot_pointer_put(w.value, NULL), *(int *)(void *)(w.group + s->count) = 0; break;
        case SETTING_SEED:  *(uint64_t *)(void *)w.value = (uint64_t)s->def[0]; break;
        case SETTING_REAL:  *real = s->def[0]; break;
        case SETTING_SPAN:  real[0] = s->def[0], real[1] = s->def[1]; break;
        case SETTING_TEXT:  *(const char **)(void *)w.value = s->text ? s->text : ""; break;
        case SETTING_RANGE: i[0] = (int)s->def[0], i[1] = (int)s->def[1]; break;
        default:            *i = (int)s->def[0]; break;
        }
    }
}

/* ---- values ---- */

static bool in_range(const spot_setting *s, double value) { return value >= s->lo && value <= s->hi; }
static bool takes_int(const spot_setting *s, int value)   { return in_range(s, value) && (!s->unit || value % s->unit == 0); }

static int count_of(const char *const *names)
{
    int n = 0;

    while (names[n]) n++;
    return n;
}

static bool takes_value(const spot_setting *s, const void *value)
{
    const double *real = value;
    const int *i = value;

    switch (s->kind) {
    case SETTING_INT:
    case SETTING_SWITCH: return takes_int(s, *i);
    case SETTING_RANGE:  return takes_int(s, i[0]) && takes_int(s, i[1]) && i[0] <= i[1];
    case SETTING_REAL:   return in_range(s, *real);
    case SETTING_SPAN:   return in_range(s, real[0]) && in_range(s, real[1]) && real[0] <= real[1];
    case SETTING_NAME:   return *i >= 0 && *i < count_of(s->names);
    case SETTING_TEXT:   return strlen(spot_setting_word(value)) < (size_t)s->hi;
    default:             return true;
    }
}

spot_status spot_settings_check(spot_ctx *c, spot_status status, const spot_setting *rows, const void *group,
                                const char *above)
{
    char path[256], text[256], takes[256];

    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        snprintf(path, sizeof path, "%s%s%s", above, above[0] ? "." : "", w.s->name);
        if (spot_setting_is_idle(w.s, w.group)) continue;
        if (w.s->kind == SETTING_GROUP) SPOT_TRY(spot_settings_check(c, status, w.s->rows, w.value, path));
        else if (!takes_value(w.s, w.value))
            return spot_fail(c, status, "{setting.value} %s is %s; it takes %s", path, spot_setting_text(text, sizeof text, w.s,
                             w.value), spot_setting_takes(takes, sizeof takes, w.s));
    }
    return SPOT_OK;
}

/* The whole text must be a finite number: no nan, inf, hex. */
static bool read_real(const char *text, double *value)
{
    char *end;

    if (!text[0] || strspn(text, "+-.0123456789eE") != strlen(text)) return false;
    *value = strtod(text, &end);
    return !*end && isfinite(*value);
}

static bool read_int(const char *text, const spot_setting *s, int *value)
{
    double v;

    if (strspn(text, "+-0123456789") != strlen(text) || !read_real(text, &v) || !in_range(s, v)) return false;
    *value = (int)v;
    return takes_int(s, *value);
}

static bool read_seed(const char *text, uint64_t *value)
{
    if (!text[0] || strspn(text, "0123456789") != strlen(text)) return false;
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return !errno;
}

bool spot_setting_read(const spot_setting *s, void *value, const char *const *text)
{
    double *real = value;
    int *i = value;

    switch (s->kind) {
    case SETTING_INT:    return read_int(text[0], s, i);
    case SETTING_RANGE:  return read_int(text[0], s, &i[0]) && read_int(text[1], s, &i[1]) && i[0] <= i[1];
    case SETTING_SEED:   return read_seed(text[0], value);
    case SETTING_REAL:   return read_real(text[0], real) && in_range(s, *real);
    case SETTING_SPAN:   return read_real(text[0], &real[0]) && read_real(text[1], &real[1]) && takes_value(s, value);
    case SETTING_SWITCH: *i = !strcmp(text[0], "true"); return *i || !strcmp(text[0], "false");
    case SETTING_TEXT:   *(const char **)value = text[0]; return takes_value(s, value);
    case SETTING_NAME:
        for (*i = 0; s->names[*i]; ++*i)
            if (!strcmp(s->names[*i], text[0])) return true;
        return false;
    default: return false;
    }
}

/* Prints text in double quotes. Bytes that are not ASCII are escaped by code point: YAML folds or forbids some of them when
 * bare. */
static void print_text(FILE *f, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    fputc('"', f);
    while (*p) {
        unsigned long point = *p++;
        int more = point < 0xc0 ? 0 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : 3;
        if (more) point &= 0x3fu >> more;
        for (; more && (*p & 0xc0) == 0x80; more--) point = point << 6 | (*p++ & 0x3f);
        if (point == '"' || point == '\\') fprintf(f, "\\%c", (int)point);
        else if (point < ' ' || point > '~') fprintf(f, "\\U%08lX", point);
        else fputc((int)point, f);
    }
    fputc('"', f);
}

/* The shortest text that reads back as the same number: 30, not 3e+01. */
static void print_real(FILE *f, double value)
{
    char few[32], plain[32];

    spot_digits(few, value, 1);
    spot_digits(plain, value, 15);
    fputs(strlen(plain) < strlen(few) ? plain : few, f);
}

void spot_setting_print(FILE *f, const spot_setting *s, const void *value)
{
    const bool good = takes_value(s, value);
    const double *real = value;
    const int *i = value;

    switch (s->kind) {
    case SETTING_INT:    fprintf(f, "%d", *i); break;
    case SETTING_RANGE:  fprintf(f, "[%d, %d]", i[0], i[1]); break;
    case SETTING_SEED:   fprintf(f, "%" PRIu64, *(const uint64_t *)value); break;
    case SETTING_REAL:   print_real(f, *real); break;
    case SETTING_SPAN:
        fputc('[', f), print_real(f, real[0]);
        fputs(", ", f), print_real(f, real[1]), fputc(']', f);
        break;
    case SETTING_TEXT:   print_text(f, spot_setting_word(value)); break;
    case SETTING_SWITCH: if (good) fputs(*i ? "true" : "false", f); else fprintf(f, "%d", *i); break;
    case SETTING_NAME:   if (good) fputs(s->names[*i], f); else fprintf(f, "%d", *i); break;
    default: break;
    }
}

const char *spot_setting_text(char *text, size_t size, const spot_setting *s, const void *value)
{
    FILE *f = fmemopen(text, size, "w");

    text[0] = 0;
    if (!f) return text;
    spot_setting_print(f, s, value);
    fclose(f);
    text[size - 1] = 0;
    return text;
}

const char *spot_setting_takes(char *text, size_t size, const spot_setting *s)
{
    size_t used = 0;

    text[0] = 0;
    switch (s->kind) {
    case SETTING_INT:
        used = (size_t)snprintf(text, size, "an integer from %.0f to %.0f", s->lo, s->hi);
        if (s->unit) snprintf(text + used, size - used, ", a multiple of %d", s->unit);
        break;
    case SETTING_RANGE:  snprintf(text, size, "[least, most], integers from %.0f to %.0f", s->lo, s->hi); break;
    case SETTING_SEED:   snprintf(text, size, "an integer from 0 to %" PRIu64, UINT64_MAX); break;
    case SETTING_REAL:   snprintf(text, size, "a number from %g to %g", s->lo, s->hi); break;
    case SETTING_SPAN:   snprintf(text, size, "[least, most], numbers from %g to %g", s->lo, s->hi); break;
    case SETTING_SWITCH: snprintf(text, size, "true or false"); break;
    case SETTING_TEXT:   snprintf(text, size, "a text of at most %.0f bytes", s->hi - 1); break;
    case SETTING_LIST:   snprintf(text, size, "a list of %.0f to %.0f groups of settings", s->lo, s->hi); break;
    case SETTING_GROUP:  snprintf(text, size, "a group of settings ({%s: ...})", s->rows->name); break;
    case SETTING_NAME:
        for (int n = 0; s->names[n]; n++)
            used += (size_t)snprintf(text + used, size - used, "%s%s", !n ? "" : s->names[n + 1] ? ", " : " or ", s->names[n]);
        break;
    default: break;
    }
    return text;
}
