/* properties.c - see properties.h. The grammar is that of java.util.Properties.load. */
#include "base/properties.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

typedef struct {
    const char *text, *name;
    size_t n, at;
    int line;
    unsigned high;                         /* the first half of a character of two \u escapes; 0: none */
    spot_text key, value;
} properties_reader;

static bool is_end(char c) { return c == '\n' || c == '\r'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

/* Steps over the end of a line: \n, \r or \r\n. */
static void end_line(properties_reader *r)
{
    if (r->text[r->at] == '\r' && r->at + 1 < r->n && r->text[r->at + 1] == '\n') r->at++;
    r->at++;
    r->line++;
}

static void skip_blanks(properties_reader *r)
{
    while (r->at < r->n && is_blank(r->text[r->at])) r->at++;
}

static void add_utf8(spot_text *to, unsigned v)
{
    const char byte[4] = { (char)(v < 0x80 ? v : v < 0x800 ? 0xc0 | v >> 6 : v < 0x10000 ? 0xe0 | v >> 12 : 0xf0 | v >> 18),
                           (char)(0x80 | (v >> (v < 0x800 ? 0 : v < 0x10000 ? 6 : 12) & 63)),
                           (char)(0x80 | (v >> (v < 0x10000 ? 0 : 6) & 63)), (char)(0x80 | (v & 63)) };

    spot_text_add(to, byte, v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4);
}

/* Characters beyond 0xffff come as two halves; a half alone becomes U+FFFD. */
static void add_unit(properties_reader *r, spot_text *to, unsigned v)
{
    const bool low = v >= 0xdc00 && v < 0xe000;

    if (r->high && low) {
        add_utf8(to, 0x10000 + ((r->high - 0xd800) << 10) + (v - 0xdc00));
        r->high = 0;
        return;
    }
    if (r->high) add_utf8(to, 0xfffd);
    r->high = v >= 0xd800 && v < 0xdc00 ? v : 0;
    if (!r->high) add_utf8(to, low ? 0xfffd : v);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Behind a backslash, which is not at the end of a line. */
static spot_status add_escape(spot_ctx *c, properties_reader *r, spot_text *to)
{
    static const char letter[] = "tnrf", means[] = "\t\n\r\f";
    const char *found;
    unsigned v = 0;

    if (r->text[r->at] != 'u') {
        found = r->text[r->at] ? strchr(letter, r->text[r->at]) : NULL;
        add_unit(r, to, found ? (unsigned)means[found - letter] : (unsigned char)r->text[r->at]);
        r->at++;
        return SPOT_OK;
    }
    for (int i = 1; i <= 4; i++) {
        const int d = r->at + (size_t)i < r->n ? digit(r->text[r->at + (size_t)i]) : -1;
        if (d < 0) return spot_fail(c, SPOT_INPUT, "{properties.escape} %s, line %d: \\u without four hexadecimal digits",
                                    r->name, r->line);
        v = v * 16 + (unsigned)d;
    }
    if (!v) return spot_fail(c, SPOT_INPUT, "{properties.nul} %s, line %d: a NUL", r->name, r->line);
    r->at += 5;
    add_unit(r, to, v);
    return SPOT_OK;
}

/* A key, which ends at a blank, '=' or ':', or a value, which ends with its line. */
static spot_status take_part(spot_ctx *c, properties_reader *r, spot_text *to, bool key)
{
    to->used = 0;
    while (r->at < r->n && !is_end(r->text[r->at])) {
        const char v = r->text[r->at];
        if (key && (is_blank(v) || v == '=' || v == ':')) break;
        r->at++;
        if (!v) return spot_fail(c, SPOT_INPUT, "{properties.nul} %s, line %d: a NUL", r->name, r->line);
        if (v != '\\') {
            add_unit(r, to, (unsigned char)v);
        } else if (r->at < r->n && is_end(r->text[r->at])) {
            end_line(r);
            skip_blanks(r);
        } else if (r->at < r->n) {
            SPOT_TRY(add_escape(c, r, to));
        }
    }
    if (r->high) add_unit(r, to, 0xfffd);
    r->high = 0;
    spot_text_add(to, "", 1);
    return to->status ? spot_fail(c, to->status, "no memory for a line of %s", r->name) : SPOT_OK;
}

static void skip_separator(properties_reader *r)
{
    skip_blanks(r);
    if (r->at < r->n && (r->text[r->at] == '=' || r->text[r->at] == ':')) r->at++;
    skip_blanks(r);
}

static spot_status take_line(spot_ctx *c, properties_reader *r, spot_property_use use, void *user)
{
    const int line = r->line;

    skip_blanks(r);
    if (r->at < r->n && (r->text[r->at] == '#' || r->text[r->at] == '!')) {
        while (r->at < r->n && !is_end(r->text[r->at])) r->at++;
    } else if (r->at < r->n && !is_end(r->text[r->at])) {
        SPOT_TRY(take_part(c, r, &r->key, true));
        skip_separator(r);
        SPOT_TRY(take_part(c, r, &r->value, false));
        SPOT_TRY(use(c, user, r->key.bytes, r->value.bytes, line));
    }
    if (r->at < r->n) end_line(r);
    return SPOT_OK;
}

spot_status spot_properties_read(spot_ctx *c, const char *text, size_t n, const char *name, spot_property_use use, void *user)
{
    properties_reader r = { .text = text, .name = name, .n = n, .line = 1 };
    spot_status s = SPOT_OK;

    while (r.at < r.n && s == SPOT_OK) s = take_line(c, &r, use, user);
    spot_text_free(&r.key), spot_text_free(&r.value);
    return s;
}
